"""Codes of pandas columns, without importing pandas.

pandas writes a missing value as NaN, NaT, NA or None, and turns ints with a missing one into
floats. In an optional column all of these are None, and whole floats are ints; in a required float
column a NaN is the float NaN, in any other required column a missing value is refused.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.rows.arrow_arrays import codes_of_arrow
from graphtide.rows.codes import NULL, Codes
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.misfit import Misfit
from graphtide.rows.numpy_arrays import codes_of_numpy
from graphtide.rows.python_values import codes_of_values
from graphtide.rows.types import Kind, Type

__all__ = ["codes_of_series", "is_pandas"]

# Beyond it a float may stand for an int that was rounded when pandas converted it.
_CERTAIN: Final = 2**53


def is_pandas(data: object) -> bool:
    """Whether an object is a data frame or a column of pandas, which its maker must have imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame | pandas.Series | pandas.Index)


def codes_of_series(column_type: Type, dictionary: Dictionary, series: Any) -> Codes:
    """The codes of a pandas Series or Index."""
    if isinstance(series.dtype, np.dtype):
        if series.dtype.kind == "f" and column_type.nullable:
            return _optional_floats(column_type, dictionary, series.to_numpy())
        if series.dtype.kind != "O":
            return codes_of_numpy(column_type, dictionary, series.to_numpy())
        if column_type.kind is not Kind.STR:
            return codes_of_values(column_type, dictionary, _listed(column_type, series))
    arrow = pa.string() if column_type.kind is Kind.STR else None
    try:
        array = pa.array(series, arrow, from_pandas=True)
    except (pa.ArrowException, UnicodeError):
        return codes_of_values(column_type, dictionary, _listed(column_type, series))
    return codes_of_arrow(column_type, dictionary, array)


def _optional_floats(column_type: Type, dictionary: Dictionary, array: NDArray[Any]) -> Codes:
    is_value = ~np.isnan(array)
    present = array[is_value]
    if column_type.kind is Kind.INT:
        broken = (present % 1 != 0) | (abs(present) > _CERTAIN)
        if broken.any():
            at = int(np.flatnonzero(is_value)[int(broken.argmax())])
            hint = 'keep whole numbers in a column of dtype "Int64"'
            raise Misfit(float(array[at]), "is not an int", hint).at(at)
        present = present.astype(np.int64)
    codes = np.full(len(array), NULL)
    codes[is_value] = codes_of_numpy(column_type, dictionary, present)
    return codes


def _listed(column_type: Type, series: Any) -> list[Any]:
    values = series.tolist()
    if not column_type.nullable:
        return values
    missing = series.isna().tolist()
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]
