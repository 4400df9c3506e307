"""Continuous queries on a live graph: an update against recomputation, NetworKit's dynamic Dijkstra and Pathway."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.bench import continuous_networkit, core_pathway
from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.continuous_many import many_queries
from graphtide.bench.continuous_pathway import beside_pathway
from graphtide.bench.continuous_updates import Workload, first_answers, updates
from graphtide.bench.core_fixpoints import Peer
from graphtide.bench.core_graphs import random_graph

__all__ = ["run"]

_SHARES = (0.0, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class _Size:
    scale: int  # of the R-MAT graph: twice as many vertices with each
    changes: int
    vertices: int  # beside Pathway
    edges: int
    pathway_changes: int
    queries: int


_FULL = _Size(scale=21, changes=200, vertices=100_000, edges=540_000, pathway_changes=300, queries=1_000)
_QUICK = _Size(scale=12, changes=40, vertices=300, edges=1_200, pathway_changes=10, queries=20)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """First answers, single updates with and without deletions, and many queries at once."""
    size = _QUICK if quick else _FULL
    progress("power-law graph")
    load = Workload.of(size.scale)
    yield from first_answers(load, continuous_networkit.first_answers(load), progress)
    for share in _SHARES:
        dynamic = continuous_networkit.dynamic_dijkstra if share == 0.0 else None
        yield from updates(load, size.changes, share, dynamic, progress)
    graph = random_graph(size.vertices, size.edges, size.pathway_changes)
    peer = Peer("pathway", core_pathway.components, core_pathway.shortest_paths)
    yield from beside_pathway(graph, peer, progress)
    yield from many_queries(size.edges, size.queries, size.changes, progress)
