"""Subqueries without free columns: what a correlated plan is for all values of its free columns at once.

Conditions that relate a subquery to its outer query are pulled out of it where nothing but joins, filters and
projections stands around them. What is left correlated is evaluated for the *domain*, the distinct values that the
outer query has for the free columns (Neumann and Kemper, "Unnesting arbitrary queries"): every operator below carries
the domain's columns along. NULL is a value of the domain like any other, and the answer is put together again by
equality that takes NULL for equal to itself, so nothing is lost for outer rows with NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graphtide.dataflow.expressions import Expression, col
from graphtide.dataflow.expressions.expression import Column
from graphtide.errors import SqlError
from graphtide.rows import Schema
from graphtide.sql.aggregates import on_nothing
from graphtide.sql.conditions import conjuncts, equality, same
from graphtide.sql.plan import (
    Aggregate,
    Conditions,
    Distinct,
    Filter,
    Join,
    Outer,
    Plan,
    Project,
    Scan,
    Semi,
    SetOperation,
    TopK,
    Union,
    free_columns,
)
from graphtide.sql.scope import Names

__all__ = ["is_single", "pulled", "related"]


def related(outer: Plan, inner: Plan, names: Names) -> tuple[Plan, Conditions]:
    """The inner plan without free columns of the outer one, and the conditions under which rows belong together."""
    inner, conditions = pulled(inner)
    if inner.free.isdisjoint(outer.schema):
        return inner, conditions
    domain = Domain.of(outer, inner.free, names)
    return domain.push(inner), (*conditions, *domain.conditions())


def pulled(plan: Plan) -> tuple[Plan, Conditions]:
    """The plan without the conditions on free columns that can stand above it, and those conditions."""
    match plan:
        case Filter(below, conditions):
            inner, outside = pulled(below)
            mixed = [each for each in conditions if free_columns(each, known=below.schema)]
            kept = tuple(each for each in conditions if all(each is not one for one in mixed))
            return (Filter(inner, kept) if kept else inner), (*outside, *mixed)
        case Join(inputs, conditions):
            parts = [pulled(each) for each in inputs]
            outside = tuple(each for _, found in parts for each in found)
            mixed = [each for each in conditions if free_columns(each, known=plan.schema)]
            kept = tuple(each for each in conditions if all(each is not one for one in mixed))
            return Join(tuple(inner for inner, _ in parts), kept), (*outside, *mixed)
        case Project(below, outputs, around):
            inner, outside = pulled(below)
            return Project(inner, _with_columns(outputs, outside, inner.schema), around), outside
        case Semi():
            inner, outside = pulled(plan.left)
            return replace(plan, left=inner), outside
        case Outer() if not plan.is_full:
            inner, outside = pulled(plan.left)
            return replace(plan, left=inner), outside
        case _:
            return plan, ()


def _with_columns(outputs: Mapping[str, Expression], conditions: Conditions, known: Schema) -> dict[str, Expression]:
    """The outputs, and the columns that conditions above need."""
    needed = {name for each in conditions for name in each.columns() if name in known and name not in outputs}
    return {**outputs, **{name: col(name) for name in sorted(needed)}}


def is_single(plan: Plan, *, exactly: bool = False) -> bool:
    """Whether a plan never has more than one row for any values of its free columns; exactly one, if asked for."""
    match plan:
        case Aggregate(keys=()):
            return True
        case Project():
            return is_single(plan.input, exactly=exactly)
        case Filter():
            return not exactly and (_holds_key(plan) or is_single(plan.input))
        case Distinct():
            return not exactly and is_single(plan.input)
        case Semi():
            return not exactly and is_single(plan.left)
        case TopK(keys=(), limit=1):
            return not exactly or (plan.offset == 0 and is_single(plan.input, exactly=True))
        case Join(parts, conditions):
            return all(is_single(each, exactly=exactly) for each in parts) and not (exactly and conditions)
        case Outer(is_full=False):
            return is_single(plan.left, exactly=exactly) and is_single(plan.right)
        case _:
            return not plan.inputs and not plan.schema.names


def _holds_key(plan: Filter) -> bool:
    """Whether conditions say what each column of a table's primary key is equal to."""
    conditions: list[Expression] = []
    below: Plan = plan
    while isinstance(below, Filter):
        conditions += [part for each in below.conditions for part in conjuncts(each)]
        below = below.input
    if not isinstance(below, Scan) or not below.key:
        return False
    found = [each for each in map(equality, conditions) if each is not None]
    pairs = [pair for each in found for pair in ((each.left, each.right), (each.right, each.left))]
    fixed = {a.name for a, b in pairs if isinstance(a, Column) and b.columns().isdisjoint(below.schema)}
    return below.key <= {below.columns[name] for name in fixed if name in below.columns}


