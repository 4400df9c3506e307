"""Rows in and out: tables of every common make to codes, and codes to Arrow or Python rows.

Named data (dicts, data frames, Arrow tables, structured arrays) is matched by column name; it may
leave out optional columns and may not bring unknown ones. Unnamed data (tuples, lists, 2-D arrays)
is matched by place. A schema of one column also takes its bare values, unless they are tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import interchange

from graphtide.errors import SchemaError
from graphtide.rows.codes import NULL, Codes
from graphtide.rows.decode import decode_column, decode_values
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.encode import encode_column
from graphtide.rows.misfit import shown
from graphtide.rows.pandas_series import is_pandas
from graphtide.rows.schema import Schema, did_you_mean
from graphtide.rows.types import Kind

__all__ = ["decode_rows", "decode_table", "encode_rows"]

_TUPLES: Final = {tuple}
_INTS: Final = {int}


def encode_rows(schema: Schema, dictionary: Dictionary, data: object) -> Codes:
    """The codes of all rows as a new C-contiguous array, one line per column.

    >>> encode_rows(Schema.of(src=int, dst=int), Dictionary(), [(1, 2), (3, 4), (5, 6)])
    array([[1, 3, 5],
           [2, 4, 6]])
    """
    if isinstance(data, list):
        return _encode_list(schema, dictionary, cast("list[Any]", data))
    if isinstance(data, np.ndarray):
        return _encode_array(schema, dictionary, data)
    if isinstance(data, Mapping):
        return _encode_named(schema, dictionary, data)
    columns = _columns(schema, data)
    if columns is not None:
        return _encode_named(schema, dictionary, columns)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _encode_list(schema, dictionary, list(data))
    raise SchemaError(
        f"{shown(data)} is not rows of {schema}",
        hint="pass a list of tuples or dicts, a dict of columns, or an Arrow, pandas, Polars or NumPy table",
    )


def decode_table(schema: Schema, dictionary: Dictionary, columns: Sequence[Codes] | Codes) -> pa.Table:
    """The rows behind codes, one line of codes per column, as an Arrow table.

    >>> codes = np.array([[1, 3], [2, 4]])
    >>> decode_table(Schema.of(src=int, dst=int), Dictionary(), codes).to_pydict()
    {'src': [1, 3], 'dst': [2, 4]}
    """
    arrays = [
        decode_column(column_type, dictionary, codes) for column_type, codes in zip(schema.types, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema.to_arrow())


def decode_rows(schema: Schema, dictionary: Dictionary, columns: Codes) -> list[tuple[Any, ...]]:
    """The rows behind codes as Python tuples.

    >>> decode_rows(Schema.of(src=int, dst=int), Dictionary(), np.array([[1, 3], [2, 4]]))
    [(1, 2), (3, 4)]
    """
    if not schema.names:
        return [()] * columns.shape[1]
    decoded = (
        decode_values(column_type, dictionary, codes) for column_type, codes in zip(schema.types, columns, strict=True)
    )
    return list(zip(*decoded, strict=True))


def _encode_list(schema: Schema, dictionary: Dictionary, rows: list[Any]) -> Codes:
    if not rows:
        return np.empty((len(schema), 0), np.int64)
    kinds = set(map(type, rows))
    if kinds == _TUPLES or all(issubclass(kind, tuple | list) for kind in kinds):
        return _encode_tuples(schema, dictionary, rows)
    if all(issubclass(kind, Mapping) for kind in kinds):
        return _encode_named(schema, dictionary, _columns_of_dicts(schema, rows))
    if len(schema) == 1 and schema.types[0].kind is not Kind.TUPLE:
        return _encode_named(schema, dictionary, {schema.names[0]: rows})
    at = next((i for i, row in enumerate(rows) if not isinstance(row, tuple | list)), 0)
    raise SchemaError(
        f"row {at} is {shown(rows[at])}, not a row of {schema}",
        hint="pass rows as a list of tuples, for example [(1, 2)], or of dicts",
    )


def _encode_tuples(schema: Schema, dictionary: Dictionary, rows: list[Any]) -> Codes:
    arity = len(schema)
    if set(map(len, rows)) != {arity}:
        at = next(i for i, row in enumerate(rows) if len(row) != arity)
        raise SchemaError(
            f"row {at} has {len(rows[at])} values, the schema {schema} has {arity}",
            hint=f"the row is {shown(rows[at])}",
        )
    if schema.is_all_int and set(map(type, chain.from_iterable(rows))) == _INTS:
        codes = _int_rows(rows, arity)
        if codes is not None:
            return codes
    result = np.empty((arity, len(rows)), np.int64)
    for i, column in enumerate(zip(*rows, strict=True)):
        result[i] = encode_column(schema.types[i], dictionary, column, schema.names[i])
    return result


def _int_rows(rows: list[Any], arity: int) -> Codes | None:
    try:
        codes = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * arity)
    except OverflowError:
        return None
    if codes[codes.argmin()] == NULL:
        return None
    return np.ascontiguousarray(codes.reshape(-1, arity).T)


def _columns_of_dicts(schema: Schema, rows: list[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    try:
        columns = {name: [row[name] for row in rows] for name in schema}
    except KeyError:
        columns = {name: [row.get(name) for row in rows] for name in schema}
    else:
        if set(map(len, rows)) == {len(schema)}:
            return columns
    for i, row in enumerate(rows):
        for name in row:
            if name not in schema:
                raise SchemaError(
                    f'row {i} has a value for "{name}", which is not in the schema {schema}',
                    hint=did_you_mean(name, schema),
                )
        for name, column_type in schema.items():
            if name not in row and not column_type.nullable:
                raise SchemaError(
                    f'row {i} has no value for "{name}"',
                    hint=f"add it, or declare the column as {column_type} | None",
                )
    return columns


def _encode_array(schema: Schema, dictionary: Dictionary, array: NDArray[Any]) -> Codes:
    if array.dtype.names is not None:
        return _encode_named(schema, dictionary, {name: array[name] for name in array.dtype.names})
    if array.ndim == 1:
        if len(schema) == 1:
            return _encode_named(schema, dictionary, {schema.names[0]: array})
        return _encode_list(schema, dictionary, array.tolist())
    if array.ndim != 2 or array.shape[1] != len(schema):
        raise SchemaError(
            f"an array of shape {array.shape} does not hold rows of {schema}",
            hint=f"its shape must be (number of rows, {len(schema)})",
        )
    if schema.is_all_int and array.dtype.kind == "i" and type(array) is np.ndarray:
        codes = array.T.astype(np.int64, order="C")
        if not codes.size or codes.min() != NULL:
            return codes
    return _encode_named(schema, dictionary, {name: array[:, i] for i, name in enumerate(schema.names)})


def _columns(schema: Schema, data: Any) -> dict[str, Any] | None:
    """The columns of a data frame or Arrow table by name, None if `data` is neither."""
    if is_pandas(data):
        if not hasattr(data, "columns"):
            return _single(schema, data)
        return _by_name(data.columns, [data.iloc[:, i] for i in range(data.shape[1])])
    if isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _by_name(data.schema.names, data.columns)
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return _single(schema, data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            table = pa.table(data)
        except (TypeError, pa.ArrowException):
            return _single(schema, data)
        return _by_name(table.schema.names, table.columns)
    if hasattr(data, "__dataframe__"):
        table = interchange.from_dataframe(data)
        return _by_name(table.schema.names, table.columns)
    return None


def _by_name(names: Iterable[Any], columns: list[Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, column in zip(names, columns, strict=True):
        if name in result:
            raise SchemaError(
                f'column "{name}" stands twice in the data',
                hint="rename or drop one of them",
            )
        result[name] = column
    return result


def _single(schema: Schema, column: object) -> dict[str, Any]:
    if len(schema) != 1:
        raise SchemaError(
            f"a single column does not hold rows of {schema}",
            hint="pass a table, or a dict of columns",
        )
    return {schema.names[0]: column}


def _encode_named(schema: Schema, dictionary: Dictionary, columns: Mapping[Any, Any]) -> Codes:
    for name in columns:
        if name not in schema:
            raise SchemaError(f'column "{name}" does not exist in {schema}', hint=did_you_mean(name, schema))
    encoded: dict[str, Codes] = {}
    for name, column_type in schema.items():
        if name in columns:
            encoded[name] = encode_column(column_type, dictionary, columns[name], name)
        elif not column_type.nullable:
            raise SchemaError(
                f'the data has no column "{name}"',
                hint=f"add it, or declare the column as {column_type} | None",
            )
    return _stacked(schema, encoded)


def _stacked(schema: Schema, encoded: dict[str, Codes]) -> Codes:
    size = max(map(len, encoded.values()), default=0)
    for name, codes in encoded.items():
        if len(codes) != size:
            longest = next(each for each in encoded if len(encoded[each]) == size)
            raise SchemaError(
                f'column "{name}" has {len(codes)} values, column "{longest}" has {size}',
                hint="all columns need one value per row",
            )
    result = np.empty((len(schema), size), np.int64)
    for i, name in enumerate(schema.names):
        result[i] = encoded.get(name, NULL)
    return result
