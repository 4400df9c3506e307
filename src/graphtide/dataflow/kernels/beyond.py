"""Rows that lie beyond a bound: a join by key and comparison, of which the left columns alone are put out.

A row is there once for each bound of its key that it is beyond. When a bound moves, only the rows between
where it was and where it is now come or go. The left index has a key's rows in the order of what is compared, so
these are found by a search, and all others, which would come and go at once, are never looked at.

Bilinear as `join` is: new bounds meet all rows, new rows the bounds that were there before.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import INPUT, KEYS, LATE, LOWER, PARAMETERS, SECOND, SPINE, WIDTH
from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, add_rows, new_batch, put, same_data, value
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end, seek
from graphtide.trace.kernels.spine import FRESH, RUNS, everything, run_slot

__all__ = ["beyond"]

# Parameters: whether rows lie above their bounds (1) or below (0), whether one at a bound is beyond it, and
# the left columns to put out, each behind a zero as in a join.
ABOVE = 0
AT_BOUND = 1
COLUMNS = 2


@kernel
def beyond(heap, operators, operator, state):
    """The differences that this activation adds; slot 0 if there are none. It stands outside of loops."""
    left = operators[operator, INPUT]
    right = operators[operator, SECOND]
    bounds = words(heap, operators[right, SPINE])
    late = operators[operator, LATE] == 1
    operators[operator, LATE] = 0
    spine = words(heap, operators[left, SPINE])
    fresh = everything(heap, operators[left, SPINE], operator, state[LOWER : LOWER + 1]) if late else spine[FRESH]
    if fresh == NONE and bounds[FRESH] == NONE:
        return NONE
    result = new_batch(heap, operator, operators[operator, WIDTH] + 2, 1, 16, ALL_VARY, 0)
    if fresh != NONE:
        _meet_old_bounds(heap, operators, operator, fresh, bounds, result)
    if bounds[FRESH] != NONE:
        # To an operator that comes late everything is fresh.
        for r in range(0 if late else spine[RUNS]):
            _meet_new_bounds(heap, operators, operator, run_slot(spine, r), bounds[FRESH], result)
        if fresh != NONE:
            _meet_new_bounds(heap, operators, operator, fresh, bounds[FRESH], result)
    if late:
        release(heap, fresh)
    if words(heap, result)[ROWS] == 0:
        release(heap, result)
        return NONE
    return result


@kernel
def _meet_old_bounds(heap, operators, operator, new, spine, result):
    """Put out the rows of a batch, each times the bounds in all runs that it is beyond.

    Rows of a key ascend, and so do its bounds in each run: one walk along both adds up the bounds passed.
    """
    parameters = words(heap, operators[operator, PARAMETERS])
    keys = operators[operator, KEYS]
    rows = words(heap, new)
    runs = spine[RUNS]
    at = np.zeros(runs, np.int64)
    ends = np.zeros(runs, np.int64)
    i = 0
    while i < rows[ROWS]:
        end = group_end(rows, keys, i)
        total = 0
        for r in range(runs):
            bounds = words(heap, run_slot(spine, r))
            at[r] = seek(bounds, keys, rows, i, ends[r])
            ends[r] = at[r]
            if at[r] < bounds[ROWS] and same_data(bounds, at[r], rows, i, keys):
                ends[r] = group_end(bounds, keys, at[r])
                for j in range(at[r], ends[r]):
                    total += _diff(bounds, j)
        passed = 0
        for row in range(i, end):
            v = value(rows, keys, row)
            for r in range(runs):
                bounds = words(heap, run_slot(spine, r))
                while at[r] < ends[r] and _is_passed(parameters, v, value(bounds, keys, at[r])):
                    passed += _diff(bounds, at[r])
                    at[r] += 1
            weight = passed if parameters[ABOVE] == 1 else total - passed
            if weight != 0:
                _put_out(heap, result, parameters, rows, row, row + 1, 0, weight)
        i = end


@leaf
def _epoch(batch, i):
    return value(batch, batch[layout.WIDTH] - 2, i)


@leaf
def _diff(batch, i):
    return value(batch, batch[layout.WIDTH] - 1, i)


@leaf
def _is_passed(parameters, v, bound):
    """Whether a row with `v` comes after the bound: from below, it is beyond it; from above, no longer."""
    return bound < v or (bound == v and parameters[AT_BOUND] == parameters[ABOVE])


@kernel
def _meet_new_bounds(heap, operators, operator, run, new, result):
    """Put out the rows of a run that new bounds set apart, by the epochs of these."""
    parameters = words(heap, operators[operator, PARAMETERS])
    keys = operators[operator, KEYS]
    rows = words(heap, run)
    bounds = words(heap, new)
    j = 0
    i = 0
    while j < bounds[ROWS]:
        end = group_end(bounds, keys, j)
        i = seek(rows, keys, bounds, j, i)
        if i == rows[ROWS]:
            return
        if same_data(rows, i, bounds, j, keys):
            i_end = group_end(rows, keys, i)
            by_epoch = _by_epoch(bounds, j, end)
            first = 0
            while first < by_epoch.shape[0]:
                last = first
                epoch = _epoch(bounds, by_epoch[first])
                while last < by_epoch.shape[0] and _epoch(bounds, by_epoch[last]) == epoch:
                    last += 1
                _set_apart(heap, result, parameters, rows, keys, i, i_end, bounds, by_epoch[first:last], epoch)
                first = last
            i = i_end
        j = end


@inlined
def _by_epoch(bounds, low, high):
    """The rows of a key's bounds by epoch, those of one epoch still in the order of the bounds."""
    epochs = np.empty(high - low, np.int64)
    for j in range(low, high):
        epochs[j - low] = _epoch(bounds, j)
    return low + np.argsort(epochs, kind="mergesort")


@kernel
def _set_apart(heap, result, parameters, rows, keys, low, high, bounds, chosen, epoch):
    """Put out the rows [low, high) of one key times the bounds of one epoch, which ascend, that they are beyond."""
    weight = 0
    if parameters[ABOVE] == 0:
        for k in range(chosen.shape[0]):
            weight += _diff(bounds, chosen[k])
    sign = 1 if parameters[ABOVE] == 1 else -1
    at = low
    for k in range(chosen.shape[0]):
        after = _first_after(parameters, rows, keys, at, high, value(bounds, keys, chosen[k]))
        if weight != 0:
            _put_out(heap, result, parameters, rows, at, after, epoch, weight)
        weight += sign * _diff(bounds, chosen[k])
        at = after
    if weight != 0:
        _put_out(heap, result, parameters, rows, at, high, epoch, weight)


@leaf
def _first_after(parameters, rows, keys, low, high, bound):
    """The first of the rows [low, high) that comes after a bound; `high` if none does."""
    while low < high:
        middle = (low + high) >> 1
        if _is_passed(parameters, value(rows, keys, middle), bound):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _put_out(heap, result, parameters, rows, low, high, epoch, weight):
    """Append the rows [low, high) with their diffs times a weight, at `epoch` or later."""
    at = add_rows(heap, result, high - low)
    out = words(heap, result)
    width = out[layout.WIDTH] - 2
    for k in range(high - low):
        for c in range(width):
            put(out, c, at + k, value(rows, parameters[COLUMNS + 2 * c + 1], low + k))
        put(out, width, at + k, max(epoch, _epoch(rows, low + k)))
        put(out, width + 1, at + k, weight * _diff(rows, low + k))
