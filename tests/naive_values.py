"""Values of the naive evaluation, and expressions over the columns of a row, which are known by their place."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
    "NAN",
    "OPERATIONS",
    "Column",
    "Constant",
    "Expression",
    "Operation",
    "Row",
    "order",
    "plain",
    "value_of",
]

Row: TypeAlias = tuple[Any, ...]

NAN = math.nan  # the one object that stands for every NaN, so that rows can be looked up


@dataclass(frozen=True, slots=True)
class Column:
    """The value at a place of the row."""

    place: int


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value in every row."""

    value: Any


@dataclass(frozen=True, slots=True)
class Operation:
    """One of OPERATIONS applied to expressions."""

    name: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = Column | Constant | Operation


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """None in, None out."""
    return lambda *values: None if None in values else function(*values)


def _and(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if a is None or b is None else True


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": _strict(operator.add),
    "-": _strict(operator.sub),
    "*": _strict(operator.mul),
    "%": _strict(lambda a, b: None if b == 0 else a % b),
    "<": _strict(lambda a, b: order(a) < order(b)),
    "==": _strict(lambda a, b: order(a) == order(b)),
    "not": _strict(operator.not_),
    "and": _and,
    "is_null": lambda a: a is None,
    "coalesce": lambda a, b: b if a is None else a,
    "if": lambda condition, a, b: a if condition is True else b,
}


def value_of(expression: Expression, row: Row) -> Any:
    """What the expression is in a row."""
    match expression:
        case Column(place):
            return row[place]
        case Constant(value):
            return value
        case Operation(name, operands):
            return OPERATIONS[name](*(value_of(each, row) for each in operands))


def order(value: Any) -> tuple[Any, ...]:
    """What values of one column are compared by: None comes first, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, tuple(map(order, value)))
    return (2,) if value != value else (1, value)  # noqa: PLR0124


def plain(value: Any) -> Any:
    """The value as a column gives it back."""
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, float):
        return NAN if math.isnan(value) else value + 0.0
    return value
