"""Reductions that put out one row of many: they look at a key only where a change may matter.

Of `min` and `max` the output at a time is the best row there. An insertion that is not better leaves it,
and so does the removal of a worse one. So what comes in is held against the output, which is short, and most of it is
answered without a look at the history of the input, which may be long: that of a hub has a row for each neighbour.

Invariant: at a time that nothing calls a visit for, the output is what the input gives. A change keeps it so
- at times where it does not matter, if it does not move the output in its own round either: the best row stays, or
  one of several that are equally good;
- where the output was the same as in its own round, if it is an insertion that is better: it is the output now, here
  as there, unless a removal of the same row comes in between;
and calls for a visit at all others. A visit that moves the output without a change calls for all later ones.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import aggregate, direction, extent
from graphtide.dataflow.kernels.layout import (
    COORDINATES,
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
from graphtide.dataflow.kernels.lists import accumulate, compare_values, grow
from graphtide.dataflow.kernels.rounds import CLOSED, is_ahead, later_rounds
from graphtide.dataflow.kernels.visits import look_up, next_key, open_runs, post, take_carry, write_visit
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH

__all__ = ["is_selective", "visit_where_it_matters"]

# A longer history of an output is not worth looking through for all times at once.
_SHORT = 64


@kernel
def is_selective(heap, operators, operator, state):
    """Whether the visits of this activation may be chosen."""
    parameters = words(heap, operators[operator, PARAMETERS])
    kind = parameters[0]
    return (
        (kind == FIRST or kind == LAST)
        and parameters[1] == 1
        and state[UPPER] - state[LOWER] == 1
        and operators[operator, LATE] == 0
    )


@kernel
def visit_where_it_matters(heap, operators, operator, calendar, state):
    """As `reduce.visit`, for an activation that is selective: only visits that move the output are written."""
    arrangement = operators[operator, INPUT]
    spine = words(heap, operators[arrangement, SPINE])
    depth = operators[operator, DEPTH]
    keys = operators[operator, KEYS]
    values = operators[arrangement, WIDTH] - keys
    parameters = words(heap, operators[operator, PARAMETERS])
    new = spine[FRESH]
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE, NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    visits = new_batch(heap, operator, keys + depth + 1, depth, 8, ALL_VARY, 0)
    wanted = new_batch(heap, operator, values + 1, 0, 8, ALL_VARY, 0)
    note = new_batch(heap, operator, keys + depth + 1, depth, 1, ALL_VARY, 0)
    slots, lows, highs = open_runs(spine, new)
    runs = slots.shape[0]
    # Where a key is in the new rows, which are the last run, is known without looking.
    sought = runs - 1 if new != NONE else runs
    output = words(heap, operators[operator, SPINE])
    out_slots, out_lows, out_highs = open_runs(output, output[FRESH])
    heads = np.empty(runs, np.int64)
    content = np.empty((8, values + 1), np.int64)
    rows = np.empty((8, values + 1), np.int64)
    past = np.empty((8, values + depth + 1), np.int64)
    held = np.empty((1, values), np.int64)
    ahead = np.empty((1, values), np.int64)
    copies = np.empty((8, depth + 1), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    now = np.empty((1, depth), np.int64)
    now[0, 0] = state[LOWER]
    for d in range(1, depth):
        now[0, d] = state[COORDINATES + d]
    time = now[0]
    most = extent(parameters)
    step = direction(parameters)
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        is_called = j < j_end
        inserted = -1
        removed = -1
        if is_new:
            inserted, removed = _best_changes(probe, i, i_end, step)
        look_up(heap, out_slots, out_slots.shape[0], keys, probe, row, out_lows, out_highs)
        past, length = _gathered(heap, out_slots, out_lows, out_highs, keys, values + depth + 1, past)
        is_held, is_torn = _output_at(past, length, values, now, 0, held)
        may_move = is_called or _may_move(held, 0, is_held, probe, inserted, removed, keys, values, step)
        if not may_move and _stays_later(past, length, values, now, probe, inserted, removed, keys, step):
            i = i_end
            continue
        look_up(heap, slots, sought, keys, probe, row, lows, highs)
        if sought < runs:
            lows[sought] = i
            highs[sought] = i_end
        count = 0
        has_moved = False
        if may_move:
            content, count = accumulate(heap, slots, lows, highs, keys, values, depth, time, most, step, heads, content)
            rows, count = aggregate(parameters, content, count, values, rows)
            has_moved = is_torn or is_held != (count > 0) or (is_held and not _is_same(rows, 0, held, 0, values))
            if has_moved:
                write_visit(heap, visits, wanted, probe, row, keys, time, rows, count)
        if depth > CLOSED or (depth > 1 and (is_new or has_moved)):
            rounds, spare, later = later_rounds(heap, slots, lows, highs, depth, state, rounds, spare)
            is_overtaken = (
                has_moved
                and not is_torn
                and later > 0
                and inserted >= 0
                and count > 0
                and _has_values(probe, inserted, keys, values, rows, 0)
                and not (is_held and not _is_better(probe, inserted, keys, values, held, 0, step))
                and not _is_removed_later(heap, slots, lows, highs, keys, values, depth, rows, state)
            )
            copied = -1
            for k in range(later):
                if depth <= CLOSED:
                    is_held_then, is_torn_then = _output_at(past, length, values, rounds, k, ahead)
                    # With one loop coordinate, what is torn is a time of the history that was called for when a
                    # correction tore it. With two it may be a new bound, above the time that was called for.
                    if is_torn_then:
                        if depth < CLOSED:
                            continue
                    elif is_overtaken:
                        if is_held_then == is_held and not (is_held and not _is_same(ahead, 0, held, 0, values)):
                            continue
                    elif not has_moved:
                        if not _may_move(ahead, 0, is_held_then, probe, inserted, removed, keys, values, step):
                            continue
                        # The removal of one of several that are equally good does not matter either.
                        if removed >= 0 and is_held_then and _has_values(probe, removed, keys, values, ahead, 0):
                            if copied < 0:
                                copies, copied = _copies(
                                    heap, slots, lows, highs, keys, values, depth, probe, removed, copies
                                )
                            if _count_at(copies, copied, rounds, k) > 0 and not (
                                inserted >= 0 and _is_better(probe, inserted, keys, values, ahead, 0, step)
                            ):
                                continue
                post(heap, operator, calendar, rounds, k, probe, row, keys, note)
        i = i_end
        j = j_end
    release(heap, note)
    release(heap, carry)
    return visits, wanted


@leaf
def _best_changes(batch, start, end, step):
    """Where the best row stands that is inserted, and the best that is removed; -1 if there is none."""
    inserted = -1
    removed = -1
    diff = batch[layout.WIDTH] - 1
    for k in range(end - start):
        i = start + k if step > 0 else end - 1 - k
        if value(batch, diff, i) > 0:
            if inserted < 0:
                inserted = i
        elif removed < 0:
            removed = i
        if inserted >= 0 and removed >= 0:
            break
    return inserted, removed


@kernel
def _gathered(heap, slots, lows, highs, keys, width, past):
    """The history of a key's output, by value: rows (values, time, diff), and how many."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        # The rows of a batch ascend, so that a row stands behind the last one.
        low = 0
        for i in range(lows[r], highs[r]):
            while low < count and not _is_before(batch, keys, i, past, low, width):
                low += 1
            past = grow(past, count + 1)
            for k in range(count, low, -1):
                for c in range(width):
                    past[k, c] = past[k - 1, c]
            for c in range(width):
                past[low, c] = value(batch, keys + c, i)
            count += 1
    return past, count


