"""Compiling the kernels of live graphs ahead of time: small graphs that use every one of them."""

from __future__ import annotations

from typing import Any

from graphtide.ego.aggregates import TopK
from graphtide.ego.policies import AllPull, AllPush
from graphtide.ego.windows import Last, Window, Within
from graphtide.frontier.budget import Budget
from graphtide.frontier.expansion import ife
from graphtide.frontier.live import LiveGraph
from graphtide.frontier.maintenance import Scratch
from graphtide.frontier.query import KeptQuery
from graphtide.frontier.thin_steps import ThinSteps

__all__ = ["warm_aggregates", "warm_queries"]


def warm_queries() -> None:
    """Compile what continuous queries need and is not compiled yet, into the cache on disk."""
    for number in (int, float):
        live = LiveGraph(weight=number, label=str)
        live.apply(insert=[(n, (7 * n + 1) % 50, number(1), "a") for n in range(100)])
        # Longer ways that are shorter: steps that a budget can drop.
        live.apply(insert=[(n, (3 * n + 2) % 50, number(20), "a") for n in range(50)])
        distances = live.sssp(1, weight="weight")
        few = live.sssp(1, weight="weight", maintain=Budget("1MB"))
        assert isinstance(few, KeptQuery)
        assert isinstance(few.steps, ThinSteps)
        few.steps.stock()
        few.steps.thin(float("inf"))
        queries = [distances, few, live.wcc(), live.k_hop(1, 3), live.regular_path("a*", [1]), live.pagerank(2)]
        queries.append(live.ife(ife(_longer, initial={1: number(0)}, weight="weight")))
        queries.append(live.ife(ife(_longer, aggregate="sum", initial=number(1), rounds=2, weight="weight")))
        live.apply(insert=[(3, 4, number(1), "a")], update=[(2, 15, number(5), "a")], delete=[(0, 1)])
        distances.path(4)
        queries += [live.shortest_path(1, 4, "weight", maintain=Scratch()), live.landmarks(2, "weight")]
        queries += [live.shortest_path(1, n, "weight") for n in (4, 30)]
        live.apply(insert=[(4, 40, number(1), "a")], delete=[(3, 4)])
        for query in queries:
            query.result()
            query.drop()


def warm_aggregates() -> None:
    """The same for ego aggregates."""
    for window in (Last(2), Within(3)):
        for function in ("sum", "max", TopK(2)):
            _warm_ego(function, window)


def _warm_ego(function: str | TopK, window: Window) -> None:
    """Write, read and change the graph, with aggregates that are pushed and others that are pulled."""
    live = LiveGraph(weight=int)
    live.apply(insert=[(n, (7 * n + 1) % 50, n % 3) for n in range(100)])
    for decide in (None, AllPush(), AllPull()):
        ego = live.ego(function, window=window, hops=2, edges="weight > 0", decide=decide)
        times = list(range(50)) if isinstance(window, Within) else None
        ego.write_many(list(range(50)), [float(n) for n in range(50)], times)
        ego.adapt()
        live.apply(insert=[(3, 4, 1)], delete=[(0, 1)])
        live.apply(insert=[(0, 1, 0)], delete=[(3, 4)])
        ego.table()
        ego.drop()


def _longer(state: Any, weight: Any) -> Any:
    return state + weight
