"""Components of every view by NetworkX, to compare a run over a view collection with."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import networkx as nx

from graphtide.graph.schema import DST, ID, SRC
from graphtide.graph.stored import StoredGraph
from graphtide.views.run import Run

__all__ = ["RecomputedViews", "recompute_views"]

PREFIX: Final = "until_"


@dataclass(frozen=True, slots=True)
class RecomputedViews:
    """What NetworkX took for all views, its graphs made anew for each, and whether it found the same."""

    seconds: float
    is_equal: bool


def recompute_views(graph: StoredGraph, run: Run) -> RecomputedViews:
    """Recompute a run of `wcc` or `scc` on views `until_<date>` of a graph whose edges have a time."""
    columns = graph.edge_columns("time", SRC, DST).to_pydict()
    ids = graph.node_columns(ID).column(0).to_pylist()
    rows = sorted(zip(columns["time"], columns[SRC], columns[DST], strict=True))
    times = [at for at, _, _ in rows]
    edges = [(ids[s], ids[d]) for _, s, d in rows]
    compute = _COMPUTATIONS[run.analytic]
    seconds = 0.0
    is_equal = True
    for name in run.names:
        until = datetime.strptime(name.removeprefix(PREFIX), "%Y_%m_%d").replace(tzinfo=UTC)
        chosen = edges[: bisect_left(times, until)]
        clock = time.perf_counter()
        wanted = compute(chosen)
        seconds += time.perf_counter() - clock
        found = run.table(name).to_pydict()
        is_equal &= dict(zip(found["vertex"], found["value"], strict=True)) == wanted
    return RecomputedViews(seconds, is_equal)


def _components(edges: list[tuple[Any, Any]]) -> dict[Any, Any]:
    return {v: min(part) for part in nx.connected_components(nx.Graph(edges)) for v in part}


def _strong_components(edges: list[tuple[Any, Any]]) -> dict[Any, Any]:
    return {v: min(part) for part in nx.strongly_connected_components(nx.DiGraph(edges)) for v in part}


_COMPUTATIONS: Final[dict[str, Callable[[list[tuple[Any, Any]]], dict[Any, Any]]]] = {
    "wcc": _components,
    "scc": _strong_components,
}
