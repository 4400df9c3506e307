"""Text to values: the types that are found and the values that are read, against plain Python.

Nothing here starts Spark: these functions run in its tasks.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.coerce import can_coerce, coerce, property_type
from graphtide.pipeline.ingest.dialect import Dialect
from graphtide.pipeline.ingest.kinds import kinds_of, settled
from graphtide.pipeline.ingest.lines import cut_lines, data_lines, split_line
from graphtide.pipeline.ingest.texts import convert

BLANKS = " \t\n\v\f\r"
INTS = st.integers(-(2**63), 2**63 - 1)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8)
WRITTEN = st.one_of(
    INTS.map(str),
    st.integers().map(str),
    st.floats().map(str),
    st.floats(allow_nan=False).map("{:.3f}".format),
    st.sampled_from(
        ["true", "false", "True", "FALSE", "yes", "0", "007", "+7", "-0", "1.", ".5", ".", "-", "1e5", "e5"]
    ),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(
        ["2020-02-30", "2020-01-01T03:04", "2020-01-01T03:04:05Z", "2020-01-01 03:04:05.5+01:00", "20200101"]
    ),
    WORDS,
)
COLUMNS = st.lists(st.none() | WRITTEN, max_size=6) | st.lists(
    st.sampled_from([None, "", " "]) | INTS.map(str), max_size=6
)


def is_int(text: str) -> bool:
    return re.fullmatch("0|-?[1-9][0-9]*", text) is not None and -(2**63) <= int(text) < 2**63


def is_float(text: str) -> bool:
    if re.fullmatch("-?[0-9]+", text):
        return is_int(text) or text == "-0"
    number = r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
    return re.fullmatch(number, text) is not None or re.fullmatch("-?(inf|Infinity|nan|NaN)", text) is not None


def is_date(text: str) -> bool:
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_timestamp(text: str) -> bool:
    time = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?"
    found = re.fullmatch(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})([ T]{time})?", text)
    if found is None or not is_date(found[1]):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def naive_type(values: list[str | None]) -> PropertyType:
    """The type of a column by looking at one value after the other."""
    texts = [value.strip(BLANKS) for value in values if value is not None and value.strip(BLANKS)]
    tests = {
        PropertyType.BOOL: lambda text: text in {"true", "false", "True", "False", "TRUE", "FALSE"},
        PropertyType.INT: is_int,
        PropertyType.FLOAT: is_float,
        PropertyType.DATE: is_date,
        PropertyType.TIMESTAMP: is_timestamp,
    }
    return next((type_ for type_, test in tests.items() if texts and all(map(test, texts))), PropertyType.STRING)


@given(COLUMNS)
def test_the_type_of_a_column_is_the_one_that_all_its_values_have(values: list[str | None]) -> None:
    assert settled([kinds_of(pa.array(values, pa.string()))]) == naive_type(values)


@given(COLUMNS, st.lists(st.integers(0, 6), max_size=3))
def test_the_type_of_a_column_does_not_depend_on_how_it_is_cut(values: list[str | None], cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    pieces = [values[begin:end] for begin, end in pairwise(bounds)]
    whole = settled([kinds_of(pa.array(values, pa.string()))])
    assert settled([kinds_of(pa.array(piece, pa.string())) for piece in pieces]) == whole


def test_one_value_far_down_decides_the_type_of_a_column() -> None:
    ints = [str(i) for i in range(1000)]
    assert settled([kinds_of(pa.array([*ints, "0.5"]))]) is PropertyType.FLOAT
    assert settled([kinds_of(pa.array([*ints, "007"]))]) is PropertyType.STRING
    assert settled([kinds_of(pa.array([*["2020-01-01"] * 1000, "2020-01-01 00:00"]))]) is PropertyType.TIMESTAMP


@given(st.lists(st.none() | WRITTEN, max_size=6), st.sampled_from(list(PropertyType)))
def test_values_of_the_found_type_are_read_as_python_reads_them(values: list[str | None], other: PropertyType) -> None:
    found = naive_type(values)
    readers = {
        PropertyType.BOOL: lambda text: text.lower() == "true",
        PropertyType.INT: int,
        PropertyType.FLOAT: float,
        PropertyType.DATE: date.fromisoformat,
        PropertyType.TIMESTAMP: lambda text: (
            datetime.fromisoformat(text).astimezone(UTC)
            if datetime.fromisoformat(text).tzinfo
            else datetime.fromisoformat(text).replace(tzinfo=UTC)
        ),
    }
    read = convert(pa.array(values, pa.string()), found)
    assert read.type == found.arrow
    if found is PropertyType.STRING:
        assert read.to_pylist() == values
    else:
        stripped = [(value or "").strip(BLANKS) for value in values]
        expected = [readers[found](text) if text else None for text in stripped]
        # As texts: NaN differs from itself.
        assert list(map(str, read.to_pylist())) == list(map(str, expected))
    # Whatever else is wanted of them, as many come back, and in that type.
    forced = convert(pa.array(values, pa.string()), other)
    assert (forced.type, len(forced)) == (other.arrow, len(values))


@given(st.lists(st.none() | WRITTEN, min_size=1, max_size=6))
def test_a_text_fits_a_wanted_type_whatever_stands_beside_it(values: list[str | None]) -> None:
    for wanted in PropertyType:
        together = convert(pa.array(values, pa.string()), wanted).to_pylist()
        alone = [convert(pa.array([value], pa.string()), wanted)[0].as_py() for value in values]
        assert list(map(str, together)) == list(map(str, alone))


def test_a_wanted_type_is_generous() -> None:
    texts = pa.array(["+7", "007", " 8 ", "yes", "0x1F", "99999999999999999999", "2020-02-30", None])
    assert convert(texts, PropertyType.INT).to_pylist() == [7, 7, 8, None, None, None, None, None]
    assert convert(texts, PropertyType.BOOL).to_pylist() == [None, None, None, True, None, None, None, None]
    assert convert(texts, PropertyType.DATE).null_count == len(texts)


@given(st.lists(st.lists(st.text(st.sampled_from('ab,"| é#'), max_size=5), min_size=2, max_size=2), max_size=8))
def test_lines_are_cut_as_the_csv_module_writes_them(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    lines = pa.array(text.getvalue().split("\n")[:-1], pa.string())
    dialect = Dialect(",", '"', None, has_header=False)
    cut = cut_lines(lines, data_lines(lines, dialect), dialect, 2)
    assert cut.bad == {}
    assert [[value or "" for value in row] for row in zip(*(c.to_pylist() for c in cut.columns), strict=True)] == rows
    assert [split_line(line, dialect) for line in lines.to_pylist()] == rows


@given(st.lists(st.text(st.sampled_from('ab,"'), min_size=1, max_size=8), max_size=5))
def test_what_a_line_is_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    dialect = Dialect(",", '"', None, has_header=False)

    def cut(lines: list[str]) -> list[tuple[Any, ...]]:
        array = pa.array(lines, pa.string())
        fields = cut_lines(array, data_lines(array, dialect), dialect, 2)
        rows = dict(zip(fields.lines.tolist(), zip(*(c.to_pylist() for c in fields.columns), strict=True), strict=True))
        return [rows.get(i, fields.bad.get(i)) for i in range(len(lines))]

    assert cut(texts) == [cut([text])[0] for text in texts]


def test_a_line_that_cannot_be_cut_has_a_reason_and_spares_its_neighbours() -> None:
    dialect = Dialect(",", '"', "#", has_header=False)
    written = [
        b"1,2",
        b"",
        b"# no row",
        b'"a,b",c',
        b'"open,2',
        b"3,4",
        b"1,2,3",
        b"1",
        b'5" x,"abc',
        b"\xff,1",
        b'5" d,6',
        b"  ",
    ]
    lines = pa.Array.from_buffers(pa.string(), len(written), pa.array(written, pa.binary()).buffers())
    cut = cut_lines(lines, data_lines(lines, dialect), dialect, 2)
    rows = list(zip(cut.lines.tolist(), *(c.to_pylist() for c in cut.columns), strict=True))
    assert rows == [(0, "1", "2"), (3, "a,b", "c"), (5, "3", "4"), (10, '5" d', "6")]
    assert cut.bad == {
        4: "a quote is not closed on its line",
        6: "3 fields, expected 2",
        7: "1 field, expected 2",
        8: "a quote is not closed on its line",
        9: "the line is not UTF-8",
    }


def test_any_number_of_blanks_separates_if_nothing_else_is_said() -> None:
    dialect = Dialect(None, None, "#", has_header=False)
    lines = pa.array(["1 2", "3\t4", "  5 \t 6  ", "\t", " # x", "7 8 9"])
    cut = cut_lines(lines, data_lines(lines, dialect), dialect, 2)
    assert [c.to_pylist() for c in cut.columns] == [["1", "3", "5"], ["2", "4", "6"]]
    assert cut.bad == {5: "3 fields, expected 2"}


SECOND = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "wanted", "expected"),
    [
        (pa.array([1, 2], pa.uint8()), PropertyType.INT, [1, 2]),
        (pa.array([2**64 - 1, 5], pa.uint64()), PropertyType.INT, [None, 5]),
        (pa.array([1.0, 2.5, float("nan"), 1e300, -(2.0**63)]), PropertyType.INT, [1, None, None, None, -(2**63)]),
        (pa.array([2**60 + 1]), PropertyType.FLOAT, [float(2**60)]),
        (pa.array([7, None]), PropertyType.STRING, ["7", None]),
        (pa.array(["7", "x"], pa.large_string()), PropertyType.INT, [7, None]),
        (pa.array([date(2020, 1, 2)]), PropertyType.TIMESTAMP, [datetime(2020, 1, 2, tzinfo=UTC)]),
        (pa.array([1], pa.timestamp("s")), PropertyType.TIMESTAMP, [SECOND]),
        (
            pa.array([1500], pa.timestamp("ns", "Asia/Tokyo")),
            PropertyType.TIMESTAMP,
            [datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)],
        ),
        (pa.array([2**58 + 77, 1, -(2**58)], pa.timestamp("s")), PropertyType.TIMESTAMP, [None, SECOND, None]),
        (pa.array([2**62, 1000], pa.timestamp("ms", "Asia/Tokyo")), PropertyType.TIMESTAMP, [None, SECOND]),
        (pa.array([2**31 - 1, 0], pa.date32()), PropertyType.TIMESTAMP, [None, datetime(1970, 1, 1, tzinfo=UTC)]),
        (pa.array([2**60, 0], pa.date64()), PropertyType.TIMESTAMP, [None, datetime(1970, 1, 1, tzinfo=UTC)]),
        (pa.array([2**60, 0], pa.date64()), PropertyType.DATE, [None, date(1970, 1, 1)]),
        (pa.nulls(2), PropertyType.BOOL, [None, None]),
    ],
)
def test_values_of_other_types_are_taken_where_they_fit(
    values: pa.Array, wanted: PropertyType, expected: list[object]
) -> None:
    given_type = property_type(values.type)
    assert given_type is not None
    assert can_coerce(given_type, wanted)
    read = coerce(values, wanted)
    assert read.type == wanted.arrow
    assert read.to_pylist() == expected


def test_types_without_a_sensible_reading_are_not_taken_for_each_other() -> None:
    assert not can_coerce(PropertyType.INT, PropertyType.TIMESTAMP)
    assert not can_coerce(PropertyType.BOOL, PropertyType.INT)
    assert property_type(pa.list_(pa.int64())) is None
    assert property_type(pa.binary()) is None
