"""Dropping where paths are long: a table of marks has a bit for every round, a filter only for what is dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.frontier import DeterministicDrop, LiveGraph, ProbabilisticDrop, Query, Random, Scratch
from graphtide.frontier.maintenance import Maintenance

__all__ = ["on_streets"]

_CHOICE: Final = Random(0.1)
_CHANGES: Final = 60


def on_streets(side: int, progress: Progress) -> Iterator[Comparison]:
    """Bytes of shortest paths in a town of `side` by `side` crossings, by a filter and by a table."""
    rows = _streets(side)
    kept: list[tuple[Query, list[float], float, bool]] = []
    for policy in (ProbabilisticDrop(_CHOICE), DeterministicDrop(_CHOICE)):
        progress(f"streets: {type(policy).__name__}")
        kept.append(_followed(rows, policy))
    (ours, seconds, scratch_seconds, is_right), (theirs, _, _, is_theirs_right) = kept
    agree = is_right and is_theirs_right
    name = f"streets of {side} by {side} crossings, probabilistic drop"
    yield Comparison(
        f"{name}: bytes a query",
        ours.nbytes,
        theirs.nbytes,
        "deterministic drop",
        "bytes",
        agree=agree,
        note=f"{ours.differences:,} differences kept",
    )
    yield Comparison(
        f"{name}: median update",
        float(np.median(seconds)),
        scratch_seconds,
        "from scratch",
        "s",
        agree=agree,
        note=f"the mean is {1e3 * np.mean(seconds):.1f} ms: a dropped state follows from others that are dropped",
    )


def _streets(side: int) -> Ints:
    """Streets both ways between neighbouring crossings, with lengths from 1 to 10, in any order."""
    rng = np.random.default_rng(1)
    crossings = np.arange(side * side).reshape(side, side)
    along = np.column_stack([crossings[:, :-1].ravel(), crossings[:, 1:].ravel()])
    across = np.column_stack([crossings[:-1].ravel(), crossings[1:].ravel()])
    ends = rng.permutation(np.concatenate([along, along[:, ::-1], across, across[:, ::-1]]))
    return np.column_stack([ends, rng.integers(1, 11, len(ends))])


def _followed(rows: Ints, policy: Maintenance) -> tuple[Query, list[float], float, bool]:
    """A query after some changes, half of them deletions; seconds of each, and from scratch."""
    loaded = int(0.9 * len(rows))
    live = LiveGraph(weight=int)
    live.apply(insert=rows[:loaded])
    query = live.sssp(0, weight="weight", maintain=policy)
    seconds: list[float] = []
    for k in range(_CHANGES):
        change = {"delete": [tuple(rows[k].tolist())]} if k % 2 else {"insert": [tuple(rows[loaded + k].tolist())]}
        clock = time.perf_counter()
        live.apply(**change)
        seconds.append(time.perf_counter() - clock)
    clock = time.perf_counter()
    fresh = live.sssp(0, weight="weight", maintain=Scratch())
    scratch_seconds = time.perf_counter() - clock
    return query, seconds, scratch_seconds, query.result().equals(fresh.result())
