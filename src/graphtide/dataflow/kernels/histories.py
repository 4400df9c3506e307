"""The histories of many keys at once, run by run and column by column.

Key after key, every look would wait for the words of its rows, which lie far apart in each column of each run. So the
memory is asked for the words of many keys at a time.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import ROWS, column, row_mask, same_data
from graphtide.trace.kernels.heap import NONE, words
from graphtide.trace.kernels.index import group_end, seek_all

__all__ = ["gather_histories"]


@kernel
def gather_histories(heap, slots, keys, depth, probes):
    """The times and diffs of the key of each row of a batch, in all runs, and where those of each row begin.

    The key is the whole row in a run. Of rows of the batch with the same key each has all of its history.
    """
    rows = words(heap, probes)[ROWS] if probes != NONE else 0
    runs = slots.shape[0]
    starts = np.zeros(rows + 1, np.int64)
    if rows == 0:
        return np.empty((0, depth + 1), np.int64), starts
    places = np.empty((runs, rows), np.int64)
    lengths = np.empty((runs, rows), np.int64)
    for r in range(runs):
        if slots[r] == probes:
            _find_itself(words(heap, probes), keys, places[r], lengths[r])
        else:
            _find(words(heap, slots[r]), keys, words(heap, probes), places[r], lengths[r])
        for i in range(rows):
            starts[i + 1] += lengths[r, i]
    for i in range(rows):
        starts[i + 1] += starts[i]
    histories = np.empty((starts[rows], depth + 1), np.int64)
    ends = starts[:rows].copy()
    source = np.empty(starts[rows], np.int64)
    target = np.empty(starts[rows], np.int64)
    for r in range(runs):
        count = _line_up(places[r], lengths[r], ends, source, target)
        batch = words(heap, slots[r])
        for d in range(depth + 1):
            start = np.uint64(column(batch, keys + d))
            mask = row_mask(batch, keys + d)
            for k in range(count):
                histories[np.uint64(target[k]), d] = batch[start + (np.uint64(source[k]) & mask)]
    return histories, starts


@kernel
def _find(batch, keys, probe, places, lengths):
    """Where the rows of each key begin in a run, and how many they are."""
    rows = places.shape[0]
    there = batch[ROWS]
    places[:] = seek_all(batch, keys, probe)
    # The last row stands for the one past it, which is above every key.
    for i in range(rows):
        lengths[i] = np.int64(places[i] < there)
        places[i] = min(places[i], there - 1)
    for c in range(keys):
        start = np.uint64(column(batch, c))
        mask = row_mask(batch, c)
        sought = np.uint64(column(probe, c))
        sought_mask = row_mask(probe, c)
        for i in range(rows):
            own = batch[start + (np.uint64(places[i]) & mask)]
            lengths[i] &= np.int64(own == probe[sought + (np.uint64(i) & sought_mask)])
    for i in range(rows):
        if lengths[i] == 1:
            end = places[i] + 1
            while end < there and same_data(batch, end, probe, i, keys):
                end += 1
            lengths[i] = end - places[i]


@kernel
def _find_itself(batch, keys, places, lengths):
    """As `_find`, in the batch that the keys are of."""
    i = 0
    while i < places.shape[0]:
        end = group_end(batch, keys, i)
        for k in range(i, end):
            places[k] = i
            lengths[k] = end - i
        i = end


@kernel
def _line_up(places, lengths, ends, source, target):
    """Which rows of a run go where in the histories; how many there are."""
    count = 0
    for i in range(places.shape[0]):
        for k in range(lengths[i]):
            source[count] = places[i] + k
            target[count] = ends[i] + k
            count += 1
        ends[i] += lengths[i]
    return count
