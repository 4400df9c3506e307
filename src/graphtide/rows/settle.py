"""Which Python values a column takes, and as what: each settles into one exact class.

What is accepted is what keeps its meaning:

- an int column takes ints and NumPy integers; not bools, and not floats, even whole ones;
- a float column takes ints too, if they are exact as floats;
- a timestamp has no zone: naive ones are kept as they are, aware ones are moved to UTC first;
- a microsecond is the shortest time: anything finer is refused, never rounded;
- a list is as good as a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, Final, cast

import numpy as np

from graphtide.rows.misfit import DECLARE, Misfit
from graphtide.rows.types import Kind, Type

__all__ = ["settle", "too_fine"]

_INT_END: Final = 2**63


def settle(column_type: Type, value: object) -> object:
    """The value in the exact class of its kind, None for a missing time, or a `Misfit`.

    >>> settle(Type.of(float), 3), settle(Type.of(int), np.int8(3))
    (3.0, 3)
    """
    return _SETTLE[column_type.kind](column_type, value)


def _int(column_type: Type, value: object) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        hint = "convert with int(...) if that is meant"
        if isinstance(value, bool | np.bool):
            hint = f"{DECLARE}bool, or convert with int(...)"
        elif isinstance(value, float | np.floating):
            hint = f"{DECLARE}float, or convert with int(...)"
        raise _refused(column_type, value, hint)
    result = int(value)
    if not -_INT_END < result < _INT_END:
        raise Misfit(
            value,
            "does not fit into an int column, which holds -(2**63 - 1) to 2**63 - 1",
            f"{DECLARE}str to hold integers of any size",
        )
    return result


def _float(column_type: Type, value: object) -> float:
    if not isinstance(value, float | int | np.floating | np.integer) or isinstance(value, bool):
        hint = None if isinstance(value, str) else "convert with float(...) if that is meant"
        raise _refused(column_type, value, hint)
    try:
        result = float(value)
    except OverflowError:
        result = None
    # A NaN is the one value that differs from itself.
    if result is None or (result != value and value == value):  # noqa: PLR0124
        raise Misfit(
            value,
            "is not exact as a float",
            f"convert with float(...) to round it, or {DECLARE}int or str",
        )
    return result


def _bool(column_type: Type, value: object) -> bool:
    if not isinstance(value, bool | np.bool):
        raise _refused(column_type, value, "convert with bool(...) if that is meant")
    return bool(value)


def _str(column_type: Type, value: object) -> str:
    if not isinstance(value, str):
        raise _refused(column_type, value, "convert with str(...) if that is meant")
    # What the string holds, not what a subclass (an enum, say) prints.
    return str.__str__(value)


def _bytes(column_type: Type, value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        hint = "convert with .encode()" if isinstance(value, str) else None
        raise _refused(column_type, value, hint)
    return bytes(value)


def _date(column_type: Type, value: object) -> date | None:
    if isinstance(value, np.datetime64):
        return cast("date | None", _from_numpy(column_type, value, "D"))
    if not isinstance(value, date) or isinstance(value, datetime):
        hint = "take its .date()" if isinstance(value, datetime) else "use a datetime.date"
        raise _refused(column_type, value, hint)
    return date(value.year, value.month, value.day)


def _timestamp(column_type: Type, value: object) -> datetime | None:
    if isinstance(value, np.datetime64):
        return cast("datetime | None", _from_numpy(column_type, value, "us"))
    if not isinstance(value, datetime):
        raise _refused(column_type, value, "use a datetime.datetime")
    if value != value:  # noqa: PLR0124 - pandas' NaT, a datetime that differs from itself
        return None
    if getattr(value, "nanosecond", 0):
        raise too_fine(value)
    try:
        v = value if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise _refused(column_type, value, "in UTC its year is not one of 1 to 9999") from None
    return datetime(v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond)  # noqa: DTZ001


def _tuple(column_type: Type, value: object) -> tuple[Any, ...]:
    if isinstance(value, np.ndarray):
        return tuple(cast("list[Any]", value.tolist()))
    if not isinstance(value, tuple | list):
        raise _refused(column_type, value, None)
    return tuple(cast("list[Any]", value))


def _from_numpy(column_type: Type, value: np.datetime64, unit: str) -> object:
    if np.isnat(value):
        return None
    is_date = np.datetime_data(value.dtype)[0] in {"Y", "M", "W", "D"}
    if is_date != (unit == "D"):
        raise _refused(column_type, value, f'convert it with .astype("M8[{unit}]")')
    # The year first: what lies beyond overflows in finer units.
    if not 1 <= int(value.astype("M8[Y]").astype(np.int64)) + 1970 <= 9999:
        raise _refused(column_type, value, "its year is not one of 1 to 9999")
    rounded = value.astype(f"M8[{unit}]")
    if rounded != value:
        raise too_fine(value)
    return rounded.item()


def _refused(column_type: Type, value: object, hint: str | None) -> Misfit:
    return Misfit(value, f"is not {column_type.described}", hint)


def too_fine(value: object) -> Misfit:
    """A timestamp with a fraction of a microsecond."""
    return Misfit(
        value,
        "is not a whole number of microseconds",
        'round it first, for example with .floor("us") in pandas',
    )


_SETTLE: Final[dict[Kind, Callable[[Type, object], object]]] = {
    Kind.INT: _int,
    Kind.FLOAT: _float,
    Kind.BOOL: _bool,
    Kind.STR: _str,
    Kind.BYTES: _bytes,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.TUPLE: _tuple,
}
