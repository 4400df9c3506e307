"""Runs of the epochs in progress, in an index inside of a loop: they wait until they are gathered into one by a sort.

Each round of a loop leaves a run. An epoch ends as a whole, so that no round need be quick for itself, and to sort a
hundred runs takes a third of the time that merging them two by two does.

Invariant: a run that waits is no part of a merge under way.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import (
    LOWER,
    ROWS,
    UPPER,
    column,
    constant,
    copy_column,
    new_batch,
    rows_of,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.runs import (
    MERGED,
    OPEN,
    OWNER,
    RUN_FIELDS,
    RUN_TABLE,
    RUNS,
    SLOT,
    SPINE_DEPTH,
    SPINE_WIDTH,
    run_slot,
)

__all__ = ["MOST_WAITING", "ROWS_OF_A_LOOK", "ROWS_OF_A_VISIT", "comparable", "gather", "gather_for", "waits"]

# Runs that may wait.
MOST_WAITING = 48
# Rows that are gathered or merged in the time in which a key is looked up in a few runs, and its rows are counted; and
# those for a key whose rows are gone through in the order of their values.
ROWS_OF_A_LOOK = 8
ROWS_OF_A_VISIT = 32


@leaf
def waits(heap, spine, r):
    """Whether a run of an index in a loop is of the epochs in progress."""
    return spine[SPINE_DEPTH] > 1 and words(heap, run_slot(spine, r))[LOWER] >= spine[OPEN]


@leaf
def comparable(heap, spine):
    """The first of the waiting runs that is worth a sort: it has at most twice the rows of those behind it."""
    first = spine[RUNS] - 1
    behind = 0
    for r in range(spine[RUNS] - 1, -1, -1):
        if not waits(heap, spine, r):
            break
        rows = rows_of(heap, run_slot(spine, r))
        if rows <= 2 * behind:
            first = r
        behind += rows
    return first


@kernel
def gather(heap, slot, first):
    """Make one run of those from `first` on, which wait, or none if they add up to nothing."""
    spine = words(heap, slot)
    if spine[RUNS] - first < 2:
        return
    width = spine[SPINE_WIDTH]
    data = width - spine[SPINE_DEPTH] - 1
    total = 0
    for r in range(first, spine[RUNS]):
        total += rows_of(heap, run_slot(spine, r))
    oldest = words(heap, run_slot(spine, first))
    newest = words(heap, run_slot(spine, spine[RUNS] - 1))
    varying = 0
    for c in range(width):
        if c < data or not _is_one_value(heap, spine, first, c):
            varying = with_column(varying, c)
    gathered = new_batch(heap, spine[OWNER], width, spine[SPINE_DEPTH], total, varying, 0)
    out = words(heap, gathered)
    out[LOWER] = oldest[LOWER]
    out[UPPER] = newest[UPPER]
    for c in range(width):
        if stride(out, c) == 0:
            constant(out, c, value(oldest, c, 0))
            continue
        at = column(out, c)
        for r in range(first, spine[RUNS]):
            batch = words(heap, run_slot(spine, r))
            copy_column(out[at : at + batch[ROWS]], batch, c)
            at += batch[ROWS]
    out[ROWS] = total
    result = consolidate(heap, spine[OWNER], gathered, np.arange(data))
    release(heap, gathered)
    for r in range(first, spine[RUNS]):
        base = RUN_TABLE + r * RUN_FIELDS
        release(heap, spine[base + SLOT])
        release(heap, spine[base + MERGED])
    spine[RUNS] = first
    if result != NONE:
        spine[RUN_TABLE + first * RUN_FIELDS + SLOT] = result
        spine[RUN_TABLE + first * RUN_FIELDS + MERGED] = NONE
        spine[RUNS] = first + 1


@kernel
def gather_for(heap, slot, fuel):
    """Gather waiting runs, reading so many rows, before keys are looked up in every run; how many are left to read."""
    spine = words(heap, slot)
    first = spine[RUNS]
    rows = 0
    while first > 0 and waits(heap, spine, first - 1):
        more = rows_of(heap, run_slot(spine, first - 1))
        if rows + more > fuel:
            break
        rows += more
        first -= 1
    if spine[RUNS] - first < 3:
        return fuel
    gather(heap, slot, first)
    return fuel - rows


@leaf
def _is_one_value(heap, spine, first, c):
    """Whether a column has the same value in all rows of the runs from `first` on."""
    oldest = words(heap, run_slot(spine, first))
    for r in range(first, spine[RUNS]):
        batch = words(heap, run_slot(spine, r))
        if stride(batch, c) == 1 or value(batch, c, 0) != value(oldest, c, 0):
            return False
    return True
