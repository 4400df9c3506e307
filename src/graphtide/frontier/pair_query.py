"""Queries for the distance of one pair: found anew after every batch, or kept to a region around the pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.frontier.query import KeptQuery, ProgramQuery, Running
from graphtide.frontier.steps import Steps, no_state

if TYPE_CHECKING:
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.family import Family, StateChanges
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.pairs import Pairs

__all__ = ["PrunedQuery", "SearchedQuery"]


class SearchedQuery(ProgramQuery):
    """A query for one pair that keeps its answer alone: every batch searches for it."""

    def __init__(
        self, live: LiveGraph, edges: Edges, name: str, running: Running, *, pairs: Pairs, ends: tuple[int, int]
    ) -> None:
        super().__init__(live, edges, name, running)
        self.pairs = pairs
        self.source, self.target = ends
        self.aim_at(self.target)
        self._before = self._distance = no_state(self.steps.dtype)
        self._way = np.empty(0, np.int64)
        self.search()
        self._before = self._distance

    @property
    def differences(self) -> int:
        """None but the answer."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of the answer and its path; what searches need is shared."""
        return 8 + self._way.nbytes

    def search(self) -> None:
        """Find the answer in the graph as it is."""
        self._before = self._distance
        self._distance, self._way = self.pairs.distance(self.steps.message.kind, self.source, self.target)

    def result(self) -> pa.Table:
        """The target and its distance, while there is a path."""
        self._check_alive()
        is_reached = self._distance != no_state(self.steps.dtype)
        vertices = np.array([self.target] if is_reached else [], np.int64)
        return self._table(vertices, np.array([self._distance] * len(vertices), self.steps.dtype))

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a shortest path; empty if there is none."""
        self._check_alive()
        _check_end(self.name, self._edges, self.target, to)
        return self._edges.ids_of(self._way[::-1]).to_pylist()

    def leave(self) -> None:
        """Be searched for no longer."""
        self.pairs.searched.remove(self)

    def states_by_number(self) -> NDArray[Any]:
        """That of the target alone."""
        states = np.full(self._edges.adjacency.vertices, no_state(self.steps.dtype), self.steps.dtype)
        states[self.target] = self._distance
        return states

    def changes_by_number(self) -> StateChanges:
        """What the last search found otherwise."""
        return _change(self.target, self._before, self._distance, self.steps)


class PrunedQuery(KeptQuery):
    """A query for one pair whose differences are kept in a region that landmarks answer for."""

    def __init__(
        self,
        live: LiveGraph,
        edges: Edges,
        name: str,
        running: Running,
        family: Family,
        *,
        pairs: Pairs,
        ends: tuple[int, int],
    ) -> None:
        super().__init__(live, edges, name, running, family)
        self.pairs = pairs
        self.source, self.target = ends
        self.aim_at(self.target)
        self._renewed = -1, no_state(self.steps.dtype)  # the batch that did so last, and the distance before it

    @property
    def members(self) -> int:
        """How many vertices are in its region."""
        return int(np.bitwise_count(self.steps.region).sum())

    def renew(self) -> None:
        """Take another region, since the last batch has made the answer uncertain."""
        assert self._live is not None
        changed, before, _ = super().changes_by_number()
        mine = before[changed == self.target]
        self._renewed = self._live.batches, mine[0] if len(mine) else self.states_by_number()[self.target]
        self.pairs.renew(self)

    def leave(self) -> None:
        """Be found certain no longer."""
        del self.pairs.pruned[self.steps]

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a shortest path; empty if there is none."""
        self._check_alive()
        _check_end(self.name, self._edges, self.target, to)
        return super().path()

    def changes_by_number(self) -> StateChanges:
        """What the kernel reported; after a batch that took another region, what that did to the answer."""
        assert self._live is not None
        batch, before = self._renewed
        if batch != self._live.batches:
            return super().changes_by_number()
        return _change(self.target, before, self.states_by_number()[self.target], self.steps)


def _change(target: int, before: Any, after: Any, steps: Steps) -> StateChanges:
    vertices = np.array([target] if before != after else [], np.int32)
    count = len(vertices)
    return vertices, np.array([before] * count, steps.dtype), np.array([after] * count, steps.dtype)


def _check_end(name: str, edges: Edges, target: int, to: Any) -> None:
    if to is not None and edges.known(to) != target:
        mine = edges.ids_of(np.array([target])).to_pylist()[0]
        raise UsageError(
            f'query "{name}" has a path to {mine!r} alone, not to {to!r}', hint="sssp has paths to all vertices"
        )
