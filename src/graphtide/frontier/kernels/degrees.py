"""How many edges a vertex has: list 2v holds those out of v, list 2v + 1 those into it (see `adjacency`)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import borrowing_leaf

__all__ = ["degree_along", "degree_of"]


@borrowing_leaf
def degree_of(size, v):
    """All edges of a vertex."""
    return np.int64(size[2 * v]) + np.int64(size[2 * v + 1])


@borrowing_leaf
def degree_along(size, v, sides):
    """The edges that messages of a vertex go out along: 1 those out of it, 2 those into it, 3 both."""
    return np.int64(size[2 * v] if sides & 1 else 0) + np.int64(size[2 * v + 1] if sides & 2 else 0)
