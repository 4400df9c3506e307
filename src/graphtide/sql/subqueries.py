"""Subqueries in expressions and conditions, as joins with the rows that they are asked for.

`exists` is a semi join, and a left join with a mark where its truth value is needed. `x in S` asks whether an equal
value exists, `x < any S` whether a greater one does; NULL makes the difference between false and unknown:
`x not in S` holds if no row of S equals x, none is NULL, and x is not NULL unless S is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, col, lit, type_of, when
from graphtide.errors import SqlError
from graphtide.rows import Schema
from graphtide.sql.aggregates import on_nothing
from graphtide.sql.conditions import Equality, equality, same
from graphtide.sql.decorrelate import is_single, pulled, related
from graphtide.sql.plan import (
    Aggregate,
    Conditions,
    Distinct,
    Filter,
    Join,
    Outer,
    Plan,
    Project,
    Semi,
    TopK,
)
from graphtide.sql.scalar import Scalar, united
from graphtide.sql.scope import Bound, Names
from graphtide.sql.translate import comparing

__all__ = ["Membership", "having_some", "marked", "membership", "scalar_of"]


def having_some(outer: Plan, inner: Plan, names: Names, *, is_anti: bool, further: Conditions = ()) -> Plan:
    """The outer rows for which the inner plan has some row that fits the further conditions; or none."""
    partners, conditions = related(outer, _bare(inner) if not further else inner, names)
    return Semi(outer, partners, (*conditions, *further), is_anti)


def _bare(plan: Plan) -> Plan:
    """A plan that has rows exactly if this one has, and fewer columns to make."""
    while isinstance(plan, Project | Distinct) or (isinstance(plan, TopK) and plan.limit != 0 and plan.offset == 0):
        plan = plan.input
    return plan


def marked(outer: Plan, inner: Plan, names: Names, around: Schema, further: Conditions = ()) -> tuple[Plan, Expression]:
    """The outer rows with a mark, and whether the inner plan has a row that fits: true or false, never NULL."""
    partners, conditions = related(outer, _bare(inner) if not further else inner, names)
    conditions = (*conditions, *further)
    mark = names.fresh("mark")
    used = sorted({name for each in conditions for name in each.columns() if name in outer.schema})
    if not used:
        found = Distinct(Project(Filter(partners, conditions) if conditions else partners, {mark: lit(1)}, around))
        return Outer(outer, found, ()), col(mark).is_not_null()
    copies = {name: names.fresh("domain") for name in used}
    domain = Distinct(Project(outer, {new: col(old) for old, new in copies.items()}))
    renamed = {old: col(new) for old, new in copies.items()}
    found = Semi(domain, partners, tuple(each.substitute(renamed) for each in conditions))
    kept = Project(found, {**{new: col(new) for new in copies.values()}, mark: lit(1)})
    return Outer(outer, kept, tuple(same(col(old), new) for old, new in renamed.items())), col(mark).is_not_null()


@dataclass(frozen=True, slots=True)
class Membership:
    """Values that are looked for among the rows of a plan, with the condition that they compare as asked."""

    inner: Plan
    fits: Conditions
    values: tuple[Expression, ...]
    columns: tuple[str, ...]

    def only(self, outer: Plan, names: Names, *, is_anti: bool) -> Plan:
        """The outer rows for which some row fits; or certainly none does."""
        if not is_anti:
            return having_some(outer, self.inner, names, is_anti=False, further=self.fits)
        result = having_some(outer, self.inner, names, is_anti=True, further=self.fits)
        if self._may_hold_null():
            self._check_one_column()
            result = having_some(result, self._nulls(), names, is_anti=True)
        if self._may_be_null(outer):
            self._check_one_column()
            result = having_some(result, self.inner, names, is_anti=True, further=(self.values[0].is_null(),))
        return result

    def value(self, outer: Plan, names: Names, around: Schema) -> tuple[Plan, Expression]:
        """The outer rows, and whether some row fits: true, false or NULL."""
        may_be_null = self._may_be_null(outer)
        plan, found = marked(outer, self.inner, names, around, self.fits)
        unknown: Expression = lit(False)  # noqa: FBT003
        if self._may_hold_null():
            self._check_one_column()
            plan, holds_null = marked(plan, self._nulls(), names, around)
            unknown |= holds_null
        if may_be_null:
            self._check_one_column()
            plan, is_there = marked(plan, self.inner, names, around)
            unknown |= self.values[0].is_null() & is_there
        return plan, when(found, lit(True)).when(unknown, lit(None, bool)).otherwise(lit(False))  # noqa: FBT003

    def _nulls(self) -> Plan:
        return Filter(self.inner, (col(self.columns[0]).is_null(),))

    def _may_hold_null(self) -> bool:
        return any(self.inner.schema[name].nullable for name in self.columns)

    def _may_be_null(self, outer: Plan) -> bool:
        known = outer.schema
        return any(each.columns() - set(known) or type_of(each, known).nullable for each in self.values)

    def _check_one_column(self) -> None:
        if len(self.values) > 1:
            raise SqlError(
                "IN of several columns that may be NULL is supported only where it must be true",
                hint="write it as NOT EXISTS",
            )


def membership(
    values: list[Scalar], comparison: type[Syntax], bound: Bound, names: Names, around: Schema
) -> Membership:
    """Values to compare with the answers of a query."""
    if len(values) != len(bound.outputs):
        raise SqlError(
            f"{len(values)} values are compared with the {len(bound.outputs)} columns of a query",
            hint="select as many columns",
        )
    columns = tuple(names.fresh("member") for _ in values)
    plan = bound.plan.input if isinstance(bound.plan, Distinct) else bound.plan
    if comparison in {exp.EQ, exp.NEQ}:
        pairs = [united(value, output.scalar) for value, output in zip(values, bound.outputs, strict=True)]
        members = [Scalar(col(name), right.type) for name, (_, right) in zip(columns, pairs, strict=True)]
        sought, told = [left for left, _ in pairs], [right for _, right in pairs]
    else:
        sought, told = values, [each.scalar for each in bound.outputs]
        members = [Scalar(col(name), each.type) for name, each in zip(columns, told, strict=True)]
    inner = Project(plan, {name: each.expression for name, each in zip(columns, told, strict=True)}, around)
    fits = tuple(comparing(comparison, a, b) for a, b in zip(sought, members, strict=True))
    return Membership(inner, fits, tuple(each.expression for each in sought), columns)


def scalar_of(outer: Plan, bound: Bound, names: Names, node: Syntax) -> tuple[Plan, Scalar]:
    """The outer rows beside a subquery's only value."""
    if len(bound.outputs) != 1:
        raise SqlError(f"a scalar subquery has one column: {node.sql(dialect='duckdb')}", hint="select one column")
    if not is_single(bound.plan):
        raise SqlError(
            f"a scalar subquery that may have several rows is not supported: {node.sql(dialect='duckdb')}",
            hint="take an aggregate without GROUP BY, end it with ORDER BY ... LIMIT 1, or say all of a primary key",
        )
    output = bound.outputs[0]
    if bound.plan.free.isdisjoint(outer.schema):
        if is_single(bound.plan, exactly=True):
            return Join((outer, bound.plan)), output.scalar
        return Outer(outer, bound.plan, ()), output.scalar
    by_key = _grouped_by_key(outer, bound.plan, col(output.column), names)
    if by_key is not None:
        return by_key[0], Scalar(by_key[1], output.type)
    inner, conditions = related(outer, bound.plan, names)
    return Outer(outer, inner, conditions), output.scalar


