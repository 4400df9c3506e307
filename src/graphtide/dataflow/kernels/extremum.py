"""The least or greatest value of each key while rows have only ever been inserted, in the first epoch of a loop.

A value can then only be overtaken by one that comes in: the history of a key need not be looked at, only
where its output stands. Most messages of a breadth-first search are answered by that one look.

Invariant: until the first negative diff an output row of a key is better than all before it, so that the
best one in the output's index is the one that holds.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import direction, extent
from graphtide.dataflow.kernels.layout import (
    CARRY,
    COORDINATES,
    DEPTH,
    INPUT,
    KEYS,
    LATE,
    LOWER,
    PARAMETERS,
    SPINE,
    TOOK_AWAY,
    UPPER,
    WIDTH,
)
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ROWS, constant, new_batch, put, same_data, value, with_column
from graphtide.trace.kernels.consolidate import seal_sorted
from graphtide.trace.kernels.heap import NONE, words
from graphtide.trace.kernels.index import group_end, seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, merge_for, run_slot
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK

__all__ = ["improve", "only_improves", "only_takes_in"]


@kernel
def only_takes_in(heap, operators, operator, state):
    """Whether rows have only ever been inserted, all in this epoch; to be asked each time, since it remembers."""
    arrangement = operators[operator, INPUT]
    spine = words(heap, operators[arrangement, SPINE])
    fresh = spine[FRESH]
    if operators[operator, LATE] == 1 or (fresh != NONE and _takes_away(words(heap, fresh))):
        operators[operator, TOOK_AWAY] = 1
    if (
        operators[operator, TOOK_AWAY] == 1
        or fresh == NONE
        or operators[operator, CARRY] != NONE
        or operators[operator, DEPTH] != 2
        or state[UPPER] - state[LOWER] != 1
    ):
        return False
    # A history of this epoch alone has no time that is beyond this round.
    for r in range(spine[RUNS]):
        if words(heap, run_slot(spine, r))[layout.LOWER] < state[LOWER]:
            return False
    return True


@leaf
def only_improves(heap, operators, operator):
    """Whether a reduction that only takes insertions in is a least or greatest value."""
    parameters = words(heap, operators[operator, PARAMETERS])
    return extent(parameters) == 1 and operators[operator, WIDTH] - operators[operator, KEYS] == 1


@kernel
def improve(heap, operators, operator, state):
    """The corrections of the output for the rows that came in; slot 0 if none is better than what is there."""
    fresh = words(heap, words(heap, operators[operators[operator, INPUT], SPINE])[FRESH])
    spine = words(heap, operators[operator, SPINE])
    keys = operators[operator, KEYS]
    is_least = direction(words(heap, operators[operator, PARAMETERS])) > 0
    rows = fresh[ROWS]
    is_there = np.zeros(rows, np.bool_)
    current = np.empty(rows, np.int64)
    merge_for(heap, operators[operator, SPINE], ROWS_OF_A_LOOK * rows)
    for r in range(spine[RUNS]):
        _note_current(words(heap, run_slot(spine, r)), fresh, keys, is_least, is_there, current)
    varying = with_column(0, keys + 3)
    for c in range(keys + 1):
        varying = with_column(varying, c)
    result = new_batch(heap, operator, keys + 4, 2, 2 * rows, varying, 0)
    out = words(heap, result)
    at = 0
    i = 0
    while i < rows:
        end = group_end(fresh, keys, i)
        best = value(fresh, keys, i if is_least else end - 1)
        if not is_there[i]:
            at = _put_row(out, at, fresh, i, keys, best, 1)
        elif best < current[i] and is_least:
            at = _put_row(out, at, fresh, i, keys, best, 1)
            at = _put_row(out, at, fresh, i, keys, current[i], -1)
        elif best > current[i] and not is_least:
            at = _put_row(out, at, fresh, i, keys, current[i], -1)
            at = _put_row(out, at, fresh, i, keys, best, 1)
        i = end
    out[ROWS] = at
    constant(out, keys + 1, state[LOWER])
    constant(out, keys + 2, state[COORDINATES + 1])
    return seal_sorted(heap, operator, result)


@leaf
def _takes_away(batch):
    """Whether a batch has a negative diff."""
    diff = batch[layout.WIDTH] - 1
    least, _ = layout.range_of(batch, diff)
    return least < 0


@kernel
def _note_current(run, fresh, keys, is_least, is_there, current):
    """Look up the first row of each key of `fresh` in one batch of the output, and note its best value."""
    found = seek_all(run, keys, fresh)
    for i in range(fresh[ROWS]):
        at = found[i]
        if at == run[ROWS] or not same_data(run, at, fresh, i, keys):
            continue
        v = value(run, keys, at if is_least else group_end(run, keys, at) - 1)
        if not is_there[i] or (v < current[i]) == is_least:
            is_there[i] = True
            current[i] = v


@leaf
def _put_row(out, at, fresh, i, keys, v, diff):
    for c in range(keys):
        put(out, c, at, value(fresh, c, i))
    put(out, keys, at, v)
    put(out, keys + 3, at, diff)
    return at + 1
