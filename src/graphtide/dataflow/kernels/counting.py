"""Counts and thresholds in loops and dimensions: a key has one number at a time, how often it is there."""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.corners import (
    CORNERS,
    add_up,
    call_for_changes,
    cell_of,
    changes_at,
    find_keys,
    is_within,
    lay_out,
    new_result,
    put_row,
    sealed,
    this_round,
)
from graphtide.dataflow.kernels.layout import (
    COUNT,
    DEPTH,
    INPUT,
    KEYS,
    PARAMETERS,
    SPINE,
    THRESHOLD,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import grow
from graphtide.dataflow.kernels.visits import next_key, open_runs, take_carry
from graphtide.jit import borrowing, kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, same_data, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH, merge_for

__all__ = ["is_counting", "recount"]


@kernel
def is_counting(heap, operators, operator, state):
    """Whether `recount` may take this activation."""
    kind = words(heap, operators[operator, PARAMETERS])[0]
    return (
        (kind == COUNT or kind == THRESHOLD)
        and operators[operators[operator, INPUT], WIDTH] == operators[operator, KEYS]
        and is_within(operators, operator, state)
    )


@kernel
def recount(heap, operators, operator, calendar, state):
    """What changes in the output in this round; slot 0 if nothing does."""
    index = operators[operators[operator, INPUT], SPINE]
    spine = words(heap, index)
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
    merge_for(heap, index, new_rows + carried_rows)
    slots, _, _ = open_runs(spine, new)
    of_new = find_keys(heap, slots, keys, new)
    of_carried = find_keys(heap, slots, keys, carry)
    past = np.empty((8, depth + 1), np.int64)
    lines = np.empty((8, 2), np.int64)
    places = np.empty((8, 3), np.int64)
    totals = np.empty(32, np.int64)
    chosen = np.empty((2, CORNERS), np.int64)
    now = this_round(depth, state)
    at = np.zeros(2, np.int64)
    while at[0] < new_rows or at[1] < carried_rows:
        rows, cells = _recount_keys(
            heap, operator, calendar, new, carry, note, result, slots, of_new, of_carried,
            past, lines, places, totals, chosen, now, keys, width - keys, parameters, at,
        )  # fmt: skip
        past = grow(past, rows)
        lines = grow(lines, rows + 2)
        places = grow(places, rows + 2)
        if cells > totals.shape[0]:
            totals = np.empty(2 * cells, np.int64)
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@borrowing
def _recount_keys(
    heap, operator, calendar, new, carry, note, result, slots, of_new, of_carried,
    past, lines, places, totals, chosen, now, keys, values, parameters, at,
):  # fmt: skip
    """Visit the keys from `at` on, until there are no more or one needs more room: for how many rows, and cells."""
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    depth = now.shape[1]
    room = min(past.shape[0], lines.shape[0] - 2)
    i = at[0]
    j = at[1]
    while i < new_rows or j < carried_rows:
        at[0] = i
        at[1] = j
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        i = i_end
        j = j_end
        length = _history(heap, slots, keys, depth, probe, row, of_new if is_new else of_carried, past)
        if length > room:
            return length, 0
        lay_out(past, length, 0, now, lines, places)
        across = lines[0, 0] + 1
        along = lines[0, 1] + 1
        if totals.shape[0] < 2 * across * along:
            return 0, 2 * across * along
        totals[: 2 * across * along] = 0
        for n in range(length):
            totals[cell_of(places, n, across, along)] += past[n, depth]
        add_up(totals, across, along)
        if parameters[0] == THRESHOLD:
            for cell in range(2 * across * along):
                totals[cell] = int(totals[cell] >= parameters[1])
        for n in range(changes_at(totals, 0, across, along, 1, 1, chosen[0], chosen[1])):
            # A row is its key and the number; the places have been used.
            places[0, 0] = chosen[0, n]
            put_row(heap, result, probe, row, keys, places, 0, values, chosen[1, n])
        if is_new:
            call_for_changes(heap, operator, calendar, totals, 0, lines, now, probe, row, keys, note, chosen)
    at[0] = i
    at[1] = j
    return 0, 0


@leaf
def _history(heap, slots, keys, depth, probe, row, places, past):
    """Write the times and diffs of a key in all runs, as far as there is room; how many there are."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        at = places[r, row]
        while at < batch[ROWS] and same_data(batch, at, probe, row, keys):
            if count < past.shape[0]:
                for d in range(depth + 1):
                    past[count, d] = value(batch, keys + d, at)
            count += 1
            at += 1
    return count
