"""From SQL's tree to a relational plan: queries, relations, grouping, order.

The tree comes qualified: every column with its relation, no star left. A part of it that is not supported
is refused with its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, col
from graphtide.errors import SqlError
from graphtide.rows import Schema
from graphtide.sql.aggregates import Totals, aggregates_in
from graphtide.sql.nesting import said_of
from graphtide.sql.order import name_order, over_selected, without_parentheses
from graphtide.sql.plan import (
    Aggregate,
    Distinct,
    Join,
    Order,
    Outer,
    Plan,
    Project,
    Recursion,
    Recursive,
    Scan,
    Semi,
    SetOperation,
    TopK,
    Union,
    Unit,
)
from graphtide.sql.recursion import check_linear
from graphtide.sql.rows import GroupedRows, Rows, has_subquery
from graphtide.sql.scalar import Scalar, cast, united
from graphtide.sql.scope import Bound, Names, Output, Scope
from graphtide.sql.spelling import refuse, spelled
from graphtide.sql.types import SqlType
from graphtide.sql.values import written_out

__all__ = ["Binder", "Catalogue"]


class Catalogue(Protocol):
    """Where tables and views are known by name."""

    def scan(self, name: str, names: Names) -> tuple[Scan, tuple[SqlType, ...]]:
        """A table or view under fresh names, and its columns' types."""
        ...


@dataclass(frozen=True, slots=True)
class _Common:
    """A common table expression: bound once, read under new names wherever it is named."""

    plan: Plan
    outputs: tuple[Output, ...]


_Commons = Mapping[str, _Common]


