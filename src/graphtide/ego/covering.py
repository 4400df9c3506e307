"""What a reader whose neighbourhood changes is made of: partial aggregates that are there, and writers (EAGr, 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphtide.ego.kernels.covering import cover_readers, cover_set, enter_sets, partial_sets
from graphtide.ego.overlay import Overlay

__all__ = ["CoverIndex", "cover"]

_FEWEST = 64

_Array = NDArray[Any]
_Lists = tuple[_Array, _Array, _Array, _Array, _Array, _Array]


class CoverIndex:
    """For each writer the partial aggregates that have it, for each of these its writers.

    Invariant: a partial aggregate is in the list of a writer if and only if the writer is in its set, or it was
    removed.
    """

    def __init__(self, writers: int, *, overlapping: bool = False) -> None:
        self.overlapping = overlapping  # whether a writer may be covered more than once
        self._nodes = 0
        self._live = 0  # writers in sets that were not removed
        self._set_end = 0
        self._list_end = 0
        self._sets: NDArray[np.int32] = np.empty(0, np.int32)
        self._set_start: NDArray[np.int64] = np.zeros(0, np.int64)
        self._set_size: NDArray[np.int64] = np.zeros(0, np.int64)
        self._head: NDArray[np.int64] = np.full(writers, -1, np.int64)
        self._after: NDArray[np.int64] = np.empty(0, np.int64)
        self._entry: NDArray[np.int32] = np.empty(0, np.int32)
        # What the search needs: a number for each writer, and two for each node.
        self._left: NDArray[np.int64] = np.zeros(writers, np.int64)
        self._within: NDArray[np.int64] = np.zeros(0, np.int64)
        self._overlap: NDArray[np.int64] = np.zeros(0, np.int64)

    @classmethod
    def of(cls, overlay: Overlay) -> CoverIndex:
        """The index of an overlay's partial aggregates, but for those that count a writer more than once."""
        index = cls(overlay.writers, overlapping=overlay.overlapping)
        first = overlay.writers + overlay.readers
        lists = overlay.starts, overlay.inputs, overlay.signs
        starts, sets = partial_sets(*lists, overlay.writers, first, overlay.overlapping)
        index.add_all(first, starts, sets)
        return index

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to cover with."""
        return self._live == 0

    @property
    def nbytes(self) -> int:
        """Bytes of sets, lists and what a search needs."""
        return sum(array.nbytes for array in (*self._lists, self._left, self._within, self._overlap))

    def add(self, node: int, writers: ArrayLike) -> None:
        """Let a new partial aggregate of these writers be used: it has a higher number than all that were added."""
        members = np.ascontiguousarray(writers, np.int32)
        self.add_all(node, np.array([0, len(members)]), members)

    def remove(self, node: int) -> None:
        """Use a partial aggregate no more."""
        self._live -= int(self._set_size[node])
        self._set_size[node] = 0
        if self._list_end > 2 * self._live + _FEWEST:
            self._leave_out_removed()

    def writers_of(self, node: int) -> NDArray[np.int32]:
        """The writers of a partial aggregate; none if it is not in the index."""
        if node >= len(self._set_size):
            return self._sets[:0]
        return self._sets[self._set_start[node] : self._set_start[node] + self._set_size[node]]

    def cover(self, wanted: NDArray[np.int32], most_lacks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What `cover` says, as arrays."""
        self._know_writers(wanted)
        scratch = self._left, self._within, self._overlap
        nodes, signs = cover_set(wanted, *self._lists, *scratch, most_lacks, self.overlapping)
        return nodes, signs

    def cover_readers(
        self, readers: _Array, starts: _Array, writers: NDArray[np.int32], heads: _Array, pool: _Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """What `kernels.covering.cover_readers` says."""
        self._know_writers(writers)
        scratch = self._left, self._within, self._overlap
        return cover_readers(readers, starts, writers, heads, pool, self._lists, scratch, self.overlapping)

    @property
    def _lists(self) -> _Lists:
        return self._set_start, self._set_size, self._sets, self._head, self._after, self._entry

    def add_all(self, first: int, starts: NDArray[np.int64], sets: NDArray[np.int32]) -> None:
        """Add partial aggregates of consecutive numbers."""
        assert first >= self._nodes, f"node {first} is in the index, or a later one"
        self._know_writers(sets)
        nodes = first + len(starts) - 1
        for name in ("_set_start", "_set_size", "_within", "_overlap"):
            setattr(self, name, _grown(getattr(self, name), nodes))
        self._set_start[first:nodes] = self._set_end + starts[:-1]
        self._set_size[first:nodes] = np.diff(starts)
        self._sets = _grown(self._sets, self._set_end + len(sets))
        self._sets[self._set_end : self._set_end + len(sets)] = sets
        self._set_end += len(sets)
        self._nodes = nodes
        self._live += len(sets)
        self._after = _grown(self._after, self._list_end + len(sets))
        self._entry = _grown(self._entry, self._list_end + len(sets))
        self._list_end = enter_sets(first, nodes, *self._lists, self._list_end)

    def _leave_out_removed(self) -> None:
        """Begin the pools of sets and lists anew."""
        starts = np.cumsum(self._set_size) - self._set_size
        places = np.repeat(self._set_start - starts, self._set_size) + np.arange(self._live)
        self._sets = self._sets[places]
        self._set_start = starts
        self._set_end = self._live
        self._head[:] = -1
        self._list_end = enter_sets(0, self._nodes, *self._lists, 0)

    def _know_writers(self, writers: NDArray[np.int32]) -> None:
        count = int(writers.max(initial=-1)) + 1
        self._head = _grown(self._head, count, filler=-1)
        self._left = _grown(self._left, count)


def cover(wanted: Sequence[int] | NDArray[np.int32], index: CoverIndex, *, negatives: int = 0) -> list[tuple[int, int]]:
    """Inputs, with their signs, that make up a set of writers: partial aggregates first, as far as they save edges.

    With `negatives`, a partial aggregate may have so many writers that are not wanted, or not any more; they are
    subtracted. In an index of an overlapping overlay a writer may be covered more than once instead.

    >>> index = CoverIndex(writers=5)
    >>> index.add(9, [0, 1, 2, 3])
    >>> cover([0, 1, 2, 3, 4], index), cover([0, 1, 2], index), cover([0, 1, 2], index, negatives=1)
    ([(9, 1), (4, 1)], [(0, 1), (1, 1), (2, 1)], [(9, 1), (3, -1)])
    """
    assert not (negatives and index.overlapping), "what overlaps cannot be subtracted"
    nodes, signs = index.cover(np.ascontiguousarray(wanted, np.int32), negatives)
    return list(zip(nodes.tolist(), signs.tolist(), strict=True))


def _grown(array: NDArray[Any], size: int, *, filler: int = 0) -> NDArray[Any]:
    """An array of at least that size that begins as this one."""
    if size <= len(array):
        return array
    longer = np.full(size + size // 2, filler, array.dtype)
    longer[: len(array)] = array
    return longer
