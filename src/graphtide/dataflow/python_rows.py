"""Functions of the user over rows: how their arguments are decoded and their results encoded.

Each factory gives a `Transform` or `RowsOf` of `plan`, which work on codes. An exception in a function
becomes a UserFunctionError that names the function and the values it was given; a DataError stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.dataflow.plan import Codes, RowsOf, Transform
from graphtide.errors import DataError, PlanError, SchemaError, UserFunctionError
from graphtide.rows import (
    Dictionary,
    Schema,
    TupleType,
    Type,
    decode_rows,
    decode_table,
    decode_value,
    encode_rows,
)
from graphtide.rows.misfit import shown

__all__ = [
    "collect",
    "element_type",
    "explode",
    "failure",
    "first_rows",
    "flat_map",
    "map_batches",
    "name_of",
    "reduce",
]


def name_of(function: Callable[..., Any]) -> str:
    """What to call a function in plans and errors."""
    return getattr(function, "__name__", type(function).__name__)


def map_batches(function: Callable[[Any], Any], given: Schema, result: Schema, dictionary: Dictionary) -> Transform:
    """A function of Arrow tables, row for row."""

    def transform(codes: Codes) -> tuple[Codes, Codes | None]:
        table = decode_table(given, dictionary, codes)
        try:
            answer = function(table)
        except DataError:
            raise
        except Exception as error:
            raise failure(function, f"{table.num_rows} rows", error) from error
        encoded = _encoded(function, result, dictionary, answer)
        if encoded.shape[1] != codes.shape[1]:
            raise PlanError(
                f"{name_of(function)} gave {encoded.shape[1]} rows for {codes.shape[1]}",
                hint="map_batches must give a row for each row; use where or flat_map to change their number",
            )
        return encoded, None

    return transform


def flat_map(
    function: Callable[..., Iterable[Any]], given: Schema, result: Schema, dictionary: Dictionary
) -> Transform:
    """A function of a row's values that gives rows."""

    def transform(codes: Codes) -> tuple[Codes, Codes | None]:
        rows: list[Any] = []
        origins: list[int] = []
        for i, row in enumerate(decode_rows(given, dictionary, codes)):
            before = len(rows)
            try:
                rows.extend(function(*row))
            except DataError:
                raise
            except Exception as error:
                raise failure(function, shown(row), error) from error
            origins.extend([i] * (len(rows) - before))
        return _encoded(function, result, dictionary, rows), np.array(origins, np.int64)

    return transform


def element_type(tuple_type: TupleType, column: str) -> Type:
    """The one type of all elements."""
    kinds = {element.required for element in tuple_type.elements}
    if len(kinds) != 1:
        raise PlanError(
            f'the elements of "{column}" ({tuple_type}) have no common type',
            hint='take them apart with col("...")[0], col("...")[1]',
        )
    element = kinds.pop()
    return element.optional if any(each.nullable for each in tuple_type.elements) else element


def explode(given: Schema, column: str, dictionary: Dictionary) -> Transform:
    """A row per element of a tuple; a missing tuple has none."""
    place = given.index(column)
    tuple_type = given.types[place]
    element = element_type(tuple_type, column) if isinstance(tuple_type, TupleType) else tuple_type
    only = Schema([(column, element)])

    def transform(codes: Codes) -> tuple[Codes, Codes | None]:
        tuples = [decode_value(tuple_type, dictionary, int(code)) or () for code in codes[place]]
        origins = np.repeat(np.arange(len(tuples)), [len(each) for each in tuples])
        result = codes[:, origins]
        elements = [(value,) for each in tuples for value in each]
        result[place] = encode_rows(only, dictionary, elements)[0]
        return result, origins

    return transform


def collect(element: Type, result: Type, dictionary: Dictionary) -> RowsOf:
    """All values of a key as one sorted tuple."""
    schema = Schema([("values", result)])

    def rows_of(_key: tuple[int, ...], rows: list[tuple[tuple[int, ...], int]]) -> list[tuple[int, ...]]:
        codes = np.array([row[0] for row, _ in rows], np.int64)
        order = np.argsort(dictionary.order_keys(element, codes), kind="stable")
        values: list[Any] = []
        for i in order.tolist():
            values += [decode_value(element, dictionary, int(codes[i]))] * rows[i][1]
        return [tuple(encode_rows(schema, dictionary, [(tuple(values),)])[:, 0].tolist())]

    return rows_of


def first_rows(values: Schema, most: int, dictionary: Dictionary, *, from_end: bool) -> RowsOf:
    """The first (or last) rows of a key in the order of values whose codes have another order."""

    def rows_of(_key: tuple[int, ...], rows: list[tuple[tuple[int, ...], int]]) -> list[tuple[int, ...]]:
        order = _in_order(values, dictionary, rows)
        chosen: list[tuple[int, ...]] = []
        for i in reversed(order) if from_end else order:
            row, times = rows[i]
            chosen += [row] * min(times, most - len(chosen))
        return chosen

    return rows_of


def reduce(
    function: Callable[..., Iterable[Any]],
    key: Schema,
    values: Schema,
    result: Schema,
    dictionary: Dictionary,
) -> RowsOf:
    """A function of the user: key and rows in, rows out."""

    def rows_of(key_codes: tuple[int, ...], rows: list[tuple[tuple[int, ...], int]]) -> list[tuple[int, ...]]:
        decoded_key = decode_rows(key, dictionary, np.array([key_codes], np.int64).T.reshape(len(key), 1))[0]
        ordered = [rows[i] for i in _in_order(values, dictionary, rows)]
        codes = np.array([row for row, _ in ordered], np.int64).reshape(len(rows), len(values)).T
        decoded = decode_rows(values, dictionary, np.ascontiguousarray(codes))
        counted = list(zip(decoded, (times for _, times in ordered), strict=True))
        try:
            answer = list(function(decoded_key, counted))
        except DataError:
            raise
        except Exception as error:
            raise failure(function, f"key {shown(decoded_key)}", error) from error
        encoded = _encoded(function, result, dictionary, answer)
        return list(map(tuple, encoded.T.tolist()))

    return rows_of


def _in_order(schema: Schema, dictionary: Dictionary, rows: list[tuple[tuple[int, ...], int]]) -> list[int]:
    """The places of the rows in the order of their values, None first and NaN last."""
    if not len(schema):
        return list(range(len(rows)))
    codes = np.array([row for row, _ in rows], np.int64).reshape(len(rows), len(schema))
    keys = [dictionary.order_keys(kind, codes[:, c]) for c, kind in enumerate(schema.types)]
    return np.lexsort(keys[::-1]).tolist()


def failure(function: Callable[..., Any], given: str, error: Exception) -> UserFunctionError:
    """What to raise when a function of the user has raised."""
    return UserFunctionError(
        f"{name_of(function)} failed on {given}: {type(error).__name__}: {error}",
        hint="nothing of this run was committed; mend the function or call rollback()",
    )


def _encoded(function: Callable[..., Any], result: Schema, dictionary: Dictionary, rows: Any) -> Codes:
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    try:
        return encode_rows(result, dictionary, rows)
    except SchemaError as error:
        raise UserFunctionError(f"{name_of(function)} gave a bad result: {error.message}", hint=error.hint) from error
