"""Which values a column takes, and what it says about the others."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from graphtide.errors import SchemaError
from graphtide.rows import (
    DATE,
    FLOAT,
    INT,
    NULL,
    STR,
    TIMESTAMP,
    Dictionary,
    Type,
    decode_value,
    decode_values,
    encode_column,
    encode_value,
)

BIG = 2**63 - 1
NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001


class Colour(str, Enum):  # noqa: UP042 - its str() is not its value
    RED = "red"


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        (int, np.int8(-3), -3),
        (int, np.uint64(BIG), BIG),
        (int, -BIG, -BIG),
        (float, 3, 3.0),
        (float, 2**53 + 2, float(2**53 + 2)),
        (float, np.float32(0.5), 0.5),
        (bool, np.True_, True),
        (str, np.str_("a"), "a"),
        (str, Colour.RED, "red"),
        (bytes, bytearray(b"a"), b"a"),
        (bytes, memoryview(b"a"), b"a"),
        (date, np.datetime64("2024-05-01"), date(2024, 5, 1)),
        (datetime, np.datetime64("2024-05-01T12", "ns"), NOON),
        (datetime, pd.Timestamp(NOON), NOON),
        (datetime, NOON.replace(tzinfo=UTC), NOON),
        (datetime, NOON.replace(tzinfo=timezone(timedelta(hours=2))), NOON - timedelta(hours=2)),
        (datetime, pd.Timestamp(NOON, tz="Europe/Berlin"), NOON - timedelta(hours=2)),
        (datetime | None, pd.NaT, None),
        (datetime | None, np.datetime64("NaT"), None),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, ...], np.array([1, 2]), (1, 2)),
        (tuple[int, str | None], (1, None), (1, None)),
    ],
)
def test_values_that_keep_their_meaning_are_taken(annotation: Any, value: object, wanted: object) -> None:
    dictionary = Dictionary()
    code = encode_value(Type.of(annotation), dictionary, value)
    found = decode_value(Type.of(annotation), dictionary, code)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, True, "True is not an int\nhint: declare the column as bool"),
        (int, np.False_, "np.False_ is not an int\nhint: declare the column as bool"),
        (int, 1.0, "1.0 is not an int\nhint: declare the column as float"),
        (int, "1", "'1' is not an int\nhint: convert with int"),
        (int, None, "None is not an int\nhint: declare the column as int | None"),
        (int, BIG + 1, f"{BIG + 1} does not fit into an int column"),
        (int, NULL, f"{NULL} does not fit into an int column"),
        (int, np.uint64(2**63), "does not fit into an int column"),
        (float, 2**53 + 1, "9007199254740993 is not exact as a float"),
        (float, 10**400, "is not exact as a float"),
        (float, True, "True is not a float"),
        (float, "abc", "'abc' is not a float"),
        (float, Decimal(1), "Decimal('1') is not a float\nhint: convert with float"),
        (bool, 1, "1 is not a bool\nhint: convert with bool"),
        (str, b"a", "b'a' is not a str"),
        (str, 1, "1 is not a str\nhint: convert with str"),
        (bytes, "a", "'a' is not a bytes\nhint: convert with .encode()"),
        (date, NOON, "is not a date\nhint: take its .date()"),
        (date, np.datetime64("2024-05-01T12", "s"), "is not a date\nhint: convert it with .astype"),
        (datetime, date(2024, 5, 1), "is not a timestamp\nhint: use a datetime.datetime"),
        (datetime, np.datetime64("2024-05-01", "D"), "is not a timestamp"),
        (datetime, np.datetime64(1, "ns"), "is not a whole number of microseconds\nhint: round"),
        (datetime, pd.Timestamp(1, unit="ns"), "is not a whole number of microseconds"),
        (datetime, np.datetime64(2**60, "s"), "is not a timestamp\nhint: its year"),
        (datetime, datetime.min.replace(tzinfo=timezone(timedelta(hours=1))), "in UTC its year"),
        (datetime, pd.NaT, "None is not a timestamp"),
        (tuple[int, str], (1,), "(1,) has 1 values, tuple[int, str] has 2"),
        (tuple[int, str], (1, 2), "2 is not a str"),
        (tuple[int, ...], (1, "a"), "'a' is not an int"),
        (tuple[int, ...], {1: 2}, "{1: 2} is not a tuple[int, ...]"),
        (tuple[int, ...], (1, None), "None is not an int"),
    ],
)
def test_other_values_are_refused_with_advice(annotation: Any, value: object, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        encode_value(Type.of(annotation), Dictionary(), value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("annotation", "column", "message"),
    [
        (float, [1.0] * 7 + ["abc"], "row 7, column \"w\": 'abc' is not a float"),
        (int, [1, 2, BIG + 1], f'row 2, column "w": {BIG + 1} does not fit'),
        (int | None, [1, None, 2.5], 'row 2, column "w": 2.5 is not an int'),
        (str | None, [None, "a", None, "\udc00"], 'row 3, column "w"'),
        (tuple[int, ...], [(), (1, 2), (3, "x")], "row 2, column \"w\": 'x' is not an int"),
        (tuple[int, ...] | None, [None, (1,), None, ("x",)], "row 3, column \"w\": 'x'"),
        (int, np.array([1, NULL]), f'row 1, column "w": {NULL} does not fit'),
        (int, np.array([1, 2**63 + 5], np.uint64), 'row 1, column "w": 9223372036854775813 does not'),
        (int, np.array([1.0]), 'row 0, column "w": 1.0 is not an int'),
        (int, np.array([True]), 'row 0, column "w": True is not an int'),
        (float, np.array([1, 2**53 + 1]), 'row 1, column "w": 9007199254740993 is not exact'),
        (datetime, np.array(["2024", "NaT"], "M8[ns]"), 'row 1, column "w": None is not a timestamp'),
        (datetime, np.array([1000, 1], "M8[ns]"), 'row 1, column "w": np.datetime64'),
        (int, pa.array([1, None]), 'row 1, column "w": None is not an int'),
        (int, pa.array([1, 2**63], pa.uint64()), 'row 1, column "w": 9223372036854775808 does not'),
        (int, pa.array([1, NULL]), 'row 1, column "w"'),
        (int, pa.chunked_array([[1], [2, None]]), 'row 2, column "w": None'),
        (int, pa.array(["a"]), "row 0, column \"w\": 'a' is not an int"),
        (str, pa.chunked_array([["a"], ["b", None]]), 'row 2, column "w": None is not a str'),
        (float | None, pa.array([None, 2**53 + 1]), 'row 1, column "w": 9007199254740993'),
        (float, pa.array([Decimal("1.5")]), "row 0, column \"w\": Decimal('1.5') is not a float"),
        (datetime, pa.array([0, 1500], pa.timestamp("ns")), 'row 1, column "w": np.datetime64'),
        (datetime, pa.array([2**62], pa.timestamp("s")), "hint: years are 1 to 9999"),
        (date, pa.array([2**31 - 1], pa.int32()).view(pa.date32()), "hint: years are 1 to 9999"),
        (date, pa.array([NOON]), 'row 0, column "w": datetime.datetime'),
        (tuple[int, ...], pa.array([[1], [2, None]]), 'row 1, column "w": None is not an int'),
        (tuple[int, int], pa.array([{"a": 1}]), "has 1 fields, tuple[int, int] has 2"),
        (str, pa.array([1], pa.timestamp("ns")), 'row 0, column "w"'),
        (str, "abc", "column \"w\" is 'abc', not a sequence of values"),
        (int, 3, 'column "w" is 3, not a sequence of values'),
        (str, pd.Series(["a", 1]), 'row 1, column "w": 1 is not a str'),
        (int, pd.Series([1.0, None]), 'row 0, column "w": 1.0 is not an int'),
        (int | None, pd.Series([1.0, None, 1.5]), 'row 2, column "w": 1.5 is not an int'),
        (int | None, pd.Series([2.0**60, None]), 'hint: keep whole numbers in a column of dtype "Int64"'),
        (int, pd.Series([1, None], dtype="Int64"), 'row 1, column "w": None is not an int'),
    ],
)
def test_a_column_names_the_row_of_its_misfit(annotation: Any, column: object, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        encode_column(Type.of(annotation), Dictionary(), column, "w")
    assert message in str(caught.value)


def test_long_values_are_shortened_in_messages() -> None:
    with pytest.raises(SchemaError) as caught:
        encode_value(INT, Dictionary(), "x" * 10_000)
    assert len(str(caught.value)) < 200


def test_null_is_a_code_of_its_own_in_every_type() -> None:
    for annotation in (int, float, bool, str, bytes, date, datetime, tuple[int, ...], tuple[int]):
        assert encode_value(Type.of(annotation).optional, Dictionary(), None) == NULL


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D"])
def test_numpy_dates_of_every_unit_are_days(unit: str) -> None:
    dictionary = Dictionary()
    codes = encode_column(DATE, dictionary, np.array(["2024-01-04"], f"M8[{unit}]"))
    assert decode_values(DATE, dictionary, codes)[0].year == 2024


@pytest.mark.parametrize("unit", ["h", "m", "s", "ms", "us", "ns"])
def test_times_of_every_unit_are_microseconds(unit: str) -> None:
    dictionary = Dictionary()
    array = np.array([NOON, "NaT", "1969-12-31T23"], f"M8[{unit}]")
    wanted = [NOON, None, datetime(1969, 12, 31, 23)]  # noqa: DTZ001
    codes = encode_column(TIMESTAMP.optional, dictionary, array)
    assert decode_values(TIMESTAMP.optional, dictionary, codes) == wanted


def test_arrow_zones_count_in_utc() -> None:
    array = pa.array([NOON.replace(tzinfo=UTC)], pa.timestamp("ms", "Asia/Kolkata"))
    dictionary = Dictionary()
    assert decode_values(TIMESTAMP, dictionary, encode_column(TIMESTAMP, dictionary, array)) == [NOON]


def test_masked_arrays_keep_their_mask() -> None:
    array = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
    assert encode_column(INT.optional, Dictionary(), array).tolist() == [1, NULL, 3]


@pytest.mark.parametrize("kind", ["U", "S", "O", "T"])
def test_numpy_strings_of_every_kind_are_taken(kind: str) -> None:
    dtype = np.dtypes.StringDType() if kind == "T" else np.dtype(kind)
    array = np.array(["b", "a", "b"], dtype)
    wanted: Any = bytes if kind == "S" else str
    assert encode_column(Type.of(wanted), Dictionary(), array).tolist() == [0, 1, 0]


def test_other_byte_orders_are_taken() -> None:
    assert encode_column(INT, Dictionary(), np.array([1, -2], ">i8")).tolist() == [1, -2]
    assert encode_column(DATE, Dictionary(), np.array([1, -2], ">M8[D]")).tolist() == [1, -2]


@pytest.mark.parametrize(
    ("series", "annotation", "wanted"),
    [
        (pd.Series([1, None]), int | None, [1, None]),
        (pd.Series([1.5, None]), float | None, [1.5, None]),
        (pd.Series([1, None], dtype="Int64"), int | None, [1, None]),
        (pd.Series(["a", None]), str | None, ["a", None]),
        (pd.Series(["a", float("nan")]), str | None, ["a", None]),
        (pd.Series(["a", None], dtype="string"), str | None, ["a", None]),
        (pd.Series(["a", "b", "a"], dtype="category"), str, ["a", "b", "a"]),
        (pd.Series([True, None]), bool | None, [True, None]),
        (pd.Series([NOON, None]), datetime | None, [NOON, None]),
        (pd.Series([NOON.replace(tzinfo=UTC)]), datetime, [NOON]),
        (pd.Series([date(2024, 5, 1), None]), date | None, [date(2024, 5, 1), None]),
        (pd.Series([(1, "a")]), tuple[int, str], [(1, "a")]),
        (pd.Series([[1], []]), tuple[int, ...], [(1,), ()]),
        (pd.Index([3, 4]), int, [3, 4]),
        (pd.Series([1, 2]), float, [1.0, 2.0]),
    ],
)
def test_pandas_columns_are_taken_with_gaps(series: Any, annotation: Any, wanted: list[Any]) -> None:
    dictionary, column_type = Dictionary(), Type.of(annotation)
    codes = encode_column(column_type, dictionary, series)
    assert decode_values(column_type, dictionary, codes) == wanted


def test_a_nan_of_pandas_is_a_float_where_none_is_not_allowed() -> None:
    for dtype in ("float64", "object"):
        series = pd.Series([1.5, float("nan")], dtype=dtype)
        codes = encode_column(FLOAT, Dictionary(), series)
        assert str(decode_values(FLOAT, Dictionary(), codes)) == "[1.5, nan]"


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        pa.array([[1, 2], None, []], pa.large_list(pa.int32())),
        pa.array([[1, 2], None, []], pa.list_view(pa.int64())),
        pa.array([[9], [1, 2], None, []], pa.list_(pa.int64()))[1:],
    ],
)
def test_every_arrow_layout_of_lists_is_taken(array: pa.Array) -> None:
    column_type, dictionary = Type.of(tuple[int, ...] | None), Dictionary()
    codes = encode_column(column_type, dictionary, array)
    assert decode_values(column_type, dictionary, codes) == [(1, 2), None, ()]


def test_other_arrow_wrappings_are_taken_off() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    assert encode_column(STR, Dictionary(), runs).tolist() == [0, 0, 1]
    numbers = pa.array([5, 5, 6]).dictionary_encode()
    assert encode_column(INT, Dictionary(), numbers).tolist() == [5, 5, 6]
    pairs = pa.array([[1, 2]], pa.list_(pa.int64(), 2))
    dictionary, column_type = Dictionary(), Type.of(tuple[int, int])
    codes = encode_column(column_type, dictionary, pairs)
    assert decode_values(column_type, dictionary, codes) == [(1, 2)]
    assert encode_column(INT.optional, Dictionary(), pa.nulls(2)).tolist() == [NULL, NULL]
    views = pa.array([{"a": "x"}, None], pa.struct([("a", pa.string_view())]))
    assert encode_column(Type.of(tuple[str] | None), Dictionary(), views).tolist() == [0, NULL]


def test_empty_arrow_arrays_of_any_type_are_empty() -> None:
    for annotation in (int, float, bool, str, bytes, date, datetime, tuple[int], tuple[int, ...]):
        for arrow in (pa.null(), pa.int8(), pa.string(), pa.struct([("a", pa.int8()), ("b", pa.int8())])):
            assert encode_column(Type.of(annotation), Dictionary(), pa.array([], arrow)).tolist() == []


def test_int_columns_are_not_copied() -> None:
    array = np.arange(5)
    assert np.shares_memory(encode_column(INT, Dictionary(), array), array)
    arrow = pa.array(array)
    assert np.shares_memory(encode_column(INT, Dictionary(), arrow), arrow.to_numpy())
