"""Strongly connected components: a fixed point around two fixed points (CIDR13, figure 8)."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col

__all__ = ["scc"]


@analytic(vertices=["value"])
def scc(graph: AnalyticGraph) -> Collection:
    """Strongly connected components: the least vertex that each vertex reaches and is reached by.

    Edges whose ends are not reached by the same least vertex lie between components. They are trimmed, forwards
    and backwards in turn, until only edges inside components are left.
    """
    inside = graph.edges.distinct().iterate(lambda edges: _trimmed_and_reversed(_trimmed_and_reversed(edges)))
    alone = graph.nodes.select(vertex="node", value="node")
    return _reached_by(inside).concat(alone).group_by("vertex").min("value")


def _trimmed_and_reversed(edges: Collection) -> Collection:
    """The edges whose ends are reached by the same least vertex, turned around."""
    labels = _reached_by(edges)
    labelled = edges.join(labels, on={"src": "vertex"}).join(labels.rename(value="value_of_dst"), on={"dst": "vertex"})
    return labelled.where(col("value") == col("value_of_dst")).select(src="dst", dst="src")


def _reached_by(edges: Collection) -> Collection:
    """(vertex, value): the least vertex with an edge into it that reaches the vertex, small ones first.

    A vertex without an edge into it is on no cycle: it gives no label, and its edges are trimmed at once.
    """
    own = edges.select(vertex="dst", value="dst").distinct()

    def step(labels: Collection, arriving: Collection) -> Collection:
        heard = labels.join(edges, on={"vertex": "src"}).select(vertex="dst", value="value")
        return heard.concat(arriving).group_by("vertex").min("value")

    return own.iterate_prioritized(step, priority=col("value").bit_length())
