"""Codes of NumPy arrays: numbers are converted at memory speed, anything else value by value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.rows.arrow_arrays import codes_of_arrow
from graphtide.rows.codes import NULL, Codes, codes_of_floats
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.python_values import codes_of_values
from graphtide.rows.types import Kind, Type

__all__ = ["codes_of_numpy"]

# Up to here, every integer is a float.
_EXACT: Final = 2**53


def codes_of_numpy(column_type: Type, dictionary: Dictionary, array: NDArray[Any]) -> Codes:
    """The codes of a one-dimensional array; those of an int64 array are the array itself.

    A NaT is None. So is a masked value, and nothing else: a NaN is a float.
    """
    # Masks, objects, strings and whatever is not a plain number take the way of Python values.
    codes = None
    if not isinstance(array, np.ma.MaskedArray) and array.size:
        if array.dtype.kind == "M":
            return _times(column_type, dictionary, array)
        codes = _numbers(column_type.kind, array)
    return codes_of_values(column_type, dictionary, array.tolist()) if codes is None else codes


def _numbers(kind: Kind, array: NDArray[Any]) -> Codes | None:
    source = array.dtype.kind
    if kind is Kind.INT and source in "iu":
        if source == "u" and array.max() >= -NULL:
            return None
        codes = array.astype(np.int64, copy=False)
        return None if codes.min() == NULL else codes
    if kind is Kind.FLOAT and source == "f" and array.dtype.itemsize <= np.float64().itemsize:
        return codes_of_floats(array)
    if kind is Kind.FLOAT and source in "iu" and -_EXACT <= array.min() <= array.max() <= _EXACT:
        return codes_of_floats(array.astype(np.float64))
    if kind is Kind.BOOL and source == "b":
        return array.astype(np.int64)
    return None


def _times(column_type: Type, dictionary: Dictionary, array: NDArray[Any]) -> Codes:
    unit = np.datetime_data(array.dtype)[0]
    # Arrow knows days, seconds and what is finer, in the machine's byte order.
    known = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
    return codes_of_arrow(column_type, dictionary, pa.array(array.astype(f"M8[{known}]")))
