"""Predicates on edges, bound to a graph: every name is resolved, every operand typed.

What they mean, for any reader of the tree:

- Logic has two values. A comparison (also in, between, like) with a missing value is false, and `Not` of that is
  true. `And`, `Or` and `Not` read a missing truth value as false.
- Arithmetic with a missing value is missing. So are division or modulo by zero, an int beyond 64 bits and a date
  beyond 32 bits of days.
- `/` divides floats and gives a float, whatever its operands are. `%` has the sign of the divisor.
- Ints and floats compare by their exact values. NaN equals itself and is the greatest; -0.0 is 0.0.
- Dates and timestamps compare as instants; a date is its midnight in UTC, and missing if that is beyond 64 bits of
  microseconds. A date and an int add up to the date so many days later; two dates differ by an int of days.
- Strings compare by code points, false is less than true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias
from typing import Literal as OneOf

from graphtide.graph.schema import EDGE, ID, PropertyType

__all__ = [
    "ALL",
    "And",
    "Arithmetic",
    "Between",
    "Comparison",
    "EdgeNumber",
    "EdgeProperty",
    "EndId",
    "EndProperty",
    "Expression",
    "In",
    "IsNull",
    "Like",
    "Literal",
    "NamesUsed",
    "Negative",
    "Not",
    "Or",
    "Predicate",
    "Side",
    "conjunction",
    "names_used",
]


class Side(StrEnum):
    """The two ends of an edge."""

    SRC = "src"
    DST = "dst"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value; timestamps are in UTC."""

    value: int | float | str | bool | date | datetime
    type: PropertyType


@dataclass(frozen=True, slots=True)
class EdgeProperty:
    """A property of the edge."""

    name: str
    type: PropertyType


@dataclass(frozen=True, slots=True)
class EndProperty:
    """A property of one end of the edge."""

    side: Side
    name: str
    type: PropertyType


@dataclass(frozen=True, slots=True)
class EdgeNumber:
    """The number of the edge, from 0 in the order of the source."""

    @property
    def type(self) -> PropertyType:
        """An int."""
        return PropertyType.INT


@dataclass(frozen=True, slots=True)
class EndId:
    """The id of one end of the edge, as the user gave it."""

    side: Side
    type: PropertyType


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with its sign changed."""

    operand: Expression

    @property
    def type(self) -> PropertyType:
        """That of the operand."""
        return self.operand.type


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two numbers, or a date and days, and an operator."""

    operator: OneOf["+", "-", "*", "/", "%"]
    left: Expression
    right: Expression
    type: PropertyType


class _Truth:
    """What is true or false, and never missing."""

    __slots__ = ()

    @property
    def type(self) -> PropertyType:
        """A truth value."""
        return PropertyType.BOOL


@dataclass(frozen=True, slots=True)
class Comparison(_Truth):
    """Two values of types that compare."""

    operator: OneOf["=", "<>", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In(_Truth):
    """A value equal to one of several."""

    value: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between(_Truth):
    """A value at least `low` and at most `high`."""

    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class Like(_Truth):
    r"""A string of a pattern: `%` stands for any characters, `_` for one, and what follows a `\` for itself."""

    value: Expression
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull(_Truth):
    """A missing value."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Not(_Truth):
    """What is not true."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class And(_Truth):
    """All of several."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(_Truth):
    """One of several at least."""

    terms: tuple[Expression, ...]


Expression: TypeAlias = (
    Literal
    | EdgeProperty
    | EndProperty
    | EdgeNumber
    | EndId
    | Negative
    | Arithmetic
    | Comparison
    | In
    | Between
    | Like
    | IsNull
    | Not
    | And
    | Or
)
# An expression whose type is bool.
Predicate: TypeAlias = Expression

ALL: Final[Predicate] = Literal(value=True, type=PropertyType.BOOL)


class NamesUsed(NamedTuple):
    """The columns of a stored graph that predicates read: of its edges, and of its nodes at either end."""

    edge: frozenset[str]
    src: frozenset[str]
    dst: frozenset[str]


def conjunction(left: Predicate, right: Predicate) -> Predicate:
    """Both predicates at once.

    >>> flag = EdgeProperty("flag", PropertyType.BOOL)
    >>> conjunction(ALL, flag) == flag
    True
    """
    if left == ALL:
        return right
    if right == ALL:
        return left
    return And((*_terms(left), *_terms(right)))


def names_used(*predicates: Predicate) -> NamesUsed:
    """What must be read to evaluate predicates; the number of an edge and the id of an end are columns too.

    >>> names_used(IsNull(EndId(Side.SRC, PropertyType.INT)), EdgeProperty("flag", PropertyType.BOOL))
    NamesUsed(edge=frozenset({'flag'}), src=frozenset({'_id'}), dst=frozenset())
    """
    edge: set[str] = set()
    ends: dict[Side, set[str]] = {side: set() for side in Side}
    for predicate in predicates:
        for node in _nodes(predicate):
            match node:
                case EdgeProperty(name):
                    edge.add(name)
                case EdgeNumber():
                    edge.add(EDGE)
                case EndProperty(side, name):
                    ends[side].add(name)
                case EndId(side):
                    ends[side].add(ID)
                case _:
                    pass
    return NamesUsed(frozenset(edge), frozenset(ends[Side.SRC]), frozenset(ends[Side.DST]))


def _terms(predicate: Predicate) -> tuple[Expression, ...]:
    return predicate.terms if isinstance(predicate, And) else (predicate,)


def _nodes(root: Expression) -> Iterator[Expression]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _parts(node)


def _parts(node: Expression) -> tuple[Expression, ...]:
    match node:
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Negative(operand) | Not(operand):
            return (operand,)
        case Like(value) | IsNull(value):
            return (value,)
        case In(value, choices):
            return (value, *choices)
        case Between(value, low, high):
            return (value, low, high)
        case And(terms) | Or(terms):
            return terms
        case Literal() | EdgeProperty() | EndProperty() | EdgeNumber() | EndId():
            return ()
