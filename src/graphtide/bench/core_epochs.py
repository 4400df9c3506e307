"""Many epochs of one change each, run as one physical batch or one by one (K-Pg, principle 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.input import Input
from graphtide.dataflow.output import Output

__all__ = ["epochs"]

_BAR = 20.0
_KINDS = 1_000
_TIMES = 3

Build = Callable[[Collection, int], Collection]


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds spent on staging and sealing, and on running."""

    staging: float
    running: float
    changes: Ints

    @property
    def all(self) -> float:
        return self.staging + self.running


def epochs(rows: int, count: int, progress: Progress) -> Iterator[Comparison]:
    """The rows for `count` epochs on a table of `rows` rows."""
    for name, build in (("count", _count), ("join and count", _join_and_count)):
        progress(f"{count:,} epochs of a {name}")
        one_by_one = _typical(build, rows, count, together=False)
        together = _typical(build, rows, count, together=True)
        agree = np.array_equal(one_by_one.changes, together.changes)
        yield Comparison(
            f"{count:,} epochs of a {name}",
            ours=together.all,
            peer=one_by_one.all,
            peer_name="one by one",
            unit="s",
            agree=agree,
            bar=_BAR,
            note=f"from NumPy rows to the differences, {len(together.changes):,} compared epoch by epoch",
        )
        yield Comparison(
            f"{count:,} epochs of a {name}: run() alone",
            ours=together.running,
            peer=one_by_one.running,
            peer_name="one by one",
            unit="s",
            agree=agree,
            note=f"staging a change takes {1e6 * together.staging / count:.2g} us, one by one "
            f"{1e6 * one_by_one.staging / count:.2g} us",
        )


def _count(table: Collection, _rows: int) -> Collection:
    return table.group_by("src").count()


def _join_and_count(table: Collection, rows: int) -> Collection:
    kinds = table.flow.input("kinds", dst=int, kind=int)
    kinds.insert(np.column_stack([np.arange(rows), np.arange(rows) % _KINDS]))
    return table.join(kinds, on="dst").group_by("kind").count()


def _typical(build: Build, rows: int, count: int, *, together: bool) -> _Times:
    """The run of median length among a few."""
    several = [_run(build, rows, count, together=together) for _ in range(_TIMES)]
    return sorted(several, key=lambda times: times.all)[_TIMES // 2]


def _run(build: Build, rows: int, count: int, *, together: bool) -> _Times:
    """Insert and remove rows by turns, one an epoch."""
    rng = np.random.default_rng(1)
    table = rng.integers(0, rows, (rows, 2))
    changes = np.empty((count, 2), np.int64)
    changes[0::2] = rng.integers(0, rows, ((count + 1) // 2, 2))
    changes[1::2] = table[: count // 2]
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    result = build(edges, rows).output("result")
    edges.insert(table)
    flow.commit()
    diffs = 1 - 2 * (np.arange(count) % 2)
    take = _take_together if together else _take_one_by_one
    staging, running, parts = take(flow, edges, result, changes, diffs)
    return _Times(staging, running, _in_order(pa.concat_tables(parts)))


_Taken = tuple[float, float, list[pa.Table]]


def _take_together(flow: Dataflow, edges: Input, result: Output, changes: Ints, diffs: Ints) -> _Taken:
    clock = time.perf_counter()
    edges.change(changes, diffs, epochs=flow.epoch + np.arange(len(changes)))
    flow.seal(len(changes))
    staged = time.perf_counter()
    flow.run()
    return staged - clock, time.perf_counter() - staged, [result.changes()]


def _take_one_by_one(flow: Dataflow, edges: Input, result: Output, changes: Ints, diffs: Ints) -> _Taken:
    staging = running = 0.0
    parts: list[pa.Table] = []
    for row, diff in zip(map(tuple, changes.tolist()), diffs.tolist(), strict=True):
        clock = time.perf_counter()
        if diff > 0:
            edges.insert([row])
        else:
            edges.remove([row])
        staged = time.perf_counter()
        flow.commit()
        running += time.perf_counter() - staged
        staging += staged - clock
        parts.append(result.changes())
    return staging, running, parts


def _in_order(changes: pa.Table) -> Ints:
    """Rows of (epoch, data..., diff) in order."""
    columns = [changes.column(name).to_numpy() for name in changes.column_names]
    rows = np.column_stack([columns[-2], *columns[:-2], columns[-1]])
    return rows[np.lexsort(rows.T[::-1])]
