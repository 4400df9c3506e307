"""The rows that a select's expressions are evaluated over: a plan that grows with every subquery in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.sql.aggregates import is_aggregate
from graphtide.sql.plan import Filter, Plan
from graphtide.sql.scalar import BOOLEAN, Scalar
from graphtide.sql.scope import Bound, Names, Scope
from graphtide.sql.subqueries import having_some, marked, membership, scalar_of
from graphtide.sql.translate import refuse, translate, truth

__all__ = ["GroupedRows", "Rows"]


class Rows:
    """The rows of a select before they are grouped, in a scope."""

    def __init__(self, plan: Plan, scope: Scope, names: Names, bind: Callable[[Syntax, Scope], Bound]) -> None:
        self.plan = plan
        self.scope = scope
        self.names = names
        self.bind = bind

    def scalar(self, node: Syntax) -> Scalar:
        """The value of an expression."""
        return translate(node, self)

    def column(self, node: exp.Column) -> Scalar:
        """The value of a column."""
        return self.scope.resolve(node)

    def special(self, node: Syntax) -> Scalar | None:
        """The value of a subquery."""
        around = self.scope.around()
        if isinstance(node, exp.Exists):
            self.plan, found = marked(self.plan, self.bind(node.this, self.scope).plan, self.names, around)
            return Scalar(found, BOOLEAN)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            sought = membership(*self._sought(node), self.names, around)
            self.plan, found = sought.value(self.plan, self.names, around)
            return Scalar(found, BOOLEAN)
        if isinstance(node, exp.Subquery):
            self.plan, value = scalar_of(self.plan, self.bind(node.this, self.scope), self.names, node)
            return value
        if is_aggregate(node):
            raise refuse(node, "aggregates stand in SELECT, HAVING and ORDER BY")
        return None

    def keep(self, condition: Syntax) -> None:
        """Keep the rows for which a condition is true."""
        conditions = list(_conjuncts(condition))
        for each in sorted(conditions, key=_has_subquery):
            self._keep(each)

    def _keep(self, node: Syntax) -> None:
        is_anti, inner = False, node
        while isinstance(inner, exp.Not | exp.Paren):
            is_anti ^= isinstance(inner, exp.Not)
            inner = inner.this
        if isinstance(inner, exp.Exists):
            sub = self.bind(inner.this, self.scope)
            self.plan = having_some(self.plan, sub.plan, self.names, is_anti=is_anti)
        elif isinstance(inner, exp.In) and inner.args.get("query") is not None:
            sought = membership(*self._sought(inner), self.names, self.scope.around())
            self.plan = sought.only(self.plan, self.names, is_anti=is_anti)
        else:
            holds = truth(self.scalar(node), node)
            self.plan = Filter(self.plan, (holds,))

    def _sought(self, node: exp.In) -> tuple[list[Scalar], Bound]:
        parts = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        values = [self.scalar(each) for each in parts]
        return values, self.bind(node.args["query"].this, self.scope)


class GroupedRows(Rows):
    """The rows of a select after they are grouped: expressions see keys and aggregates."""

    def __init__(
        self, before: Rows, plan: Plan, keys: Mapping[Syntax, Scalar], values: Mapping[Syntax, Scalar]
    ) -> None:
        super().__init__(plan, before.scope, before.names, before.bind)
        self._keys = keys
        self._values = values

    def special(self, node: Syntax) -> Scalar | None:
        """The value of a key, an aggregate or a subquery."""
        found = self._keys.get(node) or self._values.get(node)
        return super().special(node) if found is None else found


def _conjuncts(node: Syntax) -> list[Syntax]:
    if isinstance(node, exp.Paren):
        return _conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.args["expression"])]
    return [node]


def _has_subquery(node: Syntax) -> bool:
    return node.find(exp.Query) is not None
