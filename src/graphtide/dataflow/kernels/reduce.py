"""Group by key: re-evaluate a key wherever its input may have changed, and correct the output there.

A key is visited at each new time of its input, and at each least upper bound of a visited time with
a time in its history: those of this round now, those of later rounds when the calendar brings them.
Within one activation the visits of a key differ in their epoch only, so they are totally ordered.

An activation has two halves, so that a function of the user can stand between them:
`visit` finds the visits and the content at each, `correct` compares the wanted rows with what the
output already adds up to and puts out the difference.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import OVERFLOW, aggregate, direction, extent
from graphtide.dataflow.kernels.calendar import post_row
from graphtide.dataflow.kernels.layout import (
    COORDINATES,
    DEPTH,
    FUNCTION,
    INPUT,
    KEYS,
    LATE,
    LOWER,
    PARAMETERS,
    SPINE,
    UPPER,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import ALL, accumulate, combine, grow
from graphtide.dataflow.kernels.rounds import CLOSED, later_rounds
from graphtide.dataflow.kernels.visits import look_up, next_key, open_runs, post, take_carry, write_visit
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
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import consolidate, seal_sorted
from graphtide.trace.kernels.heap import NONE, release, retain, words
from graphtide.trace.kernels.spine import FRESH, everything
from graphtide.trace.kernels.waiting import ROWS_OF_A_VISIT, gather_for

__all__ = ["correct", "visit"]


@kernel
def visit(heap, operators, operator, calendar, state):
    """The keys and times to look at, and the rows wanted there (for a FUNCTION: the content given there).

    Returns two slots: visits (key, time, number of rows) in order, and those rows one after another.
    """
    arrangement = operators[operator, INPUT]
    spine = words(heap, operators[arrangement, SPINE])
    depth = operators[operator, DEPTH]
    keys = operators[operator, KEYS]
    values = operators[arrangement, WIDTH] - keys
    parameters = words(heap, operators[operator, PARAMETERS])
    is_function = parameters[0] == FUNCTION
    fresh = spine[FRESH]
    new = retain(heap, fresh)
    if operators[operator, LATE] == 1:
        operators[operator, LATE] = 0
        release(heap, new)
        new = everything(heap, operators[arrangement, SPINE], operator, state[LOWER : LOWER + 1])
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE, NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    out_values = values if is_function else operators[operator, WIDTH] - keys
    visits = new_batch(heap, operator, keys + depth + 1, depth, new_rows + carried_rows, ALL_VARY, 0)
    wanted = new_batch(heap, operator, out_values + 1, 0, new_rows + carried_rows, ALL_VARY, 0)
    note = new_batch(heap, operator, keys + depth + 1, depth, 1, ALL_VARY, 0)
    gather_for(heap, operators[arrangement, SPINE], ROWS_OF_A_VISIT * (new_rows + carried_rows))
    slots, lows, highs = open_runs(spine, fresh)
    runs = slots.shape[0]
    # Where the key is in the fresh batch, which is the last run, is known without looking if that brought it.
    sought = runs - 1 if new == fresh and new != NONE else runs
    heads = np.empty(runs, np.int64)
    content = np.empty((8, values + 1), np.int64)
    rows = np.empty((8, out_values + 1), np.int64)
    epochs = np.empty(8, np.int64)
    past = np.empty((8, depth), np.int64)
    rounds = np.empty((8, depth), np.int64)
    spare = np.empty((8, depth), np.int64)
    time = np.empty(depth, np.int64)
    coordinates = np.empty(depth - 1, np.int64)
    time[0] = state[LOWER]
    for d in range(1, depth):
        time[d] = state[COORDINATES + d]
    single = state[UPPER] - state[LOWER] == 1
    most = extent(parameters)
    step = direction(parameters)
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        look_up(heap, slots, sought, keys, probe, row, lows, highs)
        if sought < runs:
            lows[sought] = i
            highs[sought] = i_end
        visited = 1
        epochs[0] = state[LOWER]
        if not single:
            epochs, visited = _new_epochs(heap, new, i, i_end, carry, j, j_end, epochs)
            past, times = _past_times(heap, slots, lows, highs, depth, past)
            epochs, visited = _add_epochs(past, times, depth, state, epochs, visited)
            _post_later(
                heap, operator, calendar, depth, past, times, epochs, visited, state, probe, row, keys, coordinates
            )
        elif depth > CLOSED or (depth > 1 and i < i_end):
            past, times = _past_times(heap, slots, lows, highs, depth, past)
            rounds, spare, ahead = later_rounds(past, times, 0, depth, state, rounds, spare)
            for k in range(ahead):
                post(heap, operator, calendar, rounds, k, probe, row, keys, note)
        i = i_end
        j = j_end
        for e in range(visited):
            time[0] = epochs[e]
            content, count = accumulate(heap, slots, lows, highs, keys, values, depth, time, most, step, heads, content)
            if is_function:
                write_visit(heap, visits, wanted, probe, row, keys, time, content, count)
            else:
                rows, count = aggregate(parameters, content, count, values, rows)
                if count == OVERFLOW:
                    release(heap, note)
                    release(heap, new)
                    release(heap, carry)
                    release(heap, visits)
                    release(heap, wanted)
                    return OVERFLOW, OVERFLOW
                write_visit(heap, visits, wanted, probe, row, keys, time, rows, count)
    release(heap, note)
    release(heap, new)
    release(heap, carry)
    return visits, wanted


@leaf
def _insert_epoch(epochs, count, epoch):
    """Add an epoch to a sorted list without doubles."""
    at = count
    while at > 0 and epochs[at - 1] > epoch:
        at -= 1
    if at > 0 and epochs[at - 1] == epoch:
        return epochs, count
    if count == epochs.shape[0]:
        grown = np.empty(2 * count, np.int64)
        grown[:count] = epochs
        epochs = grown
    for k in range(count, at, -1):
        epochs[k] = epochs[k - 1]
    epochs[at] = epoch
    return epochs, count + 1


@inlined
def _new_epochs(heap, new, i, i_end, carry, j, j_end, epochs):
    """The epochs of the rows of one key in the fresh batch and in what the calendar brought."""
    count = 0
    if i < i_end:
        a = words(heap, new)
        first = layout.data_width(a)
        for k in range(i, i_end):
            epochs, count = _insert_epoch(epochs, count, value(a, first, k))
    if j < j_end:
        b = words(heap, carry)
        first = layout.data_width(b)
        for k in range(j, j_end):
            epochs, count = _insert_epoch(epochs, count, value(b, first, k))
    return epochs, count


@inlined
def _past_times(heap, slots, lows, highs, depth, past):
    """The distinct times in a key's history, roughly: neighbours in a run are not repeated."""
    count = 0
    for r in range(slots.shape[0]):
        if lows[r] == highs[r]:
            continue
        batch = words(heap, slots[r])
        first = layout.data_width(batch)
        varies = False
        for d in range(depth):
            if stride(batch, first + d) == 1:
                varies = True
        last = highs[r] if varies else lows[r] + 1
        for i in range(lows[r], last):
            if not _is_known(batch, first, i, depth, past, count):
                past = grow(past, count + 1)
                for d in range(depth):
                    past[count, d] = value(batch, first + d, i)
                count += 1
    return past, count


