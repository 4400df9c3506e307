"""How an expression reads: as the Python that would build it, in the shortest form."""

from __future__ import annotations

from graphtide.dataflow.expressions.expression import Apply, Cast, Column, Expression, Invoke, Literal

__all__ = ["show"]

_INFIX = frozenset({"+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|"})
_PREFIX = {"negate": "-", "~": "~"}
_FUNCTIONS = frozenset({"coalesce", "concat", "greatest", "hash_of", "least", "tuple_"})


def show(expression: Expression) -> str:
    """The text of an expression.

    >>> from graphtide.dataflow.expressions.functions import col
    >>> show((col("x") + 1) * -col("two words") > col("y").round(2))
    '((x + 1) * (-col("two words"))) > y.round(2)'
    """
    if isinstance(expression, Column):
        return expression.name if expression.name.isidentifier() else f'col("{expression.name}")'
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, Cast):
        return f"{_inside(expression.argument)}.cast({expression.to})"
    if isinstance(expression, Invoke):
        name = getattr(expression.function, "__name__", repr(expression.function))
        return f"{name}({_listed(expression.arguments)})"
    assert isinstance(expression, Apply)
    return _apply(expression)


def _apply(expression: Apply) -> str:
    operation, arguments = expression.operation, expression.arguments
    if operation in _INFIX:
        return f"{_inside(arguments[0])} {operation} {_inside(arguments[1])}"
    if operation in _PREFIX:
        return f"{_PREFIX[operation]}{_inside(arguments[0])}"
    if operation in _FUNCTIONS:
        return f"{operation}({_listed(arguments)})"
    if operation == "when":
        pairs = zip(arguments[:-1:2], arguments[1::2], strict=True)
        branches = ".".join(f"when({show(condition)}, {show(then)})" for condition, then in pairs)
        return f"{branches}.otherwise({show(arguments[-1])})"
    if operation == "is_in":
        return f"{_inside(arguments[0])}.is_in([{_listed(arguments[1:])}])"
    if operation == "[]":
        return f"{_inside(arguments[0])}[{show(arguments[1])}]"
    return f"{_inside(arguments[0])}.{operation}({_listed(arguments[1:])})"


def _literal(literal: Literal) -> str:
    return repr(literal.value) if literal.type is None else f"lit({literal.value!r}, {literal.type})"


def _inside(expression: Expression) -> str:
    """In parentheses if an operator stands outermost."""
    text = show(expression)
    is_operator = isinstance(expression, Apply) and (expression.operation in _INFIX or expression.operation in _PREFIX)
    return f"({text})" if is_operator else text


def _listed(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(show, expressions))
