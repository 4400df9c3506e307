"""Counts and thresholds in loops and dimensions: a key has one number at a time, how often it is there."""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.corners import (
    CORNERS,
    find_keys,
    new_result,
    put_row,
    sealed,
    sign,
    this_round,
    to_corners,
)
from graphtide.dataflow.kernels.layout import (
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
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, same_data, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH

__all__ = ["is_counting", "recount"]


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
    result = new_result(heap, operator, width, depth, 2 * (new_rows + carried_rows))
    slots, _, _ = open_runs(spine, new)
    of_new = find_keys(heap, slots, keys, new)
    of_carried = find_keys(heap, slots, keys, carry)
    past = np.empty((8, depth + 1), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    numbers = np.empty((CORNERS, 1), np.int64)
    diffs = np.empty(CORNERS, np.int64)
    now = this_round(depth, state)
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        past, length = _history(heap, slots, keys, depth, probe, row, of_new if i < i_end else of_carried, past)
        for n in range(_changes_at(past, length, now, 0, parameters, numbers, diffs)):
            put_row(heap, result, probe, row, keys, numbers, n, width - keys, diffs[n])
        if depth > 1 and i < i_end:
            rounds, spare, later = later_rounds(past, length, 0, depth, state, rounds, spare)
            for k in range(later):
                if _changes_at(past, length, rounds, k, parameters, numbers, diffs) > 0:
                    post(heap, operator, calendar, rounds, k, probe, row, keys, note)
        i = i_end
        j = j_end
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@leaf
def _history(heap, slots, keys, depth, probe, row, places, past):
    """The times and diffs of a key in all runs, and how many."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        at = places[r, row]
        while at < batch[ROWS] and same_data(batch, at, probe, row, keys):
            past = grow(past, count + 1)
            for d in range(depth + 1):
                past[count, d] = value(batch, keys + d, at)
            count += 1
            at += 1
    return past, count


@leaf
def _changes_at(past, length, times, k, parameters, numbers, diffs):
    """What is put out at the k-th of `times`: numbers in ascending order with their diffs, and how many.

    Of a threshold only the diff counts.
    """
    depth = times.shape[1]
    corners = 1 << depth
    for corner in range(corners):
        diffs[corner] = 0
    for n in range(length):
        same = 0
        is_before = True
        for d in range(depth):
            if past[n, d] > times[k, d]:
                is_before = False
                break
            same |= int(past[n, d] == times[k, d]) << d
        if is_before:
            diffs[same] += past[n, depth]
    to_corners(diffs, depth)
    if parameters[0] == THRESHOLD:
        change = 0
        for corner in range(corners):
            if diffs[corner] >= parameters[1]:
                change += sign(corner)
        diffs[0] = change
        return 1 if change != 0 else 0
    count = 0
    for corner in range(corners):
        if diffs[corner] != 0:
            count = _add(numbers, diffs, count, diffs[corner], sign(corner))
    kept = 0
    for n in range(count):
        if diffs[n] != 0:
            numbers[kept, 0] = numbers[n, 0]
            diffs[kept] = diffs[n]
            kept += 1
    return kept


@leaf
def _add(numbers, diffs, count, number, diff):
    """Add a number to an ascending list; its diffs are where numbers were that have been read."""
    at = count
    while at > 0 and numbers[at - 1, 0] > number:
        at -= 1
    if at > 0 and numbers[at - 1, 0] == number:
        diffs[at - 1] += diff
        return count
    for n in range(count, at, -1):
        numbers[n, 0] = numbers[n - 1, 0]
        diffs[n] = diffs[n - 1]
    numbers[at, 0] = number
    diffs[at] = diff
    return count + 1
