"""Looking up keys in the history of a collection that stands outside of loops, without reading the rest of it."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, put, same_data, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, SPINE_WIDTH, run_slot

__all__ = ["count_held", "look_up"]

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
