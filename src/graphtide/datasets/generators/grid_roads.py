"""A town of streets: a grid with some roads missing and some diagonals, long shortest paths, small degrees."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.datasets.generators.arguments import check_share, check_whole, seeded

__all__ = ["grid_roads"]

# Metres between crossings, and how far one lies off its place in each direction at most.
_BLOCK: Final = 100.0
_JITTER: Final = 25.0


def grid_roads(
    rows: int, columns: int, seed: int = 0, *, missing: float = 0.1, diagonals: float = 0.05
) -> tuple[pa.Table, pa.Table]:
    """Crossings (id, x, y) and roads (src, dst, length), both ways, lengths in whole metres.

    Crossing r * `columns` + c lies about 100 c metres east and 100 r metres north. A road between neighbours is missing
    with probability `missing`, and a block has a diagonal road with probability `diagonals`. All crossings stay
    connected: each keeps its road to the west or to the south.

    >>> crossings, roads = grid_roads(rows=20, columns=30)
    >>> crossings.num_rows, roads.column_names
    (600, ['src', 'dst', 'length'])
    """
    check_whole("rows", rows, 1)
    check_whole("columns", columns, 1)
    check_share("missing", missing)
    check_share("diagonals", diagonals)
    rng = seeded(seed)
    ids = np.arange(rows * columns).reshape(rows, columns)
    x, y = rng.uniform(-_JITTER, _JITTER, (2, rows, columns))
    x += _BLOCK * np.arange(columns)
    y += _BLOCK * np.arange(rows)[:, None]
    # A road to the west or the south from every crossing but the first makes a spanning tree; on the rims
    # there is but one of them to keep.
    keeps_west = rng.random((rows, columns)) < 0.5
    keeps_west[0] = True
    keeps_west[:, 0] = False
    is_west = keeps_west[:, 1:] | (rng.random((rows, columns - 1)) >= missing)
    is_south = ~keeps_west[1:] | (rng.random((rows - 1, columns)) >= missing)
    is_diagonal = rng.random((rows - 1, columns - 1)) < diagonals
    is_rising = rng.random((rows - 1, columns - 1)) < 0.5
    roads = (
        (ids[:, 1:], ids[:, :-1], is_west),
        (ids[1:], ids[:-1], is_south),
        (ids[1:, 1:], ids[:-1, :-1], is_diagonal & is_rising),
        (ids[1:, :-1], ids[:-1, 1:], is_diagonal & ~is_rising),
    )
    one = np.concatenate([ends[there] for ends, _, there in roads])
    other = np.concatenate([ends[there] for _, ends, there in roads])
    nodes = pa.table({"id": ids.ravel(), "x": x.ravel(), "y": y.ravel()})
    return nodes, _both_ways(one, other, x.ravel(), y.ravel())


def _both_ways(
    one: NDArray[np.int64], other: NDArray[np.int64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> pa.Table:
    """Roads (src, dst, length) in both directions, sorted."""
    # Rounded up, no way is shorter than the straight line: good for searches that look ahead by x and y.
    length = np.ceil(np.hypot(x[one] - x[other], y[one] - y[other])).astype(np.int64)
    src, dst = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(src * len(x) + dst)
    return pa.table({"src": src[order], "dst": dst[order], "length": np.tile(length, 2)[order]})
