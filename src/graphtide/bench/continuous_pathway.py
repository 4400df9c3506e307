"""Components and shortest paths kept by live graphs and by Pathway, on the graph of the core bench."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_fixpoints import Course, Peer
from graphtide.bench.core_graphs import ChangingGraph, Ints
from graphtide.frontier import LiveGraph, Query

__all__ = ["beside_pathway"]

_BAR = 100.0


def beside_pathway(graph: ChangingGraph, peer: Peer, progress: Progress) -> Iterator[Comparison]:
    """Median updates, half of them deletions."""
    tasks: list[tuple[str, Callable[[LiveGraph], Query], Callable[[ChangingGraph], Course]]] = [
        ("components", lambda live: live.wcc(), peer.components),
        ("shortest paths (unit weights)", lambda live: live.sssp(graph.root), peer.shortest_paths),
    ]
    for name, register, theirs in tasks:
        progress(f"{name} by {peer.name}")
        course = theirs(graph)
        progress(name)
        seconds, last = _follow(graph, register)
        yield Comparison(
            f"{name}, {graph.vertices:,} vertices: median update",
            float(np.median(seconds)),
            float(np.median(course.update_seconds)),
            peer.name,
            "s",
            agree=np.array_equal(last, course.last),
            bar=_BAR,
            note=f"{len(seconds)} changes of one edge, half of them deletions",
        )


def _follow(graph: ChangingGraph, register: Callable[[LiveGraph], Query]) -> tuple[list[float], Ints]:
    live = LiveGraph()
    live.apply(insert=graph.edges)
    query = register(live)
    seconds: list[float] = []
    for src, dst, diff in graph.changes.tolist():
        change = {"insert" if diff > 0 else "delete": [(src, dst)]}
        clock = time.perf_counter()
        live.apply(**change)
        seconds.append(time.perf_counter() - clock)
    answer = query.result()
    rows = np.column_stack([answer.column(name).to_numpy() for name in answer.column_names])
    # The peer knows no vertex that has lost its last edge.
    rows = rows[np.isin(rows[:, 0], np.append(graph.edges_at_last, graph.root))]
    return seconds, rows[np.argsort(rows[:, 0])]
