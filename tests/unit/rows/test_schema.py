"""What schemas do with their columns, and what they say when asked for others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from graphtide.errors import SchemaError
from graphtide.rows import INT, STR, Schema

CALLS = Schema({"src": int, "dst": int, "year": int | None, "kind": str})


def test_a_schema_is_a_value_with_a_short_form() -> None:
    assert repr(CALLS) == "(src: int, dst: int, year: int | None, kind: str)"
    assert Schema.of(a=int, b=str) == Schema([("a", INT), ("b", STR)])
    assert hash(Schema.of(a=int)) == hash(Schema.of(a=INT))
    assert Schema.of(a=int, b=str) != Schema.of(b=str, a=int)
    assert repr(Schema()) == "()"


def test_columns_are_found_by_name() -> None:
    assert CALLS["kind"] == STR
    assert CALLS.index("dst") == 1
    assert "src" in CALLS
    assert "x" not in CALLS
    assert list(CALLS) == ["src", "dst", "year", "kind"]
    assert len(CALLS) == 4
    assert Schema.of(a=int, b=int).is_all_int
    assert not Schema({"a": int | None}).is_all_int


def test_columns_are_selected_dropped_renamed_and_put_together() -> None:
    assert repr(CALLS.select("kind", "src")) == "(kind: str, src: int)"
    assert CALLS.drop("dst", "year") == Schema.of(src=int, kind=str)
    assert CALLS.drop() == CALLS
    assert CALLS.rename({"src": "from"}).names == ("from", "dst", "year", "kind")
    assert Schema.of(a=int).concat(Schema.of(b=str)) == Schema.of(a=int, b=str)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: CALLS["yaer"],
        lambda: CALLS.select("src", "yaer"),
        lambda: CALLS.drop("yaer"),
        lambda: CALLS.rename({"yaer": "y"}),
    ],
)
def test_an_unknown_column_is_answered_with_the_nearest(ask) -> None:
    with pytest.raises(SchemaError) as caught:
        ask()
    assert str(caught.value) == (
        'column "yaer" does not exist in (src: int, dst: int, year: int | None, kind: str)\nhint: did you mean "year"?'
    )


def test_without_a_near_name_all_are_listed() -> None:
    with pytest.raises(SchemaError, match='hint: there are "src", "dst", "year", "kind"'):
        CALLS["zzz"]
    with pytest.raises(SchemaError, match="hint: there are no columns"):
        Schema()["zzz"]


def test_names_stand_once() -> None:
    with pytest.raises(SchemaError, match='column "a" stands twice in the schema'):
        Schema([("a", int), ("a", str)])
    with pytest.raises(SchemaError, match='column "dst" stands twice'):
        CALLS.rename({"src": "dst"})
    with pytest.raises(SchemaError, match=r'column "src" stands in both .*\nhint: rename'):
        CALLS.concat(Schema.of(src=int))


@pytest.mark.parametrize("name", ["", 3, None, "a\0b", "\ud800"])
def test_a_name_is_text(name: object) -> None:
    with pytest.raises(SchemaError, match="column 0 is named"):
        Schema([(name, int)])  # type: ignore[list-item]


def test_arrow_schemas_go_in_and_out() -> None:
    assert Schema.from_arrow(CALLS.to_arrow()) == CALLS
    assert CALLS.to_arrow().field("year").nullable
    assert not CALLS.to_arrow().field("src").nullable
    assert Schema.from_arrow(pa.schema([("a", pa.string())])) == Schema({"a": str | None})
