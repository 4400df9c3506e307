"""The product of a live graph and an automaton: a walk in it is a walk whose labels the automaton reads.

Vertex v in state q is number v * states + q. For every edge and every move that its label allows there is an edge
of the product, so a path query is a program that counts edges, and all queries with one pattern share the product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.delta import Rows
from graphtide.frontier.family import StateChanges
from graphtide.frontier.ground import Ground
from graphtide.frontier.kernels.change import DONE
from graphtide.frontier.pattern import Automaton
from graphtide.frontier.query import ProgramQuery
from graphtide.frontier.report import SharedPart
from graphtide.frontier.steps import NO_NUMBER, Steps
from graphtide.frontier.turnover import Turnover
from graphtide.rows.codes import Codes

__all__ = ["PathGraph"]

_NOTHING = np.empty(0, np.int64)


class PathGraph(Ground):
    """Edges between pairs of a vertex and a state; what is said of a vertex is the least of its accepting pairs."""

    def __init__(self, automaton: Automaton, codes: dict[str, int]) -> None:
        super().__init__(Adjacency(0))
        self.automaton = automaton
        self._codes = codes  # by label of the pattern: its code in the graph's column
        self._accepting = np.array(sorted(automaton.accepting), np.int64)
        self._begins = np.empty(0, np.int64)

    @property
    def labels(self) -> Codes:
        """By number: the state of a walk that may begin at any vertex, after no edge."""
        states = self.automaton.states
        if len(self._begins) < self.adjacency.vertices:
            self._begins = np.full(2 * self.adjacency.vertices + states, NO_NUMBER)
            self._begins[::states] = 0
        return self._begins

    def weights(self, weight: str | None) -> NDArray[Any]:
        """An edge of the product counts 1."""
        assert weight is None, "programs on the product count edges"
        return _NOTHING

    def column(self, weight: str | None) -> int:
        """There are no weights."""
        assert weight is None, "programs on the product count edges"
        return -1

    def as_numbers(self, weight: str, bits: Codes) -> NDArray[Any]:
        """There are none."""
        raise AssertionError(f"programs on the product count edges: {weight}, {bits}")

    def add_vertices(self, vertices: int) -> None:
        """Let the graph have so many vertices."""
        if vertices * self.automaton.states > self.adjacency.vertices:
            self.adjacency.add_vertices(vertices * self.automaton.states)

    def insert(self, ends: Codes, labels: Codes) -> None:
        """The first edges of the graph."""
        nothing = self.adjacency.nothing
        self.adjacency.change(nothing, nothing, self._product(ends, labels))

    def follow_edges(self, vertices: int, lost: Codes, lost_labels: Codes, gained: Codes, gained_labels: Codes) -> None:
        """Follow a batch of the graph, which has so many vertices now, and bring all queries up to date."""
        self.prepare()
        known = self.adjacency.vertices
        self.add_vertices(vertices)
        gone, come = self._product(lost, lost_labels), self._product(gained, gained_labels)
        code = self.adjacency.change(gone, self.adjacency.nothing, come)
        assert code == DONE, "an edge of the graph has its edges in the product"
        self.follow(Turnover(known, np.arange(known, self.adjacency.vertices)))

    def by_vertex(self, states: NDArray[Any]) -> NDArray[Any]:
        """By vertex: the least state of those in which a path may end."""
        by_vertex = states.reshape(-1, self.automaton.states)[:, self._accepting]
        return by_vertex.min(axis=1, initial=NO_NUMBER)

    def changes_by_vertex(self, changes: StateChanges, query: ProgramQuery) -> StateChanges:
        """Of vertices at least one pair of which changed, those whose least state did."""
        pairs, before, _ = changes
        if not len(pairs):
            return changes
        after = query.states_by_number()
        earlier = after.copy()
        earlier[pairs] = before
        states = self.automaton.states
        vertices = np.unique(pairs // states)
        was, now = (self.by_vertex(each.reshape(-1, states)[vertices]) for each in (earlier, after))
        differing = was != now
        return vertices[differing].astype(np.int32), was[differing], now[differing]

    def end_at(self, vertex: int, steps: Steps) -> int | None:
        """The accepting pair that is reached with the fewest edges."""
        pairs = vertex * self.automaton.states + self._accepting
        lengths = steps.last_states(self.labels, self.adjacency.vertices)[pairs]
        if not len(pairs) or lengths.min() == NO_NUMBER:
            return None
        return int(pairs[lengths.argmin()])

    def numbers(self) -> Codes:
        """All pairs; those of a vertex that was removed have no edges, and are not told."""
        return np.arange(self.adjacency.vertices)

    def vertices_of(self, numbers: Codes) -> Codes:
        """The vertices of the pairs."""
        return numbers // self.automaton.states

    @property
    def product_bytes(self) -> int:
        """Bytes of the product's edges."""
        return self.adjacency.nbytes + self._begins.nbytes

    def shared_by(self, pattern: str) -> list[SharedPart]:
        """What the queries with a pattern share."""
        parts = [SharedPart(f"{part.kind}, product with {pattern}", part.bytes) for part in self.shared]
        return [SharedPart(f"product with {pattern}", self.product_bytes), *parts]

    def _product(self, ends: Codes, labels: Codes) -> Rows:
        """Rows of the edges of the product that edges with these labels make."""
        states = self.automaton.states
        made = [np.empty((0, 2), np.int64)]
        for move in self.automaton.moves:
            fitting = ends if move.label is None else ends[labels == self._codes[move.label]]
            sources, targets = fitting[:, int(move.is_back)], fitting[:, 1 - int(move.is_back)]
            made.append(np.column_stack([sources * states + move.source, targets * states + move.target]))
        made = np.concatenate(made)
        table = self.adjacency.new_rows(len(made))
        table[:, :2] = made
        return Rows("", table, self.adjacency.none_given)
