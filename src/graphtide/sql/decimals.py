"""Decimals on their way in and out: as Python's, as Arrow's, and as the ints that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.rows.pandas_series import is_pandas

__all__ = ["decimals_out", "units_of", "with_units"]

_LARGEST: Final = 2**63 - 1


def with_units(rows: Any, names: tuple[str, ...], scales: Mapping[str, int]) -> Any:
    """The rows, of any make, with the decimal columns as ints of their smallest unit."""
    if not scales:
        return rows
    if isinstance(rows, list | tuple) or (not hasattr(rows, "__arrow_c_stream__") and not is_pandas(rows)):
        if isinstance(rows, Mapping):
            return {n: [_units(v, n, scales[n]) for v in c] if n in scales else c for n, c in rows.items()}
        return [_row_with_units(row, names, scales) for row in rows]
    table = pa.Table.from_pandas(rows, preserve_index=False) if is_pandas(rows) else pa.table(rows)
    columns = [
        _column_with_units(column, name, scales[name]) if name in scales else column
        for name, column in zip(table.schema.names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.schema.names)


def _column_with_units(column: pa.ChunkedArray, name: str, scale: int) -> pa.Array:
    if pa.types.is_decimal(column.type):
        return units_of(column, scale, name)
    return pa.array([_units(each, name, scale) for each in column.to_pylist()], pa.int64())


def _row_with_units(row: Any, names: tuple[str, ...], scales: Mapping[str, int]) -> Any:
    if isinstance(row, Mapping):
        return {n: _units(v, n, scales[n]) if n in scales else v for n, v in row.items()}
    if not isinstance(row, tuple | list):
        return _units(row, names[0], scales[names[0]]) if len(names) == 1 and names[0] in scales else row
    return tuple(
        _units(value, names[i], scales[names[i]]) if i < len(names) and names[i] in scales else value
        for i, value in enumerate(row)
    )


def _units(value: Any, name: str, scale: int) -> int | None:
    """A number as an int of units of 10**-scale, exactly."""
    if value is None:
        return None
    try:
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        units = exact.scaleb(scale)
        whole = int(units)
    except (InvalidOperation, TypeError, ValueError, OverflowError):
        raise SchemaError(f'{value!r} in column "{name}" is not a decimal', hint="pass a Decimal or an int") from None
    if whole != units:
        raise SchemaError(
            f'{value!r} in column "{name}" has more than {scale} digits after the point', hint="round it before"
        )
    if abs(whole) > _LARGEST:
        raise SchemaError(f'{value!r} in column "{name}" does not fit into 64 bits', hint="declare it as float")
    return whole


def units_of(column: pa.ChunkedArray | pa.Array, scale: int, name: str) -> pa.Array:
    """An Arrow column of decimals as ints of units of 10**-scale."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
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
    if (((low >> 63) != high) & present).any():
        raise SchemaError(f'a value in column "{name}" does not fit into 64 bits', hint="declare it as float")
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
