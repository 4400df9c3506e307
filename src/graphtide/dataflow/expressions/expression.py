"""Expressions over the columns of a row: what they are made of, and the operators that make them.

An expression is a tree of five kinds of nodes and knows nothing of types or data until it meets a
schema (`infer`) and a dictionary (`compile`). Operators build trees, so `==` cannot compare two
of them: `equals` does, and `key` is what to put into a set or a dict.

What operators mean in every row:

- None in, None out; but `&`, `|` and `~` follow Kleene (`False & None` is False), and `is_null`, `coalesce`,
  `least`, `greatest`, `when` and `hash_of` look at None themselves.
- `/` gives a float; division by zero gives None; `//` and `%` round down, as Python's do.
- An int beyond 64 bits stops the run, it never wraps. Only values that are needed count: those of rows
  that `where` keeps and of the branch that `when`, `coalesce`, `&` or `|` takes, from left to right.
- Floats compare in the order in which they are sorted: -0.0 is 0.0, NaN equals itself and is the greatest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, NoReturn, TypeAlias

import numpy as np

from graphtide.dataflow.expressions.moments import MomentMethods
from graphtide.dataflow.expressions.numbers import NumberMethods
from graphtide.dataflow.expressions.text import TextMethods
from graphtide.errors import ExpressionError, GraphtideError
from graphtide.rows import Type

__all__ = [
    "Apply",
    "Cast",
    "Column",
    "Expression",
    "Invoke",
    "Literal",
    "Operand",
    "Refusal",
    "as_expression",
    "as_operand",
]

# Makes the error that shows where an operation was written, of what is wrong with its result.
Refusal: TypeAlias = Callable[[str], GraphtideError]


class Expression(NumberMethods, TextMethods, MomentMethods):
    """A value in every row, made of columns and literals.

    >>> x, y = Column("x"), Column("y")
    >>> (x + 1) > y
    (x + 1) > y
    """

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType, reportUnannotatedClassAttribute]
    # NumPy's scalars then leave `np.int64(1) + x` to us.
    __array_ufunc__ = None

    @property
    def key(self) -> tuple[object, ...]:
        """A hashable value that is equal for equal expressions."""
        return _key(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions directly inside this one."""
        if isinstance(self, Apply | Invoke):
            return self.arguments
        return (self.argument,) if isinstance(self, Cast) else ()

    def equals(self, other: Expression) -> bool:
        """Whether both are built alike; `==` is taken by the operator.

        >>> (Column("x") + 1).equals(Column("x") + 1)
        True
        """
        return self.key == other.key

    def columns(self) -> frozenset[str]:
        """The names of the columns that are read.

        >>> sorted((Column("x") * 2 + Column("y")).columns())
        ['x', 'y']
        """
        return frozenset(node.name for node in _nodes(self) if isinstance(node, Column))

    def substitute(self, columns: Mapping[str, Expression]) -> Expression:
        """This expression with columns replaced, which is how two selects become one.

        >>> (Column("x") + 1).substitute({"x": Column("a") * 2})
        (a * 2) + 1
        """
        return _substitute(self, columns, {})

    # ------------------------------------------------------------------------------- operators

    def __add__(self, other: Operand) -> Expression:
        return self._apply("+", other)

    def __radd__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("+", self)

    def __sub__(self, other: Operand) -> Expression:
        return self._apply("-", other)

    def __rsub__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("-", self)

    def __mul__(self, other: Operand) -> Expression:
        return self._apply("*", other)

    def __rmul__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("*", self)

    def __truediv__(self, other: Operand) -> Expression:
        return self._apply("/", other)

    def __rtruediv__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("/", self)

    def __floordiv__(self, other: Operand) -> Expression:
        return self._apply("//", other)

    def __rfloordiv__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("//", self)

    def __mod__(self, other: Operand) -> Expression:
        return self._apply("%", other)

    def __rmod__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("%", self)

    def __pow__(self, other: Operand) -> Expression:
        return self._apply("**", other)

    def __rpow__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("**", self)

    def __neg__(self) -> Expression:
        return self._apply("negate")

    def __eq__(self, other: Operand) -> Expression:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._apply("==", other)

    def __ne__(self, other: Operand) -> Expression:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._apply("!=", other)

    def __lt__(self, other: Operand) -> Expression:
        return self._apply("<", other)

    def __le__(self, other: Operand) -> Expression:
        return self._apply("<=", other)

    def __gt__(self, other: Operand) -> Expression:
        return self._apply(">", other)

    def __ge__(self, other: Operand) -> Expression:
        return self._apply(">=", other)

    def __and__(self, other: Operand) -> Expression:
        return self._apply("&", other)

    def __rand__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("&", self)

    def __or__(self, other: Operand) -> Expression:
        return self._apply("|", other)

    def __ror__(self, other: Operand) -> Expression:
        return as_operand(other)._apply("|", self)

    def __invert__(self) -> Expression:
        return self._apply("~")

    def __getitem__(self, index: int) -> Expression:
        """An element of a tuple; of one of any length, None if it is too short.

        >>> Column("pair")[0]
        pair[0]
        """
        return self._apply("[]", index)

    # ----------------------------------------------------------------------------- any type

    def is_null(self) -> Expression:
        """Whether the value is None."""
        return self._apply("is_null")

    def is_not_null(self) -> Expression:
        """Whether there is a value."""
        return self._apply("is_not_null")

    def is_in(self, values: Iterable[Any]) -> Expression:
        """Whether the value is one of the given ones; None if it is None.

        >>> Column("x").is_in([1, 2])
        x.is_in([1, 2])
        """
        if isinstance(values, str | bytes | Expression):
            raise ExpressionError(f"is_in needs a list of values, not {values!r}", hint="write is_in([...])")
        return self._apply("is_in", *values)

    def between(self, low: Operand, high: Operand) -> Expression:
        """Whether the value is at least `low` and at most `high`.

        >>> Column("x").between(1, 5)
        (x >= 1) & (x <= 5)
        """
        return (self >= low) & (self <= high)

    def cast(self, to: Any) -> Expression:
        """The value as another type: int, float, str, bool, bytes, date or datetime.

        A float loses its fraction on the way to an int. What has no counterpart (a NaN as int, 'abc' as
        float) stops the run. Dates are days and timestamps microseconds since 1970 as ints.

        >>> Column("x").cast(float)
        x.cast(float)
        """
        return Cast(self, Type.of(to).required)

    # --------------------------------------------------------------------- what cannot work

    def refusing(self, refuse: Refusal) -> Expression:
        """The same, with errors as whoever wrote it would read them: `refuse` makes one of what went wrong.

        Parts that have their own stay as they are.
        """
        if isinstance(self, Cast):
            return replace(self, argument=self.argument.refusing(refuse))
        if not isinstance(self, Apply) or self.refuse is not None:
            return self
        return replace(self, arguments=tuple(each.refusing(refuse) for each in self.arguments), refuse=refuse)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            f"{self} has no truth value of its own: it has one in every row",
            hint="write & for and, | for or, ~ for not, is_in for in, between for a < x < b, and when(...) "
            "for if; comparisons need parentheses there: (x > 1) & (y > 2)",
        )

    def __contains__(self, item: object) -> NoReturn:
        hint = "write x.contains(...) or x.is_in([...])"
        raise ExpressionError(f"{item!r} in {self} cannot be an expression", hint)

    def __iter__(self) -> Iterator[Any]:
        raise ExpressionError(f"{self} cannot be looped over", hint="take elements of a tuple with x[0], x[1]")

    def __repr__(self) -> str:
        # The printer knows every kind of node, so it comes after them.
        from graphtide.dataflow.expressions.show import show  # noqa: PLC0415

        return show(self)

    def _apply(self, operation: str, *others: Any) -> Expression:
        return Apply(operation, (self, *map(as_operand, others)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Expression):
    """The value of a column."""

    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expression):
    """The same value in every row; without a type, the one that the value has."""

    value: Any
    type: Type | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Apply(Expression):
    """An operation of ours, by its symbol or name, on its operands; `refuse` makes the error if it has no result."""

    operation: str
    arguments: tuple[Expression, ...]
    refuse: Refusal | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(Expression):
    """A value as another type."""

    argument: Expression
    to: Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Invoke(Expression):
    """A user's function, called with the arguments' values in every row in which none of them is None."""

    function: Callable[..., Any]
    arguments: tuple[Expression, ...]
    returns: Type


