"""Plans that come to the same and are cheaper to keep.

Conditions go down to the rows that they speak of, an outer join whose missing rows a condition rejects becomes
an inner one, and inner joins that follow each other are put in an order that goes along equalities. A plan that
several others read stays as it is, so that it is computed once.

Invariant: conditions stay in the order in which SQL has them, those of a subquery before those on its answer. A row
that one leaves out is not asked the next, which might have no value for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from graphtide.dataflow.expressions import Expression, col
from graphtide.dataflow.expressions.expression import Literal
from graphtide.sql.conditions import conjuncts, equality, implied, rejects_null
from graphtide.sql.join_order import ordered
from graphtide.sql.plan import (
    Aggregate,
    Conditions,
    Distinct,
    Filter,
    Join,
    Outer,
    Plan,
    Project,
    Recursive,
    Semi,
    SetOperation,
    TopK,
    Union,
    walk,
    with_inputs,
)

__all__ = ["optimised"]


def optimised(plan: Plan) -> Plan:
    """The plan with its conditions where they belong and its joins in order."""
    return _in_order(_Sinking(plan).sink(plan, ()), {})


class _Sinking:
    """Moves conditions down."""

    def __init__(self, plan: Plan) -> None:
        self._readers = Counter(id(below) for each in walk(plan) for below in each.inputs)
        self._done: dict[int, tuple[Plan, Plan]] = {}

    def sink(self, plan: Plan, conditions: Conditions) -> Plan:
        """The plan's rows for which the conditions are true."""
        if self._readers[id(plan)] <= 1:
            return self._sink(plan, conditions)
        if id(plan) not in self._done:
            self._done[id(plan)] = (plan, self._sink(plan, ()))
        return _filtered(self._done[id(plan)][1], conditions)

    def _sink(self, plan: Plan, conditions: Conditions) -> Plan:
        match plan:
            case Filter():
                return self.sink(plan.input, (*_split(plan.conditions), *conditions))
            case Project():
                below = tuple(part for each in conditions for part in _split((each.substitute(plan.outputs),)))
                return replace(plan, input=self.sink(plan.input, below))
            case Join():
                return self._sink_join(plan, conditions)
            case Outer():
                return self._sink_outer(plan, conditions)
            case Semi():
                return self._sink_semi(plan, conditions)
            case Aggregate():
                below, above = _parted(conditions, plan.keys)
                if not plan.keys:
                    below, above = (), conditions
                return _filtered(replace(plan, input=self.sink(plan.input, below)), above)
            case Distinct():
                return replace(plan, input=self.sink(plan.input, conditions))
            case TopK():
                below, above = _parted(conditions, plan.keys)
                if not plan.keys:
                    below, above = (), conditions
                return _filtered(replace(plan, input=self.sink(plan.input, below)), above)
            case Union():
                return replace(plan, parts=tuple(self._sink_at(each, plan.names, conditions) for each in plan.inputs))
            case SetOperation():
                left = self.sink(plan.left, conditions)
                return replace(plan, left=left, right=self.sink(plan.right, ()))
            case Recursive():
                below = replace(plan, base=self.sink(plan.base, ()), step=self.sink(plan.step, ()))
                return _filtered(below, conditions)
            case _:
                return _filtered(plan, conditions)

    def _sink_at(self, plan: Plan, names: Iterable[str], conditions: Conditions) -> Plan:
        """Into an input of a union, whose columns go by their places."""
        columns = {name: col(own) for name, own in zip(names, plan.schema, strict=True)}
        return self.sink(plan, tuple(each.substitute(columns) for each in conditions))

    def _sink_join(self, plan: Join, conditions: Conditions) -> Plan:
        inputs, found = self._flattened(plan)
        pending = [*found, *conditions]
        parts: list[Plan] = []
        for each in inputs:
            below, rest = _parted(tuple(pending), each, with_constants=not parts)
            pending = list(rest)
            # A condition on several inputs may say something of each of them, too.
            hints = [found for one in rest if (found := implied(one, frozenset(each.schema))) is not None]
            part = self.sink(each, (*below, *hints))
            if isinstance(part, Join) and self._readers[id(each)] <= 1:
                # An outer join has become an inner one: it is ordered together with the others.
                parts += part.inputs
                pending = [*part.conditions, *pending]
            else:
                parts.append(part)
        return Join(tuple(parts), tuple(pending)) if len(parts) > 1 else _filtered(parts[0], tuple(pending))

    def _flattened(self, plan: Plan) -> tuple[list[Plan], list[Expression]]:
        """The inputs of joins directly below joins, and all their conditions, the innermost first."""
        inputs: list[Plan] = []
        conditions: list[Expression] = []
        for each in plan.inputs:
            if isinstance(each, Join | Filter) and self._readers[id(each)] <= 1:
                below, found = self._flattened(each)
                inputs += below
                conditions += found
            else:
                inputs.append(each)
        return inputs, [*conditions, *(_split(plan.conditions) if isinstance(plan, Join | Filter) else ())]

    def _sink_semi(self, plan: Semi, conditions: Conditions) -> Plan:
        """A semi join by equality goes down to the input of a join that it speaks of, like a condition."""
        of_right, rest = _parted(_split(plan.conditions), plan.right)
        right = self.sink(plan.right, of_right)
        left = self.sink(plan.left, conditions)
        plain = [equality(each) for each in rest]
        if not plan.is_anti and isinstance(left, Join) and self._readers[id(plan.left)] <= 1 and None not in plain:
            used = {name for each in rest for name in each.columns() if name not in right.schema}
            for i, part in enumerate(left.parts):
                if used <= set(part.schema):
                    kept = Semi(part, right, rest)
                    return Join((*left.parts[:i], kept, *left.parts[i + 1 :]), left.conditions)
        return Semi(left, right, rest, plan.is_anti)

    def _sink_outer(self, plan: Outer, conditions: Conditions) -> Plan:
        if not plan.is_full and any(rejects_null(each, frozenset(plan.right.schema)) for each in conditions):
            return self._sink_join(Join((plan.left, plan.right), plan.conditions), conditions)
        own = _split(plan.conditions)
        if plan.is_full:
            return _filtered(
                replace(plan, left=self.sink(plan.left, ()), right=self.sink(plan.right, ()), conditions=own),
                conditions,
            )
        below, above = _parted(conditions, plan.left)
        right, rest = _parted(own, plan.right)
        kept = replace(plan, left=self.sink(plan.left, below), right=self.sink(plan.right, right), conditions=rest)
        return _filtered(kept, above)


