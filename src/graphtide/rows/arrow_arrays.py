"""Codes of Arrow arrays, without making Python values unless a value is refused or odd.

Nulls are taken out first, so that each kind's encoder sees values only. An encoder that meets an
Arrow type it does not know leaves the array to the Python values, which accept or refuse it by
the same rules as any other input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.rows.arrow_times import days_of_arrow, micros_of_arrow
from graphtide.rows.codes import NULL, Codes, codes_of_floats
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.misfit import DECLARE, Misfit, missing
from graphtide.rows.python_values import codes_of_values, tuple_at
from graphtide.rows.types import Kind, TupleType, Type, is_list

__all__ = ["codes_of_arrow"]


def codes_of_arrow(column_type: Type, dictionary: Dictionary, array: pa.Array | pa.ChunkedArray) -> Codes:
    """The codes of an Arrow array; those of an int64 array without nulls share its memory."""
    if isinstance(array, pa.ChunkedArray):
        return _chunked(column_type, dictionary, array)
    array = _plain(column_type, array)
    if not array.null_count:
        return _present(column_type, dictionary, array)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if not column_type.nullable:
        raise missing(column_type).at(valid.argmin())
    codes = np.full(len(array), NULL)
    try:
        codes[valid] = _present(column_type, dictionary, array.drop_null())
    except Misfit as misfit:
        raise misfit.at(np.flatnonzero(valid)[misfit.position]) from None
    return codes


def _chunked(column_type: Type, dictionary: Dictionary, array: pa.ChunkedArray) -> Codes:
    if array.num_chunks == 1:
        return codes_of_arrow(column_type, dictionary, array.chunk(0))
    if pa.types.is_primitive(array.type):
        # Arrow's allocator keeps its pages, where a fresh NumPy array pays for them again.
        return codes_of_arrow(column_type, dictionary, array.combine_chunks())
    codes = np.empty(len(array), np.int64)
    start = 0
    for chunk in array.chunks:
        try:
            codes[start : start + len(chunk)] = codes_of_arrow(column_type, dictionary, chunk)
        except Misfit as misfit:
            raise misfit.at(start + misfit.position) from None
        start += len(chunk)
    return codes


def _plain(column_type: Type, array: pa.Array) -> pa.Array:
    """The array without the wrappings that change its layout but not its values."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(array, pa.RunEndEncodedArray):
        array = pc.call_function("run_end_decode", [array])
    if isinstance(array, pa.DictionaryArray):
        if column_type.kind in (Kind.STR, Kind.BYTES) and not array.dictionary.null_count:
            values = _plain(column_type, array.dictionary)
            return pa.DictionaryArray.from_arrays(array.indices, values)
        array = array.dictionary_decode()
    classic = _classic(array.type)
    if classic == array.type:
        return array
    # Arrow's own cast of list views has produced broken offsets: they go through Python values.
    return pa.array(array.to_pylist(), classic) if "list_view" in str(array.type) else array.cast(classic)


def _classic(arrow: pa.DataType) -> pa.DataType:
    """The type with Arrow's younger layouts, the views, replaced by those that all kernels know."""
    if arrow == pa.string_view():
        return pa.large_string()
    if arrow == pa.binary_view():
        return pa.large_binary()
    if isinstance(arrow, pa.StructType):
        return pa.struct([(each.name, _classic(each.type)) for each in arrow])
    if is_list(arrow):
        value = _classic(arrow.value_type)
        is_view = pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow)
        return pa.large_list(value) if is_view or value != arrow.value_type else arrow
    return arrow


def _present(column_type: Type, dictionary: Dictionary, array: pa.Array) -> Codes:
    if not len(array):
        return np.empty(0, np.int64)
    codes = _ENCODERS[column_type.kind](column_type, dictionary, array)
    if codes is not None:
        return codes
    try:
        values = array.to_pylist()
    except ValueError:
        # Python has no value for this one, nanoseconds for example: no column takes it.
        raise Misfit(array[0], f"of Arrow's {array.type} is not {column_type.described}") from None
    return codes_of_values(column_type, dictionary, values)


# The encoders: arrays with values and without nulls; None for what is left to the Python values.


