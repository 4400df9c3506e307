"""Loops over ints and dates, both ends included, and names with variables in them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, MINYEAR, date, timedelta
from itertools import count
from typing import Final

from graphtide.graph.schema import PropertyType
from graphtide.gvdl import syntax
from graphtide.gvdl.scope import Scope

__all__ = ["fill_in", "values_of"]

_VARIABLE: Final = re.compile(r"\$(?:\{(\w*)\}|([^\W\d]\w*))")
_DAYS: Final = {"day": 1, "week": 7}
_MONTHS: Final = {"month": 1, "year": 12}


def values_of(loop: syntax.Loop, scope: Scope) -> Iterator[syntax.Literal]:
    """The values of a loop's variable, one after the other: there may be more than anyone can hold."""
    first, last, step = loop.first.value, loop.last.value, 1 if loop.step is None else loop.step.count
    if isinstance(first, int) and isinstance(last, int):
        distance = last - first
        values: Iterable[int | date] = range(first, last + (1 if step > 0 else -1), step)
    elif isinstance(first, date) and isinstance(last, date):
        distance = last.toordinal() - first.toordinal()
        values = _dates(first, last, step, (loop.step and loop.step.unit) or "day")
    else:
        message = f"a loop cannot lead from {loop.first.type} to {loop.last.type}"
        raise scope.error(loop.last.span, message, hint="both ends are ints, or both are dates")
    _check_unit(loop, scope)
    if distance * step < 0:
        hint = "swap the ends" if step < 0 else "swap the ends, or count down with a negative step"
        raise scope.error(loop.first.span, "the loop has no values: its first end lies behind its last", hint)
    return (syntax.Literal(value, loop.first.type, span=loop.first.span) for value in values)


def fill_in(name: syntax.Name, scope: Scope) -> str:
    """A view's name with the values of its variables; the parts of a date are joined by underscores."""

    def value(found: re.Match[str]) -> str:
        literal = scope.value_of(found[1] or found[2] or "", name.span)
        return str(literal.value).replace("-", "_") if literal.type is PropertyType.DATE else str(literal.value)

    return _VARIABLE.sub(value, name.text)


def _check_unit(loop: syntax.Loop, scope: Scope) -> None:
    """Dates are some unit apart, ints are not; without a step, dates are a day apart."""
    step, is_dates = loop.step, loop.first.type is PropertyType.DATE
    if step is not None and step.unit is not None and not is_dates:
        message = f"a loop over ints has no step in {step.unit}s"
        raise scope.error(step.span, message, hint=f"write step {step.count}")
    if step is not None and step.unit is None and is_dates:
        message = "a step between dates needs a unit"
        raise scope.error(step.span, message, hint=f"write step {step.count} day, week, month or year")


def _dates(first: date, last: date, step: int, unit: str) -> Iterator[date]:
    """Dates from the first to the last.

    Months and years are counted from the first date, and a day that a month does not have is its last one: by a
    month from January 31 lies the end of February, by two months March 31.
    """
    for i in count():
        value = _later(first, i * step, unit)
        if value is None or (value > last if step > 0 else value < last):
            return
        yield value


def _later(first: date, steps: int, unit: str) -> date | None:
    """The date so many units after the first, None beyond the calendar.

    >>> _later(date(2020, 1, 31), 1, "month"), _later(date(2020, 2, 29), -1, "year")
    (datetime.date(2020, 2, 29), datetime.date(2019, 2, 28))
    """
    if unit in _DAYS:
        try:
            return first + timedelta(days=steps * _DAYS[unit])
        except OverflowError:
            return None
    years, months = divmod(first.month - 1 + steps * _MONTHS[unit], 12)
    year, month = first.year + years, months + 1
    if not MINYEAR <= year <= MAXYEAR:
        return None
    return date(year, month, min(first.day, monthrange(year, month)[1]))
