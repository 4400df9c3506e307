"""The order of joins: along equalities, from few rows to many.

Nothing is known of the data but how many rows tables have and which columns are their keys, and often not even
that. So the estimates are plain ones; what matters is that a join follows an equality where there is one, that it
prefers those with a key, which make no row into several, and that selective conditions come early.
"""

from __future__ import annotations

from typing import Final

from graphtide.dataflow.expressions import Expression
from graphtide.dataflow.expressions.expression import Apply, Column
from graphtide.sql.conditions import equality
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
    TopK,
    Unit,
)

__all__ = ["ordered"]

# Rows of a table of which nothing is known.
_UNKNOWN: Final = 1000.0


def ordered(inputs: tuple[Plan, ...], conditions: Conditions) -> Plan:
    """Joins of two that come to the join of all inputs."""
    pending = list(inputs)
    rest = list(conditions)
    if len(pending) > 2:
        pairs = [(a, b) for i, a in enumerate(pending) for b in pending[i + 1 :]]
        first, second = min(pairs, key=lambda pair: _cost(pair[0], pair[1], rest))
        if _rows(first) > _rows(second):
            first, second = second, first
        pending = [first, second, *(each for each in pending if each is not first and each is not second)]
    result = pending.pop(0)
    while pending:
        best = min(pending, key=lambda each: _cost(result, each, rest)) if len(pending) > 1 else pending[0]
        pending.remove(best)
        known = {*result.schema, *best.schema}
        now = tuple(each for each in rest if each.columns() <= known)
        rest = [each for each in rest if not each.columns() <= known]
        result = Join((result, best), now)
    return result


def _cost(left: Plan, right: Plan, conditions: list[Expression]) -> tuple[bool, float]:
    """Whether a join is a product, and how many rows it has."""
    links = [_link(each, left, right) for each in conditions]
    found = [link for link in links if link is not None]
    is_product = not found and min(_rows(left), _rows(right)) > 1.0
    return is_product, _joined_rows(left, right, found)


def _link(condition: Expression, left: Plan, right: Plan) -> tuple[Expression, Expression] | None:
    found = equality(condition)
    both = None if found is None else found.between(left.schema, right.schema)
    return None if both is None else (both.left, both.right)


def _joined_rows(left: Plan, right: Plan, links: list[tuple[Expression, Expression]]) -> float:
    a, b = _rows(left), _rows(right)
    if not links:
        return a * b
    for plan, other, side in ((right, a, 1), (left, b, 0)):
        names = {key.name for each in links if isinstance(key := each[side], Column)}
        whole = _size_by_key(plan, names)
        if whole is not None:
            return max(other * _rows(plan) / whole, 0.01)
    return max(a * b / max(a, b) * 4, 0.01)


def _size_by_key(plan: Plan, names: set[str]) -> float | None:
    """How many rows a table has of which these columns hold a key, before any condition; None if they do not."""
    while isinstance(plan, Filter | Project | Semi):
        if isinstance(plan, Project):
            outputs = plan.outputs
            names = {inner.name for name in names if isinstance(inner := outputs.get(name), Column)}
        plan = plan.inputs[0]
    if isinstance(plan, Aggregate) and plan.keys and set(plan.keys) <= names:
        return _rows(plan)
    if isinstance(plan, Scan) and plan.key and plan.key <= {plan.columns[n] for n in names if n in plan.columns}:
        return max(float(plan.rows), _UNKNOWN)
    return None


def _rows(plan: Plan) -> float:
    """About how many rows a plan has."""
    match plan:
        case Scan():
            return float(plan.rows) or _UNKNOWN
        case Unit():
            return 1.0
        case Filter():
            result = _rows(plan.input)
            for each in plan.conditions:
                result *= _share(each)
            return max(result, 1.0)
        case Aggregate():
            return max(_rows(plan.input) / 3, 1.0) if plan.keys else 1.0
        case TopK():
            return min(_rows(plan.input), float(plan.limit))
        case Join():
            links = [_link(each, *plan.inputs) for each in plan.conditions] if len(plan.inputs) == 2 else []
            found = [link for link in links if link is not None]
            return _joined_rows(*plan.inputs, found) if len(plan.inputs) == 2 else _UNKNOWN
        case Semi():
            return max(_rows(plan.left) / 2, 1.0)
        case Outer():
            return max(_rows(plan.left), _rows(plan.right))
        case Project() | Distinct():
            return _rows(plan.input)
        case _:
            return max((_rows(each) for each in plan.inputs), default=_UNKNOWN)


def _share(condition: Expression) -> float:
    """About which share of rows a condition keeps."""
    if isinstance(condition, Apply):
        if condition.operation == "==":
            return 0.03
        if condition.operation in {"is_in", "like", "&"}:
            return 0.1
        if condition.operation in {"<", "<=", ">", ">="}:
            return 0.4
    return 0.5
