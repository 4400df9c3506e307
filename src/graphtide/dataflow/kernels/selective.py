"""The least or greatest row of each key, in loops and dimensions: its best row at a time is what is put out there.

The history of a key may be long: that of a hub has a row for each neighbour, and few of them are ever the best. A row
is covered if a better one is there from a time on that is at or before its own, and is not taken away later: at all
times at which the row counts the other one is put out. So the history is read from the best row on, and covered rows
are left out; what is left is short, and has the same best row at every time. A change that is covered itself moves
nothing, neither now nor later, and the rest of the history is not even read. If the history is long, it is first
held against the output: many rows may be equally good, and have to be read to the last.
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
from graphtide.dataflow.kernels.visits import look_up, next_key, open_runs, post, take_carry
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, same_data, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end
from graphtide.trace.kernels.spine import FRESH

__all__ = ["is_selective", "reselect"]

# With a longer history the output is looked at first,
_LONG = 64
# if it is not long itself.
_SHORT = 64
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
    out_slots, out_lows, out_highs = open_runs(words(heap, operators[operator, SPINE]), NONE)
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
        length = _find_rows(heap, slots, lows, highs, keys, probe, row, of_new if is_new else of_carried)
        if length > _LONG and not is_called:
            look_up(heap, out_slots, out_slots.shape[0], keys, probe, row, out_lows, out_highs)
            past, length = _put_out(heap, out_slots, out_lows, out_highs, keys, past)
            if length <= _SHORT and _stays(past, length, now, probe, row, i_end, keys, step):
                continue
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
        if depth > 1:
            rounds, spare, later = later_rounds(past, length, values, depth, state, rounds, spare)
            for k in range(later):
                if _changes_at(past, length, rounds, k, numbers, best, diffs) > 0:
                    post(heap, operator, calendar, rounds, k, probe, row, keys, note)
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@leaf
def _find_rows(heap, slots, lows, highs, keys, probe, row, places):
    """Set [lows, highs) to the rows of a key in each run; how many they are."""
    length = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        low = places[r, row]
        lows[r] = low
        highs[r] = low
        if low < batch[ROWS] and same_data(batch, low, probe, row, keys):
            highs[r] = group_end(batch, keys, low)
        length += highs[r] - low
    return length


@kernel
def _put_out(heap, slots, lows, highs, keys, past):
    """The rows [lows, highs) of all runs of an output, and how many."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        for i in range(lows[r], highs[r]):
            past = grow(past, count + 1)
            for c in range(past.shape[1]):
                past[count, c] = value(batch, keys + c, i)
            count += 1
    return past, count


@leaf
def _stays(past, length, now, batch, start, end, keys, step):
    """Whether it is easy to see from what was put out that changes at a time move nothing.

    At each later time the output is what it is now, or a row that was put out at a time which is not before; or it is
    after a time that is called for, whose visit asks again. That there is one is certain if each of these times puts
    out as many rows as it takes back.
    """
    depth = now.shape[1]
    values = past.shape[1] - depth - 1
    held = 0
    for k in range(length):
        if past[k, values + depth] <= 0:
            continue
        is_now = _is_before(past, k, now, 0, values)
        total = 0
        for n in range(length):
            if is_now:
                if _is_same(past, n, k, values) and _is_before(past, n, now, 0, values):
                    total += past[n, values + depth]
            elif _is_before(past, n, past, k, values) and _is_before(past, k, past, n, values):
                total += past[n, values + depth]
        if is_now:
            if total == 0:
                continue
            held += 1
            if total != 1 or held > 1:
                return False
        elif total != 0:
            return False
        if _may_move(past, k, batch, start, end, keys, values, step):
            return False
    return held == 1


@leaf
def _may_move(rows, row, batch, start, end, keys, values, step):
    """Whether changes may move an output: insertions of better rows, removals of as good ones."""
    for i in range(start, end):
        order = 0
        for c in range(values):
            x = value(batch, keys + c, i)
            if x != rows[row, c]:
                order = -step if x < rows[row, c] else step
                break
        # The order is negative if the row of the batch is the better one.
        if order < 0 or (order == 0 and value(batch, batch[layout.WIDTH] - 1, i) < 0):
            return True
    return False


@kernel
def _uncovered(heap, slots, lows, highs, runs, keys, step, now, is_called, has_new, past, cover):
    """The rows [lows, highs) of a key that are not covered, the best first: (values, time, diff); and how many.

    Unless the key is called for, they are _COVERED if all its new rows are, which stand in the last run. Rows are taken
    from the ranges. All epochs before this one are alike.
    """
    depth = now.shape[1]
    values = past.shape[1] - depth - 1
    last = slots.shape[0] - 1 if has_new else slots.shape[0]
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
        first_new = -1
        takes_away = False
        n = 0
        while n < active:
            r = runs[n]
            batch = words(heap, slots[r])
            if r == last:
                first_new = count
            while lows[r] < highs[r]:
                i = lows[r] if step > 0 else highs[r] - 1
                if compare_values(batch, i, lead, at, keys, values) != 0:
                    break
                if step > 0:
                    lows[r] += 1
                else:
                    highs[r] -= 1
                past = grow(past, count + 1)
                for c in range(values + depth + 1):
                    past[count, c] = value(batch, keys + c, i)
                past[count, values] = max(past[count, values], now[0, 0] - 1)
                if not _is_covered(cover, covers, past, count, values):
                    takes_away = takes_away or past[count, values + depth] < 0
                    count += 1
            if lows[r] < highs[r]:
                n += 1
            else:
                active -= 1
                for m in range(n, active):
                    runs[m] = runs[m + 1]
        is_moved = is_moved or (takes_away and 0 <= first_new < count)
        end = count
        count = start
        tried = 0
        for k in range(start, end):
            if not takes_away:
                if _is_covered(cover, covers, past, k, values):
                    continue
                is_moved = is_moved or 0 <= first_new <= k
                for c in range(values + depth + 1):
                    past[count, c] = past[k, c]
                count += 1
            elif past[k, values + depth] < 0 or tried == _TRIED:
                continue
            else:
                tried += 1
                if not _is_for_good(past, start, end, values, depth, k):
                    continue
            cover = grow(cover, covers + 1)
            for d in range(depth):
                cover[covers, d] = past[k, values + d]
            covers += 1
        if takes_away:
            count = end
        if not is_moved and _is_covered(cover, covers, now, 0, 0):
            return past, cover, _COVERED
    return past, cover, count if is_moved else _COVERED


@leaf
def _is_covered(cover, covers, rows, row, first):
    """Whether the time of a row, in the columns from `first` on, is at or after one of those that cover."""
    for k in range(covers):
        is_after = True
        for d in range(cover.shape[1]):
            if cover[k, d] > rows[row, first + d]:
                is_after = False
                break
        if is_after:
            return True
    return False


@leaf
def _is_for_good(past, start, end, values, depth, k):
    """Whether equal rows are there from the time of one of them on, whatever is taken away at other times."""
    total = 0
    for n in range(start, end):
        if past[n, values + depth] < 0 or _is_before(past, n, past, k, values):
            total += past[n, values + depth]
    return total > 0


@leaf
def _is_before(rows, row, others, other, values):
    """Whether the time of a row, behind its values, is at or before another one, of a list of rows or of times."""
    first = 0 if others.shape[1] < rows.shape[1] else values
    for d in range(rows.shape[1] - values - 1):
        if rows[row, values + d] > others[other, first + d]:
            return False
    return True


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
