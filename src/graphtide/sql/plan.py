"""Relational plans: what a query computes, between SQL's tree and the dataflow.

Every column of a plan has a name of its own, however often its table is read, so an expression means the same
wherever it is moved. A name that no input of a node gives is *free*: it belongs to an enclosing query, and
`decorrelate` gives it a value before anything is compiled. One plan may stand under several others; it is then
computed once.

Invariant: `schema` says of each column whether NULL may occur, and never that it may not when it may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, col, type_of
from graphtide.rows import FLOAT, INT, Schema, Type

__all__ = [
    "Aggregate",
    "Conditions",
    "Distinct",
    "Filter",
    "Join",
    "Order",
    "Outer",
    "Plan",
    "Project",
    "Recursion",
    "Recursive",
    "Scan",
    "Semi",
    "SetOperation",
    "TopK",
    "Total",
    "Union",
    "Unit",
    "free_columns",
    "walk",
    "with_inputs",
]

Conditions: TypeAlias = tuple[Expression, ...]
_NONE: Final = Schema({})


@dataclass(frozen=True, eq=False)
class Plan:
    """A multiset of rows that a query defines."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plans that it is computed from."""
        return ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that it evaluates over its inputs."""
        return ()

    @cached_property
    def schema(self) -> Schema:
        """The columns, each with its encoding."""
        raise NotImplementedError

    @cached_property
    def free(self) -> frozenset[str]:
        """The columns of enclosing queries that it, or what it is computed from, refers to."""
        known = {name for each in self.inputs for name in each.schema}
        own = {name for expression in self.expressions for name in expression.columns()} - known
        return frozenset(own).union(*(each.free for each in self.inputs))


@dataclass(frozen=True, eq=False)
class Scan(Plan):
    """Some columns of a table or a view, under names of the plan."""

    name: str
    source: Collection
    columns: Mapping[str, str]
    rows: int  # how many there are, as far as is known: only the order of joins depends on it
    key: frozenset[str] = frozenset()  # source columns that tell rows apart, none if unknown

    @cached_property
    def schema(self) -> Schema:
        """The columns as the table has them."""
        return Schema((name, self.source.schema[column]) for name, column in self.columns.items())


@dataclass(frozen=True, eq=False)
class Unit(Plan):
    """One row without columns."""

    @cached_property
    def schema(self) -> Schema:
        """No column."""
        return Schema({})


@dataclass(frozen=True, eq=False)
class _Unary(Plan):
    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The one input."""
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.input.schema


@dataclass(frozen=True, eq=False)
class _Binary(Plan):
    left: Plan
    right: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Both inputs."""
        return (self.left, self.right)


@dataclass(frozen=True, eq=False)
class Filter(_Unary):
    """The rows for which all conditions are true."""

    conditions: Conditions

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions."""
        return self.conditions


@dataclass(frozen=True, eq=False)
class Project(_Unary):
    """A row for each row; `around` has the types of free columns."""

    outputs: Mapping[str, Expression]
    around: Schema = _NONE

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What the columns are."""
        return tuple(self.outputs.values())

    @cached_property
    def schema(self) -> Schema:
        """A column for each output."""
        known = self.input.schema
        both = Schema([*known.items(), *((n, t) for n, t in self.around.items() if n not in known)])
        return Schema((name, type_of(each, both)) for name, each in self.outputs.items())


@dataclass(frozen=True, eq=False)
class Join(Plan):
    """All combinations of rows for which the conditions are true."""

    parts: tuple[Plan, ...]
    conditions: Conditions = ()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The parts."""
        return self.parts

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions."""
        return self.conditions

    @cached_property
    def schema(self) -> Schema:
        """The columns of all inputs."""
        return Schema(pair for each in self.inputs for pair in each.schema.items())


@dataclass(frozen=True, eq=False)
class Outer(_Binary):
    """The join, and the left rows without a partner; if it is full, the right ones too."""

    conditions: Conditions
    is_full: bool = False

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions."""
        return self.conditions

    @cached_property
    def schema(self) -> Schema:
        """The columns of both, those of a side that may be missing optional."""
        left = [(n, t.optional if self.is_full else t) for n, t in self.left.schema.items()]
        return Schema([*left, *((n, t.optional) for n, t in self.right.schema.items())])


