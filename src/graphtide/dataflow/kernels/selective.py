"""The least or greatest row of each key, in loops and dimensions: its best row at a time is what is put out there.

The history of a key may be long: that of a hub has a row for each neighbour, and few of them are ever the best. A row
is covered if a better one is there from a time on that is at or before its own, and is not taken away later: at all
times at which the row counts the other one is put out. So the history is read from the best row on, and covered rows
are left out; what is left is short, and has the same best row at every time. A change that is covered itself moves
nothing, neither now nor later, and the rest of the history is not even read.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import direction
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
    DEPTH,
    FIRST,
    INPUT,
    KEYS,
    LAST,
    LATE,
    LOWER,
    PARAMETERS,
    SPINE,
    UPPER,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import compare_values, grow
from graphtide.dataflow.kernels.rounds import CLOSED, later_rounds
from graphtide.dataflow.kernels.visits import next_key, open_runs, post, take_carry
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, same_data, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end
from graphtide.trace.kernels.spine import FRESH

__all__ = ["is_selective", "reselect"]

# Of equal rows of which some are taken away, so many are tried for one that covers.
_TRIED = 8
# What `_uncovered` says of a change that moves nothing.
_COVERED = -1


@kernel
def is_selective(heap, operators, operator, state):
    """Whether `reselect` may take this activation."""
    parameters = words(heap, operators[operator, PARAMETERS])
    return (
        (parameters[0] == FIRST or parameters[0] == LAST)
        and parameters[1] == 1
        and operators[operator, DEPTH] <= CLOSED
        and state[UPPER] - state[LOWER] == 1
        and operators[operator, LATE] == 0
    )


@kernel
def reselect(heap, operators, operator, calendar, state):
    """What changes in the output in this round; slot 0 if nothing does."""
    spine = words(heap, operators[operators[operator, INPUT], SPINE])
    depth = operators[operator, DEPTH]
    keys = operators[operator, KEYS]
    width = operators[operator, WIDTH]
    values = width - keys
    step = direction(words(heap, operators[operator, PARAMETERS]))
    new = spine[FRESH]
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    note = new_batch(heap, operator, keys + depth + 1, depth, 1, ALL_VARY, 0)
    result = new_result(heap, operator, width, depth, 2 * (new_rows + carried_rows))
    slots, lows, highs = open_runs(spine, new)
    of_new = find_keys(heap, slots, keys, new)
    of_carried = find_keys(heap, slots, keys, carry)
    runs = np.empty(slots.shape[0], np.int64)
    past = np.empty((8, values + depth + 1), np.int64)
    cover = np.empty((8, depth), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    numbers = np.empty(CORNERS, np.int64)
    best = np.empty(CORNERS, np.int64)
    diffs = np.empty(CORNERS, np.int64)
    now = this_round(depth, state)
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        is_called = j < j_end
        i = i_end
        j = j_end
        _find_rows(heap, slots, lows, highs, keys, probe, row, of_new if is_new else of_carried)
        # What is new stands in the last run.
        past, cover, length = _uncovered(
            heap, slots, lows, highs, runs, keys, step, now, is_called, new != NONE, past, cover
        )
        if length == _COVERED:
            continue
        count = _changes_at(past, length, now, 0, numbers, best, diffs)
        for n in range(count):
            # Rows are put out in ascending order; the best one comes first in the history.
            k = n if step > 0 else count - 1 - n
            put_row(heap, result, probe, row, keys, past, best[k], values, diffs[k])
        if depth > 1 and is_new:
            rounds, spare, later = later_rounds(past, length, values, depth, state, rounds, spare)
            for k in range(later):
                if _changes_at(past, length, rounds, k, numbers, best, diffs) > 0:
                    post(heap, operator, calendar, rounds, k, probe, row, keys, note)
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@leaf
def _find_rows(heap, slots, lows, highs, keys, probe, row, places):
    """Set [lows, highs) to the rows of a key in each run."""
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        low = places[r, row]
        lows[r] = low
        highs[r] = low
        if low < batch[ROWS] and same_data(batch, low, probe, row, keys):
            highs[r] = group_end(batch, keys, low)


@kernel
def _uncovered(heap, slots, lows, highs, runs, keys, step, now, is_called, has_new, past, cover):
    """The rows [lows, highs) of a key that are not covered, the best first: (values, time, diff); and how many.

    Unless the key is called for, they are _COVERED if all its new rows are. Rows are taken from the ranges.
    """
    depth = now.shape[1]
    values = past.shape[1] - depth - 1
    last = slots.shape[0] - 1
    active = 0
    for r in range(slots.shape[0]):
        if lows[r] < highs[r]:
            runs[active] = r
            active += 1
    count = 0
    covers = 0
    is_moved = is_called
    while active > 0:
        lead = words(heap, slots[runs[0]])
        at = lows[runs[0]] if step > 0 else highs[runs[0]] - 1
        for n in range(1, active):
            other = words(heap, slots[runs[n]])
            there = lows[runs[n]] if step > 0 else highs[runs[n]] - 1
            if compare_values(other, there, lead, at, keys, values) * step < 0:
                lead = other
                at = there
        start = count
        before = covers
        takes_away = False
        n = 0
        while n < active:
            r = runs[n]
            batch = words(heap, slots[r])
            low = lows[r]
            high = highs[r]
            if step > 0:
                while low < high and compare_values(batch, low, lead, at, keys, values) == 0:
                    low += 1
                lows[r], low, high = low, lows[r], low
            else:
                while low < high and compare_values(batch, high - 1, lead, at, keys, values) == 0:
                    high -= 1
                highs[r], low, high = high, high, highs[r]
            for i in range(low, high):
                if _is_covered(cover, before, batch, keys + values, i):
                    continue
                past = grow(past, count + 1)
                for c in range(values + depth + 1):
                    past[count, c] = value(batch, keys + c, i)
                takes_away = takes_away or past[count, values + depth] < 0
                is_moved = is_moved or (r == last and has_new)
                count += 1
            if lows[r] < highs[r]:
                n += 1
            else:
                active -= 1
                for m in range(n, active):
                    runs[m] = runs[m + 1]
        cover, covers = _with_covers(past, start, count, values, takes_away, cover, covers)
        if not is_moved and _is_known_before(cover, covers, now):
            return past, cover, _COVERED
    return past, cover, count if is_moved else _COVERED


@leaf
def _is_covered(cover, covers, batch, first, i):
    """Whether the time of a row is at or after one of those that cover."""
    for k in range(covers):
        is_after = True
        for d in range(cover.shape[1]):
            if cover[k, d] > value(batch, first + d, i):
                is_after = False
                break
        if is_after:
            return True
    return False


@leaf
def _is_known_before(cover, covers, now):
    """Whether this round is at or after a time that covers."""
    for k in range(covers):
        is_after = True
        for d in range(cover.shape[1]):
            if cover[k, d] > now[0, d]:
                is_after = False
                break
        if is_after:
            return True
    return False


@leaf
def _with_covers(past, start, end, values, takes_away, cover, covers):
    """Add the times from which on one of equal rows is there for good: all of them if none is taken away."""
    depth = cover.shape[1]
    tried = 0
    for k in range(start, end):
        if past[k, values + depth] < 0:
            continue
        if takes_away:
            tried += 1
            if tried > _TRIED or not _is_for_good(past, start, end, values, depth, k):
                continue
        cover = grow(cover, covers + 1)
        for d in range(depth):
            cover[covers, d] = past[k, values + d]
        covers += 1
    return cover, covers


@leaf
def _is_for_good(past, start, end, values, depth, k):
    """Whether equal rows are there from the time of one of them on, whatever is taken away at other times."""
    total = 0
    for n in range(start, end):
        is_before = True
        for d in range(values, values + depth):
            if past[n, d] > past[k, d]:
                is_before = False
                break
        if is_before or past[n, values + depth] < 0:
            total += past[n, values + depth]
    return total > 0


@leaf
def _changes_at(past, length, times, k, numbers, best, diffs):
    """What is put out at the k-th of `times`: places in the history, ascending, with their diffs, and how many."""
    depth = times.shape[1]
    values = past.shape[1] - depth - 1
    corners = 1 << depth
    missing = corners
    for corner in range(corners):
        best[corner] = -1
    at = 0
    while missing > 0 and at < length:
        start = at
        is_there = False
        for corner in range(corners):
            numbers[corner] = 0
        while at < length and _is_same(past, at, start, values):
            same = 0
            is_before = True
            for d in range(depth):
                if past[at, values + d] > times[k, d]:
                    is_before = False
                    break
                same |= int(past[at, values + d] == times[k, d]) << d
            if is_before:
                numbers[same] += past[at, values + depth]
                is_there = True
            at += 1
        if not is_there:
            continue
        to_corners(numbers, depth)
        for corner in range(corners):
            if best[corner] < 0 and numbers[corner] > 0:
                best[corner] = start
                missing -= 1
    count = 0
    for corner in range(corners):
        if best[corner] >= 0:
            count = _add(best, diffs, count, best[corner], sign(corner))
    kept = 0
    for n in range(count):
        if diffs[n] != 0:
            best[kept] = best[n]
            diffs[kept] = diffs[n]
            kept += 1
    return kept


@leaf
def _add(rows, diffs, count, row, diff):
    """Add a row to the ascending ones at the front of a list, which has been read up to there."""
    at = count
    while at > 0 and rows[at - 1] > row:
        at -= 1
    if at > 0 and rows[at - 1] == row:
        diffs[at - 1] += diff
        return count
    for n in range(count, at, -1):
        rows[n] = rows[n - 1]
        diffs[n] = diffs[n - 1]
    rows[at] = row
    diffs[at] = diff
    return count + 1


@leaf
def _is_same(rows, row, other, values):
    for c in range(values):
        if rows[row, c] != rows[other, c]:
            return False
    return True
