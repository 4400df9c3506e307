"""Counts and thresholds in loops and dimensions: what was put out before follows from the input alone.

A key without values has one number at each time: how often it is there. With f(n) the row that a number n makes, what
is put out at a time is f there, less what all times before it have put out. They were right, each of them, so that is a
sum of f over the corners just below the time: with two coordinates

    f(at both) - f(below in the first) - f(below in the second) + f(below in both),

and with more of them the like, signs changing with the number of coordinates below. All these numbers come from one
walk through the key's history. And since a later time has its corners too, whether anything is put out there is known
when a change comes in: only then a visit is called for.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import (
    COORDINATES,
    COUNT,
    DEPTH,
    INPUT,
    KEYS,
    LATE,
    LOWER,
    PARAMETERS,
    SPINE,
    THRESHOLD,
    UPPER,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import grow
from graphtide.dataflow.kernels.rounds import CLOSED, later_rounds
from graphtide.dataflow.kernels.visits import next_key, open_runs, post, take_carry
from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    constant,
    new_batch,
    put,
    reserve,
    same_data,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import seal_sorted
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import seek_all
from graphtide.trace.kernels.spine import FRESH

__all__ = ["is_counting", "recount"]

_CORNERS = 1 << CLOSED


@kernel
def is_counting(heap, operators, operator, state):
    """Whether `recount` may take this activation."""
    kind = words(heap, operators[operator, PARAMETERS])[0]
    return (
        (kind == COUNT or kind == THRESHOLD)
        and operators[operators[operator, INPUT], WIDTH] == operators[operator, KEYS]
        and operators[operator, DEPTH] <= CLOSED
        and state[UPPER] - state[LOWER] == 1
        and operators[operator, LATE] == 0
    )


@kernel
def recount(heap, operators, operator, calendar, state):
    """What changes in the output in this round; slot 0 if nothing does."""
    spine = words(heap, operators[operators[operator, INPUT], SPINE])
    depth = operators[operator, DEPTH]
    keys = operators[operator, KEYS]
    width = operators[operator, WIDTH]
    parameters = words(heap, operators[operator, PARAMETERS])
    new = spine[FRESH]
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    note = new_batch(heap, operator, keys + depth + 1, depth, 1, ALL_VARY, 0)
    result = _new_result(heap, operator, width, depth, new_rows + carried_rows)
    slots, lows, highs = open_runs(spine, new)
    of_new = _places(heap, slots, keys, new)
    of_carried = _places(heap, slots, keys, carry)
    past = np.empty((8, depth + 1), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    numbers = np.empty(_CORNERS, np.int64)
    diffs = np.empty(_CORNERS, np.int64)
    now = np.empty((1, depth), np.int64)
    now[0, 0] = state[LOWER]
    for d in range(1, depth):
        now[0, d] = state[COORDINATES + d]
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        past, length = _history(
            heap, slots, lows, highs, keys, depth, probe, row, of_new if i < i_end else of_carried, past
        )
        count = _changes_at(past, length, now, 0, parameters, numbers, diffs)
        if count > 0:
            _write(heap, result, probe, row, keys, width - keys, numbers, diffs, count)
        if depth > 1 and i < i_end:
            rounds, spare, later = later_rounds(heap, slots, lows, highs, depth, state, rounds, spare)
            for k in range(later):
                if _changes_at(past, length, rounds, k, parameters, numbers, diffs) > 0:
                    post(heap, operator, calendar, rounds, k, probe, row, keys, note)
        i = i_end
        j = j_end
    out = words(heap, result)
    for d in range(depth):
        constant(out, width + d, now[0, d])
    release(heap, note)
    release(heap, carry)
    return seal_sorted(heap, operator, result)


@inlined
def _new_result(heap, operator, width, depth, capacity):
    """An empty batch whose rows are all of one time."""
    varying = with_column(0, width + depth)
    for c in range(width):
        varying = with_column(varying, c)
    return new_batch(heap, operator, width + depth + 1, depth, 2 * capacity, varying, 0)


@kernel
def _places(heap, slots, keys, probes):
    """Where the key of each row of a batch begins in each run, all looked up at once."""
    rows = words(heap, probes)[ROWS] if probes != NONE else 0
    places = np.empty((slots.shape[0], rows), np.int64)
    if rows > 0:
        for r in range(slots.shape[0]):
            places[r] = seek_all(words(heap, slots[r]), keys, words(heap, probes))
    return places


@leaf
def _history(heap, slots, lows, highs, keys, depth, probe, row, places, past):
    """The times and diffs of a key, and how many; [lows, highs) are set to its rows in each run."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        at = places[r, row]
        lows[r] = at
        while at < batch[ROWS] and same_data(batch, at, probe, row, keys):
            past = grow(past, count + 1)
            for d in range(depth + 1):
                past[count, d] = value(batch, keys + d, at)
            count += 1
            at += 1
        highs[r] = at
    return past, count


