"""Many shortest-path queries on one graph: what each costs when most updates touch none of them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import power_law_graph
from graphtide.frontier import LiveGraph, Query, Scratch

__all__ = ["many_queries"]

_BAR = 5.0
_CHECKED = 5


def many_queries(edges: int, queries: int, changes: int, progress: Progress) -> Iterator[Comparison]:
    """The cost of an update per query, with one query and with many."""
    graph = power_law_graph(2 * edges)
    rng = np.random.default_rng(1)
    rows = np.column_stack([graph, rng.integers(1, 11, len(graph))])
    loaded = int(0.9 * len(rows))
    coming = [tuple(row) for row in rows[loaded : loaded + changes].tolist()]
    gone = [tuple(row) for row in rows[:changes].tolist()]
    sources = rng.choice(np.unique(graph[:loaded, 0]), queries, replace=False).tolist()
    costs: list[float] = []
    registered: list[Query] = []
    live = LiveGraph(weight=int)
    for count in (1, queries):
        progress(f"{count:,} queries")
        live = LiveGraph(weight=int)
        live.apply(insert=rows[:loaded])
        registered = [live.sssp(source, weight="weight") for source in sources[:count]]
        seconds: list[float] = []
        for k in range(changes):
            change = {"delete": [gone[k]]} if k % 2 else {"insert": [coming[k]]}
            clock = time.perf_counter()
            live.apply(**change)
            seconds.append(time.perf_counter() - clock)
        costs.append(float(np.mean(seconds)) / count)
    agree = all(
        query.result().equals(live.sssp(source, weight="weight", maintain=Scratch()).result())
        for query, source in list(zip(registered, sources, strict=True))[:_CHECKED]
    )
    differences = sum(query.differences for query in registered)
    yield Comparison(
        f"{queries:,} shortest-path queries on {loaded:,} edges: mean update, per query",
        costs[1],
        costs[0],
        "one query alone",
        "s",
        agree=agree,
        bar=_BAR,
        note=f"half of the updates are deletions; {differences:,} differences, "
        f"{sum(query.nbytes for query in registered) / differences:.1f} bytes each",
    )
