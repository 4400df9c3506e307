"""Which vertices are in the neighbourhood of which on a live graph, and whose neighbourhoods a batch may change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.frontier.conditions import EdgeCondition, VertexCondition
from graphtide.frontier.delta import Delta
from graphtide.frontier.edges import Edges
from graphtide.frontier.kernels import surroundings as kernels
from graphtide.frontier.program import Along
from graphtide.frontier.turnover import Turnover
from graphtide.frontier.vertices import Vertices
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown

__all__ = ["Choice", "Some", "Surroundings"]

# The first and the last of the two lists of a vertex: 0 has the edges out of it, 1 those into it.
_SIDES: Final = {"out": (0, 0), "in": (1, 1), "both": (0, 1)}
_ALL_SLOTS: Final = np.zeros(0, np.bool_)

# Which vertices: by a condition in the language of views, or by their ids.
Some = str | Iterable[Any]


class Choice:
    """A choice of vertices, known by number; one by a condition takes in new vertices too."""

    def __init__(self, edges: Edges, vertices: Vertices, some: Some | None, word: str) -> None:
        self._edges = edges
        self._condition = VertexCondition(some, vertices) if isinstance(some, str) else None
        self._mask = np.zeros(0, np.bool_)
        self._takes_new = some is None
        self.is_all = some is None  # and always was
        if some is not None and not isinstance(some, str):
            if not isinstance(some, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
                hint = 'give a list of ids, or a condition such as "age > 10"'
                raise UsageError(f"cannot {word} {shown(some)}: that is no choice of vertices", hint=hint)
            self._mask = np.zeros(edges.adjacency.vertices, np.bool_)
            self._mask[edges.known_numbers(list(some), word)] = True

    def mask(self) -> NDArray[np.bool_]:
        """By number of a vertex: whether it is chosen."""
        vertices, known = self._edges.adjacency.vertices, len(self._mask)
        if known < vertices:
            # Numbers that removed vertices left behind are nobody's to choose.
            chosen = self._of(np.arange(known, vertices)) & self._edges.are_there()[known:]
            self._mask = np.concatenate([self._mask, chosen])
        return self._mask

    def _of(self, vertices: Codes) -> NDArray[np.bool_]:
        """Whether vertices that nobody chose by id are chosen."""
        if self._condition is not None:
            return self._condition.of(vertices)
        return np.full(len(vertices), self._takes_new)

    def come(self, vertices: Codes) -> None:
        """Choose among numbers that stand for vertices that are new."""
        again = vertices[vertices < len(self._mask)]
        if len(again):
            self._mask[again] = self._of(again)

    def leave(self, vertices: Codes) -> None:
        """Choose these no more: they were removed."""
        if len(vertices):
            self.mask()[vertices] = False
            self.is_all = False

    def look_again(self, vertices: Codes) -> bool:
        """Whether the choice among vertices is another one, now that they have other properties."""
        if self._condition is None or not self._condition.asks_for_vertices:
            return False
        before = self.mask()[vertices]
        self._mask[vertices] = self._condition.of(vertices)
        return bool((before != self._mask[vertices]).any())

    @property
    def nbytes(self) -> int:
        """Bytes of what is known of the choice."""
        return self._mask.nbytes

    def numbers(self) -> Codes:
        """The vertices that are chosen."""
        return np.flatnonzero(self.mask())


class Surroundings:
    """Neighbourhoods of one or two hops along some of the edges; a vertex is its own neighbour only if `with_ego`."""

    def __init__(
        self,
        edges: Edges,
        hops: int,
        along: Along,
        *,
        with_ego: bool,
        writers: Choice,
        where: EdgeCondition | None = None,
    ) -> None:
        if not isinstance(with_ego, bool | np.bool_):  # pyright: ignore[reportUnnecessaryIsInstance] - users say it
            raise UsageError(f"with_ego={shown(with_ego)} is neither True nor False")
        if type(hops) is not int or hops not in {1, 2}:
            raise UsageError(f"cannot look {hops!r} hops far", hint="neighbourhoods have 1 or 2 hops")
        if not isinstance(along, str) or along not in _SIDES:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"cannot go along {along!r}", hint='go along "in", "out" or "both" sorts of edges')
        self.hops, self.along, self.with_ego = hops, along, with_ego
        self._edges, self._writers = edges, writers
        self._where = where
        self._kept = _ALL_SLOTS
        self._seen = np.zeros(0, np.int64)
        self._stamp = 1

    @property
    def nbytes(self) -> int:
        """Bytes of what is known of vertices and edges, and of scratch memory."""
        return self._writers.nbytes + self._kept.nbytes + self._seen.nbytes

    def of(self, vertices: Codes) -> tuple[Codes, Codes]:
        """The neighbours of vertices in rising order, and where those of each start."""
        writes = np.zeros(0, np.bool_) if self._writers.is_all else self._writers.mask()
        kept = self._kept_slots(vertices)
        stamp = self._stamp_for(len(vertices))
        starts, found = kernels.neighbourhoods(
            vertices, self.hops, *_SIDES[self.along], self.with_ego, *self._edges.adjacency.lists, kept, writes,
            self._seen, stamp,
        )  # fmt: skip
        return starts, found

    def come(self, vertices: Codes) -> None:
        """Know of numbers that stand for vertices that are new."""
        self._writers.come(vertices)

    def leave(self, vertices: Codes) -> None:
        """Have removed vertices as neighbours no more."""
        self._writers.leave(vertices)

    def changes(self, delta: Delta, turnover: Turnover) -> tuple[Codes, Codes, Codes] | None:
        """What a batch did to neighbourhoods of one hop: vertices, others that they gained or lost, and 1 or -1.

        It costs what the batch changed, and a look along the shorter of two lists for each. None if edges are chosen by
        a condition, or there are two hops: then neighbourhoods are to be looked at as a whole.
        """
        if self.hops != 1 or self._where is not None:
            return None
        lost, gained = delta.seen_in(-1)
        vertices = self._edges.adjacency.vertices
        pairs: list[Codes] = []
        signs: list[Codes] = []
        for side in range(_SIDES[self.along][0], _SIDES[self.along][1] + 1):
            for table, sign in ((lost, -1), (gained, 1)):
                # Who looks along an edge out of it is its source.
                pairs.append(table[:, side] * vertices + table[:, 1 - side])
                signs.append(np.full(len(table), sign))
        changed, which = np.unique(np.concatenate(pairs), return_inverse=True)
        balance = np.bincount(which, weights=np.concatenate(signs), minlength=len(changed)).astype(np.int64)
        egos, others = changed // vertices, changed % vertices
        now = kernels.count_edges(egos, others, *_SIDES[self.along], *self._edges.adjacency.lists)
        # So many were there before; an edge from a vertex to itself makes no neighbour.
        turns = ((now > 0).astype(np.int64) - (now - balance > 0)) * (egos != others)
        if self.with_ego:
            _, came, went = turnover
            egos, others = np.concatenate([egos, came, went]), np.concatenate([others, came, went])
            turns = np.concatenate([turns, np.repeat([1, -1], [len(came), len(went)])])
        counts = turns != 0
        if not self._writers.is_all:
            counts &= self._writers.mask()[others]
        return egos[counts], others[counts], turns[counts]

    def affected(self, delta: Delta, turnover: Turnover) -> Codes:
        """The vertices whose neighbourhoods a batch may have changed, those that came or went included."""
        ends = delta.seen_in(-1) if self._where is None else (delta.lost, delta.gained)
        table = np.concatenate([each[:, :2] for each in ends])
        # A vertex looks along its edges; whom it is seen from is at the other end.
        columns = {"in": [table[:, 1]], "out": [table[:, 0]], "both": [table[:, 0], table[:, 1]]}[self.along]
        near = np.unique(np.concatenate([*columns, turnover.came, turnover.went]))
        if self.hops == 1:
            return near
        # Who saw them before by an edge that is gone is at an end of that edge.
        return np.sort(self._seen_from(near))

    def affected_by(self, vertices: Codes) -> Codes:
        """The vertices whose neighbourhoods may be others, now that these vertices have other properties."""
        asks = self._where is not None and self._where.asks_for_vertices
        if not self._writers.look_again(vertices) and not asks:
            return np.zeros(0, np.int64)
        near = np.unique(vertices)
        for _ in range(self.hops):
            near = self._seen_from(near)
        return np.sort(near)

    def _seen_from(self, vertices: Codes) -> Codes:
        """Vertices, and those that look at them along an edge."""
        first, last = _SIDES[{"in": "out", "out": "in", "both": "both"}[self.along]]
        stamp = self._stamp_for(1)
        return kernels.reached(vertices, first, last, *self._edges.adjacency.lists, self._seen, stamp)

    def _stamp_for(self, count: int) -> int:
        """The first of so many numbers that are not in the scratch memory."""
        vertices = self._edges.adjacency.vertices
        if len(self._seen) < vertices:
            self._seen = np.zeros(vertices + vertices // 2, np.int64)
        self._stamp += count
        return self._stamp - count

    def _kept_slots(self, vertices: Codes) -> NDArray[np.bool_]:
        """By slot: whether the condition on edges holds, where these vertices may look."""
        if self._where is None:
            return _ALL_SLOTS
        edges, sides = self._edges, _SIDES[self.along]
        lists = edges.adjacency.lists
        if self.hops == 2:
            stamp = self._stamp_for(1)
            vertices = kernels.reached(vertices, *sides, *lists, self._seen, stamp)
        rows = kernels.edges_of(vertices, *sides, *lists)
        if len(self._kept) < len(lists.other):
            self._kept = np.zeros(len(lists.other), np.bool_)
        if len(rows):
            self._kept[rows[:, 2]] = self._where.of_slots(rows)
        return self._kept
