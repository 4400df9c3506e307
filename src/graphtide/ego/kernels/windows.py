"""What is in the windows of writers: the last values of each, or those whose time has not run out.

The last few values of a writer lie in a ring, behind the number of those that were ever written, which says where the
next one goes: with few values, both are in one cache line. With windows of time a value is an *entry*. Those of one
writer are linked, and all of them wait in a queue, in the order in which they expire; one that comes late, and expires
before the last of the queue, waits in a heap.

A value's expiry and the clock are codes of times: only their order matters here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.jit import inlined, kernel, leaf

__all__ = [
    "CLOCK",
    "FREE_ENTRY",
    "HEAP_SIZE",
    "LIVE",
    "MARKS",
    "NOTHING",
    "QUEUE_FIRST",
    "QUEUE_SIZE",
    "Contents",
    "due_entries",
    "enter_all",
    "enter_value",
    "first_place",
    "forget",
    "next_place",
    "pop_due",
    "replace_oldest",
    "value_at",
    "write_value",
]

NOTHING = -1

# Marks: numbers that are kept besides the arrays.
QUEUE_FIRST = 0
QUEUE_SIZE = 1
HEAP_SIZE = 2
FREE_ENTRY = 3  # the first entry that is free; the others follow by `following`
LIVE = 4
CLOCK = 5
MARKS = 6


class Contents(NamedTuple):
    """Arrays of one of the two forms; those of the other are empty."""

    most: int  # values in a ring; 0 with windows of time
    rings: NDArray[np.int64]  # by writer: how many values it wrote, and room for the most
    value: NDArray[np.int64]  # by entry, as the next four
    expiry: NDArray[np.int64]
    writer: NDArray[np.int32]
    following: NDArray[np.int32]
    preceding: NDArray[np.int32]
    first: NDArray[np.int32]  # by writer: its first entry
    queue: NDArray[np.int32]  # its length is a power of two
    heap: NDArray[np.int32]
    marks: NDArray[np.int64]


@leaf
def replace_oldest(rings, most, writer, value):
    """Write into a ring: whether a value falls out of the window, and which."""
    first = writer * (most + 1)
    count = rings[first]
    # A division costs more than all the rest.
    at = first + 1 + (0 if most == 1 else count % most)
    old = rings[at]
    rings[at] = value
    rings[first] = count + 1
    return count >= most, old


@inlined
def write_value(contents, writer, value, expiries, i):
    """Write into a window, what expires at `expiries[i]` if that is of time: whether a value falls out, and which."""
    falls, old = False, value
    if contents.most == 0:
        enter_value(contents, writer, value, expiries[i])
    else:
        falls, old = replace_oldest(contents.rings, contents.most, writer, value)
    return falls, old


@leaf
def first_place(contents, writer):
    """Where the first value of a writer is, or NOTHING."""
    if contents.most == 0:
        return np.int64(contents.first[writer])
    first = writer * (contents.most + 1)
    written = min(contents.rings[first], contents.most)
    return first + written if written > 0 else np.int64(NOTHING)


@leaf
def next_place(contents, writer, place):
    """Where the next value of that writer is, or NOTHING."""
    if contents.most == 0:
        return np.int64(contents.following[place])
    return place - 1 if place > writer * (contents.most + 1) + 1 else np.int64(NOTHING)


@leaf
def value_at(contents, place):
    """The value at a place."""
    return contents.value[place] if contents.most == 0 else contents.rings[place]


@leaf
def enter_value(contents, writer, value, expiry):
    """Write into a window of time; there must be a free entry."""
    marks = contents.marks
    entry = marks[FREE_ENTRY]
    marks[FREE_ENTRY] = contents.following[entry]
    contents.value[entry] = value
    contents.expiry[entry] = expiry
    contents.writer[entry] = writer
    follower = contents.first[writer]
    contents.following[entry] = follower
    contents.preceding[entry] = NOTHING
    if follower != NOTHING:
        contents.preceding[follower] = entry
    contents.first[writer] = entry
    contents.rings[writer] += 1
    marks[LIVE] += 1
    mask = contents.queue.shape[0] - 1
    size = marks[QUEUE_SIZE]
    last = (marks[QUEUE_FIRST] + size - 1) & mask
    if size == 0 or contents.expiry[contents.queue[last]] <= expiry:
        contents.queue[(marks[QUEUE_FIRST] + size) & mask] = entry
        marks[QUEUE_SIZE] = size + 1
    else:
        _push_late(contents, entry)


@kernel
def forget(contents, writers):
    """Let the windows of writers be empty, as if these had never written.

    With windows of time their entries wait on, of no writer, until they expire: to look for them in the queue would
    take longer.
    """
    for writer in writers:
        contents.rings[writer * (contents.most + 1)] = 0
        if contents.most == 0:
            entry = contents.first[writer]
            while entry != NOTHING:
                contents.writer[entry] = NOTHING
                entry = contents.following[entry]
            contents.first[writer] = NOTHING


@leaf
def pop_due(contents, clock):
    """Take an entry that has expired out of its window: it, or NOTHING.

    Its value and writer can be read until the next is entered.
    """
    entry = _first_due(contents, clock)
    while entry != NOTHING and contents.writer[entry] == NOTHING:
        _free(contents, entry)
        entry = _first_due(contents, clock)
    if entry == NOTHING:
        return entry
    before = contents.preceding[entry]
    after = contents.following[entry]
    if before == NOTHING:
        contents.first[contents.writer[entry]] = after
    else:
        contents.following[before] = after
    if after != NOTHING:
        contents.preceding[after] = before
    _free(contents, entry)
    return entry


@leaf
def _free(contents, entry):
    """Let an entry be given to other values."""
    contents.following[entry] = contents.marks[FREE_ENTRY]
    contents.marks[FREE_ENTRY] = entry
    contents.marks[LIVE] -= 1


@leaf
def _first_due(contents, clock):
    """Let an entry that has expired wait no longer: it, or NOTHING."""
    marks = contents.marks
    entry = np.int64(NOTHING)
    if marks[QUEUE_SIZE] > 0:
        first = np.int64(contents.queue[marks[QUEUE_FIRST]])
        if contents.expiry[first] <= clock:
            entry = first
            marks[QUEUE_FIRST] = (marks[QUEUE_FIRST] + 1) & (contents.queue.shape[0] - 1)
            marks[QUEUE_SIZE] -= 1
    if entry == NOTHING:
        if marks[HEAP_SIZE] == 0 or contents.expiry[contents.heap[0]] > clock:
            return entry
        entry = _pop_late(contents)
    return entry


@leaf
def _push_late(contents, entry):
    heap = contents.heap
    expiry = contents.expiry
    at = contents.marks[HEAP_SIZE]
    contents.marks[HEAP_SIZE] = at + 1
    while at > 0 and expiry[heap[(at - 1) >> 1]] > expiry[entry]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry


@leaf
def _pop_late(contents):
    heap = contents.heap
    expiry = contents.expiry
    least = np.int64(heap[0])
    size = contents.marks[HEAP_SIZE] - 1
    contents.marks[HEAP_SIZE] = size
    entry = heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and expiry[heap[child + 1]] < expiry[heap[child]]:
            child += 1
        if expiry[heap[child]] >= expiry[entry]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
    return least


@kernel
def due_entries(contents, clock):
    """The entries that will have expired by then, but for those that were forgotten."""
    marks = contents.marks
    found = np.empty(marks[QUEUE_SIZE] + marks[HEAP_SIZE], np.int64)
    count = 0
    for k in range(marks[QUEUE_SIZE]):
        entry = contents.queue[(marks[QUEUE_FIRST] + k) & (contents.queue.shape[0] - 1)]
        if contents.expiry[entry] > clock:
            break
        found[count] = entry
        count += contents.writer[entry] != NOTHING
    # Below one in the heap that has not expired, none has.
    due = np.empty(2 * marks[HEAP_SIZE] + 1, np.int64)
    due[0], many, k = 0, 1, 0
    while k < many:
        if due[k] < marks[HEAP_SIZE] and contents.expiry[contents.heap[due[k]]] <= clock:
            entry = contents.heap[due[k]]
            found[count] = entry
            count += contents.writer[entry] != NOTHING
            due[many], due[many + 1] = 2 * due[k] + 1, 2 * due[k] + 2
            many += 2
        k += 1
    return found[:count].copy()


@kernel
def enter_all(contents, rows):
    """Write rows of writer, value and expiry into windows of time."""
    for i in range(rows.shape[0]):
        enter_value(contents, rows[i, 0], rows[i, 1], rows[i, 2])