def _grouped_by_key(outer: Plan, plan: Plan, value: Expression, names: Names) -> tuple[Plan, Expression] | None:
    """An aggregate that is related to the outer rows by equalities alone, as one that is grouped by them.

    There is then no need for the domain: what it finds for keys that no outer row has is not looked at.
    """
    while isinstance(plan, Project):
        value = value.substitute(plan.outputs)
        plan = plan.input
    if not isinstance(plan, Aggregate) or plan.keys:
        return None
    inner, conditions = pulled(plan.input)
    equalities = [_across(each, inner) for each in conditions]
    if not inner.free.isdisjoint(outer.schema) or None in equalities:
        return None
    keys = {names.fresh("key"): each for each in equalities if each is not None}
    columns = {**{name: col(name) for name in inner.schema}, **{name: each.left for name, each in keys.items()}}
    grouped = Aggregate(Project(inner, columns), tuple(keys), plan.totals)
    joined = Outer(outer, grouped, tuple(col(name) == each.right for name, each in keys.items()))
    return joined, value.substitute(on_nothing(plan.totals))


def _across(condition: Expression, inner: Plan) -> Equality | None:
    """A condition as an equality of an inner value with one of the outer row."""
    found = equality(condition)
    if found is None or found.is_null_safe:
        return None
    outside = {name for name in condition.columns() if name not in inner.schema}
    return found.between(inner.schema, outside)
