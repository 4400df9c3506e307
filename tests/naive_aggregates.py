"""What becomes of the rows of a key, in the naive evaluation.

From the multiset of a key's values to the result rows. Counts and sums are linear in multiplicities, and a key whose
rows count to zero is not there; the others look at positive multiplicities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from tests.naive_values import NAN, Row, order

__all__ = ["AGGREGATES", "Multiset", "there"]

Multiset: TypeAlias = dict[Row, int]


def there(group: Multiset) -> Multiset:
    """The rows that are there."""
    return {row: times for row, times in group.items() if times > 0}


def _count(group: Multiset) -> list[Row]:
    rows = sum(group.values())
    return [(rows,)] if rows else []


def _sum(group: Multiset) -> list[Row]:
    numbers = {value: times for (value,), times in group.items() if value is not None}
    if not sum(group.values()):
        return []
    return [(_exact_sum(numbers) if sum(numbers.values()) else None,)]


def _avg(group: Multiset) -> list[Row]:
    numbers = {value: times for (value,), times in group.items() if value is not None}
    if not sum(group.values()):
        return []
    count = sum(numbers.values())
    return [(float(_exact_sum(numbers)) / count if count else None,)]


def _exact_sum(numbers: dict[Any, int]) -> Any:
    if not any(isinstance(value, float) for value in numbers):
        return sum(value * times for value, times in numbers.items())
    infinite = {value for value in numbers if not math.isfinite(value)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else NAN
    exact = sum((Fraction(value) * times for value, times in numbers.items()), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _extreme(choose: Callable[..., Row]) -> Callable[[Multiset], list[Row]]:
    """The least or greatest row; one whose first value is None counts only where there is no other."""

    def aggregate(group: Multiset) -> list[Row]:
        found = there(group)
        rows = [row for row in found if row[0] is not None] or list(found)
        return [choose(rows, key=lambda row: [order(value) for value in row])] if rows else []

    return aggregate


def _distinct_count(group: Multiset) -> list[Row]:
    found = there(group)
    return [(len(found),)] if found else []


def _collect(group: Multiset) -> list[Row]:
    values = [value for (value,), times in there(group).items() for _ in range(times)]
    return [(tuple(sorted(values, key=order)),)] if values else []


AGGREGATES: Mapping[str, Callable[[Multiset], list[Row]]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _extreme(min),
    "max": _extreme(max),
    "distinct_count": _distinct_count,
    "collect": _collect,
}
