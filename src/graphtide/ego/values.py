"""The type that values have, where nobody has said it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.rows import FLOAT, INT, Type
from graphtide.rows.misfit import shown

__all__ = ["type_of"]


def type_of(values: Any) -> Type:
    """The type of a column's values; of ints and floats together it is float.

    >>> type_of([1, 2.5]), type_of(np.array(["a"])), type_of(pa.array([True]))
    (float, str, bool)
    """
    arrow = getattr(values, "type", None)
    if isinstance(arrow, pa.DataType):
        return Type.from_arrow(arrow)
    dtype = getattr(values, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "O") != "O":
        return _of_dtype(np.dtype(dtype))
    if not isinstance(values, Iterable):
        raise SchemaError(f"{shown(values)} is not a column of values")
    kinds = {Type.of(_plain(type(value))) for value in values}
    if kinds == {INT, FLOAT}:
        return FLOAT
    if len(kinds) != 1:
        names = ", ".join(sorted(map(repr, kinds))) or "nothing"
        raise SchemaError(f"there are values of {names}", hint="write values of one type, or say which with values=")
    return kinds.pop()


def _of_dtype(dtype: np.dtype[Any]) -> Type:
    if dtype.kind in "US":
        return Type.of(str if dtype.kind == "U" else bytes)
    return Type.from_arrow(pa.from_numpy_dtype(dtype))


def _plain(kind: type) -> object:
    """The type of Python that a scalar of NumPy stands for."""
    if issubclass(kind, np.generic):
        return _of_dtype(np.dtype(kind))
    return next((base for base in kind.__mro__ if base.__module__ in {"builtins", "datetime"}), kind)
