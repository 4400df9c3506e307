"""The least or greatest value of each key in a loop of which nothing is ever taken back.

Rows that only come make values that only get better. A value that was right at a time stays one of those that the best
is taken of, there and at all later times, whichever round it came in. So it is put out once: neither its round nor
what overtakes it is followed, and the history of the input is not kept. What leaves the loop goes through the same
outside, where there are no rounds, and is then reduced (`dataflow.growing`).

Invariant: for each row that came in at a time, the output has a row of its key that is as good, at or before that
time, rounds aside. Signs do not matter: on a lattice a set has negative diffs where two of its beginnings meet, but
what grows has a difference at a time only if it is there.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import (
    COORDINATES,
    DEPTH,
    INPUT,
    KEYS,
    LOWER,
    PARAMETERS,
    PORT,
    SPINE,
    UPPER,
)
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import (
    ROWS,
    column,
    constant,
    new_batch,
    row_mask,
    same_data,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import finish, group_end, index_words, seek_all
from graphtide.trace.kernels.spine import RUNS, merge_for, run_slot
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK

__all__ = ["overtake"]

NEVER = np.iinfo(np.int64).max


@kernel
def overtake(heap, operators, operator, state):
    """The rows that came in and are better than all at or before their times; slot 0 if there are none.

    All that comes in is of the round in progress, in some epoch of the run. Parameters are whether the least value is
    the best, how many of the last coordinates are rounds, and the order of columns that puts the key first.
    """
    parameters = words(heap, operators[operator, PARAMETERS])
    source = operators[operators[operator, INPUT], PORT]
    came = consolidate(heap, operator, source, parameters[2:])
    if came == NONE:
        return NONE
    is_least = parameters[0] == 1
    keys = operators[operator, KEYS]
    best = _chosen(heap, operators, operator, state, came, _best_of_each(words(heap, came), keys, is_least))
    release(heap, came)
    if best == NONE:
        return NONE
    fresh = words(heap, best)
    rows = fresh[ROWS]
    is_better = np.ones(rows, np.bool_)
    merge_for(heap, operators[operator, SPINE], ROWS_OF_A_LOOK * rows)
    spine = words(heap, operators[operator, SPINE])
    compared = operators[operator, DEPTH] - parameters[1]
    for r in range(spine[RUNS]):
        _compare_with(words(heap, run_slot(spine, r)), fresh, keys, compared, is_least, is_better)
    result = _chosen(heap, operators, operator, state, best, np.flatnonzero(is_better))
    release(heap, best)
    return result


@kernel
def _best_of_each(came, keys, is_least):
    """The rows that no other of their key is better than, in their epoch or before."""
    rows = came[ROWS]
    chosen = np.empty(rows, np.int64)
    count = 0
    start = 0
    while start < rows:
        end = group_end(came, keys, start)
        earliest = NEVER
        first = count
        for k in range(end - start):
            i = start + k if is_least else end - 1 - k
            epoch = value(came, keys + 1, i)
            if epoch < earliest:
                chosen[count] = i
                count += 1
                earliest = epoch
        if not is_least:
            chosen[first:count] = chosen[first:count][::-1].copy()
        start = end
    return chosen[:count]


@kernel
def _compare_with(run, fresh, keys, compared, is_least, is_better):
    """Rule out the rows that a batch of the output has one for that is as good and not later, by some coordinates."""
    found = seek_all(run, keys, fresh)
    there = run[ROWS]
    for i in range(fresh[ROWS]):
        at = found[i]
        own = value(fresh, keys, i)
        while is_better[i] and at < there and same_data(run, at, fresh, i, keys):
            other = value(run, keys, at)
            if is_least and other > own:
                break
            if (is_least or other >= own) and _is_by(run, at, fresh, i, keys + 1, keys + 1 + compared):
                is_better[i] = False
            at += 1


@leaf
def _is_by(run, at, fresh, i, first, end):
    """Whether a row is there by the time of another, in the coordinates from `first` on."""
    for c in range(first, end):
        if value(run, c, at) > value(fresh, c, i):
            return False
    return True


@kernel
def _chosen(heap, operators, operator, state, source, chosen):
    """A consolidated batch of some rows of another, each once, in the round in progress; slot 0 if there are none."""
    count = chosen.shape[0]
    if count == 0:
        return NONE
    keys = operators[operator, KEYS]
    depth = operators[operator, DEPTH]
    varying = 0
    copied = keys + 1 if state[UPPER] - state[LOWER] == 1 else keys + 2
    for c in range(copied):
        varying = with_column(varying, c)
    width = keys + depth + 2
    result = new_batch(heap, operator, width, depth, count, varying, index_words(count))
    batch = words(heap, source)
    out = words(heap, result)
    for c in range(copied):
        start = column(out, c)
        first = np.uint64(column(batch, c))
        mask = row_mask(batch, c)
        for k in range(count):
            out[np.uint64(start + k)] = batch[first + (np.uint64(chosen[k]) & mask)]
    if stride(out, keys + 1) == 0:
        constant(out, keys + 1, state[LOWER])
    for d in range(1, depth):
        constant(out, keys + 1 + d, state[COORDINATES + d])
    constant(out, width - 1, 1)
    finish(out, count)
    return result
