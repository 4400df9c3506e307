"""Decimals on their way in and out: as Python's, as Arrow's, and as the ints that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.rows.pandas_series import is_pandas
from graphtide.sql.types import SqlType

__all__ = ["decimals_out", "units_of", "with_units"]

# No digit that is given may be lost before it is looked at.
_EXACT: Final = Context(prec=10_000)


def with_units(rows: Any, names: tuple[str, ...], decimals: Mapping[str, SqlType]) -> Any:
    """The rows, of any make, with the decimal columns as ints of their smallest unit."""
    if not decimals:
        return rows
    if isinstance(rows, list | tuple) or (not hasattr(rows, "__arrow_c_stream__") and not is_pandas(rows)):
        if isinstance(rows, Mapping):
            return {n: _values_with_units(c, n, decimals[n]) if n in decimals else c for n, c in rows.items()}
        # What is no rows at all is refused where rows are read.
        return [_row_with_units(row, names, decimals) for row in rows] if isinstance(rows, Iterable) else rows
    table = pa.Table.from_pandas(rows, preserve_index=False) if is_pandas(rows) else pa.table(rows)
    columns = [
        _column_with_units(column, name, decimals[name]) if name in decimals else column
        for name, column in zip(table.schema.names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.schema.names)


def _values_with_units(values: Any, name: str, of: SqlType) -> Any:
    return [_units(each, name, of) for each in values] if isinstance(values, Iterable) else values


def _column_with_units(column: pa.ChunkedArray, name: str, of: SqlType) -> pa.Array:
    if pa.types.is_decimal(column.type):
        return units_of(column, of, name)
    return pa.array([_units(each, name, of) for each in column.to_pylist()], pa.int64())


def _row_with_units(row: Any, names: tuple[str, ...], decimals: Mapping[str, SqlType]) -> Any:
    if isinstance(row, Mapping):
        return {n: _units(v, n, decimals[n]) if n in decimals else v for n, v in row.items()}
    if not isinstance(row, tuple | list):
        return _units(row, names[0], decimals[names[0]]) if len(names) == 1 and names[0] in decimals else row
    return tuple(
        _units(value, names[i], decimals[names[i]]) if i < len(names) and names[i] in decimals else value
        for i, value in enumerate(row)
    )


def _units(value: Any, name: str, of: SqlType) -> int | None:
    """A number as an int of the smallest units of a decimal, exactly."""
    if value is None:
        return None
    try:
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        units = exact.scaleb(of.scale or 0, _EXACT)
        whole = int(units)
    except (InvalidOperation, TypeError, ValueError, OverflowError):
        raise SchemaError(f'{value!r} in column "{name}" is not a decimal', hint="pass a Decimal or an int") from None
    if whole != units:
        raise SchemaError(
            f'{value!r} in column "{name}" has more than {of.scale} digits after the point', hint="round it before"
        )
    if abs(whole) >= 10**of.precision:
        raise _too_wide(repr(value), name, of)
    return whole


def _too_wide(value: str, name: str, of: SqlType) -> SchemaError:
    digits = of.precision - (of.scale or 0)
    return SchemaError(
        f'{value} in column "{name}" does not fit into {of}, which has {digits} digits before the point',
        hint="declare the column with more digits, or as float",
    )


def units_of(column: pa.ChunkedArray | pa.Array, of: SqlType, name: str) -> pa.Array:
    """An Arrow column of decimals as ints of the smallest units of a decimal."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    scale = of.scale or 0
    try:
        # What has the scale already lies as it should.
        is_so = pa.types.is_decimal128(column.type) and column.type.scale == scale
        wide = column if is_so else column.cast(pa.decimal128(38, scale))
    except pa.ArrowInvalid:
        raise SchemaError(
            f'column "{name}" has more than {scale} digits after the point', hint="round it before"
        ) from None
    halves = np.frombuffer(wide.buffers()[1], np.int64)[2 * wide.offset : 2 * (wide.offset + len(wide))]
    low, high = halves[::2], halves[1::2]
    present = wide.is_valid().to_numpy(zero_copy_only=False)
    most = 10**of.precision
    misfits = (((low >> 63) != high) | (low >= most) | (low <= -most)) & present
    if misfits.any():
        raise _too_wide(str(wide[int(np.argmax(misfits))]), name, of)
    return pa.array(low, mask=~present)


def decimals_out(units: pa.ChunkedArray | pa.Array, to: pa.DataType) -> pa.Array:
    """Ints of smallest units as an Arrow column of decimals."""
    if isinstance(units, pa.ChunkedArray):
        units = units.combine_chunks()
    present = units.is_valid().to_numpy(zero_copy_only=False)
    low = units.fill_null(0).to_numpy(zero_copy_only=False)
    halves = np.empty(2 * len(low), np.int64)
    halves[::2], halves[1::2] = low, low >> 63
    mask = None if present.all() else pa.array(present).buffers()[1]
    return pa.Array.from_buffers(to, len(low), [mask, pa.py_buffer(halves)])
