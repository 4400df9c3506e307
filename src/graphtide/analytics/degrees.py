"""Degrees."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.tally import tally
from graphtide.dataflow.collection import Collection

__all__ = ["degrees"]


@analytic
def degrees(graph: AnalyticGraph) -> Collection:
    """Degrees: how many edges go out of each vertex, and how many into it."""
    out_degrees = tally(graph.nodes, graph.edges.select(vertex="src"), "out_degree")
    in_degrees = tally(graph.nodes, graph.edges.select(vertex="dst"), "in_degree")
    return out_degrees.join(in_degrees, on="vertex")
