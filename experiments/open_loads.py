"""Keys that change at a fixed rate, whether or not earlier changes have been served, in one or more processes.

A worker is a process that has its share of the keys and of the changes, and a dataflow of its own: nothing is exchanged
between workers, and none waits for another.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphtide.bench.arrivals import Arrivals
from graphtide.bench.held_memory import hold_memory
from graphtide.dataflow.flow import Dataflow, Merging
from graphtide.dataflow.input import Input
from graphtide.dataflow.warm import warm
from graphtide.trace.heap import Heap
from graphtide.trace.kernels.consolidate import consolidate

Kept = Literal["index", "count"]
_BYTES_A_KEY = 100
_BATCH = 10_000


@dataclass(frozen=True)
class OpenLoad:
    """So many keys, and changes that come at their times: a key is inserted, one is removed, and so on."""

    keys: int
    rate: int  # changes a second
    seconds: float
    kept: Kept = "index"
    merging: Merging = "default"

    def share(self, workers: int) -> OpenLoad:
        """What one of several workers has of it."""
        return OpenLoad(self.keys // workers, self.rate // workers, self.seconds, self.kept, self.merging)

    def serve(self, ready: Callable[[], object]) -> NDArray[np.float64]:
        """The seconds that each change waited until it was committed; the clock begins when all are ready."""
        rng = np.random.default_rng(1)
        flow, items, first = _holding(self.keys, self.kept, self.merging, rng)
        arrivals = Arrivals(self.rate, self.seconds)
        count = len(arrivals.due)
        come = rng.integers(0, self.keys, (count + 1) // 2)[:, None]
        go = first[: count // 2, None]
        waited = np.empty(count)
        _stage(items, come[:1], go[:1])
        flow.rollback()
        ready()
        for done, upto in arrivals:
            _stage(items, come[(done + 1) // 2 : (upto + 1) // 2], go[done // 2 : upto // 2])
            flow.commit()
            waited[done:upto] = arrivals.elapsed - arrivals.due[done:upto]
        return waited


@dataclass(frozen=True)
class Rounds:
    """Batches of 10,000 changes, one after the other, as fast as one part of the work can be done."""

    keys: int
    rounds: int
    part: Literal["batch formation", "trace maintenance", "count"]

    def share(self, workers: int) -> Rounds:
        """What one of several workers has of it: batches are as large for each."""
        return Rounds(self.keys // workers, self.rounds, self.part)

    def serve(self, ready: Callable[[], object]) -> NDArray[np.float64]:
        """Changes a second and a processor second."""
        rng = np.random.default_rng(1)
        take = self._formation() if self.part == "batch formation" else self._maintenance(rng)
        half = _BATCH // 2
        assert (self.rounds + 10) * half <= self.keys, "no key is removed twice"
        come = rng.integers(0, self.keys, (self.rounds + 10, half))
        go = rng.permutation(self.keys)[: (self.rounds + 10) * half].reshape(-1, half)
        for n in range(self.rounds, self.rounds + 10):
            take(come[n], go[n])
        ready()
        start, cpu = time.perf_counter(), time.process_time()
        for n in range(self.rounds):
            take(come[n], go[n])
        changes = self.rounds * _BATCH
        return np.array([changes / (time.perf_counter() - start), changes / (time.process_time() - cpu)])

    def _formation(self) -> Callable[[Any, Any], None]:
        """Sort and add up."""
        heap = Heap()
        diffs = np.repeat([1, -1], _BATCH // 2)
        order = np.zeros(1, np.int64)

        def take(come: NDArray[np.int64], go: NDArray[np.int64]) -> None:
            given = heap.put(np.stack([np.concatenate([come, go]), diffs]), 0)
            formed = int(consolidate(heap.table, 0, given, order))
            heap.release(given)
            heap.release(formed)

        return take

    def _maintenance(self, rng: np.random.Generator) -> Callable[[Any, Any], None]:
        flow, items, _ = _holding(self.keys, "count" if self.part == "count" else "index", "default", rng)

        def take(come: NDArray[np.int64], go: NDArray[np.int64]) -> None:
            _stage(items, come[:, None], go[:, None])
            flow.commit()

        return take


def _holding(
    keys: int, kept: Kept, merging: Merging, rng: np.random.Generator
) -> tuple[Dataflow, Input, NDArray[np.int64]]:
    """A dataflow in which every key is once, and the keys in random order."""
    flow = Dataflow(merging=merging)
    items = flow.input("items", key=int)
    if kept == "index":
        # An index that nobody looks keys up in is hardly merged: a query without arguments stands by.
        flow.input("asked", key=int).join(items.arrange("key"), on="key").output("found")
    else:
        items.group_by("key").count().output("counts")
    first = rng.permutation(keys)
    items.insert(first[:, None])
    flow.commit()
    return flow, items, first


def _stage(items: Input, come: NDArray[np.int64], go: NDArray[np.int64]) -> None:
    if len(come):
        items.insert(come)
    if len(go):
        items.remove(go)


def serve(load: OpenLoad | Rounds, workers: int = 1) -> list[NDArray[np.float64]]:
    """What each worker measured."""
    shared = load.share(workers)
    if workers == 1:
        found = shared.serve(lambda: None)
        gc.collect()
        return [found]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(workers)
    ends = [context.Pipe(duplex=False) for _ in range(workers)]
    processes = [context.Process(target=_work, args=(shared, barrier, end)) for _, end in ends]
    for each, (_, end) in zip(processes, ends, strict=True):
        each.start()
        end.close()  # the worker has its own, and if it fails this side is to know
    found = [here.recv() for here, _ in ends]
    for each in processes:
        each.join()
    return found


def prepare(keys: int) -> None:
    """Compile kernels, and have memory for so many keys."""
    warm()
    hold_memory(_BYTES_A_KEY * keys + (64 << 20))


def _work(load: OpenLoad | Rounds, barrier: Barrier, end: Any) -> None:
    prepare(load.keys)
    end.send(load.serve(barrier.wait))
