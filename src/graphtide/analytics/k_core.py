"""The k-core, by peeling."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.undirected import both_ways, simple
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col
from graphtide.errors import UsageError

__all__ = ["k_core"]


@analytic
def k_core(graph: AnalyticGraph, k: int) -> Collection:
    """The k-core: the most vertices that have k neighbours or more among themselves, and how many each has.

    Directions, loops and parallel edges do not count.
    """
    if k < 1:
        raise UsageError(f"there is no {k}-core to look for", hint="use a k of 1 or more")
    links = both_ways(simple(graph.edges))

    def peeled(left: Collection) -> Collection:
        return links.join(left, on={"dst": "node"}).select(node="src").threshold(k)

    # Most that has too few neighbours has so at first, which takes no round to find out.
    core = links.select(node="src").threshold(k).iterate(peeled)
    # Whoever has k neighbours in the core is in it.
    neighbours = links.join(core, on={"dst": "node"}).select(vertex="src").group_by("vertex").count("value")
    return neighbours.where(col("value") >= k)
