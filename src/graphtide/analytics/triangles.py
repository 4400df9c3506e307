"""Triangles of the simple undirected graph, found from their corner of least degree.

Each edge points from its end of lower rank to the other, where the rank of a vertex is the length of its
degree in bits. A vertex has O(sqrt(m)) neighbours that do not rank below it, so there are O(m * sqrt(m)) pairs of
edges out of one vertex (Chiba and Nishizeki's bound), hubs or not, and a new edge makes O(sqrt(m)) of them.
Ranks, unlike degrees, seldom change: an edge turns around only when an end's degree passes a power of two.
"""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.tally import tally
from graphtide.analytics.undirected import both_ways, simple
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, when

__all__ = ["triangle_counts", "triangles"]


@analytic
def triangles(graph: AnalyticGraph) -> Collection:
    """Triangles: how many each vertex is a corner of; directions, loops and parallel edges do not count."""
    pairs = simple(graph.edges)
    return triangle_counts(graph.nodes, pairs, both_ways(pairs).group_by("src").count("degree"))


def triangle_counts(nodes: Collection, pairs: Collection, degrees: Collection) -> Collection:
    """(vertex, value) for all nodes, pairs (src < dst) of a simple graph, and degrees (src, degree) in it."""
    upwards = _by_rank(pairs, degrees)
    corners = upwards.join(upwards.rename(dst="third"), on="src", where=col("dst") < col("third"))
    closed = corners.join(pairs.select(dst="src", third="dst"), on=["dst", "third"])
    ends = closed.select(vertex="src").concat(closed.select(vertex="dst"), closed.select(vertex="third"))
    return tally(nodes, ends, "value")


def _by_rank(pairs: Collection, degrees: Collection) -> Collection:
    """(src, dst): each pair turned so that src ranks below dst; among equals, the lesser vertex does."""
    ranks = degrees.select("src", rank=col("degree").bit_length())
    ranked = pairs.join(ranks, on="src").join(ranks.select(dst="src", rank_of_dst="rank"), on="dst")
    is_upwards = col("rank") <= col("rank_of_dst")
    return ranked.select(
        src=when(is_upwards, col("src")).otherwise(col("dst")), dst=when(is_upwards, col("dst")).otherwise(col("src"))
    )
