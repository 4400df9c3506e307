"""What `write` writes, `.input` reads as the same facts, whatever they are; what it could not read is refused."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import StatementError

KINDS = {
    "symbol": st.one_of(st.text(max_size=6), st.text(alphabet='a:,"\\\t\n\r \ufeff', max_size=4)),
    "number": st.integers(-(2**63) + 1, 2**63 - 1),
    "float": st.floats(),
}
DELIMITERS = (None, ",", "\t", "::", ":", "é", "ab", ";", "\\")


@st.composite
def files(draw: Any) -> tuple[list[str], list[tuple[Any, ...]], dict[str, str]]:
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=3))
    rows = draw(st.lists(st.tuples(*(KINDS[kind] for kind in kinds)), max_size=5))
    options: dict[str, str] = {}
    for name in ("headers", "rfc4180"):
        if draw(st.booleans()):
            options[name] = draw(st.sampled_from(["true", "false"]))
    is_quoted = options.get("rfc4180") == "true"
    possible = [None, ",", "\t"] if is_quoted else DELIMITERS
    # What digits floats are written with is not asked here.
    possible = [*possible, *(["1"] if "float" not in kinds else [])]
    delimiter = draw(st.sampled_from(possible))
    if delimiter is not None:
        options["delimiter"] = '"' + delimiter.replace("\\", "\\\\").replace("\t", "\\t") + '"'
    return kinds, rows, options


def same(value: Any) -> Any:
    """A value by which floats that are the same are found: NaN is one value, and so is zero."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def fits(rows: list[tuple[Any, ...]], kinds: list[str], delimiter: str, *, is_quoted: bool) -> bool:
    """Whether lines of the values as they are, split again, give the values."""
    for row in rows:
        texts = [
            "0" if kind == "float" or (kind == "symbol" and is_quoted) else str(value)
            for kind, value in zip(kinds, row, strict=True)
        ]
        line = delimiter.join(texts)
        if "\n" in line or line.endswith("\r") or (row and line.split(delimiter) != texts):
            return False
    return True


@given(files())
@example((["symbol"], [("",)], {}))
@example((["symbol", "symbol"], [("a:", "b"), (":", ":")], {"delimiter": '"::"'}))
@example((["symbol"], [("a\r",)], {}))
@example((["symbol"], [("\ufeffa",)], {}))
@example((["symbol"], [('say "no"',)], {}))
@example((["symbol"], [('a"b,\r\n"',), ("",)], {"rfc4180": "true", "headers": "true"}))
@example(([], [()], {"headers": "true"}))
def test_facts_that_are_written_are_read_again(case: tuple[list[str], list[Any], dict[str, str]]) -> None:
    kinds, rows, options = case
    columns = ", ".join(f"x{place}:{kind}" for place, kind in enumerate(kinds))
    said = ", ".join(f"{name}={value}" for name, value in {**options, "filename": '"p.txt"'}.items())
    delimiter = options.get("delimiter", '","' if options.get("rfc4180") == "true" else '"\\t"')[1:-1]
    delimiter = delimiter.replace("\\t", "\t").replace("\\\\", "\\")
    writing = gt.Datalog(f".decl p({columns})\n.output p({said})")
    writing.insert("p", rows)
    writing.commit()
    expected = {tuple(map(same, row)) for row in writing["p"].rows()}
    with tempfile.TemporaryDirectory() as folder:
        if not fits(rows, kinds, delimiter, is_quoted=options.get("rfc4180") == "true"):
            with pytest.raises(StatementError, match=r'line 2, column 9: .* of "p" cannot be written'):
                writing.write(folder)
            assert not [*Path(folder).iterdir()]
            return
        writing.write(folder)
        reading = gt.Datalog(f".decl p({columns})\n.input p({said})", facts=folder)
        reading.commit()
        assert {tuple(map(same, row)) for row in reading["p"].rows()} == expected


@given(
    st.lists(st.sampled_from(["true", "2020-01-01", "", "x", "1", "-2", "1.5", "12:00:00", "null", "NA"]), min_size=1)
)
def test_columns_that_are_not_declared_are_numbers_floats_or_symbols(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "q.facts").write_text("".join(f"{text}\n" for text in texts))
        rules = gt.Datalog("p(X) :- q(X).\n.input q", facts=folder)
        rules.commit()
        kind = int if {*texts} <= {"1", "-2"} else float if {*texts} <= {"1", "-2", "1.5"} else str
        assert {value for (value,) in rules["p"].rows()} == {kind(text) for text in texts}
        assert all(type(value) is kind for (value,) in rules["p"].rows())
