"""Breadth-first search."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.parameter import Vertex
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, lit

__all__ = ["bfs"]


@analytic
def bfs(graph: AnalyticGraph, source: Vertex) -> Collection:
    """Breadth-first search: the fewest edges from the source to each vertex that can be reached."""
    start = graph.nodes.where(col("node") == source).select(vertex="node", value=lit(0))

    def step(reached: Collection) -> Collection:
        further = reached.join(graph.edges, on={"vertex": "src"}).select(vertex="dst", value=col("value") + 1)
        return further.concat(start).group_by("vertex").min("value")

    return start.iterate(step)
