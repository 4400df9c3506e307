"""Triangles of the simple undirected graph, found from the middle of three ranks.

Each edge points from its end of lower rank to the other, and a triangle is a path of two edges that a third one closes.
Vertices of few neighbours are all of rank 0, where their numbers decide: a vertex that changes its rank
turns its edges around, and with them as many paths as the square of its degree, at every cell of a lattice at which
it does. Beyond that, the rank is half the length of the degree in bits. A vertex then has O(sqrt(m)) neighbours that do
not rank below it, or fewer than `_FEW`, so there are O(m * (sqrt(m) + _FEW)) paths (Chiba and Nishizeki's bound), hubs
or not.
"""

from __future__ import annotations

from typing import Final

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.tally import tally
from graphtide.analytics.undirected import both_ways, simple
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, lit, when

__all__ = ["triangle_counts", "triangles"]

# The degree from which on a vertex has a rank of its own. It is the square root of 260,000 edges.
_FEW_BITS: Final = 9
_FEW: Final = 1 << _FEW_BITS


@analytic
def triangles(graph: AnalyticGraph) -> Collection:
    """Triangles: how many each vertex is a corner of; directions, loops and parallel edges do not count."""
    pairs = simple(graph.edges)
    return triangle_counts(graph.nodes, pairs, both_ways(pairs).group_by("src").count("degree"))


def triangle_counts(nodes: Collection, pairs: Collection, degrees: Collection) -> Collection:
    """(vertex, value) for all nodes, pairs (src < dst) of a simple graph, and degrees (src, degree) in it."""
    upwards = _by_rank(pairs, degrees)
    paths = upwards.join(upwards.select(dst="src", third="dst"), on="dst")
    closed = paths.join(upwards.rename(dst="third"), on=["src", "third"])
    ends = closed.select(vertex="src").concat(closed.select(vertex="dst"), closed.select(vertex="third"))
    return tally(nodes, ends, "value")


def _by_rank(pairs: Collection, degrees: Collection) -> Collection:
    """(src, dst): each pair turned so that src ranks below dst; among equals, the lesser vertex does."""
    length = col("degree").bit_length()
    ranks = degrees.select("src", rank=when(col("degree") >= _FEW, (length - _FEW_BITS + 1) // 2).otherwise(lit(0)))
    ranked = pairs.join(ranks, on="src").join(ranks.select(dst="src", rank_of_dst="rank"), on="dst")
    is_upwards = col("rank") <= col("rank_of_dst")
    return ranked.select(
        src=when(is_upwards, col("src")).otherwise(col("dst")), dst=when(is_upwards, col("dst")).otherwise(col("src"))
    )
