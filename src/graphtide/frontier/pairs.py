"""Distances of single pairs on one weight: searched for with the help of landmarks, and kept to regions.

Invariant: `near` has the distances from and to the landmarks in the graph as it is, so its bounds are true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.bounds import lower, upper
from graphtide.frontier.kernels.region import enclosed
from graphtide.frontier.kernels.search import search, way_to, widened
from graphtide.frontier.pair_query import PrunedQuery, SearchedQuery
from graphtide.frontier.steps import Steps, no_state

if TYPE_CHECKING:
    from graphtide.frontier.delta import Delta
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.family import Family
    from graphtide.frontier.landmarks import Landmarks
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.query import Running

__all__ = ["Pairs"]

# A region reaches so much farther than its pair is apart: small, it soon needs another; large, it has many differences.
_SLACK: Final = 1 / 32
# Of floats, the least number that is certainly above 0.
_TINY: Final = 1e-300


class Pairs:
    """The queries for single pairs on one weight, or on none, and what they share."""

    def __init__(self, edges: Edges, weight: str | None) -> None:
        self.weight = weight
        self.landmarks: Landmarks | None = None
        self.searched: list[SearchedQuery] = []
        self.pruned: dict[Steps, PrunedQuery] = {}
        self._edges = edges
        is_float = weight is not None and edges.is_float(weight)
        self.dtype = np.dtype(np.float64 if is_float else np.int64)
        self.near: NDArray[Any] = np.empty((0, 0), self.dtype)
        self._scratch = _by_vertex(0, self.dtype)
        self._tick = 0
        self.visited = 0  # vertices that were gone on from, in all searches
        self.enclosures = 0  # regions made

    @property
    def is_idle(self) -> bool:
        """Whether nothing needs this any more."""
        return self.landmarks is None and not self.searched and not self.pruned

    @property
    def nbytes(self) -> int:
        """Bytes of the memory that searches share."""
        return sum(array.nbytes for array in self._scratch)

    def stand_by(self, landmarks: Landmarks | None) -> None:
        """Take an index, or do without one. Regions are made anew, by what is known now."""
        self.landmarks = landmarks
        columns = 0 if landmarks is None else len(landmarks.parts)
        self.near = np.empty((0, columns), self.dtype)
        self._make_room()
        if landmarks is not None:
            for c, part in enumerate(landmarks.parts):
                self.near[: self._vertices, c] = part.states_by_number()
        for query in self.pruned.values():
            self.renew(query)

    def distance(self, kind: int, source: int, target: int) -> tuple[Any, NDArray[np.int64]]:
        """The distance of a pair, and the vertices of a shortest path from the last one on."""
        found, _ = self._search(kind, source, target, is_widened=False)
        way = way_to(self._scratch[2], target) if found != no_state(self.dtype) else np.empty(0, np.int64)
        return found, way

    def bounds(self, source: int, target: int) -> tuple[Any, Any]:
        """What landmarks say of the distance of a pair: it is no less, and no more."""
        _, _, slip = self._margins
        ends = self.near, source, target, slip, no_state(self.dtype)
        return lower(*ends), upper(*ends)

    def search_for(self, live: LiveGraph, name: str, running: Running, ends: tuple[int, int]) -> SearchedQuery:
        """A query for a pair that every batch searches for."""
        query = SearchedQuery(live, self._edges, name, running, pairs=self, ends=ends)
        self.searched.append(query)
        return query

    def keep(self, live: LiveGraph, name: str, running: Running, family: Family, ends: tuple[int, int]) -> PrunedQuery:
        """A query for a pair whose differences, of a family, are kept in a region."""
        query = PrunedQuery(live, self._edges, name, running, family, pairs=self, ends=ends)
        self.pruned[query.steps] = query
        return query

    def renew(self, query: PrunedQuery) -> None:
        """Give a query another region."""
        self.enclose(query.steps, query.source, query.target)
        query.family.settle_width(query.steps)

    def enclose(self, steps: Steps, source: int, target: int) -> None:
        """Compute all differences within a region around a pair."""
        found, members = self._search(steps.message.kind, source, target, is_widened=True)
        slack, room, _ = self._margins
        steps.region = enclosed(self._vertices, members, source)
        bound = np.array([widened(found, slack, room, no_state(self.dtype))], self.dtype)
        steps.anchor = np.concatenate([bound, self.near[target]])
        steps.row[fields.REGION_VERTICES] = self._vertices
        steps.row[fields.ORIGIN], steps.row[fields.TARGET] = source, target
        weights = self._edges.slot_weights(self.weight)
        steps.compute_within(self._edges.adjacency.lists, weights, self._vertices, source)
        self.enclosures += 1

    def follow(self, family: Family | None, delta: Delta) -> None:
        """Bring the pairs up to date with a batch; the landmarks' own queries are."""
        self._make_room()
        moved: list[NDArray[np.int32]] = []
        for c, part in enumerate(() if self.landmarks is None else self.landmarks.parts):
            vertices, _, after = part.changes_by_number()
            if len(vertices):
                self.near[vertices, c] = after
                moved.append(vertices)
        if family is not None and self.pruned:
            others = np.unique(np.concatenate(moved)).astype(np.int64) if moved else np.empty(0, np.int64)
            _, gained = delta.seen_in(family.column)
            for steps in family.uncertain(gained, others, self.near, margins=self._margins):
                self.pruned[steps].renew()
        for query in self.searched:
            query.search()

    @property
    def _vertices(self) -> int:
        return self._edges.adjacency.vertices

    @property
    def _margins(self) -> tuple[float, Any, Any]:
        """Slack and room of a region's bound, and what a sum may have lost to rounding, relative to itself.

        A sum of n floats is off by less than n * 2 ** -53 of it; sixteen times that covers what is computed from them.
        """
        if self.dtype == np.float64:
            return _SLACK, np.float64(_TINY), np.float64((self._vertices + 8) * 2.0**-49)
        return _SLACK, np.int64(1), np.int64(0)

    def _search(self, kind: int, source: int, target: int, *, is_widened: bool) -> tuple[Any, NDArray[np.int32]]:
        """The distance of a pair and the vertices that were gone on from."""
        self._make_room()
        self._tick += 2
        slack, room, slip = self._margins
        reached, left, parent, stamp, visited = self._scratch
        found, count = search(
            kind,
            *self._edges.adjacency.lists,
            self._edges.slot_weights(self.weight),
            self.near,
            source,
            target,
            (slack, room, slip) if is_widened else (0.0, room - room, slip),
            reached,
            left,
            parent,
            stamp,
            self._tick,
            visited,
            no_state(self.dtype),
        )
        self.visited += count
        return self.dtype.type(found), visited[:count]

    def _make_room(self) -> None:
        """Places for all vertices; landmarks neither reach new ones nor are reached."""
        vertices = self._vertices
        if vertices > len(self.near):
            near = np.full((vertices + vertices // 8, self.near.shape[1]), no_state(self.dtype), self.dtype)
            near[: len(self.near)] = self.near
            self.near = near
        if vertices > len(self._scratch[0]):
            self._scratch = _by_vertex(vertices + vertices // 8, self.dtype)
            self._tick = 0


def _by_vertex(vertices: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """`reached` to `visited` of the searches, touched here so that no batch pays for fresh pages."""
    return tuple(np.full(vertices, 0, kind) for kind in (dtype, dtype, np.int32, np.int64, np.int32))
