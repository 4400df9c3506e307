"""The rows that a select's expressions are evaluated over: a plan that grows with every subquery in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import col
from graphtide.sql.aggregates import is_aggregate
from graphtide.sql.conditions import same
from graphtide.sql.plan import Conditions, Distinct, Filter, Join, Plan, Project
from graphtide.sql.quantified import Quantified, quantified
from graphtide.sql.scalar import BOOLEAN, Scalar
from graphtide.sql.scope import Bound, Names, Scope
from graphtide.sql.spelling import refuse
from graphtide.sql.subqueries import Membership, having_some, marked, membership, scalar_of
from graphtide.sql.translate import translate, truth

__all__ = ["GroupedRows", "Rows", "has_subquery"]


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
        asked = quantified(node)
        if asked is not None:
            self.plan, found = self._membership(asked).value(self.plan, self.names, around)
            return Scalar(~found if asked.is_negated else found, BOOLEAN)
        if isinstance(node, exp.Subquery):
            self.plan, value = scalar_of(self.plan, self.bind(node.this, self.scope), self.names, node)
            return value
        if is_aggregate(node):
            raise refuse(node, "aggregates stand in SELECT, HAVING and ORDER BY")
        return None

    def keep(self, condition: Syntax) -> None:
        """Keep the rows for which a condition is true."""
        conditions = list(_conjuncts(condition))
        for each in sorted(conditions, key=has_subquery):
            self._keep(each)

    def _keep(self, node: Syntax) -> None:
        is_anti, inner = False, node
        while isinstance(inner, exp.Not | exp.Paren):
            is_anti ^= isinstance(inner, exp.Not)
            inner = inner.this
        asked = quantified(inner)
        if isinstance(inner, exp.Exists):
            sub = self.bind(inner.this, self.scope)
            self.plan = having_some(self.plan, sub.plan, self.names, is_anti=is_anti)
        elif asked is not None:
            sought = self._membership(asked)
            self.plan = sought.only(self.plan, self.names, is_anti=is_anti ^ asked.is_negated)
        else:
            holds = truth(self.scalar(node), node)
            self.plan = Filter(self.plan, (holds,))

    def partners(self, here: Plan, there: Plan, on: Syntax) -> tuple[Plan, Conditions]:
        """What rows here may be joined with, and when they are, if a condition on both has to be true.

        Subqueries in the condition are asked for the distinct values that it looks at here, so the rows here are as
        many as before.
        """
        if not has_subquery(on):
            return there, (truth(self.scalar(on), on),)
        found = [self.scope.own(node) for node in on.find_all(exp.Column)]
        names = {name for each in found if each is not None for name in each.expression.columns()}
        used = [name for name in here.schema if name in names]
        asked = Distinct(Project(here, {name: col(name) for name in used}))
        pairs = Rows(Join((asked, there)), self.scope, self.names, self.bind)
        pairs.keep(on)
        copies = {name: self.names.fresh("domain") for name in used}
        outputs = {new: col(old) for old, new in copies.items()} | {name: col(name) for name in there.schema}
        return Project(pairs.plan, outputs), tuple(same(col(old), col(new)) for old, new in copies.items())

    def _membership(self, asked: Quantified) -> Membership:
        values = [self.scalar(each) for each in asked.values]
        bound = self.bind(asked.query, self.scope)
        return membership(values, asked.comparison, bound, self.names, self.scope.around())


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


def has_subquery(node: Syntax) -> bool:
    """Whether a query stands in an expression."""
    return node.find(exp.Query, exp.Values) is not None