_KINDS: Final = frozenset(["", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"])
_MOST_ROWS: Final = 2**63 - 1


class Binder:
    """Binds the queries of one statement."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.names = Names()

    def query(self, node: Syntax, parent: Scope | None = None, commons: _Commons | None = None) -> Bound:
        """A query as a plan."""
        known = dict(commons or {})
        self._enter_commons(node.args.get("with_"), parent, known)
        if isinstance(node, exp.Select):
            return _Select(self, node, parent, known).bound()
        if isinstance(node, exp.Subquery):
            return self._parenthesised(node, parent, known)
        if isinstance(node, exp.Values):
            return written_out(
                node,
                lambda: Rows(Unit(), Scope(parent), self.names, lambda inner, scope: self.query(inner, scope, known)),
            )
        if isinstance(node, exp.Union | exp.Except | exp.Intersect):
            return self._set_operation(node, parent, known)
        raise refuse(node)

    def _parenthesised(self, node: exp.Subquery, parent: Scope | None, known: dict[str, _Common]) -> Bound:
        """A query in parentheses; what is ordered outside of them is no longer ordered as inside."""
        inner = self.query(node.this, parent, known)
        order = _order_of_outputs(node, inner.outputs) or inner.order
        return Bound(_limited(node, inner.plan, order), inner.outputs, order)

    # -- common table expressions

    def _enter_commons(self, node: Syntax | None, parent: Scope | None, known: dict[str, _Common]) -> None:
        for cte in () if node is None else node.expressions:
            inner = cte.this
            is_recursive = node is not None and node.args.get("recursive") and _names_itself(inner, cte.alias)
            bound = self._recursive(cte, parent, known) if is_recursive else self.query(inner, parent, known)
            known[cte.alias] = _Common(bound.plan, _renamed(bound.outputs, cte))

    def _recursive(self, cte: exp.CTE, parent: Scope | None, known: dict[str, _Common]) -> Bound:
        node = cte.this
        if not isinstance(node, exp.Union) or _given(node, "order", "limit", "offset", "with_"):
            raise refuse(node, "a recursive query is a base UNION [ALL] a step")
        base = self.query(node.this, parent, known)
        outputs = _renamed(base.outputs, cte)
        for each in outputs:
            if each.type.kind is None:
                raise SqlError(f'the type of column "{each.name}" is unknown', hint="cast NULL in the base")
        # The step may bring NULL where the base does not.
        columns = {self.names.fresh(each.name): each for each in outputs}
        schema = Schema((name, each.type.encoding.optional) for name, each in columns.items())
        variable = Recursion(cte.alias, schema)
        inside = tuple(replace(each, column=name) for name, each in columns.items())
        step = self.query(node.args["expression"], parent, {**known, cte.alias: _Common(variable, inside)})
        if len(step.outputs) != len(outputs):
            raise SqlError(
                f'the step of "{cte.alias}" has {len(step.outputs)} columns, its base {len(outputs)}',
                hint="select as many in both",
            )
        check_linear(step.plan, variable, is_distinct=bool(node.args.get("distinct")))
        # The base says what the columns are.
        values = [cast(each.scalar, to.type).expression for each, to in zip(step.outputs, outputs, strict=True)]
        again = Project(step.plan, dict(zip(schema, values, strict=True)))
        plan = Recursive(
            _picked(base.plan, base.outputs, schema), again, variable, is_distinct=bool(node.args.get("distinct"))
        )
        return Bound(plan, inside)

    # -- set operations

    def _set_operation(self, node: Syntax, parent: Scope | None, known: dict[str, _Common]) -> Bound:
        sides = [self.query(each, parent, known) for each in (node.this, node.args["expression"])]
        if len(sides[0].outputs) != len(sides[1].outputs):
            counts = [len(side.outputs) for side in sides]
            raise SqlError(f"{node.key.upper()} of {counts[0]} and {counts[1]} columns", hint="select as many in both")
        pairs = [united(a.scalar, b.scalar) for a, b in zip(sides[0].outputs, sides[1].outputs, strict=True)]
        columns = [self.names.fresh(each.name) for each in sides[0].outputs]
        outputs = tuple(
            Output(each.name, column, pair[0].type)
            for each, column, pair in zip(sides[0].outputs, columns, pairs, strict=True)
        )
        around = Scope(parent).around()
        left, right = (
            Project(side.plan, {c: pair[i].expression for c, pair in zip(columns, pairs, strict=True)}, around)
            for i, side in enumerate(sides)
        )
        is_all = not node.args.get("distinct")
        if isinstance(node, exp.Union):
            both = Union((left, right), tuple(columns))
            plan: Plan = both if is_all else Distinct(both)
        else:
            plan = SetOperation(left, right, isinstance(node, exp.Except), is_all)
        order = _order_of_outputs(node, outputs)
        return Bound(_limited(node, plan, order), outputs, order)

    # -- relations

    def relation(self, node: Syntax, scope: Scope, known: dict[str, _Common]) -> Plan:
        """What stands in FROM, entered into the scope."""
        if isinstance(node, exp.Table):
            if node.args.get("db"):
                raise refuse(node, "tables have no schema here")
            plan = self._named_relation(node, scope, known)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table | exp.Subquery) and not node.alias:
            plan = self.relation(node.this, scope, known)
        elif isinstance(node, exp.Subquery):
            bound = self.query(node.this, scope.parent, known)
            scope.enter(node.alias, _by_name(_renamed(bound.outputs, node)))
            plan = bound.plan
        elif isinstance(node, exp.Values):
            bound = self.query(node, scope.parent, known)
            scope.enter(node.alias, _by_name(_renamed(bound.outputs, node)))
            plan = bound.plan
        else:
            raise refuse(node)
        for join in node.args.get("joins") or ():
            plan = self.joined(plan, join, scope, known)
        return plan

    def _named_relation(self, node: exp.Table, scope: Scope, known: dict[str, _Common]) -> Plan:
        common = known.get(node.name)
        if common is None:
            scan, types = self._catalogue.scan(node.name, self.names)
            outputs = tuple(
                Output(name, column, found) for (column, name), found in zip(scan.columns.items(), types, strict=True)
            )
            plan: Plan = scan
        else:
            columns = {self.names.fresh(each.name): each for each in common.outputs}
            plan = Project(common.plan, {name: col(each.column) for name, each in columns.items()}, scope.around())
            outputs = tuple(replace(each, column=name) for name, each in columns.items())
        scope.enter(node.alias_or_name, _by_name(_renamed(outputs, node)))
        return plan

    def joined(self, left: Plan, join: exp.Join, scope: Scope, known: dict[str, _Common]) -> Plan:
        """A relation joined to those before it."""
        side, kind, on = join.side.upper(), join.kind.upper(), join.args.get("on")
        if join.method:
            raise refuse(join, "write the condition with ON")
        if kind not in _KINDS or (kind in {"SEMI", "ANTI"} and side) or (kind == "OUTER" and not side):
            raise SqlError(f"{said_of(join)} is not supported", hint="write SEMI JOIN or ANTI JOIN, or LEFT OUTER JOIN")
        if isinstance(join.this, exp.Lateral):
            raise refuse(join.this, "write it as a correlated subquery")
        before = set(scope.relations)
        right = self.relation(join.this, scope, known)
        rows = Rows(Join((left, right)), scope, self.names, lambda node, s: self.query(node, s, known))
        if on is not None:
            _check_reach(on, scope, rows.plan.schema)
        if not side and kind in {"", "INNER", "CROSS"}:
            if on is not None:
                rows.keep(on)
            return rows.plan
        assert on is not None, "nesting refuses a join without its condition"
        here, there = (right, left) if side == "RIGHT" else (left, right)
        if side == "FULL" and has_subquery(on):
            raise SqlError(
                f"a subquery in the condition of a full join is not supported: {spelled(on)}",
                hint="join it before, or unite a left join with the rows that it leaves out",
            )
        partners, conditions = rows.partners(here, there, on)
        if kind in {"SEMI", "ANTI"}:
            for alias in set(scope.relations) - before:
                del scope.relations[alias]
            return Semi(left, partners, conditions, kind == "ANTI")
        return Outer(here, partners, conditions, side == "FULL")


class _Select:
    """One select, bound clause by clause in the order in which SQL evaluates them."""

    def __init__(self, binder: Binder, node: exp.Select, parent: Scope | None, known: dict[str, _Common]) -> None:
        self._node = node
        self._names = binder.names
        self._scope = Scope(parent)
        plan: Plan = Unit()
        source = node.args.get("from_")
        if source is not None:
            plan = binder.relation(source.this, self._scope, known)
        for join in node.args.get("joins") or ():
            plan = binder.joined(plan, join, self._scope, known)
        self._rows = Rows(plan, self._scope, self._names, lambda inner, scope: binder.query(inner, scope, known))

    def bound(self) -> Bound:
        node = self._node
        where = node.args.get("where")
        if where is not None:
            self._rows.keep(where.this)
        name_order(node.args.get("order"), self._scope)
        self._group()
        having = node.args.get("having")
        if having is not None:
            self._rows.keep(having.this)
        return self._projected()

    def _group(self) -> None:
        node = self._node
        group = node.args.get("group")
        if group is not None and _given(group, "all", "rollup", "cube", "grouping_sets", "totals"):
            raise refuse(group, "group by expressions, and unite several groupings with UNION ALL")
        order = node.args.get("order")
        having = node.args.get("having")
        places = [*node.expressions, *([having.this] if having else ()), *(order.expressions if order else ())]
        calls = [found for place in places for found in aggregates_in(place)]
        if group is None and having is None and not calls:
            return
        rows = self._rows
        for call in calls:
            _check_own(call, self._scope)
        totals = Totals(self._names, rows.scalar)
        values = {call: totals.add(call) for call in dict.fromkeys(calls)}
        keys: dict[Syntax, Scalar] = {}
        columns: dict[str, Expression] = {}
        grouped: dict[str, Scalar] = {}
        for each in group.expressions if group else ():
            value = rows.scalar(each)
            name = self._names.fresh("key")
            columns[name] = value.expression
            keys[each] = Scalar(col(name), value.type)
            if isinstance(each, exp.Column):
                (column,) = value.expression.columns()
                grouped[column] = keys[each]
        before = Project(rows.plan, columns | totals.arguments, self._scope.around())
        plan = Aggregate(before, tuple(columns), totals.totals)
        self._scope.grouped = grouped
        self._rows = GroupedRows(rows, plan, keys, values)

    def _projected(self) -> Bound:
        node, rows = self._node, self._rows
        if node.args.get("distinct") and node.args["distinct"].args.get("on"):
            raise refuse(node.args["distinct"], "DISTINCT ON is not supported: group, or take top rows per key")
        columns: dict[str, Expression] = {}
        outputs: list[Output] = []
        for each in node.expressions:
            value = rows.scalar(each)
            name = self._names.fresh(each.alias_or_name or "column")
            columns[name] = value.expression
            outputs.append(Output(each.alias_or_name or f"col{len(outputs)}", name, value.type))
        is_distinct = bool(node.args.get("distinct"))
        # Rows are told apart before they are ordered: what they are ordered by is made of what is selected.
        values = {name: col(name) for name in columns} if is_distinct else columns
        self._scope.selected = {o.name: Scalar(values[o.column], o.type) for o in reversed(outputs)}
        order, further = self._order(outputs, columns)
        plan: Plan = Project(rows.plan, columns if is_distinct else columns | further, self._scope.around())
        if is_distinct:
            plan = Distinct(plan)
            if further:
                plan = Project(plan, {**values, **over_selected(further, columns)})
        return Bound(_limited(node, plan, order), tuple(outputs), order)

    def _order(
        self, outputs: list[Output], columns: Mapping[str, Expression]
    ) -> tuple[tuple[Order, ...], dict[str, Expression]]:
        """The columns to sort by, and those of them that are not selected."""
        order = self._node.args.get("order")
        result: list[Order] = []
        further: dict[str, Expression] = {}
        for each in order.expressions if order else ():
            inner = without_parentheses(each.this)
            found = _output_named(inner, outputs)
            if found is None:
                value = self._rows.scalar(inner).expression
                known = {**columns, **further}
                found = next((name for name, one in known.items() if one.equals(value)), None)
                if found is None:
                    found = self._names.fresh("order")
                    further[found] = value
            result.append(_ordered(each, found))
        return tuple(result), further


def _check_reach(condition: Syntax, scope: Scope, columns: Schema) -> None:
    """Refuse a condition of a join that names a relation which stands beside the join, not in it."""
    for node in condition.find_all(exp.Column):
        found = scope.own(node)
        if found is not None and not found.expression.columns() <= set(columns):
            raise SqlError(
                f'"{node.table}" stands outside of the join whose condition names it: {spelled(condition)}',
                hint="put the condition into WHERE, or join it first",
            )


def _check_own(call: Syntax, scope: Scope) -> None:
    """Refuse an aggregate of outer columns alone: SQL takes it for one of the query around."""
    columns = list(call.find_all(exp.Column))
    if columns and all(scope.own(each) is None for each in columns):
        raise refuse(
            call, "an aggregate names a column of its own query: write the outer one beside it, as in t.a * count(*)"
        )


def _limited(node: Syntax, plan: Plan, order: tuple[Order, ...]) -> Plan:
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None and offset is None:
        return plan
    most = None if limit is None else _whole(limit)
    return TopK(plan, (), order, most, 0 if offset is None else _whole(offset))


def _whole(node: Syntax) -> int:
    found = node.args.get("expression")
    if not isinstance(found, exp.Literal) or not found.name.isdigit():
        raise refuse(node, "write a whole number")
    number = int(found.name)
    if number > _MOST_ROWS:
        raise SqlError(f"{node.key.upper()} {number} does not fit into 64 bits", hint=f"use at most {_MOST_ROWS}")
    return number


def _ordered(node: Syntax, column: str) -> Order:
    return Order(column, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _output_named(node: Syntax, outputs: list[Output] | tuple[Output, ...]) -> str | None:
    """The column of the output that ORDER BY names, or counts."""
    if isinstance(node, exp.Column) and not node.table:
        return next((each.column for each in outputs if each.name == node.name), None)
    if isinstance(node, exp.Literal) and node.name.isdigit() and 1 <= int(node.name) <= len(outputs):
        return outputs[int(node.name) - 1].column
    return None


def _order_of_outputs(node: Syntax, outputs: tuple[Output, ...]) -> tuple[Order, ...]:
    order = node.args.get("order")
    result: list[Order] = []
    for each in order.expressions if order else ():
        found = _output_named(each.this, outputs)
        if found is None:
            raise refuse(each, "order a set operation by columns of its answer")
        result.append(_ordered(each, found))
    return tuple(result)


def _renamed(outputs: tuple[Output, ...], node: Syntax) -> tuple[Output, ...]:
    """The outputs under the names that an alias gives them: `as t(a, b)`."""
    alias = node.args.get("alias")
    given = [each.name for each in alias.args.get("columns") or ()] if alias is not None else []
    if not given:
        return outputs
    if len(given) > len(outputs):
        raise SqlError(f'"{node.alias}" names {len(given)} columns of {len(outputs)}', hint="name as many")
    return tuple(replace(each, name=given[i]) if i < len(given) else each for i, each in enumerate(outputs))


def _by_name(outputs: tuple[Output, ...]) -> dict[str, Scalar]:
    """The columns by their names; of two with one name, the first."""
    result: dict[str, Scalar] = {}
    for each in outputs:
        result.setdefault(each.name, each.scalar)
    return result


def _picked(plan: Plan, outputs: tuple[Output, ...], names: Schema) -> Plan:
    return Project(plan, {name: each.scalar.expression for name, each in zip(names, outputs, strict=True)})


def _names_itself(node: Syntax, name: str) -> bool:
    return any(each.name == name for each in node.find_all(exp.Table))


def _given(node: Syntax, *parts: str) -> bool:
    return any(node.args.get(part) for part in parts)
