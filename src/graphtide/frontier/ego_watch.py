"""Who wants to know of changed aggregates, and what they are told.

Invariant: a callback runs when everything is as it will stay. One that raises keeps no other from being called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import GraphtideError, UsageError
from graphtide.rows.misfit import shown

__all__ = ["Notice", "Seen", "Watch", "Watches", "seen"]


class Seen(NamedTuple):
    """Aggregates at some vertices, as far as they can be told."""

    column: pa.Array  # null where one cannot be told, too
    is_known: NDArray[np.bool_]
    errors: dict[int, GraphtideError]  # by place: why not


def seen(count: int, read: Callable[[slice], pa.Array]) -> Seen:
    """What `read` gives for so many places; if it fails, as much of that as it gives for each of them."""
    is_known = np.ones(count, np.bool_)
    try:
        return Seen(read(slice(0, count)), is_known, {})
    except GraphtideError:
        pass
    values: list[Any] = [None] * count
    errors: dict[int, GraphtideError] = {}
    for place in range(count):
        try:
            values[place] = read(slice(place, place + 1)).to_pylist()[0]
        except GraphtideError as error:
            errors[place] = error
    is_known[list(errors)] = False
    return Seen(pa.array(values), is_known, errors)


class Watch:
    """A callback for changes, or with a predicate for those by which it becomes true."""

    def __init__(
        self, watches: Watches, callback: Callable[..., Any], predicate: Callable[[Any], bool] | None = None
    ) -> None:
        for each in (callback, *(() if predicate is None else (predicate,))):
            if not callable(each):
                raise UsageError(f"{shown(each)} cannot be called", hint="give a function")
        self._watches = watches
        self._callback, self._predicate = callback, predicate

    def drop(self) -> None:
        """Call back no more."""
        self._watches.remove(self)

    def calls(self, notice: Notice) -> Iterator[Callable[[], Any]]:
        """What is to be called for a notice."""
        if self._predicate is None:
            yield lambda: self._callback(notice.changes)
            return
        for row in notice.rows():
            yield lambda row=row: self._alert(*row)

    def _alert(self, vertex: Any, before: tuple[Any, bool], after: tuple[Any, bool]) -> None:
        """Call back if the predicate is true of the second value and not of the first; of one unknown it is not."""
        assert self._predicate is not None, "it was looked at"
        is_true, was_true = (known and self._predicate(value) for value, known in (after, before))
        if is_true and not was_true:
            self._callback(vertex, after[0])


class Watches:
    """All watches of one query, in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[Watch] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    def __contains__(self, watch: Watch) -> bool:
        return any(each is watch for each in self._all)

    def __iter__(self) -> Iterator[Watch]:
        return iter(list(self._all))

    def add(self, watch: Watch) -> None:
        """Tell this one, too."""
        self._all.append(watch)

    def remove(self, watch: Watch) -> None:
        """Tell this one no more."""
        self._all = [each for each in self._all if each is not watch]

    def remove_all(self) -> None:
        """Tell nobody any more."""
        self._all = []


@dataclass(frozen=True, slots=True, eq=False)
class Notice:
    """Aggregates that a change made others, for those who watch them."""

    watches: Watches
    changes: pa.Table  # vertex, before, after: null where that cannot be told
    is_known: NDArray[np.bool_]  # in two rows: whether before and after can be
    errors: tuple[GraphtideError, ...] = ()  # that one which could be told before cannot be told any more

    @classmethod
    def of(cls, name: str, watches: Watches, vertices: pa.Array, before: Seen, after: Seen) -> Notice:
        """What the watches of a query are told of its aggregates at vertices before a change and after it."""
        old, new = before.column.to_pylist(), after.column.to_pylist()
        changed = np.array([_differ(one, other) for one, other in zip(old, new, strict=True)], np.bool_)
        changed |= before.is_known != after.is_known
        columns = before.column, after.column
        # A column of which nothing can be told has the type of the other one.
        types = [other.type if pa.types.is_null(one.type) else one.type for one, other in (columns, columns[::-1])]
        old_column, new_column = (column.cast(kind) for column, kind in zip(columns, types, strict=True))
        rows = pa.table({"vertex": vertices, "before": old_column, "after": new_column}).filter(pa.array(changed))
        lost = [place for place in after.errors if before.is_known[place]][:1]
        errors = tuple(_untold(name, vertices[place].as_py(), after.errors[place]) for place in lost)
        return cls(watches, rows, np.array([before.is_known, after.is_known])[:, changed], errors)

    def rows(self) -> Iterator[tuple[Any, tuple[Any, bool], tuple[Any, bool]]]:
        """A vertex, its aggregate before and that after, each with whether it is known."""
        vertices, before, after = (column.to_pylist() for column in self.changes.columns)
        was_known, is_known = self.is_known.tolist()
        yield from zip(vertices, zip(before, was_known, strict=True), zip(after, is_known, strict=True), strict=True)

    def tell(self) -> list[Exception]:
        """Call all who watch, if anything differs; what they raised, and what could not be told."""
        errors: list[Exception] = list(self.errors)
        if self.changes.num_rows == 0:
            return errors
        for watch in self.watches:
            for call in watch.calls(self):
                try:
                    if watch in self.watches:  # unless one that was called before has dropped it
                        call()
                except Exception as error:  # noqa: BLE001 - it comes out when all were called
                    errors.append(error)
        return errors


def _untold(name: str, vertex: Any, error: GraphtideError) -> GraphtideError:
    untold = type(error)(
        f'those who watch "{name}" cannot be told the aggregate at vertex {vertex!r}: {error.message}',
        hint="what changed it is applied, and they are told null",
    )
    untold.__cause__ = error
    return untold


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
