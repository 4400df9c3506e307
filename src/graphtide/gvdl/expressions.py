"""Conditions bound to a graph: names resolved, types checked, strings read as dates where they meet one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphtide.graph.schema import PropertyType
from graphtide.gvdl import predicate, syntax
from graphtide.gvdl.moments import DATE_FORM, TIMESTAMP_FORM, read_date, read_timestamp
from graphtide.gvdl.predicate import Expression, Predicate
from graphtide.gvdl.scope import Scope
from graphtide.gvdl.show import show

__all__ = ["bind_condition"]

_INT, _FLOAT, _STRING = PropertyType.INT, PropertyType.FLOAT, PropertyType.STRING
_BOOL, _DATE, _TIMESTAMP = PropertyType.BOOL, PropertyType.DATE, PropertyType.TIMESTAMP
_NUMBERS: Final = frozenset({_INT, _FLOAT})
_MOMENTS: Final = frozenset({_DATE, _TIMESTAMP})
_LONGEST: Final = 60


def bind_condition(condition: syntax.Expression, scope: Scope) -> Predicate:
    """The predicate that a condition means in a scope."""
    bound = _bind(condition, scope)
    if bound.type is not _BOOL:
        hint = f"compare it with something: {show(condition)} = ..."
        raise scope.error(condition.span, f"{_described(condition, bound)} is not a condition", hint)
    return bound


def _bind(node: syntax.Expression, scope: Scope) -> Expression:
    match node:
        case syntax.Literal(value, kind):
            return predicate.Literal(value, kind)
        case syntax.Variable():
            return _bind(scope.variable(node), scope)
        case syntax.Property():
            return scope.property(node)
        case syntax.Negative(operand):
            return _negative(node, _bind(operand, scope), scope)
        case syntax.Arithmetic():
            return _arithmetic(node, scope)
        case syntax.Comparison(operator, left, right):
            return predicate.Comparison(operator, *_comparable((left, right), scope))
        case syntax.In(value, choices):
            first, *others = _comparable((value, *choices), scope)
            return predicate.In(first, tuple(others))
        case syntax.Between(value, low, high):
            return predicate.Between(*_comparable((value, low, high), scope))
        case syntax.Like(value, pattern):
            return predicate.Like(_string(value, scope), pattern)
        case syntax.IsNull(value):
            return predicate.IsNull(_bind(value, scope))
        case syntax.Not(operand):
            return predicate.Not(bind_condition(operand, scope))
        case syntax.And(terms):
            return predicate.And(tuple(bind_condition(each, scope) for each in terms))
        case syntax.Or(terms):
            return predicate.Or(tuple(bind_condition(each, scope) for each in terms))


def _string(node: syntax.Expression, scope: Scope) -> Expression:
    bound = _bind(node, scope)
    if bound.type is not _STRING:
        raise scope.error(node.span, f"{_described(node, bound)} is not a string", hint="like takes strings alone")
    return bound


# ------------------------------------------------------------------------------------------------ arithmetic


def _negative(node: syntax.Negative, operand: Expression, scope: Scope) -> Expression:
    if operand.type not in _NUMBERS:
        message = f"{_described(node.operand, operand)} has no negative"
        raise scope.error(node.span, message, hint="a minus stands before numbers")
    return predicate.Negative(operand)


def _arithmetic(node: syntax.Arithmetic, scope: Scope) -> Expression:
    left, right = _bind(node.left, scope), _bind(node.right, scope)
    kind = _result(node.operator, left.type, right.type)
    if kind is None:
        described = f"{_described(node.left, left)} and {_described(node.right, right)}"
        raise scope.error(
            node.span,
            f"{described} do not go together with {node.operator}",
            hint="arithmetic takes numbers; a date takes days as well: day + 7",
        )
    return predicate.Arithmetic(node.operator, left, right, kind)


def _result(operator: str, left: PropertyType, right: PropertyType) -> PropertyType | None:
    """The type of a result, None if there is none."""
    if {left, right} <= _NUMBERS:
        return _FLOAT if operator == "/" or _FLOAT in {left, right} else _INT
    if operator in {"+", "-"} and (left, right) == (_DATE, _INT):
        return _DATE
    if operator == "+" and (left, right) == (_INT, _DATE):
        return _DATE
    return _INT if operator == "-" and left is right is _DATE else None


# ----------------------------------------------------------------------------------------------- comparisons


def _comparable(nodes: Sequence[syntax.Expression], scope: Scope) -> list[Expression]:
    """Operands that are compared with the first one."""
    operands = [_bind(node, scope) for node in nodes]
    kinds = {operand.type for operand in operands}
    if kinds & _MOMENTS:
        pairs = zip(nodes, operands, strict=True)
        operands = [_read_as_moment(node, operand, kinds, scope) for node, operand in pairs]
    first = operands[0]
    for node, operand in zip(nodes[1:], operands[1:], strict=True):
        if _family(operand.type) != _family(first.type):
            message = f"cannot compare {_described(nodes[0], first)} with {_described(node, operand)}"
            raise scope.error(node.span, message, _comparison_hint(first, operand))
    return operands


def _read_as_moment(node: syntax.Expression, operand: Expression, kinds: set[PropertyType], scope: Scope) -> Expression:
    """A string that stands among dates and timestamps says one itself."""
    if not isinstance(operand, predicate.Literal) or not isinstance(operand.value, str):
        return operand
    day = None if _TIMESTAMP in kinds else read_date(operand.value)
    if day is not None:
        return predicate.Literal(day, _DATE)
    instant = read_timestamp(operand.value)
    if instant is None:
        kind, form = ("timestamp", TIMESTAMP_FORM) if _TIMESTAMP in kinds else ("date", DATE_FORM)
        raise scope.error(node.span, f"{show(node)} is not a {kind}", hint=f"write it like '{form}'")
    return predicate.Literal(instant, _TIMESTAMP)


def _family(kind: PropertyType) -> str:
    """Types compare within their family."""
    if kind in _NUMBERS:
        return "number"
    return "moment" if kind in _MOMENTS else kind.value


def _comparison_hint(first: Expression, operand: Expression) -> str:
    for literal, other in ((operand, first), (first, operand)):
        if not isinstance(literal, predicate.Literal):
            continue
        if isinstance(literal.value, str) and other.type in _NUMBERS and _is_number(literal.value):
            return f"write the number without quotes: {literal.value}"
        if other.type is _STRING and literal.type in _NUMBERS:
            return f"write the string in quotes: '{literal.value}'"
        if other.type is _BOOL:
            return "write true or false"
    return "numbers compare with numbers, dates and timestamps with each other, and other types with themselves"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _described(node: syntax.Expression, bound: Expression) -> str:
    """An expression and its type, for messages: `year (int)`."""
    text = show(node)
    return f"{text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...'} ({bound.type.value})"
