"""What a reduction puts out at a time, from its input alone: nothing of its output is looked up.

With f(t) the row that the input makes at a time t, what is put out there is f(t), less what all times before t have
put out. They were right, each of them, so that is a sum of f over the corners just below t: with two coordinates

    f(t) - f(below t in the first) - f(below t in the second) + f(below t in both),

and with three of them the like, signs changing with the number of coordinates below.

A key's history is laid out on a plane for that: the coordinates in it that are not before this round are its lines, and
what is before them is together in line 0. There are two such planes, with all that was there before this epoch, and
with what it adds. So one walk through the history gives f at all times that a change can matter at, and their corners.

Invariant: a later time is called for if something is to be put out there, as far as the input is known, or it is after
one that is called for, whose visit then asks again.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import COORDINATES, DEPTH, LATE, LOWER, UPPER
from graphtide.dataflow.kernels.rounds import CLOSED
from graphtide.dataflow.kernels.visits import post
from graphtide.jit import borrowing, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ROWS, constant, new_batch, put, reserve, value, with_column
from graphtide.trace.kernels.consolidate import seal_sorted
from graphtide.trace.kernels.heap import NONE, words
from graphtide.trace.kernels.index import seek_all

__all__ = [
    "CORNERS",
    "add_row",
    "add_up",
    "call_for_changes",
    "cell_of",
    "changes_at",
    "find_keys",
    "is_within",
    "lay_out",
    "new_result",
    "put_row",
    "sealed",
    "this_round",
    "without_zeros",
]

# A plane has mostly fewer lines than that in either direction.
_FEW_LINES = 32

CORNERS = 1 << CLOSED


@leaf
def is_within(operators, operator, state):
    """Whether the times of an activation are such that corners can be summed over."""
    return operators[operator, DEPTH] <= CLOSED and state[UPPER] - state[LOWER] == 1 and operators[operator, LATE] == 0


@kernel
def this_round(depth, state):
    """The time of the activation, and room for another one."""
    now = np.empty((2, depth), np.int64)
    now[0, 0] = state[LOWER]
    for d in range(1, depth):
        now[0, d] = state[COORDINATES + d]
    return now


@kernel
def find_keys(heap, slots, keys, probes):
    """Where the key of each row of a batch begins in each run, all looked up at once."""
    rows = words(heap, probes)[ROWS] if probes != NONE else 0
    places = np.empty((slots.shape[0], rows), np.int64)
    if rows > 0:
        for r in range(slots.shape[0]):
            places[r] = seek_all(words(heap, slots[r]), keys, words(heap, probes))
    return places


@borrowing
def lay_out(past, length, first, now, lines, places):
    """Give each row of a history, with times in the columns from `first` on, its place in two planes.

    Writes the lines of both directions, whose numbers of lines are in their row 0, and the places: the number of the
    plane, of the line across and of the line along. There must be room for two lines more than rows, and for a
    place for each.
    """
    depth = now.shape[1]
    for direction in range(2):
        lines[0, direction] = 1
        d = depth - 2 + direction
        if d < 1:
            lines[1, direction] = 0
            continue
        lines[1, direction] = now[0, d]
        for n in range(length):
            if past[n, first + d] > now[0, d]:
                _add_line(lines, direction, past[n, first + d])
    for n in range(length):
        places[n, 0] = int(past[n, first] >= now[0, 0])
        places[n, 1] = _line(lines, 0, past[n, first + depth - 2]) if depth > 2 else 1
        places[n, 2] = _line(lines, 1, past[n, first + depth - 1]) if depth > 1 else 1


@leaf
def _add_line(lines, direction, coordinate):
    """Add a coordinate to the ascending ones of a direction, unless it is there."""
    count = lines[0, direction]
    at = count
    while lines[at, direction] > coordinate:
        at -= 1
    if lines[at, direction] == coordinate:
        return
    for k in range(count, at, -1):
        lines[k + 1, direction] = lines[k, direction]
    lines[at + 1, direction] = coordinate
    lines[0, direction] = count + 1


@leaf
def _line(lines, direction, coordinate):
    """The last line that is not above a coordinate; 0 if all are."""
    low = 0
    high = lines[0, direction]
    # Of few, counting all of them has no branch that could be foreseen wrongly.
    if high <= _FEW_LINES:
        for k in range(1, high + 1):
            low += lines[k, direction] <= coordinate
        return low
    while low < high:
        middle = (low + high + 1) >> 1
        if lines[middle, direction] <= coordinate:
            low = middle
        else:
            high = middle - 1
    return low


@leaf
def cell_of(places, n, across, along):
    """The number of the place of a row, counting through both planes."""
    return (places[n, 0] * across + places[n, 1]) * along + places[n, 2]


@leaf
def add_up(totals, across, along):
    """From sums at each place of both planes to sums over all that is at or before it."""
    size = across * along
    for plane in range(2):
        at = plane * size
        for _ in range(across):
            for b in range(1, along):
                totals[at + b] += totals[at + b - 1]
            at += along
        at = plane * size
        for k in range(at + along, at + size):
            totals[k] += totals[k - along]
    for k in range(size):
        totals[size + k] += totals[k]


@leaf
def changes_at(rows, none, across, along, a, b, chosen, diffs):
    """What is put out where two lines cross: numbers of rows in ascending order with their diffs, and how many.

    `rows` has the number of the row at each place of both planes, or `none`.
    """
    at = (across + a) * along + b
    before = a * along + b
    if (
        rows[at] == rows[at - 1]
        and rows[at - along] == rows[at - along - 1]
        and rows[before] == rows[before - 1]
        and rows[before - along] == rows[before - along - 1]
    ):
        return 0
    count = 0
    # Bits of a corner say in which coordinates it is below the time: the epoch, across, along.
    for corner in range(CORNERS):
        row = rows[(((corner & 1) ^ 1) * across + a - (corner >> 1 & 1)) * along + b - (corner >> 2)]
        if row != none:
            sign = 1 - 2 * ((corner ^ (corner >> 1) ^ (corner >> 2)) & 1)
            count = add_row(chosen, diffs, count, row, sign)
    return without_zeros(chosen, diffs, count)


@leaf
def without_zeros(chosen, diffs, count):
    """Drop the rows of a list whose diffs have cancelled; how many are left."""
    kept = 0
    for n in range(count):
        if diffs[n] != 0:
            chosen[kept] = chosen[n]
            diffs[kept] = diffs[n]
            kept += 1
    return kept


@leaf
def add_row(chosen, diffs, count, row, diff):
    """Add a row to an ascending list; how many there are then."""
    at = count
    while at > 0 and chosen[at - 1] > row:
        at -= 1
    if at > 0 and chosen[at - 1] == row:
        diffs[at - 1] += diff
        return count
    for n in range(count, at, -1):
        chosen[n] = chosen[n - 1]
        diffs[n] = diffs[n - 1]
    chosen[at] = row
    diffs[at] = diff
    return count + 1


@leaf
def call_for_changes(heap, operator, calendar, rows, none, lines, now, probe, row, keys, note, chosen):
    """Let a key be visited wherever lines cross after this round and something is put out."""
    depth = now.shape[1]
    across = lines[0, 0] + 1
    along = lines[0, 1] + 1
    for a in range(1, across):
        for b in range(1, along):
            if a + b == 2 or changes_at(rows, none, across, along, a, b, chosen[0], chosen[1]) == 0:
                continue
            # The second row of `now` is for the time of the visit.
            for d in range(depth):
                now[1, d] = now[0, d]
            if depth > 2:
                now[1, 1] = lines[a, 0]
            if depth > 1:
                now[1, depth - 1] = lines[b, 1]
            post(heap, operator, calendar, now, 1, probe, row, keys, note)


@kernel
def new_result(heap, operator, width, depth, capacity):
    """An empty batch whose rows are all of one time."""
    varying = with_column(0, width + depth)
    for c in range(width):
        varying = with_column(varying, c)
    return new_batch(heap, operator, width + depth + 1, depth, capacity, varying, 0)


@leaf
def put_row(heap, result, probe, row, keys, rows, at, values, diff):
    """Append a key with the values of one of `rows`."""
    out = words(heap, result)
    end = out[ROWS]
    if end == out[layout.CAPACITY]:
        reserve(heap, result, end + 1)
        out = words(heap, result)
    for c in range(keys):
        put(out, c, end, value(probe, c, row))
    for c in range(values):
        put(out, keys + c, end, rows[at, c])
    put(out, out[layout.WIDTH] - 1, end, diff)
    out[ROWS] = end + 1


@kernel
def sealed(heap, operator, result, width, now):
    """The result as a consolidated batch, for its rows were written in order; slot 0 if there are none."""
    out = words(heap, result)
    for d in range(now.shape[1]):
        constant(out, width + d, now[0, d])
    return seal_sorted(heap, operator, result)
