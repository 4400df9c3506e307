"""Who wants to know of changed aggregates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["Watch", "Watches"]


class Watch:
    """A callback for changes, or with a predicate for those by which it becomes true."""

    def __init__(
        self, watches: Watches, callback: Callable[..., Any], predicate: Callable[[Any], bool] | None = None
    ) -> None:
        self._watches = watches
        self._callback, self._predicate = callback, predicate

    def drop(self) -> None:
        """Call back no more."""
        self._watches.remove(self)

    def tell(self, changes: pa.Table) -> None:
        """Call back about rows (vertex, before, after)."""
        if self._predicate is None:
            self._callback(changes)
            return
        for vertex, before, after in zip(*(column.to_pylist() for column in changes.columns), strict=True):
            if self._predicate(after) and not self._predicate(before):
                self._callback(vertex, after)


class Watches:
    """All watches of one query, in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[Watch] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, watch: Watch) -> None:
        """Tell this one, too."""
        self._all.append(watch)

    def remove(self, watch: Watch) -> None:
        """Tell this one no more."""
        self._all = [each for each in self._all if each is not watch]

    def tell(self, vertices: pa.Array, before: pa.Array, after: pa.Array) -> None:
        """Tell all of them, if anything differs."""
        old, new = before.to_pylist(), after.to_pylist()
        changed = np.array([_differ(one, other) for one, other in zip(old, new, strict=True)], np.bool_)
        if changed.any():
            rows = pa.table({"vertex": vertices, "before": before, "after": after}).filter(pa.array(changed))
            for watch in list(self._all):
                watch.tell(rows)


def _differ(one: Any, other: Any) -> bool:
    """Whether two answers differ: NaN is no change from NaN, in a list or an answer of several parts neither."""
    if isinstance(one, list) and isinstance(other, list):
        parts, others = list[Any](one), list[Any](other)
        return len(parts) != len(others) or any(map(_differ, parts, others))
    if isinstance(one, dict) and isinstance(other, dict):
        return _differ(list[Any](one.items()), list[Any](other.items()))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return _differ(list[Any](one), list[Any](other))
    are_nan = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return not are_nan and one != other
