"""What each operation does to codes: a step or a few of them, or a call.

A date is a number of days and a timestamp one of microseconds, so most of their functions are
arithmetic. Functions of strings are in `strings`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from operator import add
from typing import TYPE_CHECKING, Final, TypeAlias

from graphtide.dataflow.expressions.conversions import DAY, convert, within_years
from graphtide.dataflow.expressions.expression import Apply, Expression, Literal
from graphtide.dataflow.expressions.infer import common_type
from graphtide.dataflow.expressions.signatures import UNITS
from graphtide.dataflow.expressions.strings import CASTS_FROM_TEXT, FUNCTIONS, ORDER, add_months, digest
from graphtide.dataflow.kernels import opcodes as op
from graphtide.rows import BOOL, DATE, INT, STR, Kind, Type

if TYPE_CHECKING:
    from graphtide.dataflow.expressions.lowering import Lowering

__all__ = ["OPERATIONS"]

Rule: TypeAlias = "Callable[[Lowering, Apply], int]"

# ------------------------------------------------------------------------------------- arithmetic

_INT_STEPS: Final = {
    "+": op.ADD_INT,
    "-": op.SUBTRACT_INT,
    "*": op.MULTIPLY_INT,
    "//": op.DIVIDE_INT,
    "%": op.MODULO_INT,
}
_FLOAT_STEPS: Final = {
    "+": op.ADD_FLOAT,
    "-": op.SUBTRACT_FLOAT,
    "*": op.MULTIPLY_FLOAT,
    "/": op.DIVIDE_FLOAT,
    "//": op.FLOOR_DIVIDE_FLOAT,
    "%": op.MODULO_FLOAT,
    "**": op.POWER,
}


def _arithmetic(low: Lowering, node: Apply) -> int:
    result = low.types.type_of(node)
    a, b = node.arguments
    if result.kind is Kind.FLOAT:
        return low.step(_FLOAT_STEPS[node.operation], low.lower_as(a, result), low.lower_as(b, result), origin=node)
    if result.kind in {Kind.STR, Kind.BYTES}:
        return low.function(node, "+", add, low.operands(a, b), result)
    if result.kind in {Kind.DATE, Kind.TIMESTAMP}:
        step = low.step(_INT_STEPS[node.operation], _span(low, a, result), _span(low, b, result), origin=node)
        return within_years(low, step, result.kind, node)
    # Two ints, or two moments whose difference is one.
    common = common_type([low.types.part_type(a), low.types.part_type(b)])
    return low.step(_INT_STEPS[node.operation], low.lower_as(a, common), low.lower_as(b, common), origin=node)


def _span(low: Lowering, node: Expression, result: Type) -> int:
    """An operand of a sum with a moment; a timedelta next to a date counts days."""
    if result.kind is Kind.DATE and isinstance(node, Literal) and isinstance(node.value, timedelta):
        return low.constant(node.value.days)
    return low.lower(node)


def _negate(low: Lowering, node: Apply) -> int:
    is_float = low.kind(node) is Kind.FLOAT
    # Zero is 0 as an int and as a float.
    return low.step(
        op.SUBTRACT_FLOAT if is_float else op.SUBTRACT_INT,
        low.constant(0),
        low.lower(node.arguments[0]),
        origin=node,
    )


def _abs(low: Lowering, node: Apply) -> int:
    return low.step(op.GREATEST, low.lower(node.arguments[0]), _negate(low, node), origin=node)


def _bit_length(low: Lowering, node: Apply) -> int:
    return low.step(op.BIT_LENGTH, low.lower(node.arguments[0]), origin=node)


def _whole(step: int) -> Rule:
    """Of floor, ceil and round, which leave an int as it is."""

    def rule(low: Lowering, node: Apply) -> int:
        operands = [low.lower(argument) for argument in node.arguments]
        return operands[0] if low.kind(node) is Kind.INT else low.step(step, *operands, origin=node)

    return rule


def _of_float(step: int) -> Rule:
    def rule(low: Lowering, node: Apply) -> int:
        return low.step(step, low.lower_as(node.arguments[0], low.types.type_of(node)), origin=node)

    return rule


def _hash_of(low: Lowering, node: Apply) -> int:
    result = low.constant(0)
    for argument in node.arguments:
        found = low.types.part_type(argument)
        is_interned = found is not None and found.is_interned
        number = low.lower(argument)
        if is_interned:
            number = low.function(node, "hash_of", digest, [(number, found)], INT)
        result = low.step(op.HASH, number, result, origin=node)
    return result


# ------------------------------------------------------------------------- comparisons and logic

_COMPARISONS: Final = {
    "==": (op.EQUAL, False),
    "!=": (op.NOT_EQUAL, False),
    "<": (op.LESS, False),
    "<=": (op.AT_MOST, False),
    ">": (op.LESS, True),
    ">=": (op.AT_MOST, True),
}


def _comparison(low: Lowering, node: Apply) -> int:
    step, is_swapped = _COMPARISONS[node.operation]
    a, b = reversed(node.arguments) if is_swapped else node.arguments
    common = common_type([low.types.part_type(a), low.types.part_type(b)])
    if common is None or common.ordered_by_code or step in {op.EQUAL, op.NOT_EQUAL}:
        return low.step(step, low.lower_as(a, common), low.lower_as(b, common), origin=node)
    return low.function(node, step, ORDER[step], low.operands(a, b), BOOL)


def _and(low: Lowering, node: Apply) -> int:
    left = low.lower(node.arguments[0])
    if low.graph.code(left) == 0:
        return left
    with low.under(low.step(op.COALESCE, left, low.constant(1), origin=node)):
        right = low.lower(node.arguments[1])
    return right if low.graph.code(left) == 1 else low.step(op.AND, left, right, origin=node)


def _or(low: Lowering, node: Apply) -> int:
    left = low.lower(node.arguments[0])
    if low.graph.code(left) == 1:
        return left
    with low.under(_is_not_true(low, left, node)):
        right = low.lower(node.arguments[1])
    return right if low.graph.code(left) == 0 else low.step(op.OR, left, right, origin=node)


def _is_not_true(low: Lowering, number: int, origin: Expression) -> int:
    return low.step(op.NOT, low.step(op.COALESCE, number, low.constant(0), origin=origin), origin=origin)


def _not(low: Lowering, node: Apply) -> int:
    return low.step(op.NOT, low.lower(node.arguments[0]), origin=node)


def _is_null(low: Lowering, node: Apply) -> int:
    return low.step(op.IS_NULL, low.lower(node.arguments[0]), origin=node)


def _is_not_null(low: Lowering, node: Apply) -> int:
    return low.step(op.NOT, _is_null(low, node), origin=node)


def _is_in(low: Lowering, node: Apply) -> int:
    common = common_type([low.types.part_type(argument) for argument in node.arguments])
    number, *members = (low.lower_as(argument, common) for argument in node.arguments)
    codes = {low.graph.code(member) for member in members} - {None}
    return low.step(op.IN_SET, number, origin=node, pool=sorted(code for code in codes if code is not None))


# ------------------------------------------------------------------------------------------ choices


def _when(low: Lowering, node: Apply) -> int:
    found = low.types.part_type(node)
    branches: list[tuple[int, int]] = []
    rest: int | None = None
    for condition, then in zip(node.arguments[:-1:2], node.arguments[1::2], strict=True):
        with low.under(rest):
            holds = low.lower(condition)
            with low.under(holds):
                branches.append((holds, low.lower_as(then, found)))
            other = _is_not_true(low, holds, node)
        rest = other if rest is None else low.step(op.AND, rest, other, origin=node)
    with low.under(rest):
        result = low.lower_as(node.arguments[-1], found)
    for holds, value in reversed(branches):
        known = low.graph.code(holds)
        if known is None:
            result = low.step(op.CHOOSE, holds, value, result, origin=node)
        elif known == 1:
            result = value
    return result


def _coalesce(low: Lowering, node: Apply) -> int:
    found = low.types.part_type(node)
    result = low.lower_as(node.arguments[0], found)
    for argument in node.arguments[1:]:
        with low.under(low.step(op.IS_NULL, result, origin=node)):
            other = low.lower_as(argument, found)
        result = low.step(op.COALESCE, result, other, origin=node)
    return result


def _extreme(step: int) -> Rule:
    def rule(low: Lowering, node: Apply) -> int:
        found = low.types.part_type(node)
        result, *others = (low.lower_as(argument, found) for argument in node.arguments)
        for other in others:
            if found is None or found.ordered_by_code:
                result = low.step(step, result, other, origin=node)
            else:
                pair = [(result, found), (other, found)]
                wins = low.function(node, op.AT_MOST, ORDER[op.AT_MOST], pair if step == op.LEAST else pair[::-1], BOOL)
                # If one of them is None, so is the comparison, and the other one is taken.
                rest = low.step(op.COALESCE, other, result, origin=node)
                result = low.step(op.CHOOSE, wins, result, rest, origin=node)
        return result

    return rule


# ------------------------------------------------------------------------------------------- moments


def _days(low: Lowering, node: Apply) -> int:
    """The days of a date or timestamp."""
    number = low.lower(node.arguments[0])
    if low.kind(node.arguments[0]) is Kind.DATE:
        return number
    return low.step(op.DIVIDE_INT, number, low.constant(DAY), origin=node)


def _date_part(part: int) -> Rule:
    def rule(low: Lowering, node: Apply) -> int:
        return low.step(op.DATE_PART, _days(low, node), low.constant(part), origin=node)

    return rule


def _clock_part(unit: str, many: int) -> Rule:
    def rule(low: Lowering, node: Apply) -> int:
        units = low.step(op.DIVIDE_INT, low.lower(node.arguments[0]), low.constant(UNITS[unit][1]), origin=node)
        return low.step(op.MODULO_INT, units, low.constant(many), origin=node)

    return rule


def _weekday(low: Lowering, node: Apply) -> int:
    # The first of 1970 was a Thursday.
    shifted = low.step(op.ADD_INT, _days(low, node), low.constant(3), origin=node)
    return low.step(op.MODULO_INT, shifted, low.constant(7), origin=node)


def _date_trunc(low: Lowering, node: Apply) -> int:
    moment, unit = node.arguments
    assert isinstance(unit, Literal)
    of, many = UNITS[unit.value]
    if of == "microseconds":
        number = low.lower(moment)
        beyond = low.step(op.MODULO_INT, number, low.constant(many), origin=node)
        return low.step(op.SUBTRACT_INT, number, beyond, origin=node)
    days = _days(low, node)
    if of == "months":
        days = low.step(op.DATE_FLOOR, days, low.constant(many), origin=node)
    elif unit.value == "week":
        days = low.step(op.SUBTRACT_INT, days, _weekday(low, node), origin=node)
    return convert(low, days, DATE, low.types.part_type(moment), node)


def _add_months(low: Lowering, node: Apply) -> int:
    result = low.types.type_of(node)
    operands = low.operands(*node.arguments)
    return low.function(node, "add_months", add_months, operands, result.required, may_fail=True)


def _to_date(low: Lowering, node: Apply) -> int:
    if low.kind(node.arguments[0]) is Kind.STR:
        operands = low.operands(node.arguments[0])
        return low.function(node, ("cast", Kind.DATE), CASTS_FROM_TEXT[Kind.DATE], operands, DATE, may_fail=True)
    return _days(low, node)


# ----------------------------------------------------------------------------------------------- calls

_RETURNS: Final = {
    "length": INT,
    "order_word": INT,
    "contains": BOOL,
    "startswith": BOOL,
    "endswith": BOOL,
    "like": BOOL,
    "matches": BOOL,
}


def _text(low: Lowering, node: Apply) -> int:
    # A pattern that stands in a column may be no regular expression.
    may_fail = node.operation == "matches" and not isinstance(node.arguments[1], Literal)
    name, operands = node.operation, low.operands(*node.arguments)
    return low.function(node, name, FUNCTIONS[name], operands, _RETURNS.get(name, STR), may_fail=may_fail)


def _tuple(low: Lowering, node: Apply) -> int:
    return low.make_tuple(node)


def _element(low: Lowering, node: Apply) -> int:
    return low.take_element(node)


OPERATIONS: Final[dict[str, Rule]] = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%", "**"), _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(FUNCTIONS, _text),
    "negate": _negate,
    "abs": _abs,
    "bit_length": _bit_length,
    "floor": _whole(op.FLOOR),
    "ceil": _whole(op.CEIL),
    "round": _whole(op.ROUND),
    "sqrt": _of_float(op.SQRT),
    "exp": _of_float(op.EXP),
    "log": _of_float(op.LOG),
    "hash_of": _hash_of,
    "&": _and,
    "|": _or,
    "~": _not,
    "is_null": _is_null,
    "is_not_null": _is_not_null,
    "is_in": _is_in,
    "when": _when,
    "coalesce": _coalesce,
    "least": _extreme(op.LEAST),
    "greatest": _extreme(op.GREATEST),
    "year": _date_part(op.YEAR),
    "month": _date_part(op.MONTH),
    "day": _date_part(op.DAY),
    "hour": _clock_part("hour", 24),
    "minute": _clock_part("minute", 60),
    "second": _clock_part("second", 60),
    "weekday": _weekday,
    "date_trunc": _date_trunc,
    "add_months": _add_months,
    "to_date": _to_date,
    "tuple_": _tuple,
    "[]": _element,
}
