"""Graphs without directions: what algorithms on them make of directed edges."""

from __future__ import annotations

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, greatest, least

__all__ = ["both_ways", "simple"]


def both_ways(edges: Collection) -> Collection:
    """(src, dst): each edge in both directions; a loop counts twice."""
    return edges.select("src", "dst").concat(edges.select(src="dst", dst="src"))


def simple(edges: Collection) -> Collection:
    """(src, dst) with src < dst: each pair of vertices that an edge connects, once, whichever way it goes."""
    pairs = edges.where(col("src") != col("dst"))
    return pairs.select(src=least("src", "dst"), dst=greatest("src", "dst")).distinct()