@dataclass(frozen=True, eq=False)
class Semi(_Binary):
    """The left rows that have a partner; as an anti join, those that have none."""

    conditions: Conditions
    is_anti: bool = False

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The conditions."""
        return self.conditions

    @cached_property
    def schema(self) -> Schema:
        """The left columns."""
        return self.left.schema


@dataclass(frozen=True, slots=True)
class Total:
    """What an aggregate computes of a column of a key's rows, or of the rows if it is None.

    It is a count, sum, avg, min or max, or the spread: the sum of the squared distances from the mean.
    """

    function: str
    column: str | None
    is_distinct: bool = False


@dataclass(frozen=True, eq=False)
class Aggregate(_Unary):
    """A row for each key; without a key, one row always."""

    keys: tuple[str, ...]
    totals: Mapping[str, Total]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The columns that it reads."""
        read = [each.column for each in self.totals.values() if each.column is not None]
        return tuple(map(col, (*self.keys, *read)))

    @cached_property
    def schema(self) -> Schema:
        """The key, then the totals."""
        known = self.input.schema
        return Schema([*known.select(*self.keys).items(), *((n, self._type(t)) for n, t in self.totals.items())])

    def _type(self, total: Total) -> Type:
        if total.function == "count" or total.column is None:
            return INT
        found = self.input.schema[total.column]
        if total.function in {"avg", "spread"}:
            found = FLOAT.optional if found.nullable else FLOAT
        return found.optional if not self.keys else found


@dataclass(frozen=True, eq=False)
class Distinct(_Unary):
    """Each row once."""


@dataclass(frozen=True, eq=False)
class Union(Plan):
    """All rows of all inputs, column by column under new names."""

    parts: tuple[Plan, ...]
    names: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The parts."""
        return self.parts

    @cached_property
    def schema(self) -> Schema:
        """The first input's types, optional where any is."""
        columns = zip(*(each.schema.types for each in self.inputs), strict=True)
        widest = [types[0].optional if any(t.nullable for t in types) else types[0] for types in columns]
        return Schema(zip(self.names, widest, strict=True))


@dataclass(frozen=True, eq=False)
class SetOperation(_Binary):
    """The left rows less or in common with the right ones, column by column, by count or as sets."""

    is_except: bool
    is_all: bool

    @cached_property
    def schema(self) -> Schema:
        """The left columns."""
        return self.left.schema


@dataclass(frozen=True, slots=True)
class Order:
    """A column to sort by."""

    column: str
    is_descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, eq=False)
class TopK(_Unary):
    """The rows from `offset` on, `limit` at most if there is one, of each key's in order."""

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    limit: int | None
    offset: int = 0

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The columns that it reads."""
        return tuple(map(col, (*self.keys, *(each.column for each in self.order))))


@dataclass(frozen=True, eq=False)
class Recursion(Plan):
    """The rows of a recursive query as its own step sees them."""

    name: str
    columns: Schema

    @cached_property
    def schema(self) -> Schema:
        """The columns of the recursive query."""
        return self.columns


@dataclass(frozen=True, eq=False)
class Recursive(Plan):
    """A base, and what a step makes of what is there, again and again; each row once if it is distinct."""

    base: Plan
    step: Plan
    variable: Recursion
    is_distinct: bool

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The base and the step."""
        return (self.base, self.step)

    @cached_property
    def schema(self) -> Schema:
        """The columns of the recursive query."""
        return self.variable.columns


def walk(plan: Plan) -> Iterator[Plan]:
    """Every plan that this one is computed from, once, each after those above it; itself first."""
    seen: set[int] = set()
    after: list[Plan] = []

    def visit(each: Plan) -> None:
        if id(each) not in seen:
            seen.add(id(each))
            for below in each.inputs:
                visit(below)
            after.append(each)

    visit(plan)
    yield from reversed(after)


def free_columns(*expressions: Expression, known: Schema) -> frozenset[str]:
    """The columns of expressions that a schema does not have."""
    return frozenset(name for each in expressions for name in each.columns() if name not in known)


def with_inputs(plan: Plan, inputs: tuple[Plan, ...]) -> Plan:
    """The same operation on other inputs."""
    if all(a is b for a, b in zip(plan.inputs, inputs, strict=True)):
        return plan
    match plan:
        case Join() | Union():
            return replace(plan, parts=inputs)
        case _Unary():
            return replace(plan, input=inputs[0])
        case _Binary():
            return replace(plan, left=inputs[0], right=inputs[1])
        case Recursive():
            return replace(plan, base=inputs[0], step=inputs[1])
        case _:
            return plan
