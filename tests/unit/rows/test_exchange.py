"""Which tables are taken as rows, and what is said about the others."""

from __future__ import annotations

from collections import namedtuple
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graphtide.errors import SchemaError
from graphtide.rows import NULL, Dictionary, Schema, decode_column, decode_rows, decode_table, encode_rows
from graphtide.rows.decode import _narrowed  # pyright: ignore[reportPrivateUsage]

EDGES = Schema.of(src=int, dst=int)
WEIGHTED = Schema({"src": int, "dst": int, "w": float | None})
NAMES = Schema.of(name=str)
Edge = namedtuple("Edge", "src dst")  # noqa: PYI024


@pytest.mark.parametrize(
    "data",
    [
        [(1, 2), (3, 4)],
        [[1, 2], [3, 4]],
        [Edge(1, 2), (3, 4)],
        ((1, 2), (3, 4)),
        {(1, 2): None, (3, 4): None}.keys(),
        zip([1, 3], [2, 4], strict=True),
        [{"src": 1, "dst": 2}, {"dst": 4, "src": 3}],
        {"dst": [2, 4], "src": range(1, 4, 2)},
        {"dst": pa.array([2, 4]), "src": np.array([1, 3])},
        {"dst": pl.Series([2, 4]), "src": pd.Series([1, 3])},
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], np.int8),
        np.array([[1, 2], [3, 4]], np.uint64),
        np.array([[1, 2], [3, 4]], object),
        np.asfortranarray([[1, 2], [3, 4]]),
        np.array([(1, 2.0), (3, 4.0)], [("src", "i4"), ("dst", "f8")])[["src"]],
        np.array([(2, 1), (4, 3)], [("dst", "i4"), ("src", "u2")]),
        pa.table({"dst": [2, 4], "src": [1, 3]}),
        pa.table({"src": pa.chunked_array([[1], [3]]), "dst": pa.chunked_array([[2, 4]])}),
        pa.record_batch({"src": [1, 3], "dst": [2, 4]}),
        pa.table({"src": [1, 3], "dst": [2, 4]}).to_reader(),
        pd.DataFrame({"dst": [2, 4], "src": [1, 3]}, index=[7, 7]),
        pl.DataFrame({"dst": [2, 4], "src": [1, 3]}),
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_table_of_edges_is_taken(data: Any) -> None:
    schema = EDGES
    if isinstance(data, np.ndarray) and data.dtype.names == ("src",):
        schema, wanted = EDGES.select("src"), [[1, 3]]
    else:
        wanted = [[1, 3], [2, 4]]
    codes = encode_rows(schema, Dictionary(), data)
    assert codes.tolist() == wanted
    assert codes.dtype == np.int64
    assert codes.flags.c_contiguous


