"""Shortest paths between given pairs of vertices, all in one computation."""

from __future__ import annotations

from collections import defaultdict

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.lengths import beginning, distances, farthest, further, lengths
from graphtide.analytics.parameter import EdgeProperty, VertexPairs
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, lit

__all__ = ["mpsp"]


@analytic(vertices=["target"])
def mpsp(graph: AnalyticGraph, pairs: VertexPairs, weight: EdgeProperty | None = None) -> Collection:
    """Shortest paths between pairs of vertices that have one, by weight or else by the number of edges.

    Weights are 0 or more; other ones make the run fail, and so does a distance of ints beyond 64 bits. The search
    from a vertex ends at the farthest of its targets, once all of them are found.
    """
    ways = graph.edges.with_columns(weight=lit(1)) if weight is None else lengths(graph.edges, weight)
    asked = _present(graph.nodes, pairs)
    start = asked.select("vertex", node="vertex", value=beginning(ways)).distinct()
    unknown = asked.select("vertex", "target", value=farthest(ways))
    # The least weight of an edge. If it is 0, what is as far away as the last target may still lead to it.
    least = 1 if weight is None else 0

    def step(reached: Collection) -> Collection:
        known = asked.join(reached, on={"vertex": "vertex", "target": "node"})
        distances = known.concat(unknown).group_by("vertex", "target").min("value")
        bounds = distances.select("vertex", bound="value").group_by("vertex").max("bound")
        near = reached.join(bounds, on="vertex", where=col("value") + least <= col("bound"))
        onwards = near.join(ways, on={"node": "src"}).with_columns(value=further(ways))
        within = onwards.where(col("value") <= col("bound")).select("vertex", node="dst", value="value")
        return within.concat(start).group_by("vertex", "node").min("value")

    found = asked.join(start.iterate(step), on={"vertex": "vertex", "target": "node"})
    return distances(found, ways, weight)


def _present(nodes: Collection, pairs: VertexPairs) -> Collection:
    """(vertex, target): the pairs of which both are among the nodes, each once."""
    targets: defaultdict[int, set[int]] = defaultdict(set)
    for vertex, target in pairs:
        targets[vertex].add(target)
    sources = nodes.where(col("node").is_in(targets))
    every = sources.flat_map(lambda node: [(node, target) for target in targets[node]], vertex=int, target=int)
    return every.join(nodes, on={"target": "node"})