@leaf
def _changes_at(past, length, times, k, parameters, numbers, diffs):
    """What is put out at the k-th of `times`: numbers in ascending order with their diffs, and how many.

    Of a threshold only the diff counts. Bit d of a corner says that it is below the time in coordinate d.
    """
    depth = times.shape[1]
    corners = 1 << depth
    for corner in range(corners):
        numbers[corner] = 0
    for n in range(length):
        same = 0
        is_before = True
        for d in range(depth):
            if past[n, d] > times[k, d]:
                is_before = False
                break
            same |= int(past[n, d] == times[k, d]) << d
        if is_before:
            numbers[same] += past[n, depth]
    # A row that stands on the time in some coordinates is missing from the corners below it in any of them.
    for d in range(depth):
        for corner in range(corners):
            if corner >> d & 1:
                below = numbers[corner ^ (1 << d)]
                numbers[corner ^ (1 << d)] += numbers[corner]
                numbers[corner] = below
    if parameters[0] == THRESHOLD:
        change = 0
        for corner in range(corners):
            if numbers[corner] >= parameters[1]:
                change += _sign(corner)
        diffs[0] = change
        return 1 if change != 0 else 0
    count = 0
    for corner in range(corners):
        number = numbers[corner]
        if number != 0:
            count = _add(numbers, diffs, count, number, _sign(corner))
    kept = 0
    for n in range(count):
        if diffs[n] != 0:
            numbers[kept] = numbers[n]
            diffs[kept] = diffs[n]
            kept += 1
    return kept


@leaf
def _sign(corner):
    """1 if a corner is below in an even number of coordinates, else -1."""
    return 1 - 2 * ((corner ^ (corner >> 1) ^ (corner >> 2)) & 1)


@leaf
def _add(numbers, diffs, count, number, diff):
    """Add a number to the ascending ones at the front of a list, which has been read up to there."""
    at = count
    while at > 0 and numbers[at - 1] > number:
        at -= 1
    if at > 0 and numbers[at - 1] == number:
        diffs[at - 1] += diff
        return count
    for n in range(count, at, -1):
        numbers[n] = numbers[n - 1]
        diffs[n] = diffs[n - 1]
    numbers[at] = number
    diffs[at] = diff
    return count + 1


@leaf
def _write(heap, result, probe, row, keys, values, numbers, diffs, count):
    """Append the rows of a key; its number is their value, of a threshold there is none."""
    out = words(heap, result)
    at = out[ROWS]
    if at + count > out[layout.CAPACITY]:
        reserve(heap, result, at + count)
        out = words(heap, result)
    for n in range(count):
        for c in range(keys):
            put(out, c, at + n, value(probe, c, row))
        if values == 1:
            put(out, keys, at + n, numbers[n])
        put(out, out[layout.WIDTH] - 1, at + n, diffs[n])
    out[ROWS] = at + count
