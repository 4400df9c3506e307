"""What one thread needs to bring queries of a family up to date: scratch memory, the state of its run, and the changes.

Invariant: a workspace covers the queries from `first` to before `last`, and nobody else writes to them in a batch.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.shapes import CALL_FIELDS, Changes, fill_table

__all__ = ["StateChanges", "Workspace"]

_FEWEST: Final = 256
# States that are remembered when they had to be computed again; a power of two.
_MEMO: Final = 1 << 17

StateChanges = tuple[NDArray[np.int32], NDArray[Any], NDArray[Any]]


class Workspace:
    """Arrays that grow when the kernel asks for it."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.first = self.last = 0
        self.control: NDArray[np.int64] = np.zeros(fields.CONTROL_FIELDS, np.int64)
        self.changes: Changes = _changes(_FEWEST, 0, dtype)
        self._due = np.full(_FEWEST, -1, np.int32)
        self._calls = np.zeros((_FEWEST, CALL_FIELDS), np.int32)
        self._steps = _by_round(_FEWEST, dtype)
        self._memo = (np.zeros(2, np.int64), np.zeros(1, dtype))
        self._by_vertex = _by_vertex(0, dtype)
        self._tell()

    def _tell(self) -> None:
        """Write down where the arrays are."""
        scratch = (self._due, self._calls, *self._by_vertex, *self._steps, *self._memo)
        self._table = fill_table(scratch, self.changes)
        self.control[fields.SCRATCH] = self._table.ctypes.data

    def cover(self, first: int, last: int, *, drops: bool) -> None:
        """Be for these queries, of which some may drop differences; what the last batch changed is kept."""
        self.first, self.last = first, last
        control = self.control
        control[fields.FIRST], control[fields.LAST], control[fields.POSITION] = first, last, first
        if drops and len(self._memo[1]) < _MEMO:
            self._memo = (np.full(2 * _MEMO, 0), np.full(_MEMO, 0, self.dtype))
        if len(self.changes.ends) < last:
            ends = np.zeros(2 * last, np.int64)
            ends[: len(self.changes.ends)] = self.changes.ends
            self.changes = self.changes._replace(ends=ends)
        self._tell()

    def make_room(self, vertices: int) -> None:
        """Have places for so many vertices."""
        if vertices > len(self._by_vertex[0]):
            self._by_vertex = _by_vertex(vertices + vertices // 2, self.dtype)
            self._tell()

    def changes_at(self, place: int, first: int) -> StateChanges:
        """What the last batch changed of the query at a place; the first one then had another."""
        changes = self.changes
        begin, end = 0 if place == first else changes.ends[place - 1], changes.ends[place]
        return changes.vertices[begin:end], changes.before[begin:end], changes.after[begin:end]

    def provide(self, code: int) -> bool:
        """Lengthen what was too short; whether that is something of the workspace."""
        if code == fields.TOO_FEW_CALLS:
            calls = np.zeros((2 * int(self.control[fields.NEED]), CALL_FIELDS), np.int32)
            calls[: len(self._calls)] = self._calls
            self._calls = calls
        elif code == fields.TOO_FEW_ROUNDS:
            size = 2 * int(self.control[fields.WIDEST_ROUND])
            due = np.full(size, -1, np.int32)
            due[: len(self._due)] = self._due
            self._due = due
            self._steps = _by_round(size, self.dtype)
        elif code == fields.TOO_FEW_CHANGES:
            size = 2 * (len(self.changes.vertices) + int(self.control[fields.CHANGED]))
            grown = _changes(size, len(self.changes.ends), self.dtype)
            for longer, array in zip(grown, self.changes, strict=True):
                longer[: len(array)] = array
            self.changes = grown
        else:
            return False
        self._tell()
        return True

    def changed_so_far(self) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The vertices that the query under way has changed, and their last states before."""
        count = self.control[fields.CHANGED]
        changed, was = self._by_vertex[5:7]
        return changed[:count], was[:count]

    def break_off(self) -> None:
        """Forget the calls for the query under way, and begin anew with it."""
        self._due[:] = -1
        self.control[fields.STAGE] = fields.SEEDING

    def give_up(self) -> None:
        """Leave the query under way as it is, and go on with the next one."""
        self.break_off()
        self.changes.ends[self.control[fields.POSITION]] = self.control[fields.OUT]
        self.control[fields.POSITION] += 1

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        arrays = (self._due, self._calls, *self._steps, *self._memo, *self._by_vertex, *self.changes)
        return sum(array.nbytes for array in arrays)


def _by_round(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """The steps of a vertex, and the stack of steps that are computed again."""
    return np.zeros(size, np.int64), np.zeros(size, dtype), np.zeros(4 * size, np.int64), np.zeros(size, dtype)


def _by_vertex(vertices: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """`where` to `was` of the scratch memory, touched here so that no batch pays for fresh pages."""
    kinds = (np.int32, np.int32, dtype, np.int32, np.int64, np.int32, dtype)
    return tuple(np.full(vertices, 0, kind) for kind in kinds)


def _changes(size: int, queries: int, dtype: np.dtype[Any]) -> Changes:
    return Changes(
        np.full(size, 0, np.int32), np.full(size, 0, dtype), np.full(size, 0, dtype), np.zeros(queries, np.int64)
    )
