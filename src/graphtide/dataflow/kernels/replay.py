"""The join of two histories of one key, told in the order of their epochs.

A physical batch holds many epochs, and a key that changes in each of them has many differences on both
sides. Most pairs of them cancel: a value that came and went again meets everything of the other side
twice. So both histories are replayed, and what changes at an epoch meets only what is left of the other
side at that epoch (differential dataflow does the same; the law is that of `join`).

Invariant: after an epoch, a side's weights are the sum of its differences up to it, and its live entries
are those with a weight other than zero. An entry is a row of data at loop coordinates; these are advanced
to the meet of the other side's first, which no least upper bound can tell from the coordinates as they were.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import DEPTH, PARAMETERS, WIDTH
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    add_rows,
    data_width,
    new_batch,
    put,
    same_data,
    value,
)
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.times import coordinate, coordinate_stride

__all__ = ["is_worth_replaying", "replay"]

# Differences of a key on either side under which all pairs are cheaper than a replay.
FEW = 16

# Columns of a history.
EPOCH = 0
ENTRY = 1
DIFF = 2


@leaf
def is_worth_replaying(a, i, i_end, b, j, j_end):
    """Whether both sides of a key have many differences, and not all at one epoch."""
    return min(i_end - i, j_end - j) >= FEW and coordinate_stride(a, 0) == 1 and coordinate_stride(b, 0) == 1


@kernel
def replay(heap, operators, operator, result, new, i, i_end, run, j, j_end, is_left):
    """Add to `result` what rows [i, i_end) of a new batch and rows [j, j_end) of a run make of one key.

    `is_left` says that the new batch is of the join's left side. Returns the result, made if it was slot 0.
    """
    depth = operators[operator, DEPTH]
    a = words(heap, new)
    b = words(heap, run)
    history_a, entries_a = _history(heap, operator, a, i, i_end, depth, _meet(b, j, j_end, depth))
    history_b, entries_b = _history(heap, operator, b, j, j_end, depth, _meet(a, i, i_end, depth))
    if history_a != NONE and history_b != NONE:
        if result == NONE:
            width = operators[operator, WIDTH] + depth + 1
            result = new_batch(heap, operator, width, depth, i_end - i + j_end - j, ALL_VARY, 0)
        parameters = words(heap, operators[operator, PARAMETERS])
        _sweep(heap, result, parameters, depth, is_left, a, history_a, entries_a, b, history_b, entries_b)
        if words(heap, result)[ROWS] == 0:
            release(heap, result)
            result = NONE
    release(heap, history_a)
    release(heap, history_b)
    return result


@kernel
def _meet(batch, low, high, depth):
    """The greatest loop coordinates that are at most those of all the rows."""
    floor = np.zeros(depth, np.int64)
    for d in range(1, depth):
        floor[d] = coordinate(batch, d, low)
        if coordinate_stride(batch, d) == 1:
            for r in range(low + 1, high):
                floor[d] = min(floor[d], coordinate(batch, d, r))
    return floor


@kernel
def _history(heap, owner, batch, low, high, depth, floor):
    """The rows' differences by epoch and entry, slot 0 if they cancel; and of each entry a row and coordinates.

    The rows are one key's of a consolidated batch, so those with the same data are neighbours.
    """
    data = data_width(batch)
    rows = high - low
    advanced = new_batch(heap, owner, depth + 2, 0, rows, ALL_VARY, 0)
    target = words(heap, advanced)
    first = low
    for r in range(low, high):
        if r > low and not same_data(batch, r, batch, first, data):
            first = r
        put(target, 0, r - low, first)
        for d in range(1, depth):
            put(target, d, r - low, max(floor[d], coordinate(batch, d, r)))
        put(target, depth, r - low, coordinate(batch, 0, r))
        put(target, depth + 1, r - low, value(batch, batch[layout.WIDTH] - 1, r))
    target[ROWS] = rows
    by_entry = consolidate(heap, owner, advanced, np.arange(depth + 1))
    release(heap, advanced)
    if by_entry == NONE:
        return NONE, np.empty((0, depth), np.int64)
    source = words(heap, by_entry)
    rows = source[ROWS]
    entries = np.empty((rows, depth), np.int64)
    count = 0
    numbered = new_batch(heap, owner, 3, 0, rows, ALL_VARY, 0)
    target = words(heap, numbered)
    for r in range(rows):
        if r == 0 or not same_data(source, r, source, r - 1, depth):
            for d in range(depth):
                entries[count, d] = value(source, d, r)
            count += 1
        put(target, EPOCH, r, value(source, depth, r))
        put(target, ENTRY, r, count - 1)
        put(target, DIFF, r, value(source, depth + 1, r))
    target[ROWS] = rows
    release(heap, by_entry)
    history = consolidate(heap, owner, numbered, np.arange(2))
    release(heap, numbered)
    return history, entries[:count]


@kernel
def _sweep(heap, result, parameters, depth, is_left, a, history_a, entries_a, b, history_b, entries_b):
    """Go through both histories, epoch by epoch."""
    edits_a = words(heap, history_a)
    edits_b = words(heap, history_b)
    weights_a = np.zeros(entries_a.shape[0], np.int64)
    weights_b = np.zeros(entries_b.shape[0], np.int64)
    live_a = np.empty(entries_a.shape[0], np.int64)
    live_b = np.empty(entries_b.shape[0], np.int64)
    place_a = np.empty(entries_a.shape[0], np.int64)
    place_b = np.empty(entries_b.shape[0], np.int64)
    count_a = 0
    count_b = 0
    p = 0
    q = 0
    while p < edits_a[ROWS] or q < edits_b[ROWS]:
        if q == edits_b[ROWS] or (p < edits_a[ROWS] and value(edits_a, EPOCH, p) < value(edits_b, EPOCH, q)):
            epoch = value(edits_a, EPOCH, p)
        else:
            epoch = value(edits_b, EPOCH, q)
        # What b changes meets a as it was before the epoch, what a changes meets b as it is after it.
        while q < edits_b[ROWS] and value(edits_b, EPOCH, q) == epoch:
            y = value(edits_b, ENTRY, q)
            diff = value(edits_b, DIFF, q)
            met = live_a[:count_a]
            _meet_live(
                heap, result, parameters, depth, not is_left, b, entries_b[y], diff, epoch, a, entries_a, weights_a, met
            )
            count_b = _add(weights_b, live_b, place_b, count_b, y, diff)
            q += 1
        while p < edits_a[ROWS] and value(edits_a, EPOCH, p) == epoch:
            x = value(edits_a, ENTRY, p)
            diff = value(edits_a, DIFF, p)
            met = live_b[:count_b]
            _meet_live(
                heap, result, parameters, depth, is_left, a, entries_a[x], diff, epoch, b, entries_b, weights_b, met
            )
            count_a = _add(weights_a, live_a, place_a, count_a, x, diff)
            p += 1


@leaf
def _meet_live(heap, result, parameters, depth, is_left, own, entry, diff, epoch, other, entries, weights, live):
    """Write what a change of one side's entry makes with each live entry of the other."""
    at = add_rows(heap, result, live.shape[0])
    out = words(heap, result)
    for k in range(live.shape[0]):
        _write(out, at + k, parameters, depth, is_left, own, entry, other, entries[live[k]], epoch)
        put(out, out[layout.WIDTH] - 1, at + k, diff * weights[live[k]])


@leaf
def _add(weights, live, place, count, entry, diff):
    """Add to an entry's weight; how many entries are live then."""
    before = weights[entry]
    weights[entry] = before + diff
    if before == 0:
        live[count] = entry
        place[entry] = count
        return count + 1
    if before + diff == 0:
        last = live[count - 1]
        live[place[entry]] = last
        place[last] = place[entry]
        return count - 1
    return count


@leaf
def _write(out, at, parameters, depth, is_left, a, entry_a, b, entry_b, epoch):
    """Write one row of the output but for its diff: data of both sides, at the least upper bound of their times."""
    data = out[layout.WIDTH] - depth - 1
    for c in range(data):
        if (parameters[2 * c] == 0) == is_left:
            put(out, c, at, value(a, parameters[2 * c + 1], entry_a[0]))
        else:
            put(out, c, at, value(b, parameters[2 * c + 1], entry_b[0]))
    put(out, data, at, epoch)
    for d in range(1, depth):
        put(out, data + d, at, max(entry_a[d], entry_b[d]))
