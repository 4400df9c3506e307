"""First answers and single-edge updates of shortest paths, k-hop neighbourhoods and components on a power-law graph."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtide import datasets
from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.frontier import LiveGraph, Query, Scratch

__all__ = ["FirstAnswers", "Workload", "first_answers", "updates"]

_LOADED = 0.9
_HOPS = 5
_FIRST_BAR = 1 / 1.5
_SCRATCH_BAR = 10_000.0
_DYNAMIC_BAR = 20.0
_TAIL_BAR = 1 / 50
# Changes that come before those that are measured.
_WARM = 20
_FIRSTS = 3


@dataclass(frozen=True, slots=True)
class Workload:
    """Distinct edges with weights from 1 to 10, most of them there from the beginning."""

    edges: Ints  # rows (source, target, weight)
    loaded: int
    source: int

    @classmethod
    def of(cls, scale: int) -> Self:
        """R-MAT of Skitter's size for scale 21, less skewed than Graph500's so that most vertices have an edge."""
        table = datasets.rmat(scale=scale, edge_factor=5, seed=1, a=0.45, b=0.22, c=0.22)
        src, dst = (table.column(name).to_numpy() for name in ("src", "dst"))
        codes = np.unique((src << scale | dst)[src != dst])
        rng = np.random.default_rng(1)
        codes = rng.permutation(codes)
        ends = np.stack([codes >> scale, codes & ((1 << scale) - 1)], 1)
        _, dense = np.unique(ends, return_inverse=True)
        edges = np.column_stack([dense.reshape(-1, 2), rng.integers(1, 11, len(ends))])
        busiest = np.bincount(edges[:, 0]).argmax()
        return cls(edges, int(_LOADED * len(edges)), int(busiest))

    @property
    def vertices(self) -> int:
        """Numbered from 0 on."""
        return int(self.edges[:, :2].max()) + 1

    def live(self) -> LiveGraph:
        """The edges that are there from the beginning; graphs that nobody uses leave memory first."""
        gc.collect()  # a graph and its queries hold each other
        graph = LiveGraph(weight=int)
        graph.add_vertices(np.arange(self.vertices))
        graph.apply(insert=self.edges[: self.loaded])
        return graph

    def changes(self, count: int, share: float) -> list[dict[str, list[tuple[int, ...]]]]:
        """Batches of one edge: of the edges held back, and deletions of those that are there."""
        rng = np.random.default_rng(int(100 * share))
        gone = rng.permutation(self.loaded)[:count]
        rows = [tuple(row) for row in self.edges[self.loaded : self.loaded + count].tolist()]
        doomed = [tuple(row) for row in self.edges[gone].tolist()]
        is_deletion = rng.random(count) < share
        return [
            {"delete": [doomed[k]]} if deletes else {"insert": [rows[k]]}
            for k, deletes in enumerate(is_deletion.tolist())
        ]


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """A peer's seconds for each query, and its distances by weight."""

    name: str
    seconds: dict[str, float]
    distances: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Registered:
    name: str
    register: Callable[..., Query]


def _queries(live: LiveGraph, source: int) -> tuple[_Registered, ...]:
    return (
        _Registered("shortest paths", lambda **more: live.sssp(source, weight="weight", **more)),
        _Registered("breadth first", lambda **more: live.sssp(source, **more)),
        _Registered(f"{_HOPS}-hop", lambda **more: live.k_hop(source, _HOPS, **more)),
        _Registered("components", live.wcc),
    )


def first_answers(load: Workload, peer: FirstAnswers, progress: Progress) -> Iterator[Comparison]:
    """The first answer with its differences, against static algorithms that keep nothing."""
    live = load.live()
    for each in _queries(live, load.source):
        if each.name not in peer.seconds:
            continue
        progress(f"{each.name}: first answer")
        seconds: list[float] = []
        agree = True
        note = ""
        for _ in range(_FIRSTS):
            clock = time.perf_counter()
            query = each.register()
            seconds.append(time.perf_counter() - clock)
            note = f"{query.differences:,} differences, {query.nbytes / query.differences:.1f} bytes each"
            if each.name == "shortest paths":
                agree &= np.array_equal(_distances(query, load.vertices), peer.distances)
            query.drop()
        yield Comparison(
            f"{each.name}: first answer",
            median(seconds),
            peer.seconds[each.name],
            peer.name,
            "s",
            agree=agree,
            bar=_FIRST_BAR,
            note=note,
        )


def updates(
    load: Workload,
    count: int,
    share: float,
    dynamic: Callable[[Workload, int], tuple[float, NDArray[np.float64]]] | None,
    progress: Progress,
) -> Iterator[Comparison]:
    """The median update of each query alone, against computing it anew."""
    deletions = f"{share:.0%} deletions"
    for name in ("shortest paths", f"{_HOPS}-hop", "components"):
        live = load.live()
        each = next(query for query in _queries(live, load.source) if query.name == name)
        progress(f"{each.name}: updates, {deletions}")
        query = each.register()
        seconds = _follow(live, load.changes(count + _WARM, share))[_WARM:]
        fresh, scratch_seconds = _recompute(each)
        agree = query.result().equals(fresh.result())
        middle, tail = float(np.median(seconds)), float(np.percentile(seconds, 99))
        yield Comparison(
            f"{each.name}: median update, {deletions}",
            middle,
            scratch_seconds,
            "from scratch",
            "s",
            agree=agree,
            bar=_SCRATCH_BAR,
            note=f"{len(seconds)} changes of one edge; p99 {1e6 * tail:.0f} us",
        )
        yield Comparison(
            f"{each.name}: p99 of an update, {deletions}", tail, middle, "the median", "s", agree=agree, bar=_TAIL_BAR
        )
        if dynamic is not None and each.name == "shortest paths":
            progress("shortest paths: updates by networkit")
            their_seconds, distances = dynamic(load, count)
            yield Comparison(
                f"{each.name}: median update, {deletions}",
                middle,
                their_seconds,
                "networkit, dynamic Dijkstra",
                "s",
                agree=agree and np.array_equal(_distances(query, load.vertices), distances),
                bar=_DYNAMIC_BAR,
                note="it takes insertions alone; all distances compared at the end",
            )
        del live, each, query, fresh


def _follow(live: LiveGraph, changes: list[dict[str, Any]]) -> NDArray[np.float64]:
    seconds = np.empty(len(changes))
    for k, change in enumerate(changes):
        clock = time.perf_counter()
        live.apply(**change)
        seconds[k] = time.perf_counter() - clock
    return seconds


def _recompute(each: _Registered) -> tuple[Query, float]:
    """The answer from scratch, by the fastest of a few runs."""
    best = np.inf
    for _ in range(_FIRSTS):
        clock = time.perf_counter()
        query = each.register(maintain=Scratch())
        best = min(best, time.perf_counter() - clock)
    return query, best  # pyright: ignore[reportPossiblyUnboundVariable] - there is more than one run


def _distances(query: Query, vertices: int) -> NDArray[np.float64]:
    """By vertex; infinite where there is no path."""
    answer = query.result()
    distances = np.full(vertices, np.inf)
    distances[answer.column("vertex").to_numpy()] = answer.column(query.column).to_numpy()
    return distances
