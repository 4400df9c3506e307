"""Interactive graph queries on one shared graph that changes all the time, with and without shared indexes."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.interactive_load import KINDS, Load, Loaded, load_of, outstanding_agree
from graphtide.dataflow.flow import Dataflow, Sharing
from graphtide.procedures import SharedGraph

__all__ = ["run"]

_MEMORY_BAR = 3.0
_REPEATS = 7


@dataclass(frozen=True, slots=True)
class _Size:
    nodes: int
    edges: int
    fewer_nodes: int
    rate: int  # changes a second, half of the graph and half of the arguments
    seconds: float


_FULL = _Size(1_000_000, 6_400_000, 100_000, 10_000, 20.0)
_QUICK = _Size(20_000, 128_000, 5_000, 4_000, 1.0)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001 - as every bench has it
    """All rows."""
    size = _QUICK if quick else _FULL
    yield from _installing(size, progress)
    load = load_of(size.nodes, size.edges, size.rate, size.seconds)
    measured: dict[Sharing, tuple[Loaded, int, bool]] = {}
    modes: tuple[Sharing, ...] = ("indexes", "nothing")
    for sharing in modes:
        progress(f"{size.rate:,} changes a second, sharing {sharing}")
        measured[sharing] = _serve(load, sharing)
        gc.collect()
    ours, our_bytes, our_agree = measured["indexes"]
    theirs, their_bytes, their_agree = measured["nothing"]
    agree = our_agree and their_agree
    name = f"{size.nodes:,} nodes, {size.edges:,} edges"
    for kind in KINDS:
        seconds = ours.latencies[kind]
        yield Comparison(
            f"{name}, {size.rate:,} changes/s: median latency of {kind}",
            ours=float(np.median(seconds)),
            peer=float(np.median(theirs.latencies[kind])),
            peer_name="without shared indexes",
            unit="s",
            agree=agree,
            note=f"ours: {_spread(seconds)}; without: {_spread(theirs.latencies[kind])}",
        )
    yield Comparison(
        f"{name}: changes a second that were kept up with",
        ours=ours.served / ours.seconds,
        peer=theirs.served / theirs.seconds,
        peer_name="without shared indexes",
        unit="changes/s",
        agree=agree,
        note=f"{size.rate:,} came; half of them changed the graph, half asked or withdrew a query",
    )
    yield Comparison(
        f"{name}: bytes with all procedures installed",
        ours=our_bytes,
        peer=their_bytes,
        peer_name="without shared indexes",
        unit="bytes",
        agree=agree,
        bar=_MEMORY_BAR,
        note="all that operators keep when the load has ended",
    )


def _installing(size: _Size, progress: Progress) -> Iterator[Comparison]:
    """What it takes to have a new procedure answer its first question."""
    seconds: dict[int, dict[str, float]] = {}
    for nodes in (size.fewer_nodes, size.nodes):
        progress(f"installing procedures on {nodes:,} nodes")
        graph = _graph(load_of(nodes, nodes * size.edges // size.nodes, 1, 0.0), (), "indexes")
        seconds[nodes] = {kind: _install(graph, kind, nodes) for kind in KINDS}
        del graph
        gc.collect()
    for kind in KINDS:
        yield Comparison(
            f"new {kind} on {size.nodes:,} nodes: first answer",
            ours=seconds[size.nodes][kind],
            peer=seconds[size.fewer_nodes][kind],
            peer_name=f"on {size.fewer_nodes:,} nodes",
            unit="s",
            agree=True,
            note="installed, asked once and committed; about equal if nothing but what is asked for is read",
        )


def _install(graph: SharedGraph, kind: str, nodes: int) -> float:
    rng = np.random.default_rng(5)
    seconds: list[float] = []
    for _ in range(_REPEATS):
        arguments = rng.integers(0, nodes, (1, KINDS[kind]))
        clock = time.perf_counter()
        getattr(graph, kind)().ask(arguments)
        graph.commit()
        seconds.append(time.perf_counter() - clock)
        graph.drop(kind)
        graph.commit()
    return median(seconds[1:])


def _graph(load: Load, kinds: Iterable[str], sharing: Sharing) -> SharedGraph:
    """A graph with procedures that were there before its edges: batches that are imported are always shared."""
    graph = SharedGraph(flow=Dataflow(sharing=sharing), value=int)
    for kind in kinds:
        getattr(graph, kind)()
    numbers = np.arange(load.nodes)
    graph.nodes.insert(np.column_stack([numbers, 3 * numbers]))
    graph.edges.insert(load.edges)
    graph.commit()
    return graph


def _serve(load: Load, sharing: Sharing) -> tuple[Loaded, int, bool]:
    """The load on a graph with all procedures; its bytes at the end, and whether its answers were right."""
    graph = _graph(load, KINDS, sharing)
    loaded = load.serve(graph)
    # Where each procedure has its own indexes, those of the graph itself are of no use.
    spare = [graph.flow.assembly.output_of(each.index) for each in graph.indexes] if sharing == "nothing" else []
    kept = sum(each.bytes for each in graph.memory() if each.operator not in spare)
    return loaded, kept, outstanding_agree(load, graph)


def _spread(seconds: NDArray[np.float64]) -> str:
    parts = (f"p{percent} {1e3 * np.percentile(seconds, percent):.3g}" for percent in (50, 90, 99))
    return f"{', '.join(parts)}, worst {1e3 * seconds.max():.3g} ms"
