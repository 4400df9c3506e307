"""What names mean inside a query, and what a query that has been bound gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from graphtide.dataflow.expressions import col
from graphtide.errors import SqlError
from graphtide.rows import Schema, did_you_mean
from graphtide.sql.plan import Order, Plan
from graphtide.sql.scalar import Scalar
from graphtide.sql.types import SqlType

__all__ = ["Bound", "Names", "Output", "Scope"]


@dataclass(slots=True)
class Names:
    """Names for the columns of one plan, each given once."""

    _numbers: Iterator[int] = field(default_factory=count)

    def fresh(self, name: str) -> str:
        """A name that no other column has."""
        return f"{name}.{next(self._numbers)}"


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a query's answer: its name there, its name in the plan, its type."""

    name: str
    column: str
    type: SqlType

    @property
    def scalar(self) -> Scalar:
        """The column as a value."""
        return Scalar(col(self.column), self.type)


@dataclass(frozen=True, slots=True)
class Bound:
    """A query as a plan; `order` is that of the answer's rows, where it has one, and may use further columns."""

    plan: Plan
    outputs: tuple[Output, ...]
    order: tuple[Order, ...] = ()


@dataclass(slots=True)
class Scope:
    """The relations of a select by their aliases, inside of the scopes that enclose it."""

    parent: Scope | None = None
    relations: dict[str, dict[str, Scalar]] = field(default_factory=dict[str, dict[str, Scalar]])
    # What the columns have become once the rows are grouped: only keys are left.
    grouped: Mapping[str, Scalar] | None = None
    # What is selected, by its names: ORDER BY sees it where no relation has a column of that name.
    selected: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])

    def enter(self, alias: str, columns: dict[str, Scalar]) -> None:
        """Know a relation by its alias."""
        if alias in self.relations:
            raise SqlError(f'the alias "{alias}" stands for two relations', hint="give each an alias of its own")
        self.relations[alias] = columns

    def own(self, node: exp.Column) -> Scalar | None:
        """A column of this scope's relations, None if none of them has it."""
        return self.relations.get(node.table, {}).get(node.name)

    def resolve(self, node: exp.Column) -> Scalar:
        """The column that a name means, here or in the nearest scope around."""
        found = self.own(node)
        if found is not None:
            return self.seen_from_inside(found, node)
        if not node.table and node.name in self.selected:
            return self.selected[node.name]
        if self.parent is None:
            names = [name for columns in self.relations.values() for name in columns]
            raise SqlError(f'column "{node.sql()}" does not exist', hint=did_you_mean(node.name, names))
        return self.parent.resolve(node)

    def seen_from_inside(self, found: Scalar, node: exp.Column) -> Scalar:
        """A column as what follows grouping sees it."""
        if self.grouped is None:
            return found
        (name,) = found.expression.columns()
        if name not in self.grouped:
            raise SqlError(
                f'column "{node.sql()}" is neither grouped by nor inside an aggregate',
                hint="name it in GROUP BY, or take min(...) of it",
            )
        return self.grouped[name]

    def around(self) -> Schema:
        """The columns of the scopes around, which may be free inside."""
        columns: dict[str, Scalar] = {}
        scope = self.parent
        while scope is not None:
            for relation in scope.relations.values():
                columns |= {_name(each): each for each in relation.values()}
            for each in (scope.grouped or {}).values():
                columns[_name(each)] = each
            scope = scope.parent
        return Schema((name, each.type.encoding.optional) for name, each in columns.items())


def _name(scalar: Scalar) -> str:
    (name,) = scalar.expression.columns()
    return name
