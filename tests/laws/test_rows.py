"""Laws of the encoding: values survive it, and codes stand for values in equality and order."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as gen

from graphtide.rows import (
    NULL,
    Dictionary,
    Kind,
    Schema,
    StrInterner,
    TupleType,
    Type,
    code_of_float,
    codes_of_floats,
    decode_column,
    decode_rows,
    decode_table,
    decode_values,
    encode_column,
    encode_rows,
    floats_of_codes,
)


def form(value: Any) -> Any:
    """The value in a form that is equal for the same value only, also if it is a NaN or -0.0."""
    if isinstance(value, tuple):
        return tuple(map(form, value))
    return repr(value) if isinstance(value, float) else (type(value), value)


def normalised(value: Any) -> Any:
    """The form in which the value must come back."""
    if isinstance(value, tuple):
        return tuple(map(normalised, value))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return form(value.astimezone(UTC).replace(tzinfo=None))
    return form(value + 0.0 if isinstance(value, float) else value)


def sort_key(value: Any) -> Any:
    """Something that orders as the value must: None first, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value)
    if isinstance(value, datetime):
        return (1, value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value)
    return (1, tuple(map(sort_key, value)) if isinstance(value, tuple) else value)


def from_arrow(column_type: Type, value: Any) -> Any:
    """What Arrow hands out for a tuple, as a tuple again."""
    if value is None or not isinstance(column_type, TupleType):
        return value
    if column_type.variadic:
        return tuple(from_arrow(column_type.elements[0], each) for each in value)
    return tuple(map(from_arrow, column_type.elements, value.values()))


@given(gen.columns())
def test_values_survive(column: tuple[Type, list[Any]]) -> None:
    column_type, values = column
    dictionary = Dictionary()
    codes = encode_column(column_type, dictionary, values)
    wanted = list(map(normalised, values))
    assert list(map(form, decode_values(column_type, dictionary, codes))) == wanted
    arrow = decode_column(column_type, dictionary, codes)
    arrow.validate(full=True)
    assert arrow.type == column_type.to_arrow()
    assert arrow.null_count == values.count(None)
    assert [form(from_arrow(column_type, v)) for v in arrow.to_pylist()] == wanted


@given(gen.columns())
def test_codes_are_equal_if_and_only_if_values_are(column: tuple[Type, list[Any]]) -> None:
    column_type, values = column
    codes = encode_column(column_type, Dictionary(), values).tolist()
    forms = list(map(normalised, values))
    for code, form in zip(codes, forms, strict=True):
        assert [code == other for other in codes] == [form == other for other in forms]


@given(gen.columns())
def test_order_keys_order_as_values_do(column: tuple[Type, list[Any]]) -> None:
    column_type, values = column
    dictionary = Dictionary()
    codes = encode_column(column_type, dictionary, values)
    keys = dictionary.order_keys(column_type, codes).tolist()
    assert column_type.ordered_by_code is not column_type.is_interned
    assert column_type.is_interned or keys == codes.tolist()
    by_value = list(map(sort_key, values))
    for i, key in enumerate(keys):
        assert [key < other for other in keys] == [by_value[i] < other for other in by_value]
    assert [key == NULL for key in keys] == [value is None for value in values]


@given(gen.columns())
def test_nullability_does_not_change_codes(column: tuple[Type, list[Any]]) -> None:
    column_type, values = column
    dictionary = Dictionary()
    required = encode_column(column_type, dictionary, values).tolist()
    assert encode_column(column_type.optional, dictionary, values).tolist() == required
    assert column_type.optional.bare == column_type.bare == column_type.required.bare


@given(gen.columns())
def test_arrow_and_python_are_one_way_in(column: tuple[Type, list[Any]]) -> None:
    column_type, values = column
    dictionary = Dictionary()
    codes = encode_column(column_type, dictionary, values)
    arrow = decode_column(column_type, dictionary, codes)
    chunks = pa.chunked_array([arrow[:2], arrow[2:]])
    for source in (arrow, chunks, iter(values), tuple(values), np.array([*values, None], object)[:-1]):
        assert encode_column(column_type, dictionary, source).tolist() == codes.tolist()