@leaf
def _is_before(batch, keys, i, rows, row, width):
    for c in range(width):
        x = value(batch, keys + c, i)
        if x != rows[row, c]:
            return x < rows[row, c]
    return False


@leaf
def _output_at(past, length, values, times, time, held):
    """What a key's output is at one of `times`: whether there is a row, which goes to `held`, and whether it is torn.

    It is torn if the corrections of earlier rounds have left more than a row, or less.
    """
    depth = times.shape[1]
    is_held = False
    is_torn = False
    k = 0
    while k < length:
        start = k
        total = 0
        while k < length and _is_same(past, k, past, start, values):
            is_before = True
            for d in range(depth):
                if past[k, values + d] > times[time, d]:
                    is_before = False
                    break
            if is_before:
                total += past[k, values + depth]
            k += 1
        if total != 0:
            is_torn = is_torn or is_held or total != 1
            is_held = True
            for c in range(values):
                held[0, c] = past[start, c]
    return is_held, is_torn


@leaf
def _may_move(rows, row, is_held, batch, inserted, removed, keys, values, step):
    """Whether changes may move an output: insertions of better rows, removals of as good ones."""
    if not is_held:
        return True
    if inserted >= 0 and _is_better(batch, inserted, keys, values, rows, row, step):
        return True
    return removed >= 0 and (
        _has_values(batch, removed, keys, values, rows, row)
        or _is_better(batch, removed, keys, values, rows, row, step)
    )


