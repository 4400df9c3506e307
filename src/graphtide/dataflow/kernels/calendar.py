"""What a scope still has to do in later rounds: batches waiting for an operator, by coordinates.

A calendar is a block of words: the number of entries, then the entries in the order of the loop
coordinates, which extends the order of times. An entry is the coordinates, the operator and the
slot of the waiting batch.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import COORDINATES, DEPTH
from graphtide.jit import borrowing, kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, CAPACITY, ROWS, WIDTH, new_batch, put, reserve, stride, value
from graphtide.trace.kernels.heap import NONE, allocate, release, resize, words

__all__ = [
    "clear_calendar",
    "due_coordinate",
    "new_calendar",
    "post_batch",
    "post_row",
    "split_future",
    "take_due",
]

ENTRIES = 0
FIRST = 1
INITIAL = 16


@kernel
def new_calendar(heap, owner, depth):
    """An empty calendar for a scope whose times have `depth` coordinates."""
    slot = allocate(heap, owner, FIRST + INITIAL * (depth + 1))
    words(heap, slot)[ENTRIES] = 0
    return slot


@kernel
def clear_calendar(heap, calendar, depth):
    """Forget everything that waits."""
    entries = words(heap, calendar)
    size = depth + 1
    for e in range(entries[ENTRIES]):
        release(heap, entries[FIRST + e * size + depth])
    entries[ENTRIES] = 0


@leaf
def _compare(entries, at, coordinates, loops, operator):
    for d in range(loops):
        if entries[at + d] != coordinates[d]:
            return -1 if entries[at + d] < coordinates[d] else 1
    if entries[at + loops] != operator:
        return -1 if entries[at + loops] < operator else 1
    return 0


@borrowing
def _find(heap, calendar, depth, coordinates, operator):
    """The place of the entry, made with slot 0 if it was not there; calendars are short and grow by copying."""
    loops = depth - 1
    size = depth + 1
    entries = words(heap, calendar)
    low = 0
    high = entries[ENTRIES]
    while low < high:
        middle = (low + high) >> 1
        order = _compare(entries, FIRST + middle * size, coordinates, loops, operator)
        if order == 0:
            return FIRST + middle * size
        if order < 0:
            low = middle + 1
        else:
            high = middle
    count = entries[ENTRIES]
    needed = FIRST + (count + 1) * size
    if needed > entries.shape[0]:
        resize(heap, calendar, 2 * needed, FIRST + count * size)
        entries = words(heap, calendar)
    at = FIRST + low * size
    for w in range(FIRST + count * size - 1, at - 1, -1):
        entries[w + size] = entries[w]
    for d in range(loops):
        entries[at + d] = coordinates[d]
    entries[at + loops] = operator
    entries[at + depth] = NONE
    entries[ENTRIES] = count + 1
    return at


@kernel
def post_batch(heap, calendar, depth, coordinates, operator, batch):
    """Let a whole batch wait for the operator; the calendar takes the caller's count of the slot."""
    at = _find(heap, calendar, depth, coordinates, operator)
    entries = words(heap, calendar)
    if entries[at + depth] == NONE:
        entries[at + depth] = batch
        return
    source = words(heap, batch)
    for i in range(source[ROWS]):
        _append(heap, entries[at + depth], source, i)
    release(heap, batch)


@borrowing
def post_row(heap, calendar, depth, coordinates, operator, source, i, owner):
    """Let one row wait for the operator; returns the slot of the batch that it waits in."""
    at = _find(heap, calendar, depth, coordinates, operator)
    entries = words(heap, calendar)
    if entries[at + depth] == NONE:
        entries[at + depth] = new_batch(heap, owner, source[WIDTH], depth, 8, ALL_VARY, 0)
    waiting = entries[at + depth]
    _append(heap, waiting, source, i)
    return waiting


@leaf
def _append(heap, slot, source, i):
    target = words(heap, slot)
    row = target[ROWS]
    if row == target[CAPACITY]:
        reserve(heap, slot, row + 1)
        target = words(heap, slot)
    for c in range(target[WIDTH]):
        put(target, c, row, value(source, c, i))
    target[ROWS] = row + 1


@kernel
def split_future(heap, operators, operator, calendar, state, batch):
    """Keep the rows of the round in progress; let the others wait in the calendar for their rounds.

    Takes the caller's count of `batch` and returns the part to put out, slot 0 if there is none.
    """
    depth = operators[operator, DEPTH]
    loops = depth - 1
    if batch == NONE or loops == 0:
        return batch
    source = words(heap, batch)
    first = source[WIDTH] - depth  # the first loop coordinate: the epoch stands before it
    rows = source[ROWS]
    # Where all rows have one time, the first speaks for them.
    alike = max(rows, 1)
    for d in range(loops):
        if stride(source, first + d) == 1:
            alike = 1
    later = 0
    for i in range(0, rows, alike):
        if _is_later(source, first, loops, i, state):
            later += alike
    if later == 0:
        return batch
    coordinates = np.empty(loops, np.int64)
    now = NONE
    if later < rows:
        now = new_batch(heap, operator, source[WIDTH], depth, rows - later, ALL_VARY, 0)
    waiting = NONE
    for i in range(rows):
        if not _is_later(source, first, loops, i, state):
            _append(heap, now, source, i)
            continue
        # Rows of one time often follow each other.
        is_known = waiting != NONE
        for d in range(loops):
            is_known = is_known and coordinates[d] == value(source, first + d, i)
            coordinates[d] = value(source, first + d, i)
        if is_known:
            _append(heap, waiting, source, i)
        else:
            waiting = post_row(heap, calendar, depth, coordinates, operator, source, i, operator)
    release(heap, batch)
    return now


@leaf
def _is_later(batch, first, loops, i, state):
    for d in range(loops):
        if value(batch, first + d, i) != state[COORDINATES + 1 + d]:
            return True
    return False


@kernel
def due_coordinate(heap, calendar, outer, state):
    """The next coordinate `outer` of anything waiting inside the rounds in progress of the loops around it.

    -1 if nothing waits there.
    """
    entries = words(heap, calendar)
    if entries[ENTRIES] == 0:
        return -1
    for d in range(1, outer):
        if entries[FIRST + d - 1] != state[COORDINATES + d]:
            return -1
    return entries[FIRST + outer - 1]


@kernel
def take_due(heap, calendar, depth, state, operators, carry_field):
    """Hand every batch that waits for exactly the round in progress to its operator."""
    entries = words(heap, calendar)
    loops = depth - 1
    size = depth + 1
    taken = 0
    while taken < entries[ENTRIES]:
        at = FIRST + taken * size
        for d in range(loops):
            if entries[at + d] != state[COORDINATES + 1 + d]:
                at = -1
                break
        if at < 0:
            break
        operators[entries[at + loops], carry_field] = entries[at + depth]
        taken += 1
    if taken > 0:
        remaining = (entries[ENTRIES] - taken) * size
        for w in range(FIRST, FIRST + remaining):
            entries[w] = entries[w + taken * size]
        entries[ENTRIES] -= taken