def _ints(_type: Type, _dictionary: Dictionary, array: pa.Array) -> Codes | None:
    if not pa.types.is_integer(array.type):
        return None
    try:
        codes = array.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if codes.min() == NULL else codes


def _floats(_type: Type, _dictionary: Dictionary, array: pa.Array) -> Codes | None:
    if pa.types.is_floating(array.type):
        return codes_of_floats(array.to_numpy())
    if not pa.types.is_integer(array.type):
        return None
    try:
        return codes_of_floats(array.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return None


def _bools(_type: Type, _dictionary: Dictionary, array: pa.Array) -> Codes | None:
    if not pa.types.is_boolean(array.type):
        return None
    return array.to_numpy(zero_copy_only=False).astype(np.int64)


def _strs(_type: Type, dictionary: Dictionary, array: pa.Array) -> Codes | None:
    if _value_type(array) not in _STRINGS:
        return None
    try:
        return dictionary.strings.intern_arrow(array)
    except UnicodeDecodeError:
        raise _not_utf8(array) from None


def _bytes(_type: Type, dictionary: Dictionary, array: pa.Array) -> Codes | None:
    held = _value_type(array)
    if held not in _BINARIES and not pa.types.is_fixed_size_binary(held):
        return None
    return dictionary.bytestrings.intern_arrow(array)


def _tuples(tuple_type: Type, dictionary: Dictionary, array: pa.Array) -> Codes | None:
    assert isinstance(tuple_type, TupleType)
    if isinstance(array, pa.StructArray) and not tuple_type.variadic:
        return _structs(tuple_type, dictionary, array)
    if is_list(array.type) and tuple_type.variadic:
        return _lists(tuple_type, dictionary, array)
    return None


def _structs(tuple_type: TupleType, dictionary: Dictionary, array: pa.StructArray) -> Codes:
    arity, fields = len(tuple_type.elements), array.flatten()
    if len(fields) != arity:
        problem = f"has {len(fields)} fields, {tuple_type.required} has {arity}"
        raise Misfit(array[0].as_py(), problem)
    elements = np.empty((len(array), arity), np.int64)
    for i, column in enumerate(fields):
        elements[:, i] = codes_of_arrow(tuple_type.elements[i], dictionary, column)
    offsets = np.arange(len(array) + 1) * arity
    return dictionary.tuples(tuple_type).intern_codes(elements.reshape(-1), offsets)


def _lists(tuple_type: TupleType, dictionary: Dictionary, array: Any) -> Codes:
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(pc.call_function("list_value_length", [array]).to_numpy(), out=offsets[1:])
    try:
        elements = codes_of_arrow(tuple_type.elements[0], dictionary, array.flatten())
    except Misfit as misfit:
        raise misfit.at(tuple_at(offsets, misfit.position)) from None
    return dictionary.tuples(tuple_type).intern_codes(elements, offsets)


def _value_type(array: pa.Array) -> pa.DataType:
    return array.type.value_type if isinstance(array, pa.DictionaryArray) else array.type


def _not_utf8(array: pa.Array) -> Misfit:
    plain = array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array
    for i, raw in enumerate(plain.cast(pa.large_binary()).to_pylist()):
        try:
            raw.decode()
        except UnicodeDecodeError:
            return Misfit(raw, "is not text in UTF-8", f"{DECLARE}bytes").at(i)
    raise AssertionError("one of the values is not UTF-8")


_STRINGS: Final = frozenset({pa.string(), pa.large_string(), pa.string_view()})
_BINARIES: Final = frozenset({pa.binary(), pa.large_binary(), pa.binary_view()})

_ENCODERS: Final[dict[Kind, Callable[[Type, Dictionary, pa.Array], Codes | None]]] = {
    Kind.INT: _ints,
    Kind.FLOAT: _floats,
    Kind.BOOL: _bools,
    Kind.STR: _strs,
    Kind.BYTES: _bytes,
    Kind.DATE: lambda column_type, _, array: days_of_arrow(column_type, array),
    Kind.TIMESTAMP: lambda column_type, _, array: micros_of_arrow(column_type, array),
    Kind.TUPLE: _tuples,
}
