"""Codes of Python values.

Each kind has one class whose values are encoded in bulk; any other value is first settled into
that class (see `settle`), or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from graphtide.rows.codes import NULL, Codes, code_of_float, codes_of_floats
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.misfit import Misfit, missing
from graphtide.rows.settle import settle
from graphtide.rows.types import Kind, TupleType, Type

__all__ = ["EPOCH_ORDINAL", "codes_of_values", "tuple_at"]

EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001
_MICROSECOND: Final = timedelta(microseconds=1)
# Up to here, a loop in Python costs less than NumPy's calls.
_FEW: Final = 8


def codes_of_values(column_type: Type, dictionary: Dictionary, values: Sequence[Any]) -> Codes:
    """The codes of a sequence of values, or a `Misfit` for the first that is refused.

    >>> codes_of_values(Type.of(int | None), Dictionary(), [7, None]).tolist() == [7, NULL]
    True
    """
    exact, bulk = _BULK[column_type.kind]
    if set(map(type, values)) == exact:
        codes = bulk(column_type, dictionary, values)
        if codes is not None:
            return codes
    settled = [_settled(column_type, i, value) for i, value in enumerate(values)]
    present = [i for i, value in enumerate(settled) if value is not None]
    result = np.full(len(settled), NULL)
    if present:
        try:
            codes = bulk(column_type, dictionary, [settled[i] for i in present])
        except Misfit as misfit:
            raise misfit.at(present[misfit.position]) from None
        assert codes is not None, "a settled value is encoded"
        result[present] = codes
    return result


def _settled(column_type: Type, position: int, value: object) -> object:
    try:
        result = None if value is None else settle(column_type, value)
        if result is None and not column_type.nullable:
            raise missing(column_type)
    except Misfit as misfit:
        raise misfit.at(position) from None
    return result


def tuple_at(offsets: Codes, position: int) -> int:
    """The tuple that holds the element at this position of all elements."""
    return int(np.searchsorted(offsets, position, side="right")) - 1


# The bulk encoders: values of the exact class only, None for "settle them one by one first".


def _ints(_type: Type, _dictionary: Dictionary, values: Sequence[int]) -> Codes | None:
    try:
        codes = np.fromiter(values, np.int64, len(values))
    except OverflowError:
        return None
    return None if codes[codes.argmin()] == NULL else codes


def _floats(_type: Type, _dictionary: Dictionary, values: Sequence[float]) -> Codes:
    if len(values) < _FEW:
        return np.array([code_of_float(value) for value in values], np.int64)
    return codes_of_floats(np.array(values, np.float64))


def _bools(_type: Type, _dictionary: Dictionary, values: Sequence[bool]) -> Codes:
    return np.fromiter(values, np.int64, len(values))


def _strs(_type: Type, dictionary: Dictionary, values: Sequence[str]) -> Codes:
    return dictionary.strings.intern(values)


def _bytes(_type: Type, dictionary: Dictionary, values: Sequence[bytes]) -> Codes:
    return dictionary.bytestrings.intern(values)


def _dates(_type: Type, _dictionary: Dictionary, values: Sequence[date]) -> Codes:
    return np.fromiter(map(date.toordinal, values), np.int64, len(values)) - EPOCH_ORDINAL


def _timestamps(_type: Type, _dictionary: Dictionary, values: Sequence[datetime]) -> Codes | None:
    if any(value.tzinfo is not None for value in values):
        return None
    return np.fromiter(((value - _EPOCH) // _MICROSECOND for value in values), np.int64, len(values))


def _tuples(tuple_type: Type, dictionary: Dictionary, values: Sequence[tuple[Any, ...]]) -> Codes:
    assert isinstance(tuple_type, TupleType)
    encode = _variadic if tuple_type.variadic else _fixed
    return encode(tuple_type, dictionary, values)


def _fixed(tuple_type: TupleType, dictionary: Dictionary, values: Sequence[tuple[Any, ...]]) -> Codes:
    arity = len(tuple_type.elements)
    if set(map(len, values)) != {arity}:
        at = next(i for i, value in enumerate(values) if len(value) != arity)
        problem = f"has {len(values[at])} values, {tuple_type.required} has {arity}"
        raise Misfit(values[at], problem).at(at)
    elements = np.empty((len(values), arity), np.int64)
    for i, column in enumerate(zip(*values, strict=True)):
        elements[:, i] = codes_of_values(tuple_type.elements[i], dictionary, column)
    offsets = np.arange(len(values) + 1) * arity
    return dictionary.tuples(tuple_type).intern_codes(elements.reshape(-1), offsets)


def _variadic(tuple_type: TupleType, dictionary: Dictionary, values: Sequence[tuple[Any, ...]]) -> Codes:
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    flat = list(chain.from_iterable(values))
    try:
        elements = codes_of_values(tuple_type.elements[0], dictionary, flat)
    except Misfit as misfit:
        raise misfit.at(tuple_at(offsets, misfit.position)) from None
    return dictionary.tuples(tuple_type).intern_codes(elements, offsets)


_Bulk: TypeAlias = Callable[[Type, Dictionary, Sequence[Any]], Codes | None]

_BULK: Final[dict[Kind, tuple[set[type], _Bulk]]] = {
    Kind.INT: ({int}, _ints),
    Kind.FLOAT: ({float}, _floats),
    Kind.BOOL: ({bool}, _bools),
    Kind.STR: ({str}, _strs),
    Kind.BYTES: ({bytes}, _bytes),
    Kind.DATE: ({date}, _dates),
    Kind.TIMESTAMP: ({datetime}, _timestamps),
    Kind.TUPLE: ({tuple}, _tuples),
}
