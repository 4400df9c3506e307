"""NetworKit as the peer, on one thread: static algorithms for the first answer, dynamic Dijkstra for updates."""

from __future__ import annotations

import importlib
import time
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.bench.continuous_updates import FirstAnswers, Workload

__all__ = ["dynamic_dijkstra", "first_answers"]

# Through importlib, because the package is not there where the code is checked.
nk: Any = importlib.import_module("networkit")
_UNREACHED = 1e300
_RUNS = 3


def first_answers(load: Workload) -> FirstAnswers:
    """Seconds of Dijkstra, of breadth-first search and of components."""
    graph = _graph(load)
    dijkstra, distances = _timed(lambda: nk.distance.Dijkstra(graph, load.source, storePaths=False))
    breadth_first, _ = _timed(lambda: nk.distance.BFS(graph, load.source, storePaths=False))
    components, _ = _timed(lambda: nk.components.WeaklyConnectedComponents(graph))
    seconds = {"shortest paths": dijkstra, "breadth first": breadth_first, "components": components}
    return FirstAnswers("networkit, static", seconds, _distances(distances))


def dynamic_dijkstra(load: Workload, count: int) -> tuple[float, NDArray[np.float64]]:
    """Median seconds of an insertion, and the distances at the end; as many changes come first as ours has."""
    changes = load.changes(count + 20, 0.0)
    graph = _graph(load)
    algorithm = nk.distance.DynDijkstra(graph, load.source)
    algorithm.run()
    kind = nk.dynamics.GraphEventType.EDGE_ADDITION
    seconds: list[float] = []
    for change in changes:
        u, v, weight = change["insert"][0]
        clock = time.perf_counter()
        graph.addEdge(u, v, weight)
        algorithm.update(nk.dynamics.GraphEvent(kind, u, v, weight))
        seconds.append(time.perf_counter() - clock)
    return median(seconds[20:]), _distances(algorithm)


def _graph(load: Workload) -> Any:
    nk.setNumberOfThreads(1)
    src, dst, weight = (np.ascontiguousarray(column) for column in load.edges[: load.loaded].T)
    return nk.GraphFromCoo((weight.astype(np.float64), (src, dst)), n=load.vertices, weighted=True, directed=True)


def _timed(make: Any) -> tuple[float, Any]:
    seconds: list[float] = []
    algorithm: Any = None
    for _ in range(_RUNS):
        algorithm = make()
        clock = time.perf_counter()
        algorithm.run()
        seconds.append(time.perf_counter() - clock)
    return median(seconds), algorithm


def _distances(algorithm: Any) -> NDArray[np.float64]:
    distances = np.array(algorithm.getDistances())
    distances[distances > _UNREACHED] = np.inf
    return distances
