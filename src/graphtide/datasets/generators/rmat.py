"""R-MAT: edges dealt out to the quarters of the matrix, again and again (Chakrabarti et al., SDM 2004)."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.datasets.generators.arguments import check_share, check_whole, seeded
from graphtide.errors import UsageError

__all__ = ["rmat"]

# Edges that are drawn at a time: their arrays stay in the cache through all levels.
_AT_A_TIME: Final = 1 << 15


def rmat(
    scale: int, edge_factor: int = 16, seed: int = 0, *, a: float = 0.57, b: float = 0.19, c: float = 0.19
) -> pa.Table:
    """Directed edges (src, dst): `edge_factor` for each of 2 ** `scale` possible vertices.

    An edge falls into the upper left quarter of the matrix with probability `a`, the upper right with `b`, the lower
    left with `c`, and so on inside that quarter; the defaults are Graph500's. Vertices are then renamed at random, so
    that an id tells nothing of the degree. As drawn: loops and parallel edges occur, and a vertex may have no edge.

    >>> rmat(scale=10, edge_factor=8).num_rows
    8192
    """
    check_whole("scale", scale, 1, 31)
    check_whole("edge_factor", edge_factor, 1)
    for name, value in (("a", a), ("b", b), ("c", c)):
        check_share(name, value)
    if a + b + c > 1 + 1e-9:
        raise UsageError(f"the quarters {a}, {b} and {c} are more than the whole", hint="let a + b + c be at most 1")
    rng = seeded(seed)
    vertices = 1 << scale
    src, dst = (np.zeros(edge_factor * vertices, np.int64) for _ in range(2))
    drawn = np.empty(_AT_A_TIME)
    for low in range(0, len(src), _AT_A_TIME):
        rows, columns = src[low : low + _AT_A_TIME], dst[low : low + _AT_A_TIME]
        draws = drawn[: len(rows)]
        for _ in range(scale):
            rng.random(out=draws)
            is_lower = draws >= a + b
            is_right = (draws >= a) ^ is_lower ^ (draws >= a + b + c)
            rows <<= 1
            rows |= is_lower
            columns <<= 1
            columns |= is_right
    names = rng.permutation(vertices)
    return pa.table({"src": names[src], "dst": names[dst]})
