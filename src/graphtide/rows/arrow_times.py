"""Dates and timestamps of Arrow, in all of its units, as days and microseconds since 1970.

A timestamp with a zone is a number of ticks in UTC already, one without is a number of ticks in
its own time: both are taken as they are. Years are 1 to 9999, so that every value that comes in
goes out as a Python date too.
"""

from __future__ import annotations

from datetime import date
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.rows.codes import Codes
from graphtide.rows.misfit import Misfit
from graphtide.rows.python_values import EPOCH_ORDINAL
from graphtide.rows.settle import too_fine
from graphtide.rows.types import Type

__all__ = ["days_of_arrow", "micros_of_arrow"]

_MICROS: Final = 1_000_000
_TICKS_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": _MICROS, "ns": 1_000_000_000}
_FIRST_DAY: Final = date.min.toordinal() - EPOCH_ORDINAL
_END_DAY: Final = date.max.toordinal() - EPOCH_ORDINAL + 1
_SECONDS_PER_DAY: Final = 86_400


def days_of_arrow(column_type: Type, array: pa.Array) -> Codes | None:
    """The days of an array of dates without nulls, None if it holds something else."""
    if not pa.types.is_date(array.type):
        return None
    days = array.cast(pa.date32()).view(pa.int32()).to_numpy().astype(np.int64)
    _check_years(column_type, days, _FIRST_DAY, _END_DAY, "D")
    return days


def micros_of_arrow(column_type: Type, array: pa.Array) -> Codes | None:
    """The microseconds of an array of timestamps without nulls, None if it holds something else."""
    if not isinstance(array.type, pa.TimestampType):
        return None
    unit = array.type.unit
    per_second = _TICKS_PER_SECOND[unit]
    per_day = per_second * _SECONDS_PER_DAY
    ticks = array.view(pa.int64()).to_numpy()
    # Before scaling, which would overflow for the years that are refused here.
    _check_years(column_type, ticks, _FIRST_DAY * per_day, _END_DAY * per_day, unit)
    if per_second <= _MICROS:
        return ticks * (_MICROS // per_second)
    fractions = ticks % (per_second // _MICROS)
    if fractions.any():
        at = int((fractions != 0).argmax())
        raise too_fine(ticks.view(f"M8[{unit}]")[at]).at(at)
    return ticks // (per_second // _MICROS)


def _check_years(column_type: Type, ticks: Codes, first: int, end: int, unit: str) -> None:
    outside = (ticks < first) | (ticks >= end)
    if outside.any():
        at = int(outside.argmax())
        value = ticks.view(f"M8[{unit}]")[at]
        hint = "years are 1 to 9999, as in Python"
        raise Misfit(value, f"is not {column_type.described}", hint).at(at)
