"""Weakly connected components, by labels that spread."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.undirected import both_ways
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col

__all__ = ["wcc"]


@analytic(vertices=["value"])
def wcc(graph: AnalyticGraph) -> Collection:
    """Weakly connected components: the least vertex that each vertex is connected to.

    Labels set out by their length in bits. A vertex that has heard of a small one never passes on its own,
    so few labels travel far (CIDR13, section 3.3).
    """
    links = both_ways(graph.edges)
    own = graph.nodes.select(vertex="node", value="node")

    def step(labels: Collection, arriving: Collection) -> Collection:
        heard = labels.join(links, on={"vertex": "src"}).select(vertex="dst", value="value")
        return heard.concat(arriving).group_by("vertex").min("value")

    return own.iterate_prioritized(step, priority=col("value").bit_length())
