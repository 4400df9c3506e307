"""PageRank, with all that concerns the whole graph kept out of the rounds.

LDBC Graphalytics defines the rank of a vertex v among n, for a damping factor d, as 1/n at first, and in each round as

    rank(v) = (1 - d) / n  +  d * (sum over edges u -> v of rank(u) / outdegree(u)  +  lost / n)

where `lost` is the rank of all vertices without an edge out of them. Nearly every change of the graph changes n or
`lost`, and through them all ranks of all rounds. But ranks are linear in them. Let a walker set out from each
vertex, along a random edge in each step, and let w_j(v) be the number expected at v after j steps, where
a walker who finds no edge is gone. Then the rank after r rounds is

    rank_r(v) = (c_r * w_0(v)  +  c_(r-1) * d * w_1(v)  +  ...  +  c_0 * d^r * w_r(v)) / n

where c_0 = 1, and c_k = 1 - d + d * lost_(k-1) is the same for all vertices; lost_k follows from the walkers who are
gone. So only what lies downstream of a change is walked again, and n and `lost` come in once, in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import coalesce, col, lit
from graphtide.errors import UsageError

__all__ = ["pagerank"]


@analytic
def pagerank(graph: AnalyticGraph, iterations: int = 10, damping: float = 0.85) -> Collection:
    """PageRank: how likely a random walker is at each vertex after some rounds; parallel edges count.

    This is PR of LDBC Graphalytics: a walker who finds no edge goes on anywhere, so that ranks add up to 1.
    """
    if iterations < 0 or not 0 <= damping <= 1:
        raise UsageError(
            f"there is no PageRank of {iterations} iterations with a damping of {damping}",
            hint="use 0 iterations or more, and a damping from 0 to 1",
        )
    walks = list(_walks(graph, iterations))
    walkers = walks[0].concat(*walks[1:])
    count = graph.nodes.group_by().count("count")
    dead_ends = graph.nodes.antijoin(graph.edges, on={"node": "src"}).select(vertex="node")
    gone = [walk.join(dead_ends, on="vertex").select("steps", value="walkers") for walk in walks[:-1]]
    # With a row of nothing, as there may be no dead end.
    in_all = count.select(steps=lit(0), value=lit(0.0)).concat(*gone).group_by("steps").sum("value")
    weights = in_all.join(count, on=[]).group_by().reduce(_weights(iterations, damping), steps=int, weight=float)
    terms = walkers.join(weights, on="steps").select("vertex", value=col("walkers") * col("weight"))
    # Where walkers and weights both changed, three of four terms cancel, and need not be taken apart for the sum.
    return terms.consolidate().group_by("vertex").sum("value")


def _walks(graph: AnalyticGraph, iterations: int) -> Iterator[Collection]:
    """(vertex, steps, walkers) after 0, 1, ... steps; a vertex without walkers may be missing.

    Each round is an operator of its own, not a round of a loop: nothing settles, so that a loop saves nothing.
    """
    degrees = graph.edges.group_by("src").count("degree")
    walkers = graph.nodes.select(vertex="node", walkers=lit(1.0))
    yield walkers.select("vertex", steps=lit(0), walkers="walkers")
    for steps in range(1, iterations + 1):
        # A degree is never 0, which a division would make None of.
        each = coalesce(col("walkers") / col("degree"), lit(0.0))
        going = walkers.join(degrees, on={"vertex": "src"}).select("vertex", walkers=each)
        arriving = going.join(graph.edges, on={"vertex": "src"}).select(vertex="dst", walkers="walkers")
        walkers = arriving.group_by("vertex").sum("walkers")
        yield walkers.select("vertex", steps=lit(steps), walkers="walkers")


Row = tuple[int, float, int]


def _weights(iterations: int, damping: float) -> Callable[[tuple[()], list[tuple[Row, int]]], list[tuple[int, float]]]:
    """A function of (steps, walkers who are gone after them, all walkers), which gives c_(r-j) * d^j / n for each j."""

    def weights(_key: tuple[()], rows: list[tuple[Row, int]]) -> list[tuple[int, float]]:
        gone = {steps: value for (steps, value, _), _ in rows}
        ((_, _, count), _), *_ = rows
        c = [1.0]
        for k in range(iterations):
            lost = sum(c[k - j] * damping**j * gone.get(j, 0.0) for j in range(k + 1)) / count
            c.append(1 - damping + damping * lost)
        return [(j, c[iterations - j] * damping**j / count) for j in range(iterations + 1)]

    return weights
