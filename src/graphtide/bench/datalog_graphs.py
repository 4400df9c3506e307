"""The graphs of K-Pg's appendix D, scaled to memory: a tree, a grid and a random graph."""

from __future__ import annotations

import numpy as np

from graphtide.bench.core_graphs import Ints

__all__ = ["grid", "random_pairs", "tree"]

_FEWEST_CHILDREN = 2
_MOST_CHILDREN = 6
# With as many vertices without children, a tree of height 11 has some 70,000 edges, as the one that K-Pg took.
_LEAVES = 0.35


def tree(height: int, seed: int = 1) -> Ints:
    """Edges from parent to child: a vertex has two to six children or none; levels never die out."""
    rng = np.random.default_rng(seed)
    edges: list[Ints] = []
    level, following = np.zeros(1, np.int64), 1
    for _ in range(height):
        children = rng.integers(_FEWEST_CHILDREN, _MOST_CHILDREN + 1, len(level))
        children[1:][rng.random(len(level) - 1) < _LEAVES] = 0
        parents = np.repeat(level, children)
        level = np.arange(following, following + len(parents))
        following += len(parents)
        edges.append(np.column_stack([parents, level]))
    return np.concatenate(edges)


def grid(side: int) -> Ints:
    """Edges to the right and down in a square of `side` + 1 by `side` + 1 vertices."""
    numbers = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    right = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
    down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
    return np.concatenate([right, down])


def random_pairs(vertices: int, degree: int, seed: int = 1) -> Ints:
    """Edges between vertices that are drawn at random, without loops and doubles: about `degree` from each."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, vertices, (vertices * degree, 2)), axis=0)
    return pairs[pairs[:, 0] != pairs[:, 1]]
