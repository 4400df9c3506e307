"""Values of one type as values of another, missing where one does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.texts import convert

__all__ = ["can_coerce", "coerce", "mixes_dates_and_times", "numbers_of_times", "plain", "property_type"]


def property_type(type_: pa.DataType) -> PropertyType | None:
    """The type of property that holds an Arrow type's values, None if there is none.

    >>> property_type(pa.int16()), property_type(pa.list_(pa.int8()))
    (<PropertyType.INT: 'int'>, None)
    """
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return next((wanted for wanted, tests in _TESTS.items() if any(test(type_) for test in tests)), None)


def mixes_dates_and_times(values: Iterable[Any]) -> bool:
    """Whether Python's values are dates and times, of which Arrow makes dates if a date comes first.

    >>> mixes_dates_and_times([date(2020, 1, 2), None, datetime(2020, 1, 2, 5)])
    True
    """
    # pandas' NaT is a datetime by its type, and the one that does not equal itself.
    kinds = {isinstance(value, datetime) for value in values if isinstance(value, date) and value == value}  # noqa: PLR0124
    return len(kinds) == 2


def can_coerce(given: PropertyType, wanted: PropertyType) -> bool:
    """Whether values of a type may be wanted as another."""
    return given is wanted or wanted is PropertyType.STRING or given is PropertyType.STRING or (given, wanted) in _CASTS


def plain(table: pa.Table) -> pa.Table:
    """A table without dictionaries and views, for which Arrow has few functions."""
    return pa.Table.from_arrays([_plain(column) for column in table.columns], table.column_names)


def coerce(values: pa.Array, wanted: PropertyType) -> pa.Array:
    """The values in the Arrow type of `wanted`, which must be possible.

    >>> coerce(pa.array([1.0, 2.5, None]), PropertyType.INT).to_pylist()
    [1, None, None]
    """
    if values.type == wanted.arrow:
        return values
    # A part of a file without any value has no type of its own, whatever it was taken for.
    if values.null_count == len(values):
        return pa.nulls(len(values), wanted.arrow)
    given = property_type(values.type)
    assert given is not None, f"no property has the type {values.type}"
    if given is PropertyType.STRING:
        return convert(values.cast(pa.string()), wanted)
    if wanted is PropertyType.INT:
        return _whole(values)
    values = _in_range(values, wanted)
    if wanted is PropertyType.TIMESTAMP and pa.types.is_timestamp(values.type) and values.type.tz is None:
        return values.cast(pa.timestamp("us"), safe=False).cast(wanted.arrow)
    # Not safe: an int beyond 2**53 is a float without its last digits, nanoseconds are cut to microseconds.
    return values.cast(wanted.arrow, safe=False)


def numbers_of_times(values: pa.Array) -> pa.Array:
    """Dates and times as the ints that Arrow keeps them as.

    >>> numbers_of_times(pa.array([7], pa.date32())).to_pylist()
    [7]
    """
    return (values.cast(pa.int32()) if pa.types.is_date32(values.type) else values).cast(pa.int64())


_TESTS: Final = {
    PropertyType.BOOL: (pa.types.is_boolean,),
    PropertyType.INT: (pa.types.is_integer, lambda type_: pa.types.is_decimal(type_) and type_.scale == 0),
    PropertyType.FLOAT: (pa.types.is_floating, pa.types.is_decimal),
    PropertyType.STRING: (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null),
    PropertyType.DATE: (pa.types.is_date,),
    PropertyType.TIMESTAMP: (pa.types.is_timestamp,),
}
_DAY: Final = 86_400_000_000
# Of the types that are coarser than a timestamp: by the unit of a time, or the name of a type of dates.
_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1000, "date64[ms]": 1000, "date32[day]": _DAY}
_CASTS: Final = {
    (PropertyType.INT, PropertyType.FLOAT),
    (PropertyType.FLOAT, PropertyType.INT),
    (PropertyType.DATE, PropertyType.TIMESTAMP),
}


def _whole(values: pa.Array) -> pa.Array:
    """Ints of any width and floats without a fraction, missing where one does not fit 64 bits."""
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    if pa.types.is_floating(values.type):
        # 2**63 is the first float that does not fit; NaN fits nowhere.
        is_whole = pc.and_(pc.equal(pc.trunc(values), values), pc.less(values, 2.0**63))
        fits = pc.and_(is_whole, pc.greater_equal(values, -(2.0**63)))
    else:
        fits = pc.less_equal(values, pa.scalar(2**63 - 1).cast(values.type))
        if pa.types.is_decimal(values.type):
            fits = pc.and_(fits, pc.greater_equal(values, pa.scalar(-(2**63)).cast(values.type)))
    return pc.if_else(fits, values, pa.scalar(None, values.type)).cast(pa.int64())


def _in_range(values: pa.Array, wanted: PropertyType) -> pa.Array:
    """Dates and times, missing where one does not fit the bits that `wanted` has; other values as they are."""
    unit = _MICROSECONDS.get(getattr(values.type, "unit", str(values.type)))
    if unit is None or wanted not in {PropertyType.DATE, PropertyType.TIMESTAMP}:
        return values
    # No unit divides a power of two, so the least that fits is as far away as the greatest.
    greatest = (2**31 - 1) * _DAY // unit if wanted is PropertyType.DATE else (2**63 - 1) // unit
    numbers = numbers_of_times(values)
    fits = pc.and_(pc.less_equal(numbers, greatest), pc.greater_equal(numbers, -greatest))
    return pc.if_else(fits, values, pa.scalar(None, values.type))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if property_type(type_) is PropertyType.STRING:
        type_ = pa.string()
    if column.type == type_:
        return column
    if not pa.types.is_dictionary(column.type):
        return column.cast(type_)
    decoded = [chunk.dictionary.cast(type_).take(chunk.indices.cast(pa.int64())) for chunk in column.chunks]
    return pa.chunked_array(decoded, type_)
