"""The set of a collection's rows while rows have only ever been inserted, in the first epoch of a loop.

A row is then new or it is there already: where the output stands tells, and the history of the input need not be
looked at. That is what the rounds of a recursive query consist of, most of whose rows were derived before. After a
few rounds they are also kept in a table, so that the runs of the output need not be searched.

Invariant: until the first negative diff a row that was put out once stays.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import (
    COORDINATES,
    INPUT,
    KEYS,
    LOWER,
    PARAMETERS,
    SCRATCH,
    SPINE,
    THRESHOLD,
    WIDTH,
)
from graphtide.dataflow.kernels.seen import CELLS, IS_DENSE, has_room, make_table, strike
from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels.batch import ROWS, column, constant, new_batch, row_mask, same_data, stride, with_column
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import finish, index_words, seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, run_slot

__all__ = ["appear", "only_appears"]

# Runs of the output from which on its rows are kept in a table, too.
FEWEST_RUNS = 8


@leaf
def only_appears(heap, operators, operator):
    """Whether a reduction that only takes insertions in is a set of whole rows."""
    parameters = words(heap, operators[operator, PARAMETERS])
    return (
        parameters[0] == THRESHOLD
        and parameters[1] == 1
        and operators[operators[operator, INPUT], WIDTH] == operators[operator, KEYS]
    )


@kernel
def appear(heap, operators, operator, state):
    """The rows that came in and were not there; slot 0 if there are none."""
    fresh = words(heap, words(heap, operators[operators[operator, INPUT], SPINE])[FRESH])
    spine = words(heap, operators[operator, SPINE])
    keys = operators[operator, KEYS]
    rows = fresh[ROWS]
    is_new = np.ones(rows, np.bool_)
    table = _table(heap, operators, operator, spine, fresh)
    if table != NONE:
        strike(words(heap, table), fresh, keys, is_new)
    else:
        for r in range(spine[RUNS]):
            _strike_run(words(heap, run_slot(spine, r)), fresh, keys, is_new)
    chosen = np.empty(rows, np.int64)
    count = 0
    for i in range(rows):
        chosen[count] = i
        count += is_new[i]
    varying = 0
    for c in range(keys):
        varying = with_column(varying, c)
    result = new_batch(heap, operator, keys + 3, 2, count, varying, index_words(count))
    out = words(heap, result)
    for c in range(keys):
        start = column(out, c)
        source = column(fresh, c)
        mask = row_mask(fresh, c)
        for k in range(count):
            out[np.uint64(start + k)] = fresh[np.uint64(source) + (np.uint64(chosen[k]) & mask)]
    constant(out, keys, state[LOWER])
    constant(out, keys + 1, state[COORDINATES + 1])
    constant(out, keys + 2, 1)
    if count == 0:
        release(heap, result)
        return NONE
    finish(out, count)
    return result


@inlined
def _table(heap, operators, operator, spine, fresh):
    """The table of what was put out, with room for a batch; slot 0 while there are few runs, or rows are too wide."""
    keys = operators[operator, KEYS]
    table = operators[operator, SCRATCH]
    may_be_dense = True
    if table != NONE:
        if words(heap, table)[CELLS] == 0:
            return NONE
        if has_room(words(heap, table), fresh, keys):
            return table
        # A dense one has no room only for rows beyond its ranges, of which more may come.
        may_be_dense = words(heap, table)[IS_DENSE] == 0
    release(heap, table)
    operators[operator, SCRATCH] = NONE
    if spine[RUNS] < FEWEST_RUNS:
        return NONE
    table = make_table(heap, operator, spine, fresh, keys, may_be_dense)
    operators[operator, SCRATCH] = table
    return table if words(heap, table)[CELLS] > 0 else NONE


@kernel
def _strike_run(run, fresh, keys, is_new):
    """Rule out the rows that a batch of the output has; both are sorted, so the lesser side goes on."""
    rows = fresh[ROWS]
    there = run[ROWS]
    if keys != 2 or stride(run, 0) == 0 or stride(run, 1) == 0 or there > 4 * rows:
        found = seek_all(run, keys, fresh)
        for i in range(rows):
            if found[i] < there and same_data(run, found[i], fresh, i, keys):
                is_new[i] = False
        return
    # Pairs, which most recursive relations are, and nearly as many on both sides: a plain merge, without a branch on
    # which is less.
    first = run[column(run, 0) : column(run, 0) + there]
    second = run[column(run, 1) : column(run, 1) + there]
    fresh_first = fresh[column(fresh, 0) :]
    fresh_second = fresh[column(fresh, 1) :]
    mask_first = row_mask(fresh, 0)
    mask_second = row_mask(fresh, 1)
    i = np.uint64(0)
    j = np.uint64(0)
    while i < np.uint64(rows) and j < np.uint64(there):
        a = fresh_first[i & mask_first]
        b = first[j]
        x = fresh_second[i & mask_second]
        y = second[j]
        below = (a < b) | ((a == b) & (x < y))
        same = (a == b) & (x == y)
        is_new[i] &= not same
        i += np.uint64(below | same)
        j += np.uint64(not below)
