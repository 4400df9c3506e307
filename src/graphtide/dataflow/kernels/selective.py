"""Reductions that put out one row of many: they look at a key only where a change may matter.

Of `min`, `max` and `distinct` the output at a time is the best row there. An insertion that is not better leaves it,
and so does the removal of a worse one. So what comes in is held against the output, which is short, and most of it is
answered without a look at the history of the input, which may be long: that of a hub has a row for each neighbour.

Invariant: at a time that nothing calls a visit for, the output is what the input gives. A change keeps it so
- at times where it does not matter, if it does not move the output in its own round either;
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
    THRESHOLD,
    UPPER,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import ALL, accumulate
from graphtide.dataflow.kernels.rounds import CLOSED, is_ahead, later_rounds
from graphtide.dataflow.kernels.visits import look_up, next_key, open_runs, post, take_carry, write_visit
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH
from graphtide.trace.kernels.times import is_at_most

__all__ = ["is_selective", "visit_where_it_matters"]

# A longer history of an output is not worth looking through for all times at once.
_SHORT = 64


@kernel
def is_selective(heap, operators, operator, state):
    """Whether the visits of this activation may be chosen."""
    parameters = words(heap, operators[operator, PARAMETERS])
    kind = parameters[0]
    return (
        (kind == FIRST or kind == LAST or kind == THRESHOLD)
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
    heads = np.empty(max(runs, out_slots.shape[0]), np.int64)
    content = np.empty((8, values + 1), np.int64)
    rows = np.empty((8, values + 1), np.int64)
    held = np.empty((8, values + 1), np.int64)
    ahead = np.empty((8, values + 1), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    time = np.empty(depth, np.int64)
    time[0] = state[LOWER]
    for d in range(1, depth):
        time[d] = state[COORDINATES + d]
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
        # In a round that calls for a visit, corrections of earlier ones may have left more than a row, or less.
        held, holds = accumulate(
            heap, out_slots, out_lows, out_highs, keys, values, depth, time, ALL if is_called else 1, 1, heads, held
        )
        is_torn = is_called and (holds > 1 or (holds == 1 and held[0, values] != 1))
        may_move = is_called or _may_move(held, holds, probe, inserted, removed, keys, values, step)
        if not may_move and _stays_later(
            heap, out_slots, out_lows, out_highs, keys, values, depth, time, probe, inserted, removed, step
        ):
            i = i_end
            continue
        look_up(heap, slots, sought, keys, probe, row, lows, highs)
        if sought < runs:
            lows[sought] = i
            highs[sought] = i_end
        count = holds
        has_moved = False
        if may_move:
            content, count = accumulate(heap, slots, lows, highs, keys, values, depth, time, most, step, heads, content)
            rows, count = aggregate(parameters, content, count, values, rows)
            has_moved = is_torn or count != holds or (count > 0 and not _is_same(rows, held, values))
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
                and _has_values(probe, inserted, keys, values, rows)
                and (holds == 0 or _is_better(probe, inserted, keys, values, held, step))
                and not _is_removed_later(heap, slots, lows, highs, keys, values, depth, rows, state)
            )
            for k in range(later):
                if depth <= CLOSED and (is_overtaken or not has_moved):
                    ahead, holds_then = accumulate(
                        heap, out_slots, out_lows, out_highs, keys, values, depth, rounds[k], 1, 1, heads, ahead
                    )
                    if is_overtaken:
                        if holds_then == holds and (holds == 0 or _is_same(ahead, held, values)):
                            continue
                    elif not _may_move(ahead, holds_then, probe, inserted, removed, keys, values, step):
                        continue
                post(heap, operator, calendar, depth, rounds[k], probe, row, keys, note)
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


@leaf
def _may_move(held, holds, batch, inserted, removed, keys, values, step):
    """Whether changes may move an output: insertions of better rows, removals of as good ones."""
    if holds == 0:
        return True
    if inserted >= 0 and _is_better(batch, inserted, keys, values, held, step):
        return True
    return removed >= 0 and (
        _has_values(batch, removed, keys, values, held) or _is_better(batch, removed, keys, values, held, step)
    )


@leaf
def _is_better(batch, i, keys, values, rows, step):
    """Whether a row of a batch comes before the first of a list."""
    for c in range(values):
        x = value(batch, keys + c, i)
        if x != rows[0, c]:
            return (x < rows[0, c]) == (step > 0)
    return False


@leaf
def _has_values(batch, i, keys, values, rows):
    for c in range(values):
        if value(batch, keys + c, i) != rows[0, c]:
            return False
    return True


@leaf
def _is_same(rows, others, values):
    for c in range(values):
        if rows[0, c] != others[0, c]:
            return False
    return True


@kernel
def _stays_later(heap, slots, lows, highs, keys, values, depth, time, batch, inserted, removed, step):
    """Whether it is easy to see that changes at a time, which do not move the output there, never do.

    At each later time the output is what it is now, or a row that was put out at a time which is not before. That
    there is one is certain if each of these times puts out as many rows as it takes back.
    """
    count = 0
    for r in range(slots.shape[0]):
        count += highs[r] - lows[r]
    if count > _SHORT:
        return False
    first = keys + values
    row = np.empty((1, values), np.int64)
    for r in range(slots.shape[0]):
        run = words(heap, slots[r])
        for i in range(lows[r], highs[r]):
            if is_at_most(run, first, depth, i, time):
                continue
            if not _is_balanced(heap, slots, lows, highs, first, depth, run, i):
                return False
            for c in range(values):
                row[0, c] = value(run, keys + c, i)
            if value(run, first + depth, i) > 0 and _may_move(row, 1, batch, inserted, removed, keys, values, step):
                return False
    return True


@leaf
def _is_balanced(heap, slots, lows, highs, first, depth, run, i):
    """Whether all rows of a key at the time of one of them add up to none."""
    total = 0
    for r in range(slots.shape[0]):
        other = words(heap, slots[r])
        for k in range(lows[r], highs[r]):
            same = True
            for d in range(depth):
                if value(other, first + d, k) != value(run, first + d, i):
                    same = False
                    break
            if same:
                total += value(other, first + depth, k)
    return total == 0


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
                and _has_values(batch, i, keys, values, rows)
            ):
                return True
    return False