@pytest.mark.parametrize(
    "data",
    [
        ["a", "b"],
        [("a",), ("b",)],
        iter(["a", "b"]),
        {"name": ["a", "b"]},
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
        pd.Series(["a", "b"]),
        pl.Series(["a", "b"]),
        np.array(["a", "b"]),
        np.array([["a"], ["b"]]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_one_column_takes_bare_values(data: Any) -> None:
    assert encode_rows(NAMES, Dictionary(), data).tolist() == [[0, 1]]


@pytest.mark.parametrize("data", [[], (), {"src": [], "dst": []}, pa.table({"src": [], "dst": []})])
def test_no_rows_are_taken_too(data: Any) -> None:
    assert encode_rows(EDGES, Dictionary(), data).shape == (2, 0)
    assert encode_rows(EDGES, Dictionary(), np.empty((0, 2), np.int64)).shape == (2, 0)
    assert encode_rows(EDGES, Dictionary(), pd.DataFrame({"src": [], "dst": []})).shape == (2, 0)


def test_rows_without_columns_are_counted() -> None:
    codes = encode_rows(Schema(), Dictionary(), [(), ()])
    assert codes.shape == (0, 2)
    assert decode_rows(Schema(), Dictionary(), codes) == [(), ()]


def test_named_data_may_leave_out_optional_columns() -> None:
    for data in (
        [{"src": 1, "dst": 2}],
        {"src": [1], "dst": [2]},
        pa.table({"src": [1], "dst": [2]}),
        pd.DataFrame({"src": [1], "dst": [2]}),
    ):
        assert encode_rows(WEIGHTED, Dictionary(), data).tolist() == [[1], [2], [NULL]]


@pytest.mark.parametrize(
    ("schema", "data", "message"),
    [
        (
            WEIGHTED,
            [(1, 2, 0.5)] * 3 + [(1, 2)],
            "row 3 has 2 values, the schema (src: int, dst: int, w: float | None) has 3\nhint: the row is",
        ),
        (EDGES, [(1, 2), (3, True)], 'row 1, column "dst": True is not an int'),
        (EDGES, [(1, 2), (3.0, 4)], 'row 1, column "src": 3.0 is not an int'),
        (EDGES, [(1, 2), (None, 4)], 'row 1, column "src": None is not an int'),
        (EDGES, [(1, 2), (3, 2**63)], 'row 1, column "dst": 9223372036854775808 does not fit'),
        (EDGES, [(1, 2), (NULL, 1)], 'row 1, column "src": -9223372036854775808 does not fit'),
        (EDGES, (1, 2), "row 0 is 1, not a row of (src: int, dst: int)\nhint: pass rows as a list of tuples"),
        (EDGES, [(1, 2), 3], "row 1 is 3, not a row of"),
        (EDGES, ["ab"], "row 0 is 'ab', not a row of"),
        (EDGES, "ab", "'ab' is not rows of (src: int, dst: int)\nhint: pass a list of tuples or dicts"),
        (EDGES, 7, "7 is not rows of"),
        (EDGES, [{"src": 1, "dts": 2}], 'row 0 has a value for "dts", which is not in the schema'),
        (EDGES, [{"src": 1, "dst": 2, "w": 3}], 'row 0 has a value for "w", which is not in the schema'),
        (EDGES, [{"src": 1, "dst": 2}, {"src": 1}], 'row 1 has no value for "dst"'),
        (EDGES, [{"src": 1, "dst": 2}, (1, 2)], "row 0 is {'dst': 2, 'src': 1}, not a row of"),
        (EDGES, {"src": 1, "dst": 2}, 'column "src" is 1, not a sequence of values\nhint: a dict holds'),
        (
            EDGES,
            {"src": [1], "dts": [2]},
            'column "dts" does not exist in (src: int, dst: int)\nhint: did you',
        ),
        (
            EDGES,
            {"src": [1]},
            'the data has no column "dst"\nhint: add it, or declare the column as int | None',
        ),
        (EDGES, {"src": [1], "dst": [1, 2]}, 'column "src" has 1 values, column "dst" has 2'),
        (EDGES, pd.DataFrame({"src": [1], "dst": [2], "w": [3]}), 'column "w" does not exist in'),
        (EDGES, pd.DataFrame([[1, 2]]), 'column "0" does not exist in (src: int, dst: int)\nhint: there are'),
        (EDGES, pd.DataFrame([[1, 2]], columns=["src", "src"]), 'column "src" stands twice in the data'),
        (EDGES, pa.table([[1], [2]], ["src", "src"]), 'column "src" stands twice in the data'),
        (EDGES, np.zeros((3, 3), int), "an array of shape (3, 3) does not hold rows of (src: int, dst: int)"),
        (EDGES, np.zeros((3, 2)), 'row 0, column "src": 0.0 is not an int'),
        (EDGES, np.array([[1, NULL]]), 'row 0, column "dst"'),
        (EDGES, np.array([1, 2]), "row 0 is 1, not a row of"),
        (EDGES, np.array(1), "an array of shape () does not hold rows"),
        (EDGES, pa.array([1, 2]), "a single column does not hold rows of (src: int, dst: int)"),
        (EDGES, pl.Series([1, 2]), "a single column does not hold rows of"),
        (EDGES, pd.Series([1, 2]), "a single column does not hold rows of"),
        (Schema.of(p=tuple[int, int]), [(1, 2)], "row 0 has 2 values, the schema (p: tuple[int, int]) has 1"),
        (NAMES, ["a", ("b",)], "row 1, column \"name\": ('b',) is not a str"),
    ],
)
def test_what_is_no_table_of_the_schema_is_refused(schema: Schema, data: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        encode_rows(schema, Dictionary(), data)
    assert message in str(caught.value)


def test_the_rows_codes_are_the_callers_own() -> None:
    for data in (np.array([[1, 2]]), np.asfortranarray([[1, 2], [3, 4]]), np.ones((1, 2), np.int64)):
        codes = encode_rows(EDGES, Dictionary(), data)
        before = data.copy()
        codes[:] = 0
        assert (data == before).all()
    table = pa.table({"src": [1], "dst": [2]})
    encode_rows(EDGES, Dictionary(), table)[:] = 0
    assert table.to_pydict() == {"src": [1], "dst": [2]}


def test_tables_come_out_in_arrow_types() -> None:
    schema = Schema({"i": int, "s": str | None, "d": date, "p": tuple[int, str], "l": tuple[float, ...] | None})
    rows = [(1, "a", date(2024, 5, 1), (1, "x"), (0.5,)), (2, None, date(1, 1, 1), (2, "y"), None)]
    dictionary = Dictionary()
    table = decode_table(schema, dictionary, encode_rows(schema, dictionary, rows))
    assert str(table.schema) == (
        "i: int64 not null\ns: string\nd: date32[day] not null\n"
        "p: struct<_1: int64, _2: string> not null\n  child 0, _1: int64\n  child 1, _2: string\n"
        "l: list<item: double>\n  child 0, item: double"
    )
    assert table.to_pylist()[1] == {
        "i": 2,
        "s": None,
        "d": date(1, 1, 1),
        "p": {"_1": 2, "_2": "y"},
        "l": None,
    }
    assert decode_rows(schema, dictionary, encode_rows(schema, dictionary, rows)) == rows


def test_decoding_takes_lines_that_are_not_contiguous() -> None:
    codes = np.arange(12).reshape(6, 2).T
    assert decode_table(EDGES, Dictionary(), codes).column("dst").to_pylist() == [1, 3, 5, 7, 9, 11]
    strided = np.array([[0, 1, 2, 3], [NULL] * 4])[:, ::2]
    schema = Schema({"a": datetime, "b": tuple[date, ...] | None})
    micro = timedelta(microseconds=1)
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001
    assert decode_rows(schema, Dictionary(), strided) == [(epoch, None), (epoch + 2 * micro, None)]
    assert decode_table(schema, Dictionary(), strided).column("a").to_pylist() == [epoch, epoch + 2 * micro]


def test_text_beyond_32_bit_offsets_comes_in_chunks() -> None:
    class Large:
        """An array that Arrow would not cast in one piece."""

        def __init__(self, array: pa.Array) -> None:
            self.array = array

        def __len__(self) -> int:
            return len(self.array)

        def __getitem__(self, part: slice) -> Large:
            return Large(self.array[part])

        def cast(self, arrow: pa.DataType) -> pa.Array:
            if len(self.array) > 2:
                raise pa.ArrowInvalid("too large")
            return self.array.cast(arrow)

    large: Any = Large(pa.array(list("abcde"), pa.large_string()))
    narrowed = _narrowed(large, pa.string())
    assert narrowed.num_chunks > 1
    assert narrowed.type == pa.string()
    assert narrowed.to_pylist() == list("abcde")


def test_decoding_one_column_shares_ints() -> None:
    codes = np.arange(4)
    assert np.shares_memory(decode_column(EDGES["src"], Dictionary(), codes).to_numpy(), codes)
