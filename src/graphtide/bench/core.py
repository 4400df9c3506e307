"""The dataflow engine: loops, counts, joins and epochs against Pathway, Polars, K-Pg's figures and itself."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.bench import core_pathway
from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_counts import CountingPeer, counts
from graphtide.bench.core_epochs import epochs
from graphtide.bench.core_fixpoints import Peer, fixpoints
from graphtide.bench.core_graphs import random_graph
from graphtide.bench.core_joins import joins
from graphtide.bench.core_power_law import power_law
from graphtide.bench.core_start import starts
from graphtide.bench.held_memory import hold_memory
from graphtide.dataflow.warm import warm

__all__ = ["run"]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    vertices: int
    edges: int
    changes: int
    keys: int
    batches: int  # of 10,000
    single_batches: int
    changed_keys: tuple[int, ...]
    fewer_keys: int
    epochs: int
    epoch_rows: int
    power_law_edges: int
    repeats: int
    cold_start: bool
    memory: int  # bytes


FULL = Size(
    vertices=100_000,
    edges=540_000,
    changes=300,
    keys=10_000_000,
    batches=300,
    single_batches=3_000,
    changed_keys=(1, 100, 10_000, 100_000),
    fewer_keys=1_000_000,
    epochs=10_000,
    epoch_rows=100_000,
    power_law_edges=12_000_000,  # leaves about 11 million distinct ones
    repeats=9,
    cold_start=True,
    memory=6 << 30,
)
QUICK = Size(
    vertices=2_000,
    edges=10_800,
    changes=60,
    keys=400_000,
    batches=60,
    single_batches=400,
    changed_keys=(1, 100, 10_000),
    fewer_keys=40_000,
    epochs=1_000,
    epoch_rows=10_000,
    power_law_edges=220_000,
    repeats=5,
    cold_start=False,
    memory=256 << 20,
)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """All rows, part by part; a part frees its memory before the next one begins."""
    size = QUICK if quick else FULL
    progress("kernels")
    warm()
    progress("memory")
    hold_memory(size.memory)
    for part in (_fixpoints, _counts, _joins, _epochs, _power_law, _starts):
        yield from part(size, progress)
        gc.collect()


def _fixpoints(size: Size, progress: Progress) -> Iterator[Comparison]:
    peer = Peer("pathway", core_pathway.components, core_pathway.shortest_paths)
    # Both load what they need on a small graph first.
    for _ in fixpoints(random_graph(200, 800, 4), peer, progress):
        pass
    yield from fixpoints(random_graph(size.vertices, size.edges, size.changes), peer, progress)


def _counts(size: Size, progress: Progress) -> Iterator[Comparison]:
    yield from counts(size.keys, 10_000, size.batches, CountingPeer("pathway", core_pathway.counts, 30), progress)
    yield from counts(size.keys, 1, size.single_batches, CountingPeer("pathway", core_pathway.counts, 300), progress)


def _joins(size: Size, progress: Progress) -> Iterator[Comparison]:
    yield from joins(size.keys, size.changed_keys, size.fewer_keys, size.repeats, progress)


def _epochs(size: Size, progress: Progress) -> Iterator[Comparison]:
    yield from epochs(size.epoch_rows, size.epochs, progress)


def _power_law(size: Size, progress: Progress) -> Iterator[Comparison]:
    yield from power_law(size.power_law_edges, progress)


def _starts(size: Size, progress: Progress) -> Iterator[Comparison]:
    yield from starts(progress, cold=size.cold_start)
