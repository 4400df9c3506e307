"""Clustering coefficients."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.tally import tally
from graphtide.analytics.triangles import triangle_counts
from graphtide.analytics.undirected import both_ways, simple
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import coalesce, col, lit

__all__ = ["clustering"]


@analytic
def clustering(graph: AnalyticGraph) -> Collection:
    """Clustering coefficients: which share of the pairs of a vertex's neighbours are neighbours themselves.

    Directions, loops and parallel edges do not count. It is 0 where there are fewer than two neighbours.
    """
    pairs = simple(graph.edges)
    degrees = tally(graph.nodes, both_ways(pairs).select(vertex="src"), "degree")
    counts = triangle_counts(graph.nodes, pairs, degrees.rename(vertex="src"))
    share = 2 * col("value") / (col("degree") * (col("degree") - 1))
    # A division by zero gives None.
    return counts.join(degrees, on="vertex").select("vertex", value=coalesce(share, lit(0.0)))
