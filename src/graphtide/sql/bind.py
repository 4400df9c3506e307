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

from graphtide.dataflow.expressions import Expression, col, lit
from graphtide.dataflow.expressions.expression import Column
from graphtide.errors import SqlError
from graphtide.rows import Schema
from graphtide.sql.aggregates import Totals, aggregates_in
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
from graphtide.sql.rows import GroupedRows, Rows
from graphtide.sql.scalar import Scalar, united
from graphtide.sql.scope import Bound, Names, Output, Scope
from graphtide.sql.translate import refuse, translate, truth
from graphtide.sql.types import SqlType

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

_OF_SELECT: Final = frozenset(
    ["expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct", "with_"]
)
_OF_SET: Final = frozenset(["this", "expression", "distinct", "order", "limit", "offset", "with_"])


class Binder:
    """Binds the queries of one statement."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.names = Names()

    def query(self, node: Syntax, parent: Scope | None = None, commons: _Commons | None = None) -> Bound:
        """A query as a plan."""
        known = dict(commons or {})
        while isinstance(node, exp.Subquery) and not _given(node, "with_", "alias", "order", "limit"):
            node = node.this
        self._enter_commons(node.args.get("with_"), parent, known)
        if isinstance(node, exp.Select):
            return _Select(self, node, parent, known).bound()
        if isinstance(node, exp.Union | exp.Except | exp.Intersect):
            return self._set_operation(node, parent, known)
        raise refuse(node)

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
        values = [each.scalar.to(to.type).expression for each, to in zip(step.outputs, outputs, strict=True)]
        again = Project(step.plan, dict(zip(schema, values, strict=True)))
        plan = Recursive(
            _picked(base.plan, base.outputs, schema), again, variable, is_distinct=bool(node.args.get("distinct"))
        )
        return Bound(plan, inside)

    # -- set operations

    def _set_operation(self, node: Syntax, parent: Scope | None, known: dict[str, _Common]) -> Bound:
        _check_parts(node, _OF_SET)
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
            _check_parts(node, frozenset(["this", "alias", "joins", "db", "catalog"]))
            if node.args.get("db"):
                raise refuse(node, "tables have no schema here")
            plan = self._named_relation(node, scope, known)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            plan = self.relation(node.this, scope, known)
        elif isinstance(node, exp.Subquery):
            _check_parts(node, frozenset(["this", "alias", "joins"]))
            bound = self.query(node.this, scope.parent, known)
            scope.enter(node.alias, {each.name: each.scalar for each in _renamed(bound.outputs, node)})
            plan = bound.plan
        elif isinstance(node, exp.Values):
            plan = self._values(node, scope)
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
        scope.enter(node.alias_or_name, {each.name: each.scalar for each in _renamed(outputs, node)})
        return plan

    def _values(self, node: exp.Values, scope: Scope) -> Plan:
        empty = Rows(Unit(), Scope(scope.parent), self.names, self.query)
        rows = [[translate(each, empty) for each in row.expressions] for row in node.expressions]
        united_columns = [united(*column) for column in zip(*rows, strict=True)]
        columns = [self.names.fresh("value") for _ in united_columns]
        parts = tuple(
            Project(Unit(), {c: values[i].expression for c, values in zip(columns, united_columns, strict=True)})
            for i in range(len(rows))
        )
        outputs = tuple(
            Output(f"col{i}", column, values[0].type)
            for i, (column, values) in enumerate(zip(columns, united_columns, strict=True))
        )
        scope.enter(node.alias, {each.name: each.scalar for each in _renamed(outputs, node)})
        return Union(parts, tuple(columns))

    def joined(self, left: Plan, join: exp.Join, scope: Scope, known: dict[str, _Common]) -> Plan:
        """A relation joined to those before it."""
        side, kind, on = join.side.upper(), join.kind.upper(), join.args.get("on")
        if _given(join, "using", "match_condition") or join.method:
            raise refuse(join, "write the condition with ON")
        if isinstance(join.this, exp.Lateral):
            raise refuse(join.this, "write it as a correlated subquery")
        before = set(scope.relations)
        right = self.relation(join.this, scope, known)
        rows = Rows(Join((left, right)), scope, self.names, lambda node, s: self.query(node, s, known))
        if not side and kind in {"", "INNER", "CROSS"}:
            if on is not None:
                rows.keep(on)
            return rows.plan
        without = rows.plan
        condition = lit(True) if on is None else truth(translate(on, rows), on)  # noqa: FBT003
        if rows.plan is not without:
            raise SqlError("a subquery in the condition of an outer join is not supported", hint="join it before")
        if kind in {"SEMI", "ANTI"}:
            for alias in set(scope.relations) - before:
                del scope.relations[alias]
            return Semi(left, right, (condition,), kind == "ANTI")
        if side == "RIGHT":
            return Outer(right, left, (condition,))
        return Outer(left, right, (condition,), side == "FULL")


class _Select:
    """One select, bound clause by clause in the order in which SQL evaluates them."""

    def __init__(self, binder: Binder, node: exp.Select, parent: Scope | None, known: dict[str, _Common]) -> None:
        _check_parts(node, _OF_SELECT)
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
        self._name_order()
        self._group()
        having = node.args.get("having")
        if having is not None:
            self._rows.keep(having.this)
        return self._projected()

    def _name_order(self) -> None:
        """Say which relation a column in an expression of ORDER BY is of: such a one comes before what is selected."""
        order = self._node.args.get("order")
        for each in order.expressions if order else ():
            if isinstance(each.this.unnest(), exp.Column):
                continue
            for column in each.this.find_all(exp.Column):
                owners = [alias for alias, known in self._scope.relations.items() if column.name in known]
                if not column.table and len(owners) == 1:
                    column.set("table", exp.to_identifier(owners[0]))

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
                plan = Project(plan, {**values, **_over_selected(further, columns)})
        return Bound(_limited(node, plan, order), tuple(outputs), order)

    def _order(
        self, outputs: list[Output], columns: Mapping[str, Expression]
    ) -> tuple[tuple[Order, ...], dict[str, Expression]]:
        """The columns to sort by, and those of them that are not selected."""
        order = self._node.args.get("order")
        result: list[Order] = []
        further: dict[str, Expression] = {}
        for each in order.expressions if order else ():
            inner = each.this.unnest()
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


def _over_selected(further: Mapping[str, Expression], columns: Mapping[str, Expression]) -> dict[str, Expression]:
    """What distinct rows are ordered by, as made of the columns that are selected."""
    places = {each.name: col(name) for name, each in columns.items() if isinstance(each, Column)}
    result = {name: each.substitute(places) for name, each in further.items()}
    if not all(each.columns() <= set(columns) for each in result.values()):
        raise SqlError("SELECT DISTINCT is ordered by what it does not select", hint="select it, too")
    return result


def _limited(node: Syntax, plan: Plan, order: tuple[Order, ...]) -> Plan:
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None:
        if offset is not None:
            raise refuse(offset, "OFFSET needs a LIMIT")
        return plan
    return TopK(plan, (), order, _whole(limit), 0 if offset is None else _whole(offset))


def _whole(node: Syntax) -> int:
    found = node.args.get("expression")
    if not isinstance(found, exp.Literal) or not found.name.isdigit():
        raise refuse(node, "write a whole number")
    return int(found.name)


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


def _picked(plan: Plan, outputs: tuple[Output, ...], names: Schema) -> Plan:
    return Project(plan, {name: each.scalar.expression for name, each in zip(names, outputs, strict=True)})


def _names_itself(node: Syntax, name: str) -> bool:
    return any(each.name == name for each in node.find_all(exp.Table))


def _given(node: Syntax, *parts: str) -> bool:
    return any(node.args.get(part) for part in parts)


def _check_parts(node: Syntax, known: frozenset[str]) -> None:
    """Refuse a clause that would be passed over."""
    for part, value in node.args.items():
        if value and part not in known:
            inner = value[0] if isinstance(value, list) else value
            name = part.strip("_").upper().replace("_", " ")
            text = inner.sql(dialect="duckdb") if isinstance(inner, Syntax) else str(inner)
            raise SqlError(f"{name} is not supported: {text}", hint="rewrite the query without it")
