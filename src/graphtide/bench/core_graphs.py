"""Seeded graphs, graphs that change, and the answers on them by NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ChangingGraph", "Ints", "least_labels", "levels", "power_law_graph", "random_graph"]

Ints: TypeAlias = NDArray[np.int64]

# R-MAT: how often an edge goes to each quarter of the matrix, again and again (Graph500's figures).
_TOP_LEFT, _TOP_RIGHT, _BOTTOM_LEFT = 0.57, 0.19, 0.19
# Edges to a vertex, as in LiveJournal.
_DEGREE = 14


@dataclass(frozen=True, slots=True)
class ChangingGraph:
    """Distinct edges, and changes of one edge each: rows of (src, dst, diff)."""

    vertices: int
    edges: Ints
    changes: Ints

    @property
    def root(self) -> int:
        """A vertex that keeps an edge to go out by."""
        return int(self.edges[-1, 0])

    @property
    def edges_at_last(self) -> Ints:
        """The edges after all changes."""
        src, dst, diff = self.changes.T
        codes = self.edges @ [self.vertices, 1]
        left = np.setdiff1d(codes, (src * self.vertices + dst)[diff < 0])
        kept = np.concatenate([left, (src * self.vertices + dst)[diff > 0]])
        return np.stack(np.divmod(kept, self.vertices), 1)


def random_graph(vertices: int, edges: int, changes: int, seed: int = 1) -> ChangingGraph:
    """Uniform random edges without loops; changes insert a new edge and delete an old one by turns."""
    rng = np.random.default_rng(seed)
    inserted = (changes + 1) // 2
    wanted = edges + inserted
    codes = np.unique(rng.integers(0, vertices**2, wanted + wanted // 5 + vertices))
    codes = codes[codes // vertices != codes % vertices]
    pairs = np.stack(np.divmod(rng.permutation(codes)[:wanted], vertices), 1)
    assert len(pairs) == wanted, "there are enough pairs of vertices"
    steps = np.empty((changes, 3), np.int64)
    steps[0::2] = np.column_stack([pairs[edges:], np.ones(inserted, np.int64)])
    deleted = changes - inserted
    steps[1::2] = np.column_stack([pairs[:deleted], np.full(deleted, -1)])
    return ChangingGraph(vertices, pairs[:edges], steps)


def power_law_graph(edges: int, seed: int = 1) -> Ints:
    """About as many distinct edges by R-MAT, in random order, between vertices of random ids."""
    rng = np.random.default_rng(seed)
    scale = max(4, int(np.ceil(np.log2(edges / _DEGREE))))
    src, dst = np.zeros(edges, np.int64), np.zeros(edges, np.int64)
    for _ in range(scale):
        drawn = rng.random(edges)
        is_below = drawn >= _TOP_LEFT + _TOP_RIGHT
        is_right = ((drawn >= _TOP_LEFT) & ~is_below) | (drawn >= _TOP_LEFT + _TOP_RIGHT + _BOTTOM_LEFT)
        src, dst = 2 * src + is_below, 2 * dst + is_right
    names = rng.permutation(1 << scale)
    codes = rng.permutation(np.unique(names[src] << scale | names[dst]))
    return np.stack([codes >> scale, codes & ((1 << scale) - 1)], 1)


def levels(edges: Ints, root: int) -> Ints:
    """Rows of (vertex, least number of edges from the root), for the vertices that can be reached."""
    size = max(int(edges.max()), root) + 1
    targets = edges[np.argsort(edges[:, 0], kind="stable"), 1]
    ends = np.cumsum(np.bincount(edges[:, 0], minlength=size))
    level = np.full(size, -1)
    level[root] = 0
    active = np.array([root])
    while len(active):
        counts = ends[active] - np.where(active > 0, ends[active - 1], 0)
        # The places of all edges of the active set: each one's last place less 0, 1, 2, ...
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        heard = np.unique(targets[np.repeat(ends[active] - 1, counts) - steps])
        depth = level[active[0]] + 1
        active = heard[level[heard] < 0]
        level[active] = depth
    reached = np.flatnonzero(level >= 0)
    return np.column_stack([reached, level[reached]])


def least_labels(edges: Ints) -> Ints:
    """Rows of (vertex, least vertex that it is connected to), edges taken both ways."""
    label = np.arange(int(edges.max()) + 1)
    while True:
        ends = label[edges]
        least = ends.min(axis=1)
        hooked = label.copy()
        np.minimum.at(hooked, ends[:, 0], least)
        np.minimum.at(hooked, ends[:, 1], least)
        hooked = hooked[hooked]
        if np.array_equal(hooked, label):
            break
        label = hooked
    vertices = np.unique(edges)
    return np.column_stack([vertices, label[vertices]])