@dataclass(frozen=True, slots=True)
class Domain:
    """The distinct values that free columns take: a plan, and its column for each free one."""

    plan: Plan
    columns: Mapping[str, str]
    names: Names

    @staticmethod
    def of(outer: Plan, free: frozenset[str], names: Names) -> Domain:
        """The domain of those free columns that the outer plan has."""
        columns = {name: names.fresh("domain") for name in sorted(free) if name in outer.schema}
        return Domain(Distinct(Project(outer, {new: col(old) for old, new in columns.items()})), columns, names)

    def conditions(self) -> Conditions:
        """When an outer row has the values of a row of the domain."""
        return tuple(same(col(old), col(new)) for old, new in self.columns.items())

    def again(self) -> tuple[Domain, Conditions]:
        """The same domain under other names, and when a row is the same in both."""
        columns = {old: self.names.fresh("domain") for old in self.columns}
        renamed = Project(self.plan, {columns[old]: col(new) for old, new in self.columns.items()})
        both = tuple(same(col(self.columns[old]), col(new)) for old, new in columns.items())
        return Domain(renamed, columns, self.names), both

    def push(self, plan: Plan) -> Plan:
        """The plan for every row of the domain: the domain's columns beside its own."""
        mine = tuple(self.columns.values())
        if plan.free.isdisjoint(self.columns):
            return Join((self.plan, plan))
        match plan:
            case Filter(below, conditions):
                return Filter(self.push(below), self._bound(conditions))
            case Project(below, outputs, around):
                bound = dict(zip(outputs, self._bound(tuple(outputs.values())), strict=True))
                return Project(self.push(below), {**{name: col(name) for name in mine}, **bound}, around)
            case Join(inputs, conditions):
                return self._push_join(inputs, self._bound(conditions))
            case Aggregate(below, keys, totals):
                if keys:
                    return Aggregate(self.push(below), (*mine, *keys), totals)
                return self._push_single(plan)
            case Distinct(below):
                return Distinct(self.push(below))
            case TopK():
                return replace(plan, input=self.push(plan.input), keys=(*mine, *plan.keys))
            case Union(inputs, union_names):
                return Union(tuple(map(self._push_in_order, inputs)), (*mine, *union_names))
            case SetOperation():
                return replace(plan, left=self._push_in_order(plan.left), right=self._push_in_order(plan.right))
            case Semi() | Outer():
                return self._push_pair(plan)
            case _:
                raise SqlError(
                    "a recursive query inside of a subquery refers to the query around it, which is not supported",
                    hint="define the recursive query before, with the columns to join on",
                )

    def _bound(self, expressions: Conditions) -> Conditions:
        columns = {old: col(new) for old, new in self.columns.items()}
        return tuple(each.substitute(columns) for each in expressions)

    def _push_in_order(self, plan: Plan) -> Plan:
        wanted = (*self.columns.values(), *plan.schema)
        return Project(self.push(plan), {name: col(name) for name in wanted})

    def _push_join(self, inputs: tuple[Plan, ...], conditions: Conditions) -> Plan:
        parts: list[Plan] = []
        further: list[Expression] = []
        domain: Domain | None = self
        for each in inputs:
            if each.free.isdisjoint(self.columns):
                parts.append(each)
            elif domain is not None:
                parts.append(domain.push(each))
                domain = None
            else:
                copy, equal = self.again()
                parts.append(copy.push(each))
                further += equal
        if domain is not None:
            parts.insert(0, self.plan)
        return Join(tuple(parts), (*conditions, *further))

    def _push_single(self, plan: Aggregate) -> Plan:
        """An aggregate without a key has a row for each value of the domain, also where it finds nothing."""
        copy, equal = self.again()
        grouped = Aggregate(copy.push(plan.input), tuple(copy.columns.values()), plan.totals)
        joined = Outer(self.plan, grouped, equal)
        outputs = {name: col(name) for name in (*self.columns.values(), *plan.totals)}
        return Project(joined, outputs | on_nothing(plan.totals))

    def _push_pair(self, plan: Semi | Outer) -> Plan:
        if isinstance(plan, Outer) and plan.is_full:
            raise SqlError(
                "a full join inside of a subquery refers to the query around it, which is not supported",
                hint="write it as a left join and a union",
            )
        left, conditions = self.push(plan.left), self._bound(plan.conditions)
        right = plan.right
        if not right.free.isdisjoint(self.columns):
            copy, equal = self.again()
            right, conditions = copy.push(right), (*conditions, *equal)
        return replace(plan, left=left, right=right, conditions=conditions)
