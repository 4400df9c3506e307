"""The steps of materialisation as one writes them by hand on Polars, for up to 63 views, which fit one word.

Of several ways the fastest was kept: words by `when`, written from the streaming engine; equal masks grouped before
NumPy multiplies; all positions of the stream written by one call of the streaming engine. With lz4, Polars writes
faster than with zstd and no slower than without compression.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import polars as pl

from graphtide.bench.core_graphs import Ints
from graphtide.bench.materialize_views import AMOUNT, AT, KIND, EdgeView
from graphtide.graph.schema import EDGE
from graphtide.views.stream import DIFF, position_name

__all__ = ["polars_distances", "polars_matrix", "polars_stream", "read_polars_position"]

_MASK = "m0"
_FILE = "part.parquet"


def polars_matrix(edges: Path, views: Sequence[EdgeView], file: Path) -> None:
    """Write the edges that are in some view, with their masks."""
    bits = [
        pl.when(_expression(view)).then(pl.lit(1 << number, pl.Int64)).otherwise(pl.lit(0, pl.Int64))
        for number, view in enumerate(views)
    ]
    masks = pl.scan_parquet(edges / "*.parquet").select(EDGE, reduce(operator.or_, bits).alias(_MASK))
    masks.filter(pl.col(_MASK) != 0).sink_parquet(file, compression="lz4")


def polars_distances(matrix: Path, views: int) -> Ints:
    """The distances of views behind a column of zeros."""
    masks = pl.scan_parquet(matrix).group_by(_MASK).len().collect(engine="streaming")
    bits = (masks[_MASK].to_numpy()[:, None] >> np.arange(views) & 1).astype(float)
    padded = np.column_stack([np.zeros(len(bits)), bits])
    overlaps = (padded.T @ (padded * masks["len"].to_numpy()[:, None])).astype(np.int64)
    sizes = overlaps.diagonal()
    return sizes[:, None] + sizes - 2 * overlaps


def polars_stream(matrix: Path, order: Sequence[int], folder: Path) -> None:
    """Write the differences at each position of an order."""
    masks = pl.read_parquet(matrix).lazy()
    has = [(pl.col(_MASK) & (1 << view)) != 0 for view in order]
    sinks: list[pl.LazyFrame] = []
    for position, (before, here) in enumerate(zip([pl.lit(value=False), *has], has, strict=False)):
        (folder / position_name(position)).mkdir(parents=True)
        differences = masks.filter(before != here).select(EDGE, (2 * here.cast(pl.Int8) - 1).alias(DIFF))
        file = folder / position_name(position) / _FILE
        sinks.append(differences.sink_parquet(file, compression="lz4", lazy=True))
    pl.collect_all(sinks)


def read_polars_position(folder: Path, position: int) -> tuple[Ints, Ints]:
    """The edges that differ at a position and their diffs, by edge."""
    differences = pl.read_parquet(folder / position_name(position) / _FILE).sort(EDGE)
    return differences[EDGE].to_numpy(), differences[DIFF].to_numpy()


def _expression(view: EdgeView) -> pl.Expr:
    at = pl.col(AT.name)
    holds = (at >= view.start) & (at < view.end) & (pl.col(AMOUNT.name) >= view.least)
    return holds if view.kind is None else holds & (pl.col(KIND.name) == view.kind)
