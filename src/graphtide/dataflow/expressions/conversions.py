"""Values in other types: the conversions that happen by themselves, and casts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from graphtide.dataflow.expressions.expression import Cast, Expression
from graphtide.dataflow.expressions.strings import CASTS_FROM_TEXT, cast_to_text
from graphtide.dataflow.kernels.opcodes import (
    DIVIDE_INT,
    FLOAT_TO_INT,
    INT_TO_FLOAT,
    MULTIPLY_INT,
    NOT_EQUAL,
    WITHIN,
)
from graphtide.rows import Kind, Type

if TYPE_CHECKING:
    from graphtide.dataflow.expressions.lowering import Lowering

__all__ = ["DAY", "cast", "convert", "within_years"]

# Microseconds.
DAY: Final = timedelta(days=1) // timedelta(microseconds=1)

# The codes that Python's dates and timestamps can have.
_EPOCH: Final = date(1970, 1, 1)
_FIRST, _LAST = (date.min - _EPOCH).days, (date.max - _EPOCH).days
_YEARS: Final = {Kind.DATE: (_FIRST, _LAST), Kind.TIMESTAMP: (_FIRST * DAY, (_LAST + 1) * DAY - 1)}


def convert(low: Lowering, number: int, have: Type | None, wanted: Type | None, origin: Expression) -> int:
    """A node in the type that it is united with: the same, or a wider one."""
    if have is None or wanted is None or have.kind is wanted.kind:
        return number
    if wanted.kind is Kind.FLOAT:
        return low.step(INT_TO_FLOAT, number, origin=origin)
    assert wanted.kind is Kind.TIMESTAMP
    return low.step(MULTIPLY_INT, number, low.constant(DAY), origin=origin)


def within_years(low: Lowering, number: int, kind: Kind, origin: Expression) -> int:
    """A date or timestamp that may have left the years 1 to 9999, checked."""
    return low.step(WITHIN, number, origin=origin, pool=_YEARS[kind])


def cast(low: Lowering, node: Cast) -> int:
    """The node of a cast."""
    have, to = low.types.part_type(node.argument), node.to.kind
    if have is None or have.kind is to:
        return low.lower(node.argument)
    if have.kind is Kind.STR:
        operands = low.operands(node.argument)
        return low.function(node, ("cast", to), CASTS_FROM_TEXT[to], operands, node.to, may_fail=True)
    if to is Kind.STR:
        operands = low.operands(node.argument)
        return low.function(node, ("cast", to), cast_to_text, operands, node.to, may_fail=have.kind is Kind.BYTES)
    number = low.lower(node.argument)
    if to is Kind.FLOAT:
        return low.step(INT_TO_FLOAT, number, origin=node)
    if to is Kind.BOOL:
        return low.step(NOT_EQUAL, number, low.constant(0), origin=node)
    if to is Kind.INT:
        return low.step(FLOAT_TO_INT, number, origin=node) if have.kind is Kind.FLOAT else number
    if have.kind is Kind.INT:
        return within_years(low, number, to, node)
    op = DIVIDE_INT if to is Kind.DATE else MULTIPLY_INT
    return low.step(op, number, low.constant(DAY), origin=node)