@leaf
def _is_better(batch, i, keys, values, rows, row, step):
    """Whether a row of a batch comes before another one."""
    for c in range(values):
        x = value(batch, keys + c, i)
        if x != rows[row, c]:
            return (x < rows[row, c]) == (step > 0)
    return False


@leaf
def _has_values(batch, i, keys, values, rows, row):
    for c in range(values):
        if value(batch, keys + c, i) != rows[row, c]:
            return False
    return True


@leaf
def _is_same(rows, row, others, other, values):
    for c in range(values):
        if rows[row, c] != others[other, c]:
            return False
    return True


@leaf
def _stays_later(past, length, values, now, batch, inserted, removed, keys, step):
    """Whether it is easy to see that changes at a time, which do not move the output there, never do.

    At each later time the output is what it is now, or a row that was put out at a time which is not before. That
    there is one is certain if each of these times puts out as many rows as it takes back.
    """
    if length > _SHORT:
        return False
    depth = now.shape[1]
    for k in range(length):
        is_before = True
        for d in range(depth):
            if past[k, values + d] > now[0, d]:
                is_before = False
                break
        if is_before:
            continue
        total = 0
        for n in range(length):
            is_then = True
            for d in range(values, values + depth):
                if past[n, d] != past[k, d]:
                    is_then = False
                    break
            if is_then:
                total += past[n, values + depth]
        if total != 0:
            return False
        if past[k, values + depth] > 0 and _may_move(past, k, True, batch, inserted, removed, keys, values, step):
            return False
    return True


@kernel
def _copies(heap, slots, lows, highs, keys, values, depth, probe, row, copies):
    """The times and diffs of all rows of a key's input that have the values of a given one, and how many."""
    count = 0
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        low = lows[r]
        high = highs[r]
        while low < high:
            middle = (low + high) >> 1
            if compare_values(batch, middle, probe, row, keys, values) < 0:
                low = middle + 1
            else:
                high = middle
        while low < highs[r] and compare_values(batch, low, probe, row, keys, values) == 0:
            copies = grow(copies, count + 1)
            for d in range(depth + 1):
                copies[count, d] = value(batch, keys + values + d, low)
            count += 1
            low += 1
    return copies, count


@leaf
def _count_at(copies, count, times, k):
    """How often a row is there at the k-th of `times`."""
    depth = times.shape[1]
    total = 0
    for n in range(count):
        is_before = True
        for d in range(depth):
            if copies[n, d] > times[k, d]:
                is_before = False
                break
        if is_before:
            total += copies[n, depth]
    return total


@kernel
def _is_removed_later(heap, slots, lows, highs, keys, values, depth, rows, state):
    """Whether the history of the input takes a row back at a time that is not before this round."""
    first = keys + values
    for r in range(slots.shape[0]):
        batch = words(heap, slots[r])
        for i in range(lows[r], highs[r]):
            if (
                value(batch, first + depth, i) < 0
                and is_ahead(batch, first, i, depth, state)
                and _has_values(batch, i, keys, values, rows, 0)
            ):
                return True
    return False
