"""The product of a live graph and an automaton: a walk in it is a walk whose labels the automaton reads.

Vertex v in state q is number v * states + q. For every edge and every move that its label allows there is an edge
of the product, so a path query is a program that counts edges, and all queries with one pattern share the product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.family import EdgeChanges, Family
from graphtide.frontier.pattern import Automaton
from graphtide.frontier.steps import NO_NUMBER
from graphtide.rows.codes import Codes

__all__ = ["PathGraph"]


class PathGraph:
    """Edges between pairs of a vertex and a state."""

    def __init__(self, automaton: Automaton, codes: dict[str, int]) -> None:
        self.automaton = automaton
        self.adjacency = Adjacency(0)
        self.family = Family(np.dtype(np.int64))
        self._codes = codes  # by label of the pattern: its code in the graph's column
        self._begins = np.empty(0, np.int64)

    @property
    def begins(self) -> Codes:
        """By number: the state of a walk that may begin at any vertex, after no edge."""
        states = self.automaton.states
        if len(self._begins) < self.adjacency.vertices:
            self._begins = np.full(2 * self.adjacency.vertices + states, NO_NUMBER)
            self._begins[::states] = 0
        return self._begins

    def add_vertices(self, vertices: int) -> None:
        """Let the graph have so many vertices."""
        self.adjacency.add_vertices(vertices * self.automaton.states)

    def insert(self, ends: Codes, labels: Codes) -> Codes:
        """Edges of the graph that come; rows of the product's with their slots."""
        return self.adjacency.locate(self.adjacency.insert(self._product(ends, labels)))

    def apply(self, lost: Codes, lost_labels: Codes, gained: Codes, gained_labels: Codes) -> None:
        """Follow a batch and bring all queries up to date."""
        gone = self._product(lost, lost_labels)
        claimed, row, _ = self.adjacency.claim(gone, np.empty(0, np.bool_))
        assert row == len(gone), "an edge of the graph has its edges in the product"
        self.adjacency.take_out(claimed)
        entered = self.adjacency.insert(self._product(gained, gained_labels))
        changes = EdgeChanges(gone, np.zeros(len(gone), np.int64), self.adjacency.locate(entered), -1)
        self.family.apply(self.adjacency.table, self.begins, self.adjacency.vertices, changes)

    def shortest(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """By vertex: the least state of those in which a path may end."""
        accepting = sorted(self.automaton.accepting)
        by_vertex = states.reshape(-1, self.automaton.states)[:, accepting]
        return by_vertex.min(axis=1, initial=NO_NUMBER)

    @property
    def nbytes(self) -> int:
        """Bytes of the product's edges, and of the scratch memory of its queries."""
        return self.adjacency.nbytes + self.family.nbytes + self._begins.nbytes

    def _product(self, ends: Codes, labels: Codes) -> Codes:
        """The edges of the product that edges with these labels make."""
        states = self.automaton.states
        made = [np.empty((0, 2), np.int64)]
        for move in self.automaton.moves:
            fitting = ends if move.label is None else ends[labels == self._codes[move.label]]
            sources, targets = fitting[:, int(move.is_back)], fitting[:, 1 - int(move.is_back)]
            made.append(np.column_stack([sources * states + move.source, targets * states + move.target]))
        return np.concatenate(made)
