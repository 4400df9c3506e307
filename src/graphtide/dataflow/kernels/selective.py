"""The least or greatest row of each key, in loops and dimensions: its best row at a time is what is put out there.

The history of a key may be long: that of a hub has a row for each neighbour, and most of their changes do not concern
it. So with a long history a change is first held against the output, which is short: an insertion that is not better,
or a removal of a worse row, leaves it as it is, now and at every later time at which it is as good as now. Of a shorter
one, the rows that are better than the change or as good are read, and mostly their sums show that it moves nothing
(`bounds`). What is left is laid out on a plane (`corners`).
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import direction
from graphtide.dataflow.kernels.bounds import add_bounds
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
    DEPTH,
    FIRST,
    INPUT,
    KEYS,
    LAST,
    PARAMETERS,
    SPINE,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import compare_values, grow
from graphtide.dataflow.kernels.visits import look_up, next_key, open_runs, take_carry
from graphtide.jit import borrowing, kernel, leaf
from graphtide.memory import prefetch
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, column, new_batch, row_mask, same_data, stride, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end
from graphtide.trace.kernels.spine import FRESH, merge_for
from graphtide.trace.kernels.waiting import ROWS_OF_A_VISIT, gather_for

__all__ = ["is_selective", "reselect"]

# With a longer history the output is looked at first,
_LONG = 64
# if it is not long itself.
_SHORT = 64
# Keys whose rows are asked of the memory while others are looked at.
_AHEAD = 8
# Where no row is there.
_NONE = -1


@kernel
def is_selective(heap, operators, operator, state):
    """Whether `reselect` may take this activation."""
    parameters = words(heap, operators[operator, PARAMETERS])
    return (
        (parameters[0] == FIRST or parameters[0] == LAST)
        and parameters[1] == 1
        and is_within(operators, operator, state)
    )


@kernel
def reselect(heap, operators, operator, calendar, state):
    """What changes in the output in this round; slot 0 if nothing does."""
    index = operators[operators[operator, INPUT], SPINE]
    spine = words(heap, index)
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
    merge_for(heap, index, ROWS_OF_A_VISIT * (new_rows + carried_rows))
    gather_for(heap, operators[operator, SPINE], ROWS_OF_A_VISIT * new_rows)
    slots, lows, highs = open_runs(spine, new)
    of_new = find_keys(heap, slots, keys, new)
    of_carried = find_keys(heap, slots, keys, carry)
    out_slots, out_lows, out_highs = open_runs(words(heap, operators[operator, SPINE]), NONE)
    runs = np.empty(slots.shape[0], np.int64)
    past = np.empty((8, values + depth + 1), np.int64)
    lines = np.empty((8, 2), np.int64)
    places = np.empty((8, 3), np.int64)
    planes = np.empty((3, 32), np.int64)
    chosen = np.empty((2, CORNERS), np.int64)
    bounds = np.empty((2, 3), np.int64)
    now = this_round(depth, state)
    at = np.zeros(2, np.int64)
    while at[0] < new_rows or at[1] < carried_rows:
        rows, cells = _reselect_keys(
            heap, operator, calendar, new, carry, note, result, slots, lows, highs, of_new, of_carried,
            out_slots, out_lows, out_highs, runs, past, lines, places, planes, chosen, bounds,
            now, keys, values, step, at,
        )  # fmt: skip
        past = grow(past, rows)
        lines = grow(lines, rows + 2)
        places = grow(places, rows + 2)
        if cells > planes.shape[1]:
            planes = np.empty((3, 2 * cells), np.int64)
        out_highs[:] = out_lows  # What the output has of a key is looked up again.
    release(heap, note)
    release(heap, carry)
    return sealed(heap, operator, result, width, now)


@borrowing
def _reselect_keys(
    heap, operator, calendar, new, carry, note, result, slots, lows, highs, of_new, of_carried,
    out_slots, out_lows, out_highs, runs, past, lines, places, planes, chosen, bounds,
    now, keys, values, step, at,
):  # fmt: skip
    """Visit the keys from `at` on, until there are no more or one needs more room: for how many rows, and cells."""
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    room = min(past.shape[0], lines.shape[0] - 2)
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
        if is_new and row + _AHEAD < new_rows:
            _ask_for(heap, slots, of_new, row + _AHEAD)
        length = _find_rows(heap, slots, lows, highs, keys, probe, row, of_new if is_new else of_carried)
        if length > room:
            return length, 0
        if length > _LONG and not is_called:
            look_up(heap, out_slots, out_slots.shape[0], keys, probe, row, out_lows, out_highs)
            put_out = 0
            for r in range(out_slots.shape[0]):
                put_out += out_highs[r] - out_lows[r]
            if put_out <= _SHORT:
                _put_out(heap, out_slots, out_lows, out_highs, keys, past)
                if _stays(past, put_out, now, probe, row, i_end, keys, step):
                    continue
        if not is_called and not _moves(heap, slots, lows, highs, probe, row, i_end, keys, values, step, now, bounds):
            continue
        _gather(heap, slots, lows, highs, runs, keys, step, values, past)
        lay_out(past, length, values, now, lines, places)
        across = lines[0, 0] + 1
        along = lines[0, 1] + 1
        if planes.shape[1] < 2 * across * along:
            return 0, 2 * across * along
        best = planes[0]
        _select(past, length, values, places, across, along, planes[1], best, planes[2])
        count = changes_at(best, _NONE, across, along, 1, 1, chosen[0], chosen[1])
        for n in range(count):
            # Rows are put out in ascending order; the best one comes first in the history.
            k = n if step > 0 else count - 1 - n
            put_row(heap, result, probe, row, keys, past, chosen[0, k], values, chosen[1, k])
        call_for_changes(heap, operator, calendar, best, _NONE, lines, now, probe, row, keys, note, chosen)
    at[0] = i
    at[1] = j
    return 0, 0


@leaf
def _ask_for(heap, slots, places, row):
    """Ask the memory for the first rows of a key in each run."""
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        for c in range(batch[layout.WIDTH]):
            if stride(batch, c) == 1:
                prefetch(batch, column(batch, c) + places[r, row])


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


@leaf
def _put_out(heap, slots, lows, highs, keys, past):
    """Write the rows [lows, highs) of all runs of an output; there must be room for them."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        for i in range(lows[r], highs[r]):
            for c in range(past.shape[1]):
                past[count, c] = value(batch, keys + c, i)
            count += 1


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
        is_now = _is_before(past, k, now, 0, values)
        if is_now and past[k, values + depth] < 0:
            continue
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
        if past[k, values + depth] > 0 and _may_move(past, k, batch, start, end, keys, values, step):
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


