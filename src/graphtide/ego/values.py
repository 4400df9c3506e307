"""Columns of values and times as users give them: their type, where nobody has said it, and their codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.rows import FLOAT, INT, Dictionary, Type, encode_column
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import DECLARE, IF_MISSING, shown

__all__ = ["codes_of", "lasting", "type_of"]


def lasting(column: Any) -> Any:
    """The column, as a list if it can be looked at only once.

    >>> lasting(value for value in [4, 5])
    [4, 5]
    """
    return list(column) if isinstance(column, Iterator) else column


def type_of(values: Any, hint: str = "write values of one type, or say which with values=") -> Type | None:
    """The type of a column's values, None if it has none; of ints and floats together it is float.

    The hint is for columns that have values of several types.

    >>> type_of([1, 2.5]), type_of(np.array(["a"])), type_of(pa.array([True])), type_of([])
    (float, str, bool, None)
    """
    if isinstance(values, Sized) and len(values) == 0:
        return None
    arrow = getattr(values, "type", None)
    if isinstance(arrow, pa.DataType):
        return Type.from_arrow(arrow)
    dtype = getattr(values, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "O") != "O":
        return _of_dtype(np.dtype(dtype))
    if not isinstance(values, Iterable):
        raise SchemaError(f"{shown(values)} is not a column of values", hint="give a list, an array or the like")
    return _of_all(values, hint)


def codes_of(kind: Type, dictionary: Dictionary, values: Any, name: str, declare: str) -> Codes:
    """The codes of a column. `declare` is how users say another type, which is no column's here."""
    try:
        return encode_column(kind, dictionary, values, name)
    except SchemaError as error:
        if error.hint is not None and error.hint.endswith(IF_MISSING):
            raise SchemaError(error.message, hint="leave out what is missing") from None
        raise SchemaError(error.message, hint=error.hint and error.hint.replace(DECLARE, declare)) from None


def _of_all(values: Iterable[Any], hint: str) -> Type | None:
    """The one type of all values."""
    found: Type | None = None
    first: Any = None
    known: dict[type, Type] = {}  # a column has many values of few types
    for row, value in enumerate(values):
        kind = known.get(type(value))
        if kind is None:
            kind = known[type(value)] = _of_value(row, value)
        if found is None:
            found, first = kind, value
        elif kind != found:
            if {kind, found} != {INT, FLOAT}:
                both = f"{shown(value)} is {kind.described}, and {shown(first)} in row 0 is {found.described}"
                raise SchemaError(f"row {row}: {both}", hint=hint)
            found = FLOAT
    return found


def _of_value(row: int, value: Any) -> Type:
    if value is None:
        raise SchemaError(f"row {row}: None is not a value", hint="leave out what is missing")
    try:
        return Type.of(_plain(type(value)))
    except SchemaError as error:
        raise SchemaError(f"row {row}: {shown(value)} is not a value: {error.message}", hint=error.hint) from None


def _of_dtype(dtype: np.dtype[Any]) -> Type:
    if dtype.kind in "US":
        return Type.of(str if dtype.kind == "U" else bytes)
    return Type.from_arrow(pa.from_numpy_dtype(dtype))


def _plain(kind: type) -> object:
    """The type of Python that a scalar of NumPy stands for."""
    if issubclass(kind, np.generic):
        return _of_dtype(np.dtype(kind))
    return next((base for base in kind.__mro__ if base.__module__ in {"builtins", "datetime"}), kind)
