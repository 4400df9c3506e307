"""A column's way in: from any sequence of values to codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import SchemaError
from graphtide.rows.arrow_arrays import codes_of_arrow
from graphtide.rows.codes import Codes
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.misfit import Misfit, shown
from graphtide.rows.numpy_arrays import codes_of_numpy
from graphtide.rows.pandas_series import codes_of_series, is_pandas
from graphtide.rows.python_values import codes_of_values
from graphtide.rows.types import TupleType, Type

__all__ = ["encode_column", "encode_value"]


def encode_column(column_type: Type, dictionary: Dictionary, values: object, name: str = "value") -> Codes:
    """The codes of a list, iterable, NumPy, Arrow, pandas or Polars column.

    They may share the memory of `values`, so the caller must not write to them.

    >>> encode_column(Type.of(str), Dictionary(), ["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    try:
        return _codes(column_type, dictionary, values, name)
    except Misfit as misfit:
        raise misfit.in_column(name) from None


def encode_value(column_type: Type, dictionary: Dictionary, value: object) -> int:
    """The code of one value.

    >>> encode_value(Type.of(bool), Dictionary(), True)
    1
    """
    try:
        return int(codes_of_values(column_type, dictionary, [value])[0])
    except Misfit as misfit:
        raise misfit.alone() from None


def _codes(
    column_type: Type,
    dictionary: Dictionary,
    values: Any,
    name: str,
) -> Codes:
    if isinstance(values, list | tuple):
        return codes_of_values(column_type, dictionary, values)
    if isinstance(values, np.ndarray):
        _check_dimensions(column_type, values, name)
        return codes_of_numpy(column_type, dictionary, values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return codes_of_arrow(column_type, dictionary, values)
    if is_pandas(values):
        return codes_of_series(column_type, dictionary, values)
    if hasattr(values, "__arrow_c_stream__"):
        return codes_of_arrow(column_type, dictionary, pa.chunked_array(values))
    if hasattr(values, "__arrow_c_array__"):
        return codes_of_arrow(column_type, dictionary, pa.array(values))
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        return codes_of_values(column_type, dictionary, list(values))
    raise SchemaError(
        f'column "{name}" is {shown(values)}, not a sequence of values',
        hint="a dict holds one sequence per column; for a single row write [{...}]",
    )


def _check_dimensions(column_type: Type, values: NDArray[Any], name: str) -> None:
    """Raise an error if an array has no row for each value; those of tuples may have rows of their own."""
    if values.ndim == 1 or (values.ndim > 1 and isinstance(column_type, TupleType)):
        return
    raise SchemaError(
        f'column "{name}" is an array of {values.ndim} dimensions, not a sequence of values',
        hint="give one of 1 dimension, for example by array.ravel()",
    )