@given(gen.rows(gen.column_types()))
def test_rows_survive_by_every_way_in(drawn: tuple[Schema, list[tuple[Any, ...]]]) -> None:
    schema, rows = drawn
    dictionary = Dictionary()
    codes = encode_rows(schema, dictionary, rows)
    assert codes.shape == (len(schema), len(rows))
    assert codes.flags.c_contiguous
    back = decode_rows(schema, dictionary, codes)
    assert list(map(form, back)) == list(map(normalised, rows))
    table = decode_table(schema, dictionary, codes)
    assert table.schema == schema.to_arrow()
    by_name = {name: [row[i] for row in rows] for i, name in enumerate(schema)}
    ways = [
        table,
        table.to_reader(max_chunksize=2),
        *table.combine_chunks().to_batches()[:1],
        by_name,
        iter(rows),
        [list(row) for row in rows],
    ]
    if rows:
        ways += [[dict(zip(schema, row, strict=True)) for row in rows]]
    for way in ways:
        assert encode_rows(schema, dictionary, way).tolist() == codes.tolist()


@given(gen.rows(gen.scalar_types()))
def test_data_frames_agree_with_rows(drawn: tuple[Schema, list[tuple[Any, ...]]]) -> None:
    schema, rows = drawn
    # pandas cannot tell a NaN from a missing value: where both are possible, it is the latter.
    rows = [
        tuple(None if t.nullable and v != v else v for t, v in zip(schema.types, row, strict=True))  # noqa: PLR0124
        for row in rows
    ]
    dictionary = Dictionary()
    codes = encode_rows(schema, dictionary, rows)
    table = decode_table(schema, dictionary, codes)
    objects = {name: pd.Series([row[i] for row in rows], dtype=object) for i, name in enumerate(schema)}
    ways = [
        pl.from_arrow(table),
        table.to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame(objects),
    ]
    for way in ways:
        assert encode_rows(schema, dictionary, way).tolist() == codes.tolist()


@given(gen.rows(gen.scalar_types().filter(lambda t: t.kind in _NUMPY)), st.data())
def test_numpy_agrees_with_rows(drawn: tuple[Schema, list[tuple[Any, ...]]], data: st.DataObject) -> None:
    schema, rows = drawn
    schema = Schema((name, t.required) for name, t in schema.items())
    rows = [row for row in rows if None not in row]
    dictionary = Dictionary()
    codes = encode_rows(schema, dictionary, rows)
    values = decode_rows(schema, dictionary, codes)
    dtype = np.dtype([(f"c{i}", _NUMPY[t.kind]) for i, t in enumerate(schema.types)])
    plain = Schema(zip(dtype.names or (), schema.types, strict=True))
    assert encode_rows(plain, dictionary, np.array(values, dtype)).tolist() == codes.tolist()
    width = data.draw(st.integers(1, 3))
    numbers = np.array(data.draw(st.lists(st.tuples(*[st.integers(1 - 2**63, 2**63 - 1)] * width))), np.int64).reshape(
        -1, width
    )
    ints = Schema((f"c{i}", int) for i in range(width))
    for array in (numbers, np.asfortranarray(numbers), numbers.astype(object)):
        encoded = encode_rows(ints, dictionary, array)
        assert encoded.tolist() == numbers.T.tolist()
        assert encoded.flags.c_contiguous
        assert not np.shares_memory(encoded, array)


_NUMPY = {Kind.INT: "i8", Kind.FLOAT: "f8", Kind.BOOL: "?", Kind.DATE: "M8[D]", Kind.TIMESTAMP: "M8[us]"}


@given(st.lists(gen.odd_floats() | st.floats()))
def test_float_codes_are_monotone_and_exact(values: list[float]) -> None:
    array = np.array(values)
    codes = codes_of_floats(array)
    assert NULL not in codes
    assert list(map(code_of_float, values)) == codes.tolist()
    assert list(map(form, floats_of_codes(codes).tolist())) == list(map(normalised, values))
    assert [(a == b) for a in codes for b in codes] == [normalised(a) == normalised(b) for a in values for b in values]
    by_code = [values[i] for i in np.argsort(codes, kind="stable")]
    assert list(map(repr, by_code)) == list(map(repr, sorted(values, key=sort_key)))
    assert np.array_equal(array, np.array(values), equal_nan=True), "the input is left alone"


@given(st.lists(st.lists(st.text(max_size=2), max_size=30), max_size=6))
def test_an_interner_only_grows_and_always_knows_its_order(batches: list[list[str]]) -> None:
    interner = StrInterner()
    first: dict[str, int] = {}
    for batch in batches:
        for value in batch:
            first.setdefault(value, len(first))
        assert interner.intern(batch).tolist() == [first[value] for value in batch]
        interner.check_invariants()
        ranks = interner.ranks().tolist()
        assert [ranks[first[value]] for value in sorted(first)] == list(range(len(first)))