@leaf
def _moves(heap, slots, lows, highs, batch, start, end, keys, values, step, now, bounds):
    """Whether changes in this round may move the output, now or later, as far as bounds of sums can tell.

    A row moves nothing where there is a better one, or where it is there with this change and without it.
    """
    data = keys + values
    for i in range(start, end):
        bounds[:] = 0
        for r in range(slots.shape[0]):
            run = words(heap, slots[r])
            low = lows[r]
            high = highs[r]
            better = _leading(run, low, high, 0, batch, i, keys, values, step, 0)
            as_good = _leading(run, low, high, better, batch, i, keys, values, step, 1)
            if better > 0:
                first = low if step > 0 else high - better
                add_bounds(run, first, first + better, data, now, bounds[0])
            if as_good > better:
                first = low + better if step > 0 else high - as_good
                add_bounds(run, first, first + as_good - better, data, now, bounds[1])
        diff = value(batch, batch[layout.WIDTH] - 1, i)
        if bounds[0, 0] + bounds[0, 1] <= 0 and bounds[1, 0] + bounds[1, 1] <= max(0, diff):
            return True
    return False


@leaf
def _leading(run, low, high, known, batch, i, keys, values, step, limit):
    """How many rows of [low, high), the best first, stand to a row of a batch in an order below `limit`.

    It is negative for better rows and 0 for as good ones; of so many it is `known`.
    """
    count = known
    if values > 1:
        while low + count < high:
            at = low + count if step > 0 else high - 1 - count
            if compare_values(run, at, batch, i, keys, values) * step >= limit:
                break
            count += 1
        return count
    start = np.uint64(column(run, keys))
    mask = row_mask(run, keys)
    own = value(batch, keys, i)
    while low + count < high:
        other = run[start + (np.uint64(low + count if step > 0 else high - 1 - count) & mask)]
        order = int(other > own) - int(other < own)
        if order * step >= limit:
            break
        count += 1
    return count