Operand: TypeAlias = (
    Expression | int | float | bool | str | bytes | date | datetime | timedelta | tuple[Any, ...] | np.generic | None
)


def as_expression(value: Operand) -> Expression:
    """What a caller means who may name a column: a str is its name, any other value a literal.

    >>> as_expression("x"), as_expression(3)
    (x, 3)
    """
    return Column(value) if isinstance(value, str) else as_operand(value)


def as_operand(value: Operand) -> Expression:
    """What an operand of an operator means: an expression itself, any other value a literal.

    >>> as_operand("x")
    'x'
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, int | float | str | bytes | date | timedelta | tuple):
        return Literal(value)
    raise ExpressionError(f"{value!r} is not an expression", hint=_what_was_meant(value))


def _what_was_meant(value: object) -> str:
    if isinstance(value, list | set | frozenset):
        return "write x.is_in([...]) to look for a value in a list, and tuples for tuples"
    if callable(value):
        return "call a function on columns with call(f, col(...), returns=...)"
    if type(value).__name__ == "When":
        return "end when(...) with .otherwise(...)"
    return "use col(...), an operator on columns, or an int, float, bool, str, bytes, date, datetime or tuple"


def _key(node: Expression) -> tuple[object, ...]:
    parts = tuple(map(_key, node.parts))
    if isinstance(node, Column):
        return (Column, node.name)
    if isinstance(node, Literal):
        # Equal values of different classes are different literals: 1, 1.0, True; and NaN is one.
        return (Literal, type(node.value), repr(node.value), node.type)
    if isinstance(node, Cast):
        return (Cast, node.to, parts)
    if isinstance(node, Invoke):
        return (Invoke, node.function, node.returns, parts)
    assert isinstance(node, Apply)
    return (Apply, node.operation, parts)


def _nodes(expression: Expression) -> Iterator[Expression]:
    """Every node once, however often it is shared."""
    seen: set[int] = set()
    pending = [expression]
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            pending.extend(node.parts)
            yield node


def _substitute(node: Expression, columns: Mapping[str, Expression], done: dict[int, Expression]) -> Expression:
    if isinstance(node, Column):
        return columns.get(node.name, node)
    if id(node) not in done:
        parts = tuple(_substitute(part, columns, done) for part in node.parts)
        result = node
        if isinstance(node, Apply | Invoke):
            result = replace(node, arguments=parts)
        elif isinstance(node, Cast):
            result = replace(node, argument=parts[0])
        done[id(node)] = result
    return done[id(node)]