def _split(conditions: Iterable[Expression]) -> Conditions:
    """Conjuncts, without those that are plainly true."""
    parts = (part for each in conditions for part in conjuncts(each))
    return tuple(part for part in parts if not (isinstance(part, Literal) and part.value is True))


def _parted(
    conditions: Conditions, known: Plan | Iterable[str], *, with_constants: bool = False
) -> tuple[Conditions, Conditions]:
    """The conditions on some columns alone, and the others."""
    names = set(known.schema if isinstance(known, Plan) else known)

    def fits(condition: Expression) -> bool:
        columns = condition.columns()
        return columns <= names and (bool(columns) or with_constants)

    return tuple(filter(fits, conditions)), tuple(each for each in conditions if not fits(each))


def _filtered(plan: Plan, conditions: Conditions) -> Plan:
    if not conditions:
        return plan
    if isinstance(plan, Filter):
        return Filter(plan.input, (*plan.conditions, *conditions))
    return Filter(plan, conditions)


def _in_order(plan: Plan, done: dict[int, tuple[Plan, Plan]]) -> Plan:
    """The plan with every join of many as joins of two."""
    if id(plan) not in done:
        inputs = tuple(_in_order(each, done) for each in plan.inputs)
        result = ordered(inputs, plan.conditions) if isinstance(plan, Join) else with_inputs(plan, inputs)
        done[id(plan)] = (plan, result)
    return done[id(plan)][1]
