"""Counts and thresholds in loops and dimensions: a key has one number at a time, how often it is there.

The set of a loop's rows, which recursive queries are made of, has times of two coordinates and mostly a history of a
few rows. Then the sums at this round and at each later one are taken from the history as it is, without a plane. Nor is
there one for a threshold that the bounds of these sums are on one side of, with the change and without it.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.bounds import bounds_of
from graphtide.dataflow.kernels.corners import (
    CORNERS,
    add_row,
    add_up,
    call_for_changes,
    cell_of,
    changes_at,
    is_within,
    lay_out,
    new_result,
    put_row,
    sealed,
    this_round,
    without_zeros,
)
from graphtide.dataflow.kernels.histories import gather_histories
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
from graphtide.dataflow.kernels.visits import next_key, open_runs, post, take_carry
from graphtide.jit import borrowing, inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH, merge_for
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK

__all__ = ["is_counting", "recount"]

# Rows of a history up to which it is gone through once for each round in it.
SHORT = 16
# A round that no history has.
NEVER = 1 << 62


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
    merge_for(heap, index, ROWS_OF_A_LOOK * (new_rows + carried_rows))
    slots, _, _ = open_runs(spine, new)
    of_new, starts_of_new = gather_histories(heap, slots, keys, depth, new)
    of_carried, starts_of_carried = gather_histories(heap, slots, keys, depth, carry)
    lines = np.empty((8, 2), np.int64)
    places = np.empty((8, 3), np.int64)
    totals = np.empty(32, np.int64)
    chosen = np.empty((2, CORNERS), np.int64)
    now = this_round(depth, state)
    at = np.zeros(2, np.int64)
    while at[0] < new_rows or at[1] < carried_rows:
        rows, cells = _recount_keys(
            heap, operator, calendar, new, carry, note, result, of_new, starts_of_new, of_carried, starts_of_carried,
            lines, places, totals, chosen, now, keys, width - keys, parameters, at,
        )  # fmt: skip
        lines = grow(lines, rows + 2)
        places = grow(places, rows + 2)
        if cells > totals.shape[0]:
            totals = np.empty(2 * cells, np.int64)
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@borrowing
def _recount_keys(
    heap, operator, calendar, new, carry, note, result, of_new, starts_of_new, of_carried, starts_of_carried,
    lines, places, totals, chosen, now, keys, values, parameters, at,
):  # fmt: skip
    """Visit the keys from `at` on, until there are no more or one needs more room: for how many rows, and cells."""
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    depth = now.shape[1]
    room = lines.shape[0] - 2
    i = at[0]
    j = at[1]
    while i < new_rows or j < carried_rows:
        at[0] = i
        at[1] = j
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        is_called = j < j_end
        i = i_end
        j = j_end
        history = of_new if is_new else of_carried
        start = starts_of_new[row] if is_new else starts_of_carried[row]
        end = starts_of_new[row + 1] if is_new else starts_of_carried[row + 1]
        length = end - start
        if depth == 2 and length <= SHORT and parameters[0] == THRESHOLD:
            diff = _look(
                heap, operator, calendar, history, start, end, now, parameters[1], is_new, probe, row, keys, note
            )
            if diff != 0:
                put_row(heap, result, probe, row, keys, places, 0, 0, diff)
            continue
        if depth == 2 and length <= SHORT and parameters[0] == COUNT:
            count = _look_at_number(
                heap, operator, calendar, history, start, end, now, is_new, probe, row, keys, note, chosen
            )
            for n in range(count):
                places[0, 0] = chosen[0, n]
                put_row(heap, result, probe, row, keys, places, 0, values, chosen[1, n])
            continue
        if parameters[0] == THRESHOLD and not is_called:
            least, most = bounds_of(history, start, end, now)
            diff = value(probe, probe[layout.WIDTH] - 1, row)
            if min(least, least - diff) >= parameters[1] or max(most, most - diff) < parameters[1]:
                continue
        if length > room:
            return length, 0
        lay_out(history[start:end], length, 0, now, lines, places)
        across = lines[0, 0] + 1
        along = lines[0, 1] + 1
        if totals.shape[0] < 2 * across * along:
            return 0, 2 * across * along
        totals[: 2 * across * along] = 0
        for n in range(length):
            totals[cell_of(places, n, across, along)] += history[start + n, depth]
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


@inlined
def _look_at_number(heap, operator, calendar, history, start, end, now, is_new, probe, row, keys, note, chosen):
    """As `_look`, for how often a key is there: numbers and their diffs are chosen; how many."""
    epoch = now[0, 0]
    old_below, below, old, total, following = _sums_at(history, start, end, epoch, now[0, 1])
    count = 0
    # A key that is there no times has no row.
    count = add_row(chosen[0], chosen[1], count, total, 1) if total != 0 else count
    count = add_row(chosen[0], chosen[1], count, below, -1) if below != 0 else count
    count = add_row(chosen[0], chosen[1], count, old, -1) if old != 0 else count
    count = add_row(chosen[0], chosen[1], count, old_below, 1) if old_below != 0 else count
    while is_new and following != NEVER:
        old_below, below, old, total, later = _sums_at(history, start, end, epoch, following)
        # Numbers cancel if nothing is new there, or has ever come.
        if (total != old or below != old_below) and (total != below or old != old_below):
            now[1, 0] = epoch
            now[1, 1] = following
            post(heap, operator, calendar, now, 1, probe, row, keys, note)
        following = later
    return without_zeros(chosen[0], chosen[1], count)


@inlined
def _look(heap, operator, calendar, history, start, end, now, least, is_new, probe, row, keys, note):
    """What is put out of a key in this round, a sum over the corners; later rounds are called for if it `is_new`."""
    epoch = now[0, 0]
    old_below, below, old, total, following = _sums_at(history, start, end, epoch, now[0, 1])
    change = int(total >= least) - int(old >= least)
    put_out = change - int(below >= least) + int(old_below >= least)
    while is_new and following != NEVER:
        _, _, old, total, later = _sums_at(history, start, end, epoch, following)
        if int(total >= least) - int(old >= least) != change:
            change = int(total >= least) - int(old >= least)
            now[1, 0] = epoch
            now[1, 1] = following
            post(heap, operator, calendar, now, 1, probe, row, keys, note)
        following = later
    return put_out


@leaf
def _sums_at(history, start, end, epoch, last):
    """How often a key is there: in the rounds before one without what came in this epoch, and with it; up to it, too.

    Then the round of the next row, NEVER if there is none.
    """
    old_below = 0
    below = 0
    old = 0
    total = 0
    following = NEVER
    for n in range(start, end):
        diff = history[n, 2]
        old_diff = diff if history[n, 0] < epoch else 0
        if history[n, 1] < last:
            below += diff
            old_below += old_diff
        elif history[n, 1] == last:
            total += diff
            old += old_diff
        else:
            following = min(following, history[n, 1])
    return old_below, below, old_below + old, below + total, following
