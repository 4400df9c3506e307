"""A column's way out: from codes to Arrow arrays or Python values.

Decoding what was encoded gives the same value back, but for the normalisations on the way in:
-0.0 comes back as 0.0, an aware timestamp as a naive one in UTC, a list as a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.rows.codes import NULL, Codes, floats_of_codes
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.types import Kind, TupleType, Type

__all__ = ["decode_column", "decode_value", "decode_values"]


def decode_column(column_type: Type, dictionary: Dictionary, codes: Codes) -> pa.Array | pa.ChunkedArray:
    """The values behind codes, in the Arrow type of `Type.to_arrow`.

    Ints share the memory of `codes`, so the caller must not change it afterwards. Text beyond two
    gigabytes comes in chunks.

    >>> decode_column(Type.of(int | None), Dictionary(), np.array([7, NULL])).to_pylist()
    [7, None]
    """
    codes = np.ascontiguousarray(codes)
    nulls = codes == NULL if column_type.nullable else None
    return _TO_ARROW[column_type.kind](column_type, dictionary, codes, nulls)


def decode_values(column_type: Type, dictionary: Dictionary, codes: Codes) -> list[Any]:
    """The values behind codes, as Python values.

    >>> decode_values(Type.of(bool), Dictionary(), np.array([0, 1]))
    [False, True]
    """
    decode = _TO_PYTHON[column_type.kind]
    nulls = codes == NULL if column_type.nullable else None
    if nulls is None or not nulls.any():
        return decode(column_type, dictionary, codes)
    present = iter(decode(column_type, dictionary, codes[~nulls]))
    return [None if null else next(present) for null in nulls.tolist()]


def decode_value(column_type: Type, dictionary: Dictionary, code: int) -> Any:
    """The value behind one code."""
    return decode_values(column_type, dictionary, np.array([code], np.int64))[0]


# To Arrow: `nulls` is a mask, or None if the column cannot hold any.

_Nulls: TypeAlias = NDArray[np.bool] | None


def _arrow_ints(_type: Type, _dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    return pa.array(codes, mask=nulls)


def _arrow_floats(_type: Type, _dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    return pa.array(floats_of_codes(codes), mask=nulls)


def _arrow_bools(_type: Type, _dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    return pa.array(codes != 0, mask=nulls)


def _arrow_dates(_type: Type, _dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    return pa.array(codes.astype(np.int32), mask=nulls).view(pa.date32())


def _arrow_timestamps(_type: Type, _dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    return pa.array(codes, mask=nulls).view(pa.timestamp("us"))


def _arrow_strs(column_type: Type, dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array | pa.ChunkedArray:
    taken = dictionary.strings.take(pa.array(codes, mask=nulls))
    return _narrowed(taken, column_type.to_arrow())


def _arrow_bytes(column_type: Type, dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array | pa.ChunkedArray:
    taken = dictionary.bytestrings.take(pa.array(codes, mask=nulls))
    return _narrowed(taken, column_type.to_arrow())


def _arrow_tuples(tuple_type: Type, dictionary: Dictionary, codes: Codes, nulls: _Nulls) -> pa.Array:
    assert isinstance(tuple_type, TupleType)
    present = codes if nulls is None else codes[~nulls]
    elements, offsets = dictionary.tuples(tuple_type).element_codes(present)
    arrow: Any = tuple_type.to_arrow()
    if tuple_type.variadic:
        values = decode_column(tuple_type.elements[0], dictionary, elements)
        places = pa.array(offsets.astype(np.int32))
        array = pa.ListArray.from_arrays(places, values, type=arrow)
    else:
        columns = elements.reshape(-1, len(tuple_type.elements)).T
        fields = [
            decode_column(element, dictionary, column)
            for element, column in zip(tuple_type.elements, columns, strict=True)
        ]
        array = pa.StructArray.from_arrays(fields, fields=list(arrow))
    if nulls is None:
        return array
    return array.take(pa.array(np.cumsum(~nulls) - 1, mask=nulls))


def _narrowed(array: pa.Array, arrow: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """An array with 64-bit offsets in the type with 32-bit ones, halved until it fits."""
    try:
        return array.cast(arrow)
    except pa.ArrowInvalid:
        middle = len(array) // 2
        halves = (_narrowed(array[:middle], arrow), _narrowed(array[middle:], arrow))
        return pa.chunked_array([c for h in halves for c in getattr(h, "chunks", [h])], arrow)


_TO_ARROW: Final[dict[Kind, Callable[[Type, Dictionary, Codes, _Nulls], pa.Array | pa.ChunkedArray]]] = {
    Kind.INT: _arrow_ints,
    Kind.FLOAT: _arrow_floats,
    Kind.BOOL: _arrow_bools,
    Kind.STR: _arrow_strs,
    Kind.BYTES: _arrow_bytes,
    Kind.DATE: _arrow_dates,
    Kind.TIMESTAMP: _arrow_timestamps,
    Kind.TUPLE: _arrow_tuples,
}


# To Python: codes without NULL.


def _ints(_type: Type, _dictionary: Dictionary, codes: Codes) -> list[Any]:
    return codes.tolist()


def _floats(_type: Type, _dictionary: Dictionary, codes: Codes) -> list[Any]:
    return floats_of_codes(codes).tolist()


def _bools(_type: Type, _dictionary: Dictionary, codes: Codes) -> list[Any]:
    return (codes != 0).tolist()


def _strs(_type: Type, dictionary: Dictionary, codes: Codes) -> list[Any]:
    return dictionary.strings.values(codes)


def _bytes(_type: Type, dictionary: Dictionary, codes: Codes) -> list[Any]:
    return dictionary.bytestrings.values(codes)


def _dates(_type: Type, _dictionary: Dictionary, codes: Codes) -> list[Any]:
    return codes.view("M8[D]").tolist()


def _timestamps(_type: Type, _dictionary: Dictionary, codes: Codes) -> list[Any]:
    return codes.view("M8[us]").tolist()


def _tuples(tuple_type: Type, dictionary: Dictionary, codes: Codes) -> list[Any]:
    assert isinstance(tuple_type, TupleType)
    elements, offsets = dictionary.tuples(tuple_type).element_codes(codes)
    if tuple_type.variadic:
        values = decode_values(tuple_type.elements[0], dictionary, elements)
        return [tuple(values[a:b]) for a, b in pairwise(offsets.tolist())]
    columns = elements.reshape(-1, len(tuple_type.elements)).T
    decoded = (
        decode_values(element, dictionary, np.ascontiguousarray(column))
        for element, column in zip(tuple_type.elements, columns, strict=True)
    )
    return list(zip(*decoded, strict=True))


_TO_PYTHON: Final[dict[Kind, Callable[[Type, Dictionary, Codes], list[Any]]]] = {
    Kind.INT: _ints,
    Kind.FLOAT: _floats,
    Kind.BOOL: _bools,
    Kind.STR: _strs,
    Kind.BYTES: _bytes,
    Kind.DATE: _dates,
    Kind.TIMESTAMP: _timestamps,
    Kind.TUPLE: _tuples,
}
