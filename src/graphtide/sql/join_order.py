"""The order of joins: along equalities, from few rows to many.

Nothing is known of the data but how many rows tables have and which columns are their keys, and often not even
that. So the estimates are plain ones; what matters is that a join follows an equality where there is one, that it
prefers those with a key, which make no row into several, and that selective conditions come early.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
# Inputs up to which each is tried as the first.
_MOST_STARTS: Final = 12


def ordered(inputs: tuple[Plan, ...], conditions: Conditions) -> Plan:
    """Joins of two that come to the join of all inputs."""
    rest = list(conditions)
    result, *others = _Choice(inputs, conditions).best()
    for each in others:
        known = {*result.schema, *each.schema}
        now = tuple(condition for condition in rest if condition.columns() <= known)
        rest = [condition for condition in rest if not condition.columns() <= known]
        result = Join((result, each), now)
    return result


class _Choice:
    """The orders of some inputs, and what they cost."""

    def __init__(self, inputs: tuple[Plan, ...], conditions: Conditions) -> None:
        self._inputs = inputs
        self._conditions = conditions
        self._rows = {id(each): _rows(each) for each in inputs}
        self._values = _distinct_values(inputs, conditions)

    def best(self) -> list[Plan]:
        """The inputs in the order that makes the fewest rows."""
        starts = self._inputs
        if len(starts) > _MOST_STARTS:
            starts = (min(starts, key=lambda each: self._rows[id(each)]),)
        return min(map(self._from, starts), key=lambda found: found[0])[1]

    def size(self) -> float:
        """About how many rows the join has, taken in the order that is given."""
        rows = self._rows[id(self._inputs[0])]
        for i, each in enumerate(self._inputs[1:], 1):
            _, rows = self._with(self._inputs[:i], rows, each)
        return rows

    def _from(self, start: Plan) -> tuple[tuple[int, float], list[Plan]]:
        """The inputs from one on, next the one that makes the fewest rows; with all products and rows that makes."""
        sequence, size = [start], self._rows[id(start)]
        pending = [each for each in self._inputs if each is not start]
        products, total = 0, 0.0
        while pending:
            steps = [self._with(sequence, size, each) for each in pending]
            best = min(range(len(steps)), key=steps.__getitem__)
            is_product, size = steps[best]
            sequence.append(pending.pop(best))
            products += is_product
            # What is put out at the end is the same for all.
            total += size if pending else 0.0
        return (products, total), sequence

    def _with(self, sequence: Sequence[Plan], size: float, plan: Plan) -> tuple[bool, float]:
        """Whether joining one more plan makes a product, and how many rows there are then."""
        known = {name for each in sequence for name in each.schema}
        both = size * self._rows[id(plan)]
        found = [link for each in self._conditions if (link := _link(each, known, plan)) is not None]
        if not found:
            return not (_is_row(plan) or (len(sequence) == 1 and _is_row(sequence[0]))), both
        theirs = {key.name for key, _ in found if isinstance(key, Column)}
        own = {key.name for _, key in found if isinstance(key, Column)}
        sizes = [_size_by_key(plan, own), *(_size_by_key(each, theirs) for each in sequence)]
        sizes += [self._values.get(name) for name in own]
        keys = next((each for each in sizes if each is not None), None)
        # If nothing says how many rows share a key, as many are taken to do as there are keys.
        return False, max(both / (max(size, self._rows[id(plan)]) ** 0.5 if keys is None else keys), 0.01)


def _link(condition: Expression, known: Iterable[str], plan: Plan) -> tuple[Expression, Expression] | None:
    found = equality(condition)
    both = None if found is None else found.between(known, plan.schema)
    return None if both is None else (both.left, both.right)


def _distinct_values(inputs: tuple[Plan, ...], conditions: Conditions) -> dict[str, float]:
    """How many values columns have that equalities lead to the key of some input."""
    found = {name: size for each in inputs for name in each.schema if (size := _size_by_key(each, {name})) is not None}
    pairs = [pair for each in conditions if (pair := _column_pair(each)) is not None]
    for _ in inputs:
        for a, b in [*pairs, *((b, a) for a, b in pairs)]:
            if a in found:
                found[b] = min(found[a], found.get(b, found[a]))
    return found


def _column_pair(condition: Expression) -> tuple[str, str] | None:
    found = equality(condition)
    if found is None or not isinstance(found.left, Column) or not isinstance(found.right, Column):
        return None
    return found.left.name, found.right.name


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
        return float(plan.rows) or _UNKNOWN
    return None


def _is_row(plan: Plan) -> bool:
    """Whether a plan is one row by its form, such as an aggregate without a key: all pairs with it are few."""
    while isinstance(plan, Project):
        plan = plan.input
    return isinstance(plan, Unit) or (isinstance(plan, Aggregate) and not plan.keys)


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
            most = _rows(plan.input)
            return most if plan.limit is None else max(min(most, float(plan.limit)), 1.0)
        case Join(parts, conditions):
            return _Choice(parts, conditions).size()
        case Semi():
            return max(_rows(plan.left) / (2 if plan.is_anti else 10), 1.0)
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
