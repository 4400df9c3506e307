"""A count by key that is kept up to date, against Pathway's and against grouping again with Polars."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_footprint import footprint
from graphtide.bench.core_graphs import Ints
from graphtide.dataflow.flow import Dataflow, Merging

__all__ = ["Batch", "CountingPeer", "KeyStream", "PeerCounts", "counts", "key_stream"]

_BAR = 10.0
_TAIL_BAR = 5.0
# Grouping again takes as long each time, so a few times tell.
_AGAIN = 3
_RUNS = 3


@dataclass(frozen=True, slots=True)
class Batch:
    """Keys that gain a row and keys that lose one."""

    inserted: Ints
    removed: Ints

    def __len__(self) -> int:
        return len(self.inserted) + len(self.removed)


@dataclass(frozen=True, slots=True)
class KeyStream:
    """Every key once, and batches that insert keys again, remove a block of the first ones, or both."""

    kept: Ints
    doomed: tuple[Ints, ...]
    batches: tuple[Batch, ...]

    def keys_after(self, batches: int) -> list[Ints]:
        """The keys of all rows that are there after some batches."""
        done = self.batches[:batches]
        removed = sum(len(batch.removed) > 0 for batch in done)
        return [self.kept, *self.doomed[removed:], *(batch.inserted for batch in done)]

    def counts_after(self, batches: int) -> Ints:
        """Rows of (key, count) in order."""
        rows = np.bincount(np.concatenate(self.keys_after(batches)))
        keys = np.flatnonzero(rows)
        return np.column_stack([keys, rows[keys]])


@dataclass(frozen=True, slots=True)
class PeerCounts:
    """Seconds of each batch, processor seconds of all, and whether the counts were right."""

    seconds: NDArray[np.float64]
    cpu_seconds: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class CountingPeer:
    """Who else keeps counts; it is given so many batches of a stream."""

    name: str
    counts: Callable[[KeyStream, int], PeerCounts]
    most_batches: int


def key_stream(keys: int, size: int, batches: int, seed: int = 1) -> KeyStream:
    """A stream of batches of `size` changes, half of them removals; batches of one insert and remove by turns."""
    rng = np.random.default_rng(seed)
    half = max(1, size // 2)
    removals = batches if size > 1 else batches // 2
    assert removals * half <= keys, "no key is removed twice"
    order = rng.permutation(keys)
    doomed = tuple(order[: removals * half].reshape(removals, half))
    waiting = iter(doomed)
    nothing = np.empty(0, np.int64)
    made: list[Batch] = []
    for b in range(batches):
        inserted = rng.integers(0, keys, half) if size > 1 or b % 2 == 0 else nothing
        removed = next(waiting) if size > 1 or b % 2 == 1 else nothing
        made.append(Batch(inserted, removed))
    return KeyStream(order[removals * half :], doomed, tuple(made))


def counts(keys: int, size: int, batches: int, peer: CountingPeer | None, progress: Progress) -> Iterator[Comparison]:
    """The rows for batches of one size."""
    stream = key_stream(keys, size, batches)
    name = f"count over {keys:,} keys, batches of {size:,}"
    kept: dict[str, PeerCounts] = {}
    inner: list[Comparison] = []
    for merging in ("eager", "lazy", "default"):
        progress(f"{name}, merging {merging}")
        flow, kept[merging] = _keep_typically(stream, merging)
        if merging == "default" and size > 1:
            inner = list(footprint(f"count over {keys:,} keys", flow, agree=kept[merging].is_right))
        del flow
        gc.collect()
    ours = kept["default"]
    rate = _rate(stream, ours)
    others: list[tuple[str, PeerCounts]] = []
    progress(f"{name}, grouped again by polars")
    others.append(("polars, grouped again", _group_again(stream)))
    if peer is not None:
        progress(f"{name}, by {peer.name}")
        others.append((peer.name, peer.counts(stream, min(batches, peer.most_batches))))
    for peer_name, theirs in others:
        yield Comparison(
            f"{name}: updates per CPU second",
            ours=rate,
            peer=_rate(stream, theirs),
            peer_name=peer_name,
            unit="updates/s",
            agree=ours.is_right and theirs.is_right,
            bar=_BAR,
            note=f"{len(ours.seconds)} batches of ours, {len(theirs.seconds)} of theirs; "
            f"p50 {_ms(ours, 50)} against {_ms(theirs, 50)} ms",
        )
    yield from _tails(name, kept, barred=size > 1)
    yield from inner


def _keep_typically(stream: KeyStream, merging: Merging) -> tuple[Dataflow, PeerCounts]:
    """The median time of each batch in a few runs, which all do the very same work."""
    flow, first = _keep(stream, merging)
    runs = [first]
    for _ in range(_RUNS - 1):
        del flow  # the next one needs the memory
        flow, again = _keep(stream, merging)
        runs.append(again)
    return flow, PeerCounts(
        np.median([run.seconds for run in runs], axis=0),
        median(run.cpu_seconds for run in runs),
        all(run.is_right for run in runs),
    )


def _keep(stream: KeyStream, merging: Merging) -> tuple[Dataflow, PeerCounts]:
    """The whole stream through a dataflow."""
    flow = Dataflow(merging=merging)
    items = flow.input("items", key=int)
    counted = items.group_by("key").count().output("counts")
    items.insert(np.concatenate(stream.keys_after(0))[:, None])
    flow.commit()
    seconds = np.empty(len(stream.batches))
    cpu = time.process_time()
    for b, batch in enumerate(stream.batches):
        clock = time.perf_counter()
        if len(batch.inserted):
            items.insert(batch.inserted[:, None])
        if len(batch.removed):
            items.remove(batch.removed[:, None])
        flow.commit()
        seconds[b] = time.perf_counter() - clock
    cpu = time.process_time() - cpu
    expected = stream.counts_after(len(stream.batches))
    answer = counted.table()
    keys, rows = (answer.column(name).to_numpy() for name in ("key", "count"))
    order = np.argsort(keys)
    is_right = np.array_equal(keys[order], expected[:, 0]) and np.array_equal(rows[order], expected[:, 1])
    return flow, PeerCounts(seconds, cpu, is_right)


def _group_again(stream: KeyStream) -> PeerCounts:
    """All counts anew after each of a few batches."""
    again = min(_AGAIN, len(stream.batches))
    seconds = np.empty(again)
    cpu = 0.0
    is_right = True
    for b in range(again):
        rows = pl.concat([pl.DataFrame({"key": block}) for block in stream.keys_after(b + 1)])
        clock, begun = time.perf_counter(), time.process_time()
        answer = rows.group_by("key").len()
        seconds[b] = time.perf_counter() - clock
        cpu += time.process_time() - begun
        answer = answer.sort("key")
        expected = stream.counts_after(b + 1)
        is_right &= np.array_equal(answer["key"].to_numpy(), expected[:, 0])
        is_right &= np.array_equal(answer["len"].to_numpy(), expected[:, 1])
    return PeerCounts(seconds, cpu, is_right)


def _rate(stream: KeyStream, measured: PeerCounts) -> float:
    changes = sum(len(batch) for batch in stream.batches[: len(measured.seconds)])
    return changes / measured.cpu_seconds


def _tails(name: str, kept: dict[str, PeerCounts], *, barred: bool) -> Iterator[Comparison]:
    """How long batches take when merging is put off, and when it is not."""
    agree = all(each.is_right for each in kept.values())
    note = "; ".join(
        f"{merging} p50 {_ms(each, 50)} p99 {_ms(each, 99)} worst {_ms(each, 100)} ms" for merging, each in kept.items()
    )
    for percent, bar in ((50, None), (99, _TAIL_BAR if barred else None)):
        yield Comparison(
            f"{name}: p{percent} of a batch",
            ours=float(np.percentile(kept["default"].seconds, percent)),
            peer=float(np.percentile(kept["eager"].seconds, percent)),
            peer_name="merging eager",
            unit="s",
            agree=agree,
            bar=bar,
            note=note if percent == 99 else "",
        )


def _ms(measured: PeerCounts, percent: int) -> str:
    return f"{1e3 * np.percentile(measured.seconds, percent):.3g}"
