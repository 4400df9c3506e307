"""The histories of many keys at once, run by run and column by column.

Key after key, every look would wait for the words of its rows, which lie far apart in each column of each run. So the
memory is asked for the words of many keys at a time.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    cells,
    column,
    new_batch,
    row_mask,
    same_between,
    same_data,
)
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import bound_all, seek_all

__all__ = ["gather_histories"]


@kernel
def gather_histories(heap, slots, keys, depth, probes):
    """The times and diffs of the key of each row of a consolidated batch, in all runs, and where those of each begin.

    The key is the whole row in a run. Of rows of the batch with the same key the first has all of its history.
    """
    rows = words(heap, probes)[ROWS] if probes != NONE else 0
    starts = np.zeros(rows + 1, np.int64)
    if rows == 0:
        return np.empty((0, depth + 1), np.int64), starts
    firsts = _first_rows(words(heap, probes), keys)
    count = firsts.shape[0]
    sought = probes if count == rows else _chosen_keys(heap, probes, keys, firsts)
    runs = slots.shape[0]
    places = np.empty((runs, count), np.int64)
    lengths = np.empty((runs, count), np.int64)
    ends = np.zeros(count + 1, np.int64)
    for r in range(runs):
        if slots[r] == probes:
            _find_itself(firsts, rows, places[r], lengths[r])
        else:
            _find(words(heap, slots[r]), keys, words(heap, sought), places[r], lengths[r])
        for k in range(count):
            ends[k + 1] += lengths[r, k]
    if count < rows:
        release(heap, sought)
    for k in range(count):
        ends[k + 1] += ends[k]
        # The other rows of the key begin, and end, where its history ends.
        for i in range(firsts[k] + 1, firsts[k + 1] + 1 if k + 1 < count else rows + 1):
            starts[i] = ends[k + 1]
    total = ends[count]
    histories = np.empty((total, depth + 1), np.int64)
    source = np.empty(total, np.int64)
    target = np.empty(total, np.int64)
    for r in range(runs):
        found = _line_up(places[r], lengths[r], ends, source, target)
        batch = words(heap, slots[r])
        for d in range(depth + 1):
            start = np.uint64(column(batch, keys + d))
            mask = row_mask(batch, keys + d)
            for k in range(found):
                histories[np.uint64(target[k]), d] = batch[start + (np.uint64(source[k]) & mask)]
    return histories, starts


@kernel
def _first_rows(batch, keys):
    """The first row of each key."""
    rows = batch[ROWS]
    firsts = np.empty(rows, np.int64)
    count = 0
    i = 0
    while i < rows:
        firsts[count] = i
        count += 1
        i += 1
        while i < rows and same_data(batch, i, batch, i - 1, keys):
            i += 1
    return firsts[:count]


@kernel
def _chosen_keys(heap, slot, keys, chosen):
    """A batch of the keys of some rows, without times and diffs."""
    picked = new_batch(heap, 0, keys, 0, chosen.shape[0], ALL_VARY, 0)
    batch = words(heap, slot)
    out = words(heap, picked)
    out[ROWS] = chosen.shape[0]
    for c in range(keys):
        own = cells(out, c, chosen.shape[0])
        start = np.uint64(column(batch, c))
        mask = row_mask(batch, c)
        for k in range(chosen.shape[0]):
            own[k] = batch[start + (np.uint64(chosen[k]) & mask)]
    return picked


@kernel
def _find(batch, keys, probe, places, lengths):
    """Where the rows of each key begin in a run, and how many they are."""
    rows = places.shape[0]
    if keys == 0:
        places[:] = 0
        lengths[:] = batch[ROWS]
        return
    places[:] = seek_all(batch, keys, probe)
    # Until they are counted, `lengths` are where the rows end that may have the key.
    first = bound_all(batch, probe, lengths)
    last = keys - 1
    own = batch[column(batch, last) :]
    mask = row_mask(batch, last)
    sought = probe[column(probe, last) :]
    sought_mask = row_mask(probe, last)
    for i in range(rows):
        key = sought[np.uint64(i) & sought_mask]
        end = places[i]
        # The last column first: it is the one that the search has touched.
        while (
            end < lengths[i] and own[np.uint64(end) & mask] == key and same_between(batch, end, probe, i, first, last)
        ):
            end += 1
        lengths[i] = end - places[i]


@kernel
def _find_itself(firsts, rows, places, lengths):
    """As `_find`, in the batch that the keys are of, given the first row of each."""
    count = firsts.shape[0]
    for k in range(count):
        places[k] = firsts[k]
        lengths[k] = (firsts[k + 1] if k + 1 < count else rows) - firsts[k]


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