@borrowing
def _gather(heap, slots, lows, highs, runs, keys, step, values, past):
    """Write the rows [lows, highs) of a key in all runs, the best first: (values, time, diff). They are taken away."""
    width = past.shape[1]
    active = 0
    for r in range(slots.shape[0]):
        if lows[r] < highs[r]:
            runs[active] = r
            active += 1
    count = 0
    while active > 0:
        lead = words(heap, slots[runs[0]])
        at = lows[runs[0]] if step > 0 else highs[runs[0]] - 1
        for n in range(1, active):
            other = words(heap, slots[runs[n]])
            there = lows[runs[n]] if step > 0 else highs[runs[n]] - 1
            if compare_values(other, there, lead, at, keys, values) * step < 0:
                lead = other
                at = there
        n = 0
        while n < active:
            r = runs[n]
            batch = words(heap, slots[r])
            low = lows[r]
            high = highs[r]
            if step > 0:
                while low < high and compare_values(batch, low, lead, at, keys, values) == 0:
                    low += 1
                first, end = lows[r], low
            else:
                while low < high and compare_values(batch, high - 1, lead, at, keys, values) == 0:
                    high -= 1
                first, end = high, highs[r]
            for c in range(width):
                base = column(batch, keys + c)
                pace = stride(batch, keys + c)
                for k in range(end - first):
                    past[count + k, c] = batch[base + (first + k) * pace]
            count += end - first
            lows[r] = low
            highs[r] = high
            if low < high:
                n += 1
            else:
                active -= 1
                for m in range(n, active):
                    runs[m] = runs[m + 1]


@leaf
def _select(past, length, values, places, across, along, totals, best, open_cells):
    """Set `best` to the first of the best rows at each place of both planes, of a history with the best first.

    `open_cells` is a list to use for the places at which the best row is still to be found.
    """
    diff = past.shape[1] - 1
    cells = 2 * across * along
    for cell in range(cells):
        totals[cell] = 0
    for n in range(length):
        totals[cell_of(places, n, across, along)] += 1
    add_up(totals, across, along)
    missing = 0
    for cell in range(cells):
        best[cell] = _NONE
        if totals[cell] > 0:
            open_cells[missing] = cell
            missing += 1
    at = 0
    while missing > 0 and at < length:
        start = at
        while at < length and _is_same(past, at, start, values):
            at += 1
        is_few = (at - start) * missing < 2 * cells
        if not is_few:
            for cell in range(cells):
                totals[cell] = 0
            for n in range(start, at):
                totals[cell_of(places, n, across, along)] += past[n, diff]
            add_up(totals, across, along)
        still = 0
        for k in range(missing):
            cell = open_cells[k]
            total = totals[cell]
            if is_few:
                total = 0
                plane = cell // (across * along)
                a = cell // along - plane * across
                b = cell % along
                for n in range(start, at):
                    if places[n, 0] <= plane and places[n, 1] <= a and places[n, 2] <= b:
                        total += past[n, diff]
            if total > 0:
                best[cell] = start
            else:
                open_cells[still] = cell
                still += 1
        missing = still


@leaf
def _is_before(rows, row, others, other, values):
    """Whether the time of a row, behind its values, is at or before another one, of a list of rows or of times."""
    first = 0 if others.shape[1] < rows.shape[1] else values
    for d in range(rows.shape[1] - values - 1):
        if rows[row, values + d] > others[other, first + d]:
            return False
    return True


@leaf
def _is_same(rows, row, other, values):
    for c in range(values):
        if rows[row, c] != rows[other, c]:
            return False
    return True
