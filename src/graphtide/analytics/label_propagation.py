"""Communities by label propagation, in a fixed number of rounds."""

from __future__ import annotations

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.analytics.undirected import both_ways
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col
from graphtide.errors import UsageError

__all__ = ["label_propagation"]


@analytic(vertices=["value"])
def label_propagation(graph: AnalyticGraph, rounds: int = 10) -> Collection:
    """Communities: in each round, every vertex takes the label that most of its neighbours have.

    Labels are vertices, at first each its own; of equally frequent ones the least is taken. An edge makes
    neighbours in both directions, and each of several edges counts. A vertex without an edge keeps its label. This is
    CDLP of LDBC Graphalytics.
    """
    if rounds < 0:
        raise UsageError(f"there are no {rounds} rounds", hint="use 0 or more")
    links = both_ways(graph.edges)
    own = graph.nodes.select(vertex="node", value="node")
    alone = own.antijoin(links, on={"vertex": "src"})
    labels = own
    # Rounds of their own, not of a loop: a loop keeps what changes between rounds, which here is
    # nearly everything, and has no end of its own, as labels may swap forever.
    for _ in range(rounds):
        heard = labels.join(links, on={"vertex": "src"}).select(vertex="dst", value="value")
        votes = heard.group_by("vertex", "value").count("votes")
        winners = votes.with_columns(votes=-col("votes")).group_by("vertex").min("votes", "value")
        labels = winners.select("vertex", "value").concat(alone)
    return labels
