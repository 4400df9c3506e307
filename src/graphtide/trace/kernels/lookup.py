"""Looking up keys in the history of a collection that stands outside of loops, without reading the rest of it."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, WIDTH, new_batch, put, same_data, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, SPINE_WIDTH, run_slot

__all__ = ["count_held", "first_shortage", "look_up"]

# Where a row was found: the slot of its run, its place there, and the row of the batch that it was sought for.
RUN = 0
ROW = 1
PROBE = 2


@kernel
def look_up(heap, slot, owner, sought, keys, epoch):
    """The rows whose first `keys` columns are those of a row of a consolidated batch.

    They come as a consolidated batch that bears `epoch`, the last one committed; slot 0 if there are none.
    """
    width = words(heap, slot)[SPINE_WIDTH]
    found, count = _find(heap, slot, sought, keys)
    gathered = new_batch(heap, owner, width, 1, count, ALL_VARY, 0)
    out = words(heap, gathered)
    for k in range(count):
        batch = words(heap, found[k, RUN])
        for c in range(width):
            put(out, c, k, value(batch, c, found[k, ROW]))
        put(out, width - 2, k, epoch)
    out[ROWS] = count
    result = consolidate(heap, owner, gathered, np.arange(width - 2))
    release(heap, gathered)
    return result


@kernel
def count_held(heap, slot, sought, keys, rows, groups):
    """How often each row of a consolidated batch is there, and how often rows that are equal in their first `keys` are.

    Written into `rows` and `groups`, a place for each row of the batch. Rows are compared where they lie.
    """
    width = words(heap, slot)[SPINE_WIDTH]
    probe = words(heap, sought)
    rows[:] = 0
    groups[:] = 0
    found, count = _find(heap, slot, sought, keys)
    for k in range(count):
        batch = words(heap, found[k, RUN])
        i = found[k, PROBE]
        diff = value(batch, width - 1, found[k, ROW])
        groups[i] += diff
        if same_data(batch, found[k, ROW], probe, i, width - 2):
            rows[i] += diff


@kernel
def first_shortage(heap, slot, changes):
    """The first row of a consolidated batch of which more would go by some epoch than are there.

    Its values in the order of the spine, how many would go, and how many are there; nothing if there is none.
    """
    data = words(heap, changes)[WIDTH] - 2
    sought = _falling(heap, changes)
    probe = words(heap, sought)
    held = np.zeros(probe[ROWS], np.int64)
    found, count = _find(heap, slot, sought, data)
    for k in range(count):
        batch = words(heap, found[k, RUN])
        held[found[k, PROBE]] += value(batch, data + 1, found[k, ROW])
    short = np.empty(0, np.int64)
    for i in range(probe[ROWS]):
        if held[i] < value(probe, data, i):
            short = np.empty(data + 2, np.int64)
            for c in range(data + 1):
                short[c] = value(probe, c, i)
            short[data + 1] = held[i]
            break
    release(heap, sought)
    return short


@kernel
def _falling(heap, changes):
    """The rows of a consolidated batch that are there less often by some epoch than at first, and how much at most."""
    rows, width = words(heap, changes)[ROWS], words(heap, changes)[WIDTH]
    data = width - 2
    sought = new_batch(heap, 0, data + 1, 0, rows, ALL_VARY, 0)
    out, batch = words(heap, sought), words(heap, changes)
    count = 0
    changed = least = 0
    for i in range(rows):
        changed += value(batch, width - 1, i)
        least = min(least, changed)
        if i + 1 == rows or not same_data(batch, i, batch, i + 1, data):
            for c in range(data):
                put(out, c, count, value(batch, c, i))
            put(out, data, count, -least)
            count += least < 0
            changed = least = 0
    out[ROWS] = count
    return sought


@kernel
def _find(heap, slot, sought, keys):
    """Where rows are whose first `keys` columns are those of a row of a consolidated batch: a list, and its length."""
    spine = words(heap, slot)
    probe = words(heap, sought)
    found = np.empty((max(8, probe[ROWS]), 3), np.int64)
    count = 0
    for r in range(spine[RUNS] + 1):
        run = spine[FRESH] if r == spine[RUNS] else run_slot(spine, r)
        if run == NONE:
            continue
        batch = words(heap, run)
        places = seek_all(batch, keys, probe)
        for i in range(probe[ROWS]):
            row = places[i]
            while row < batch[ROWS] and same_data(batch, row, probe, i, keys):
                if count == found.shape[0]:
                    grown = np.empty((2 * count, 3), np.int64)
                    grown[:count] = found
                    found = grown
                found[count, RUN] = run
                found[count, ROW] = row
                found[count, PROBE] = i
                count += 1
                row += 1
    return found, count
