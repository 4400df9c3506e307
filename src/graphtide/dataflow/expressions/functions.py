"""Functions that make expressions: the beginnings of every expression, and those of several columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints, overload

from graphtide.dataflow.expressions.expression import (
    Apply,
    Column,
    Expression,
    Invoke,
    Literal,
    Operand,
    as_expression,
    as_operand,
)
from graphtide.errors import ExpressionError, SchemaError
from graphtide.rows import Type

__all__ = [
    "Func",
    "When",
    "call",
    "coalesce",
    "col",
    "concat",
    "func",
    "greatest",
    "hash_of",
    "least",
    "lit",
    "tuple_",
    "when",
]


def col(name: str) -> Expression:
    """The column of this name.

    >>> col("x") + 1
    x + 1
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users are not checked
        raise ExpressionError(f"a column's name is a string, not {name!r}", hint="write lit(...) for a value")
    return Column(name)


def lit(value: Any, type: Any = None) -> Expression:  # noqa: A002 - as in a declaration: name, type
    """The same value in every row; `lit(None, int)` is a missing int.

    >>> lit("a"), lit(None, int)
    ('a', lit(None, int))
    """
    if type is None:
        return as_operand(value)
    return Literal(value, Type.of(type))


@dataclass(frozen=True, slots=True)
class When:
    """A choice that still needs its `otherwise`."""

    branches: tuple[Expression, ...]

    def when(self, condition: Operand, then: Operand) -> When:
        """Add a branch, taken if its condition is true and none before it was."""
        return When((*self.branches, as_operand(condition), as_operand(then)))

    def otherwise(self, value: Operand) -> Expression:
        """The choice, with this value where no condition was true."""
        return Apply("when", (*self.branches, as_operand(value)))


def when(condition: Operand, then: Operand) -> When:
    """A choice by conditions, of which the first that is true decides.

    >>> when(col("x") > 0, "up").when(col("x") < 0, "down").otherwise("flat")
    when(x > 0, 'up').when(x < 0, 'down').otherwise('flat')
    """
    return When((as_operand(condition), as_operand(then)))


def coalesce(*values: Operand) -> Expression:
    """The first value that is not None; a str names a column.

    >>> coalesce("nickname", "name", lit("?"))
    coalesce(nickname, name, '?')
    """
    return _of_columns("coalesce", values)


def least(*values: Operand) -> Expression:
    """The least of the values that are not None."""
    return _of_columns("least", values)


def greatest(*values: Operand) -> Expression:
    """The greatest of the values that are not None."""
    return _of_columns("greatest", values)


def concat(*values: Operand) -> Expression:
    """Strings one after the other; a str names a column, `lit` makes text.

    >>> concat("first", lit(" "), "last")
    concat(first, ' ', last)
    """
    return _of_columns("concat", values)


def hash_of(*values: Operand) -> Expression:
    """An int from 0 to 2**63 - 1 that depends on all values and on nothing else; None is a value too."""
    return _of_columns("hash_of", values)


def tuple_(*values: Operand) -> Expression:
    """A tuple of the values.

    >>> tuple_("x", "y")[0]
    tuple_(x, y)[0]
    """
    return _of_columns("tuple_", values)


def call(function: Callable[..., Any], *arguments: Operand, returns: Any = None) -> Expression:
    """A Python function of columns, called in every row in which no argument is None; else None.

    It must be pure: the same arguments always give the same result, or rows could not be taken back.
    Without `returns` its annotation counts. Functions of numbers alone are compiled once batches are
    large and if they can be.

    >>> call(max, "x", "y", returns=int)
    max(x, y)
    """
    if not callable(function):
        raise ExpressionError(f"{function!r} is not a function", hint="write call(f, col(...), returns=...)")
    return _invoke(function, arguments, _returned(function, returns))


@dataclass(frozen=True, slots=True)
class Func:
    """A Python function that makes an expression when it is called on expressions."""

    function: Callable[..., Any]
    returns: Type

    def __call__(self, *arguments: Operand) -> Expression:
        """The function of these columns; a str names one."""
        return _invoke(self.function, arguments, self.returns)


@overload
def func(function: Callable[..., Any], *, returns: Any = None) -> Func: ...
@overload
def func(*, returns: Any = None) -> Callable[[Callable[..., Any]], Func]: ...
def func(
    function: Callable[..., Any] | None = None, *, returns: Any = None
) -> Func | Callable[[Callable[..., Any]], Func]:
    """A Python function for use in expressions, as `call` describes; also a decorator.

    >>> double = func(lambda x: 2 * x, returns=int)
    >>> double("x")
    <lambda>(x)
    """
    if function is None:
        return lambda decorated: Func(decorated, _returned(decorated, returns))
    return Func(function, _returned(function, returns))


def _of_columns(operation: str, values: tuple[Operand, ...]) -> Expression:
    if not values:
        raise ExpressionError(f"{operation}() needs at least one value", hint=f'write {operation}("x", "y")')
    return Apply(operation, tuple(map(as_expression, values)))


def _invoke(function: Callable[..., Any], arguments: tuple[Operand, ...], returns: Type) -> Expression:
    if not arguments:
        name = getattr(function, "__name__", repr(function))
        raise ExpressionError(f"{name}() depends on no column", hint=f"call it once: lit({name}())")
    return Invoke(function, tuple(map(as_expression, arguments)), returns)


def _returned(function: Callable[..., Any], returns: Any) -> Type:
    if returns is None:
        try:
            returns = get_type_hints(function).get("return")
        except (TypeError, NameError):
            returns = None
    name = getattr(function, "__name__", repr(function))
    if returns is None:
        raise ExpressionError(f"{name} does not say what type it returns", hint="write returns=int, or annotate it")
    try:
        return Type.of(returns)
    except SchemaError as error:
        raise ExpressionError(f"{name} returns what no column can hold: {error.message}", hint=error.hint) from None