@leaf
def _is_known(batch, first, i, depth, past, count):
    # Looking back a little finds nearly all doubles; one that is missed costs a look, not an answer.
    for k in range(count - 1, max(-1, count - 9), -1):
        same = True
        for d in range(depth):
            if past[k, d] != value(batch, first + d, i):
                same = False
                break
        if same:
            return True
    return False


@inlined
def _add_epochs(past, times, depth, state, epochs, visited):
    """Least upper bounds within this round: later epochs in the history at or before its coordinates."""
    for k in range(times):
        if past[k, 0] <= epochs[0]:
            continue
        reached = True
        for d in range(1, depth):
            if past[k, d] > state[COORDINATES + d]:
                reached = False
                break
        if reached:
            epochs, visited = _insert_epoch(epochs, visited, past[k, 0])
    return epochs, visited


@inlined
def _post_later(heap, operator, calendar, depth, past, times, epochs, visited, state, probe, row, keys, coordinates):
    """Let the key be visited at the least upper bounds that fall into later rounds."""
    if depth == 1:
        return
    slot = NONE
    for k in range(times):
        later = False
        for d in range(1, depth):
            coordinates[d - 1] = max(past[k, d], state[COORDINATES + d])
            if coordinates[d - 1] > state[COORDINATES + d]:
                later = True
        if not later:
            continue
        if slot == NONE:
            slot = new_batch(heap, operator, keys + depth + 1, depth, 1, ALL_VARY, 0)
            pending = words(heap, slot)
            for c in range(keys):
                put(pending, c, 0, value(probe, c, row))
            put(pending, keys + depth, 0, 1)
        pending = words(heap, slot)
        for d in range(1, depth):
            put(pending, keys + d, 0, coordinates[d - 1])
        for e in range(visited):
            # Epochs at or before the past one all join to it: the last of them stands for them.
            if epochs[e] < past[k, 0] and e + 1 < visited and epochs[e + 1] <= past[k, 0]:
                continue
            put(pending, keys, 0, max(epochs[e], past[k, 0]))
            post_row(heap, calendar, depth, coordinates, operator, pending, 0, operator)
    release(heap, slot)


