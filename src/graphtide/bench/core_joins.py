"""Joins with a large index: what a few or many changed keys cost, and what a new query on it costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import numpy as np

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.dataflow.arrangement import Arrangement
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.input import Input
from graphtide.dataflow.output import Output

__all__ = ["joins"]

_QUERY_KEYS = 100


def joins(
    keys: int, changed: tuple[int, ...], fewer_keys: int, repeats: int, progress: Progress
) -> Iterator[Comparison]:
    """The rows for an index of `keys`, one row each; new queries also on an index of `fewer_keys`."""
    installed: dict[int, tuple[float, bool]] = {}
    for size in (fewer_keys, keys):
        progress(f"join: index of {size:,} keys")
        flow, table, index = _indexed(size)
        installed[size] = _install(flow, index, size, repeats)
        if size == keys:
            yield from _changes(flow, index, changed, repeats, progress)
        del flow, table, index
    (small, small_right), (large, large_right) = installed[fewer_keys], installed[keys]
    yield Comparison(
        f"new query on an index of {keys:,} keys: first commit",
        ours=large,
        peer=small,
        peer_name=f"on {fewer_keys:,} keys",
        unit="s",
        agree=small_right and large_right,
        note=f"a join and an output, {_QUERY_KEYS} keys asked for; about equal if only what is asked for is read",
    )


def _indexed(size: int) -> tuple[Dataflow, Input, Arrangement]:
    """A running dataflow with an index of (key, value), value = 7 * key."""
    flow = Dataflow()
    table = flow.input("table", key=int, value=int)
    index = table.arrange("key")
    keys = np.random.default_rng(1).permutation(size)
    table.insert(np.column_stack([keys, 7 * keys]))
    flow.commit()
    return flow, table, index


def _install(flow: Dataflow, index: Arrangement, size: int, repeats: int) -> tuple[float, bool]:
    """The median time from saying what to join to having it, and whether it was right."""
    rng = np.random.default_rng(2)
    seconds: list[float] = []
    is_right = True
    for r in range(repeats + 1):
        asked = np.unique(rng.integers(0, size, _QUERY_KEYS))
        clock = time.perf_counter()
        asking = flow.input(f"asked {r}", key=int)
        asking.insert(asked[:, None])
        found = asking.join(index, on="key").output(f"found {r}")
        flow.commit()
        seconds.append(time.perf_counter() - clock)
        is_right &= _holds(found, asked)
        found.close()
        flow.drop_input(f"asked {r}")
    return median(seconds[1:]), is_right


def _changes(
    flow: Dataflow, index: Arrangement, changed: tuple[int, ...], repeats: int, progress: Progress
) -> Iterator[Comparison]:
    """What it takes to join as many new rows with the index."""
    keys = len(index)
    asking = flow.input("asked", key=int)
    found = asking.join(index, on="key").output("found")
    flow.commit()
    rng = np.random.default_rng(3)
    medians: dict[int, float] = {}
    agree = True
    for count in changed:
        progress(f"join: {count:,} changed keys")
        seconds: list[float] = []
        is_right = True
        for _ in range(repeats + 1):
            asked = np.unique(rng.integers(0, keys, count))
            clock = time.perf_counter()
            asking.insert(asked[:, None])
            flow.commit()
            seconds.append(time.perf_counter() - clock)
            is_right &= _holds(found, asked)
            asking.remove(asked[:, None])
            flow.commit()
        medians[count] = median(seconds[1:])
        agree &= is_right
        note = f"{1e9 * medians[count] / count:,.0f} ns a key"
        name = f"join of {count:,} changed key{'s' * (count > 1)} with {keys:,}"
        yield Comparison(name, medians[count], None, "", "s", is_right, note=note)
    few, many = changed[0], changed[-1]
    yield Comparison(
        f"join with {keys:,} keys: {few:,} changed key",
        ours=medians[few],
        peer=medians[many],
        peer_name=f"{many:,} changed keys",
        unit="s",
        agree=agree,
        note=f"{many:,} keys take {medians[many] / medians[few]:,.0f} times as long as {few:,}",
    )


def _holds(found: Output, asked: Ints) -> bool:
    rows = found.table()
    keys, values = rows.column("key").to_numpy(), rows.column("value").to_numpy()
    return np.array_equal(np.sort(keys), asked) and np.array_equal(values, 7 * keys)
