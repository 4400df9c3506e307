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
from typing import TypeAlias

from graphtide.analytics.analytic import AnalyticGraph
from graphtide.analytics.catalogue import analytic
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import coalesce, col, lit
from graphtide.errors import UsageError

__all__ = ["pagerank"]

_Gone: TypeAlias = tuple[int, float, int]


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
    count = graph.nodes.group_by().count("count")
    weights = _gone(graph, walks[:-1], count).group_by().reduce(_weights(iterations, damping), steps=int, weight=float)
    first, *others = (walk.with_columns(steps=lit(steps)) for steps, walk in enumerate(walks))
    weighed = first.concat(*others).join(weights, on="steps")
    terms = weighed.select("vertex", value=col("walkers") * col("weight"))
    # Where walkers and weights both changed, six of eight products cancel. The sum need not take them apart.
    return terms.consolidate().group_by("vertex").sum("value")


def _walks(graph: AnalyticGraph, iterations: int) -> Iterator[Collection]:
    """(vertex, walkers) after 0, 1, ... steps; a vertex that no one reaches is missing.

    Each round has operators of its own. A loop pays when its rounds become alike, and these do not.
    """
    degrees = graph.edges.group_by("src").count("degree")
    walkers = graph.nodes.select(vertex="node", walkers=lit(1.0))
    yield walkers
    # A degree is never 0, which a division would make None of.
    share = coalesce(col("walkers") / col("degree"), lit(0.0))
    for _ in range(iterations):
        going = walkers.join(degrees, on={"vertex": "src"}).select("vertex", walkers=share)
        arriving = going.join(graph.edges, on={"vertex": "src"}).select(vertex="dst", walkers="walkers")
        walkers = arriving.group_by("vertex").sum("walkers")
        yield walkers


def _gone(graph: AnalyticGraph, walks: list[Collection], count: Collection) -> Collection:
    """(steps, walkers, count): how many walkers of all stand where no edge goes on."""
    dead_ends = graph.nodes.antijoin(graph.edges, on={"node": "src"}).select(vertex="node")
    standing = [
        walk.join(dead_ends, on="vertex").select(steps=lit(steps), walkers="walkers")
        for steps, walk in enumerate(walks)
    ]
    # A row of nothing, since there may be no dead end.
    nothing = count.select(steps=lit(0), walkers=lit(0.0))
    return nothing.concat(*standing).group_by("steps").sum("walkers").join(count, on=[])


def _weights(
    iterations: int, damping: float
) -> Callable[[tuple[()], list[tuple[_Gone, int]]], list[tuple[int, float]]]:
    """A function of what `_gone` gives: c_(r-j) * d^j / n for each number j of steps."""

    def weights(_key: tuple[()], rows: list[tuple[_Gone, int]]) -> list[tuple[int, float]]:
        gone = {steps: walkers for (steps, walkers, _), _ in rows}
        ((_, _, count), _), *_ = rows
        c = [1.0]
        for k in range(iterations):
            lost = sum(c[k - j] * damping**j * gone.get(j, 0.0) for j in range(k + 1)) / count
            c.append(1 - damping + damping * lost)
        return [(j, c[iterations - j] * damping**j / count) for j in range(iterations + 1)]

    return weights
