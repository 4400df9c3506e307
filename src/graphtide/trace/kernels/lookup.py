"""Looking up keys in the history of a collection that stands outside of loops, without reading the rest of it."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import ALL_VARY, CAPACITY, ROWS, new_batch, put, reserve, same_data, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, SPINE_WIDTH, run_slot

__all__ = ["count_held", "look_up"]


@kernel
def look_up(heap, slot, owner, sought, keys, epoch):
    """The rows whose first `keys` columns are those of a row of a consolidated batch, and how many each such row has.

    The rows come as a consolidated batch that bears `epoch`, the last one committed; slot 0 if there are none.
    """
    spine = words(heap, slot)
    width = spine[SPINE_WIDTH]
    probe = words(heap, sought)
    counts = np.zeros(probe[ROWS], np.int64)
    gathered = new_batch(heap, owner, width, 1, probe[ROWS], ALL_VARY, 0)
    out = words(heap, gathered)
    at = 0
    for r in range(spine[RUNS] + 1):
        source = spine[FRESH] if r == spine[RUNS] else run_slot(spine, r)
        if source == NONE:
            continue
        batch = words(heap, source)
        found = seek_all(batch, keys, probe)
        for i in range(probe[ROWS]):
            row = found[i]
            while row < batch[ROWS] and same_data(batch, row, probe, i, keys):
                if at == out[CAPACITY]:
                    out[ROWS] = at
                    reserve(heap, gathered, 2 * at + 8)
                    out = words(heap, gathered)
                for c in range(width):
                    put(out, c, at, value(batch, c, row))
                put(out, width - 2, at, epoch)
                counts[i] += value(batch, width - 1, row)
                at += 1
                row += 1
    out[ROWS] = at
    result = consolidate(heap, owner, gathered, np.arange(width - 2))
    release(heap, gathered)
    return result, counts


@kernel
def count_held(heap, slot, sought, keys, rows, groups):
    """How often each row of a consolidated batch is there, and how often rows that are equal in their first `keys` are.

    Written into `rows` and `groups`, a place for each row of the batch. Nothing is copied: most rows have a key of
    their own, and are compared where they lie.
    """
    spine = words(heap, slot)
    width = spine[SPINE_WIDTH]
    data = width - 2
    probe = words(heap, sought)
    rows[:] = 0
    groups[:] = 0
    for r in range(spine[RUNS] + 1):
        source = spine[FRESH] if r == spine[RUNS] else run_slot(spine, r)
        if source == NONE:
            continue
        batch = words(heap, source)
        found = seek_all(batch, keys, probe)
        for i in range(probe[ROWS]):
            row = found[i]
            while row < batch[ROWS] and same_data(batch, row, probe, i, keys):
                diff = value(batch, width - 1, row)
                groups[i] += diff
                if same_data(batch, row, probe, i, data):
                    rows[i] += diff
                row += 1
