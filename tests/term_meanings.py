"""What operations on values mean, plainly: functions that know nothing of codes, chunks, registers or guards."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from graphtide.dataflow.expressions import Expression

LARGEST = 2**63 - 1

Row = dict[str, Any]


class Stop(Exception):  # noqa: N818 - it is an outcome
    """The run must stop."""


@dataclass(frozen=True)
class Term:
    expression: Expression
    value: Callable[[Row], Any]


def is_nan(x: Any) -> bool:
    return isinstance(x, float) and math.isnan(x)


def fits(x: int) -> int:
    if not -LARGEST <= x <= LARGEST:
        raise Stop
    return x


def rank(x: Any) -> Any:
    """Where a value stands among others of its type: a NaN after everything, -0.0 at 0.0."""
    return (is_nan(x), 0.0 if is_nan(x) else x) if isinstance(x, float) else x


def of_all(function: Callable[..., Any], *terms: Term) -> Callable[[Row], Any]:
    """Every operand is computed; one None makes the result None."""

    def value(row: Row) -> Any:
        values = [term.value(row) for term in terms]
        return None if any(v is None for v in values) else function(*values)

    return value


def compared(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: test(rank(a), rank(b))


def divided(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: None if b == 0 else function(a, b)


def ieee(function: Callable[[float, float], Any]) -> Callable[[float, float], float]:
    """NumPy's answer where Python raises: an infinity for what is too large."""

    def value(a: float, b: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(np.float64(a), np.float64(b)))

    return value


def truncated(x: float) -> int:
    if not math.isfinite(x):
        raise Stop
    return fits(int(x))


def rounded(x: float) -> float:
    return float(round(x)) if math.isfinite(x) else x


def mixed(values: list[int]) -> int:
    """Splitmix64's finalizer over each value and the hash before it, in unbounded integers."""
    mask = 2**64 - 1
    h = 0
    for v in values:
        z = (v + 0x9E3779B97F4A7C15 * (h + 1)) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        h = (z ^ (z >> 31)) >> 1
    return h


def moved(moment: Any, span: timedelta) -> Any:
    try:
        return moment + span
    except OverflowError:
        raise Stop from None


def months_later(day: date, months: int) -> date:
    """The same day so many months on, or the last one before it."""
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    for number in range(day.day, 27, -1) if day.day > 28 else [day.day]:
        try:
            return date(year, month + 1, number)
        except ValueError:
            if not 1 <= year <= 9999:
                raise Stop from None
    raise AssertionError("every month has a day 28")


def days(n: int) -> timedelta:
    try:
        return timedelta(days=n)
    except OverflowError:
        raise Stop from None


def microseconds(n: int) -> timedelta:
    try:
        return timedelta(microseconds=n)
    except OverflowError:
        raise Stop from None


def midnight(d: date) -> datetime:
    return datetime(d.year, d.month, d.day)  # noqa: DTZ001 - timestamps have no zone


def both(a: Term, b: Term) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        left = a.value(row)
        if left is False:
            return False
        right = b.value(row)
        return False if right is False else None if left is None or right is None else True

    return value


def either(a: Term, b: Term) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        left = a.value(row)
        if left is True:
            return True
        right = b.value(row)
        return True if right is True else None if left is None or right is None else False

    return value


def chosen(branches: list[tuple[Term, Term]], rest: Term) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        return next((then for test, then in branches if test.value(row) is True), rest).value(row)

    return value


def first_of(terms: list[Term]) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        for term in terms:
            found = term.value(row)
            if found is not None:
                return found
        return None

    return value


def extreme(pick: Callable[..., Any], terms: list[Term]) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        values = [v for term in terms if (v := term.value(row)) is not None]
        return pick(values, key=rank) if values else None

    return value
