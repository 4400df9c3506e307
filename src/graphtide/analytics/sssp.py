"""Shortest paths from one vertex, by Bellman and Ford's rule."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.lengths import beginning, distances, further, lengths
from graphtide.analytics.parameter import EdgeProperty, Vertex
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col

__all__ = ["sssp"]


@analytic
def sssp(graph: AnalyticGraph, source: Vertex, weight: EdgeProperty) -> Collection:
    """Shortest paths: the least sum of weights from the source to each vertex that can be reached.

    Weights are 0 or more; other ones make the run fail, and so does a distance of ints beyond 64 bits.
    """
    ways = lengths(graph.edges, weight)
    start = graph.nodes.where(col("node") == source).select(vertex="node", value=beginning(ways))

    def step(reached: Collection) -> Collection:
        onwards = reached.join(ways, on={"vertex": "src"}).select(vertex="dst", value=further(ways))
        return onwards.concat(start).group_by("vertex").min("value")

    return distances(start.iterate(step), ways, weight)
