"""PageRank that is kept: the ranks of every round, and where a batch changes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.family import StateChanges
from graphtide.frontier.kernels.ranks import rank_all, rank_some
from graphtide.frontier.kernels.shapes import Lists
from graphtide.rows.codes import Codes

__all__ = ["Ranks"]

_NONE = np.empty(0, np.int32), np.empty(0), np.empty(0)


class Ranks:
    """Ranks by round and vertex."""

    def __init__(self, rounds: int, damping: float) -> None:
        self._damping = damping
        self._ranks = np.empty((rounds + 1, 0))
        self._vertices = 0
        self._mark = np.empty(0, np.int64)
        self._was = np.empty(0)
        self._tick = 0
        self.changes: StateChanges = _NONE
        self.computed = 0

    def compute(self, lists: Lists, vertices: int) -> None:
        """All ranks anew."""
        self._make_room(vertices)
        rank_all(self._ranks, vertices, self._damping, *lists)

    def apply(self, lists: Lists, vertices: int, lost: Codes, gained: Codes) -> None:
        """Follow a batch."""
        first = self._vertices
        self._make_room(vertices)
        new = np.arange(first, vertices)
        self._ranks[0, new] = 1.0
        self._ranks[1:, new] = 1.0 - self._damping
        changed, self._tick, computed = rank_some(
            self._ranks, self._damping, *lists, lost, gained, self._mark, self._tick, self._was
        )
        self.computed += int(computed)
        before = self._was[: len(changed)].copy()
        # A vertex that is new had no rank; all of them have one now.
        fresh = np.setdiff1d(new, changed)
        before[changed >= first] = np.inf
        vertices_changed = np.concatenate([changed, fresh]).astype(np.int32)
        before = np.concatenate([before, np.full(len(fresh), np.inf)])
        self.changes = vertices_changed, before, self._ranks[-1, vertices_changed]

    def last(self) -> NDArray[np.float64]:
        """The ranks of the last round."""
        return self._ranks[-1, : self._vertices]

    @property
    def differences(self) -> int:
        """How many ranks are kept."""
        return self._ranks.shape[0] * self._vertices

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return self._ranks.nbytes + self._mark.nbytes + self._was.nbytes

    def _make_room(self, vertices: int) -> None:
        if vertices > self._ranks.shape[1]:
            longer = np.zeros((self._ranks.shape[0], vertices + vertices // 8 + 16))
            longer[:, : self._vertices] = self._ranks[:, : self._vertices]
            self._ranks = longer
            mark = np.zeros(longer.shape[1], np.int64)
            mark[: len(self._mark)] = self._mark
            self._mark = mark
            self._was = np.zeros(longer.shape[1])
        self._vertices = vertices
