"""Visits of a reduction: keys with the times at which they are looked at, and the rows wanted there.

What is common to all reductions: bringing together the new rows and the visits that were called for, key by key, and
writing down what was found.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.calendar import post_row
from graphtide.dataflow.kernels.layout import CARRY
from graphtide.jit import borrowing, inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ROWS, compare_data, put, reserve, same_data, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end, seek
from graphtide.trace.kernels.spine import RUNS, run_slot

__all__ = ["look_up", "next_key", "open_runs", "post", "take_carry", "write_visit"]


@kernel
def take_carry(heap, operators, operator, keys):
    """The visits that earlier rounds have called for in this one, by key; slot 0 if there are none."""
    carry = operators[operator, CARRY]
    if carry == NONE:
        return NONE
    operators[operator, CARRY] = NONE
    order = np.arange(keys)
    waiting = consolidate(heap, operator, carry, order)
    release(heap, carry)
    return waiting


@kernel
def open_runs(spine, fresh):
    """The batches of a spine, and cursors at their beginnings."""
    runs = spine[RUNS] + (1 if fresh != NONE else 0)
    slots = np.empty(runs, np.int64)
    for r in range(spine[RUNS]):
        slots[r] = run_slot(spine, r)
    if fresh != NONE:
        slots[runs - 1] = fresh
    return slots, np.zeros(runs, np.int64), np.zeros(runs, np.int64)


@leaf
def look_up(heap, slots, runs, keys, probe, row, lows, highs):
    """Set [lows, highs) of each run to the rows of a key, which is above that of the last look."""
    for r in range(runs):
        batch = words(heap, slots[r])
        lows[r] = seek(batch, keys, probe, row, highs[r])
        highs[r] = lows[r]
        if lows[r] < batch[ROWS] and same_data(batch, lows[r], probe, row, keys):
            highs[r] = group_end(batch, keys, lows[r])


@inlined
def next_key(heap, new, i, new_rows, carry, j, carried_rows, keys):
    """The lesser of the next keys of both batches: where it stands, and where its rows end in each."""
    if j == carried_rows:
        a = words(heap, new)
        return a, i, group_end(a, keys, i), j
    b = words(heap, carry)
    if i == new_rows:
        return b, j, i, group_end(b, keys, j)
    a = words(heap, new)
    order = compare_data(a, i, b, j, keys)
    if order < 0:
        return a, i, group_end(a, keys, i), j
    if order > 0:
        return b, j, i, group_end(b, keys, j)
    return a, i, group_end(a, keys, i), group_end(b, keys, j)


@borrowing
def post(heap, operator, calendar, times, k, probe, row, keys, note):
    """Let a key be visited at a later time, the k-th of a list; `note` is a batch of one row to write it on."""
    depth = times.shape[1]
    pending = words(heap, note)
    for c in range(keys):
        put(pending, c, 0, value(probe, c, row))
    for d in range(depth):
        put(pending, keys + d, 0, times[k, d])
    put(pending, keys + depth, 0, 1)
    post_row(heap, calendar, depth, times[k, 1:], operator, pending, 0, operator)


@leaf
def write_visit(heap, visits, wanted, probe, row, keys, time, rows, count):
    """Append a visit and its rows."""
    target = words(heap, visits)
    at = target[ROWS]
    if at == target[layout.CAPACITY]:
        reserve(heap, visits, at + 1)
        target = words(heap, visits)
    for c in range(keys):
        put(target, c, at, value(probe, c, row))
    for d in range(time.shape[0]):
        put(target, keys + d, at, time[d])
    put(target, keys + time.shape[0], at, count)
    target[ROWS] = at + 1
    target = words(heap, wanted)
    at = target[ROWS]
    if at + count > target[layout.CAPACITY]:
        reserve(heap, wanted, at + count)
        target = words(heap, wanted)
    for k in range(count):
        for c in range(rows.shape[1]):
            put(target, c, at + k, rows[k, c])
    target[ROWS] = at + count
