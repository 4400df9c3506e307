"""Intervals: constants that are added to dates and timestamps. Months come first, as the calendar counts them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, lit
from graphtide.dataflow.expressions.strings import add_months
from graphtide.errors import SqlError
from graphtide.rows import Kind
from graphtide.sql.scalar import TIMES, Scalar
from graphtide.sql.spelling import place_of, spelled

__all__ = ["Interval", "interval_of", "outside_years", "shifted"]

_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_MICROS: Final = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
# From the first year to the last one.
_MOST_MONTHS: Final = 12 * 9999
_LONGEST: Final = date.max - date.min + timedelta(days=1)
_YEARS: Final = "dates and timestamps are of the years 1 to 9999"


@dataclass(frozen=True, slots=True)
class Interval:
    """So many months, then so much time."""

    months: int
    time: timedelta

    def __neg__(self) -> Interval:
        return Interval(-self.months, -self.time)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.months + other.months, self.time + other.time)


def interval_of(node: Syntax) -> Interval | None:
    """The interval that an expression is, None if it is something else.

    >>> import sqlglot
    >>> interval_of(sqlglot.parse_one("interval '1 year 2 days'", dialect="duckdb"))
    Interval(months=12, time=datetime.timedelta(days=2))
    """
    if isinstance(node, exp.Paren):
        return interval_of(node.this)
    if isinstance(node, exp.Neg):
        inner = interval_of(node.this)
        return None if inner is None else -inner
    if not isinstance(node, exp.Interval):
        return None
    unit = node.args.get("unit")
    if unit is not None and not isinstance(unit, exp.Var):
        raise SqlError(f"{node.sql(dialect='duckdb')} is not supported", hint="write interval '3' month")
    text = f"{_number(node)} {unit.name}" if unit is not None else node.this.name
    result = Interval(0, timedelta())
    parts: list[tuple[str, str]] = re.findall(r"([+-]?\d+)\s*([a-zA-Z]+)", text)
    if not parts or re.sub(r"([+-]?\d+)\s*([a-zA-Z]+)", "", text).strip():
        raise SqlError(f"{spelled(node)} is not an interval", hint="write interval '3' month")
    try:
        for count, name in parts:
            result += _span(int(count), name)
    except OverflowError:
        result = Interval(_MOST_MONTHS + 1, timedelta())
    if abs(result.months) > _MOST_MONTHS or abs(result.time) > _LONGEST:
        raise SqlError(f"{place_of(node)}{spelled(node)} is longer than all years that there are", hint=_YEARS)
    return result


def _span(count: int, name: str) -> Interval:
    singular = name.lower().removesuffix("s")
    if singular in _MONTHS:
        return Interval(count * _MONTHS[singular], timedelta())
    if singular in _MICROS:
        return Interval(0, count * _MICROS[singular])
    raise SqlError(f'an interval has no unit "{name}"', hint=f"use {', '.join([*_MONTHS, *_MICROS])}")


def _number(node: exp.Interval) -> str:
    inner = node.this
    if isinstance(inner, exp.Literal):
        return inner.name
    if isinstance(inner, exp.Neg) and isinstance(inner.this, exp.Literal):
        return f"-{inner.this.name}"
    raise SqlError(
        f"{spelled(node)} is not a constant, and intervals of columns are not supported",
        hint="add days as a BIGINT: d + x",
    )


def shifted(moment: Scalar, by: Interval, node: Syntax) -> Scalar:
    """A date or timestamp later by an interval: a timestamp. The node is where that stands."""
    if moment.type.kind not in {Kind.DATE, Kind.TIMESTAMP}:
        raise SqlError(f"cannot add an interval to {moment.type}", hint="cast it to DATE or TIMESTAMP")
    value = moment.literal
    if isinstance(value, date):
        at = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
        try:
            return Scalar(lit(add_months(at, by.months) + by.time), TIMES)
        except (OverflowError, ValueError):
            raise outside_years(node) from None
    result: Expression = moment.to(TIMES).expression
    if by.months:
        result = result.add_months(by.months)
    return Scalar(result + by.time if by.time else result, TIMES)


def outside_years(node: Syntax) -> SqlError:
    """The error of a constant that is no moment."""
    return SqlError(f"{place_of(node)}{spelled(node)} is outside the years 1 to 9999", hint=_YEARS)