@kernel
def correct(heap, operators, operator, state, visits, wanted):
    """What makes the output, at every visit, add up to the wanted rows; slot 0 if it already does."""
    if visits == NONE:
        return NONE
    spine = words(heap, operators[operator, SPINE])
    depth = operators[operator, DEPTH]
    width = operators[operator, WIDTH]
    keys = operators[operator, KEYS]
    values = width - keys
    looks = words(heap, visits)
    asked = words(heap, wanted)
    single = state[UPPER] - state[LOWER] == 1
    varying = ALL_VARY
    if single:
        varying = with_column(0, width + depth)
        for c in range(width):
            varying = with_column(varying, c)
    result = new_batch(heap, operator, width + depth + 1, depth, 2 * looks[ROWS], varying, 0)
    gather_for(heap, operators[operator, SPINE], ROWS_OF_A_VISIT * looks[ROWS])
    slots, lows, highs = open_runs(spine, NONE)
    runs = slots.shape[0]
    heads = np.empty(runs, np.int64)
    rows = np.empty((8, values + 1), np.int64)
    present = np.empty((8, values + 1), np.int64)
    emitted = np.empty((8, values + 1), np.int64)
    lacking = np.empty((8, values + 1), np.int64)
    spare = np.empty((8, values + 1), np.int64)
    time = np.empty(depth, np.int64)
    emitted_count = 0
    next_row = 0
    for v in range(looks[ROWS]):
        if v == 0 or not same_data(looks, v, looks, v - 1, keys):
            emitted_count = 0
            look_up(heap, slots, runs, keys, looks, v, lows, highs)
        for d in range(depth):
            time[d] = value(looks, keys + d, v)
        count = value(looks, keys + depth, v)
        rows = grow(rows, count)
        for k in range(count):
            for c in range(values + 1):
                rows[k, c] = value(asked, c, next_row + k)
        next_row += count
        present, present_count = accumulate(heap, slots, lows, highs, keys, values, depth, time, ALL, 1, heads, present)
        lacking, lacking_count = combine(rows, count, present, present_count, -1, lacking)
        if emitted_count > 0:
            spare, lacking_count = combine(lacking, lacking_count, emitted, emitted_count, -1, spare)
            lacking, spare = spare, lacking
        if lacking_count > 0:
            _write_corrections(heap, result, looks, v, keys, values, time, lacking, lacking_count, single)
            if not single:
                spare, emitted_count = combine(emitted, emitted_count, lacking, lacking_count, 1, spare)
                emitted, spare = spare, emitted
    if single:
        out = words(heap, result)
        for d in range(depth):
            constant(out, width + d, time[d])
        return seal_sorted(heap, operator, result)
    sealed = consolidate(heap, operator, result, np.arange(width))
    release(heap, result)
    return sealed


@inlined
def _write_corrections(heap, result, looks, v, keys, values, time, rows, count, single):
    out = words(heap, result)
    at = out[ROWS]
    if at + count > out[layout.CAPACITY]:
        reserve(heap, result, at + count)
        out = words(heap, result)
    depth = time.shape[0]
    for k in range(count):
        for c in range(keys):
            put(out, c, at + k, value(looks, c, v))
        for c in range(values):
            put(out, keys + c, at + k, rows[k, c])
        if not single:
            for d in range(depth):
                put(out, keys + values + d, at + k, time[d])
        put(out, keys + values + depth, at + k, rows[k, values])
    out[ROWS] = at + count
