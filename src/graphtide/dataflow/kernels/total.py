"""Reductions of totally ordered times whose output follows from the input: nothing is kept for the output.

Outside of loops a key is visited once per epoch, in order, and what a count, a sum or a threshold has
put out before is a function of what its input added up to before. So the old output is computed,
not stored (K-Pg, section 5.3.2, "specializations").
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.aggregate import OVERFLOW, aggregate
from graphtide.dataflow.kernels.corners import find_keys
from graphtide.dataflow.kernels.layout import (
    COUNT,
    INPUT,
    KEYS,
    LOWER,
    MEAN_OF_INTS,
    PARAMETERS,
    SPINE,
    SUM_OF_INTS,
    UPPER,
    WIDTH,
)
from graphtide.dataflow.kernels.lists import combine, grow
from graphtide.dataflow.kernels.visits import open_runs
from graphtide.dataflow.kernels.weigh import LIMB, NULL, total_of_ints
from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    column,
    constant,
    new_batch,
    put,
    reserve,
    row_mask,
    same_data,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import consolidate, seal_sorted
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import group_end, seek, seek_all
from graphtide.trace.kernels.radix import bit_length, sort_pairs
from graphtide.trace.kernels.spine import FRESH, RUNS, run_slot

__all__ = ["reduce_total"]


@kernel
def reduce_total(heap, operators, operator, state):
    """The differences that the fresh batch of the arrangement makes in the reduction, or OVERFLOW."""
    arrangement = operators[operator, INPUT]
    spine = words(heap, operators[arrangement, SPINE])
    fresh = spine[FRESH]
    if fresh == NONE:
        return NONE
    new = words(heap, fresh)
    keys = operators[operator, KEYS]
    width = operators[operator, WIDTH]
    values = operators[arrangement, WIDTH] - keys
    out_values = width - keys
    parameters = words(heap, operators[operator, PARAMETERS])
    result = _new_result(heap, operator, width, 2 * new[ROWS], state)
    if values == 0:
        _reduce_counts(heap, spine, new, keys, parameters, words(heap, result))
        return _sealed(heap, operator, result, state, width)
    is_of_ints = parameters[1] == SUM_OF_INTS or parameters[1] == MEAN_OF_INTS
    if is_of_ints and state[UPPER] - state[LOWER] == 1:
        if not _reduce_ints(heap, spine, fresh, keys, parameters[1], words(heap, result)):
            release(heap, result)
            return OVERFLOW
        return _sealed(heap, operator, result, state, width)
    runs = spine[RUNS]
    cursors = np.zeros(runs, np.int64)
    content = np.empty((8, values + 1), np.int64)
    before = np.empty((8, out_values + 1), np.int64)
    after = np.empty((8, out_values + 1), np.int64)
    lacking = np.empty((8, out_values + 1), np.int64)
    i = 0
    while i < new[ROWS]:
        end = group_end(new, keys, i)
        count = 0
        for r in range(runs):
            batch = words(heap, run_slot(spine, r))
            cursors[r] = seek(batch, keys, new, i, cursors[r])
            while cursors[r] < batch[ROWS] and same_data(batch, cursors[r], new, i, keys):
                content, count = _add(content, count, batch, cursors[r], keys, values)
                cursors[r] += 1
        before, before_count = aggregate(parameters, content, count, values, before)
        order = _by_epoch(new, i, end, keys + values)
        k = 0
        while k < end - i:
            epoch = value(new, keys + values, order[k])
            while k < end - i and value(new, keys + values, order[k]) == epoch:
                content, count = _add(content, count, new, order[k], keys, values)
                k += 1
            after, after_count = aggregate(parameters, content, count, values, after)
            if after_count == OVERFLOW:
                release(heap, result)
                return OVERFLOW
            lacking, lacking_count = combine(after, after_count, before, before_count, -1, lacking)
            if lacking_count > 0:
                _write(heap, result, new, i, keys, out_values, epoch, lacking, lacking_count)
            before, after = after, before
            before_count = after_count
        i = end
    return _sealed(heap, operator, result, state, width)


@inlined
def _new_result(heap, operator, width, capacity, state):
    """An empty batch; if the run is of one epoch, that is a constant column."""
    varying = ALL_VARY
    if state[UPPER] - state[LOWER] == 1:
        varying = with_column(0, width + 1)
        for c in range(width):
            varying = with_column(varying, c)
    result = new_batch(heap, operator, width + 2, 1, capacity, varying, 0)
    if varying != ALL_VARY:
        constant(words(heap, result), width, state[LOWER])
    return result


@inlined
def _sealed(heap, operator, result, state, width):
    """The result as a consolidated batch; that of one epoch was written in order."""
    if state[UPPER] - state[LOWER] == 1:
        return seal_sorted(heap, operator, result)
    sealed = consolidate(heap, operator, result, np.arange(width))
    release(heap, result)
    return sealed


@kernel
def _reduce_counts(heap, spine, new, keys, parameters, out):
    """Write the differences of a count or a threshold: all that a key without values has is how often it is there.

    Which rows come out, and of which row of the batch, is found first; then it is written column after column.
    """
    multiplicities = _counts_before(heap, spine, new, keys)
    changes = new[column(new, keys + 1) :]
    mask = row_mask(new, keys + 1)
    one = np.uint64(1)
    total = np.int64(0)
    for i in range(np.uint64(new[ROWS])):
        if i == 0 or not same_data(new, np.int64(i), new, np.int64(i - one), keys):
            total = multiplicities[i]
        multiplicities[i] = total
        total += changes[i & mask]
    origins = np.empty(2 * new[ROWS], np.int64)
    values = 1 if parameters[0] == COUNT else 0
    diffs = out[column(out, keys + values + 1) :]
    at = np.uint64(0)
    if values == 1:
        amounts = out[column(out, keys) :]
        for i in range(np.uint64(new[ROWS])):
            change = changes[i & mask]
            old = multiplicities[i]
            sign = 1 if change > 0 else -1
            # The lesser one comes first. Both are written, and counted if they are there: nothing foretells which are.
            low = min(old, old + change)
            high = max(old, old + change)
            origins[at], amounts[at], diffs[at] = i, low, -sign
            at += np.uint64(low != 0)
            origins[at], amounts[at], diffs[at] = i, high, sign
            at += np.uint64(high != 0)
    else:
        least = parameters[1]
        for i in range(np.uint64(new[ROWS])):
            old = multiplicities[i]
            change = np.int64(old + changes[i & mask] >= least) - np.int64(old >= least)
            origins[at], diffs[at] = i, change
            at += np.uint64(change != 0)
    for c in range(keys):
        _copy_column(new, c, origins, at, out, c)
    if stride(out, keys + values) == 1:
        _copy_column(new, keys, origins, at, out, keys + values)
    out[ROWS] = np.int64(at)


@kernel
def _copy_column(source, c, rows, count, out, to):
    """Write column `c` of some rows of a batch to a varying column of another."""
    values = source[column(source, c) :]
    mask = row_mask(source, c)
    copied = out[column(out, to) :]
    for k in range(np.uint64(count)):
        copied[k] = values[np.uint64(rows[k]) & mask]


@kernel
def _counts_before(heap, spine, new, keys):
    """What the key of each row adds up to in the runs."""
    counts = np.zeros(new[ROWS], np.int64)
    for r in range(spine[RUNS]):
        batch = words(heap, run_slot(spine, r))
        found = seek_all(batch, keys, new)
        last = batch[ROWS]
        diffs = batch[column(batch, keys + 1) :]
        mask = row_mask(batch, keys + 1)
        if keys == 1 and stride(batch, 0) == 1 and stride(new, 0) == 1:
            # The common case, in which nothing but two words need be compared.
            own = batch[column(batch, 0) : column(batch, 0) + last]
            sought = new[column(new, 0) :]
            for i in range(new[ROWS]):
                at = np.uint64(found[i])
                while at < np.uint64(last) and own[at] == sought[i]:
                    counts[i] += diffs[at & mask]
                    at += np.uint64(1)
            continue
        for i in range(new[ROWS]):
            at = found[i]
            while at < last and same_data(batch, at, new, i, keys):
                counts[i] += diffs[np.uint64(at) & mask]
                at += 1
    return counts


@kernel
def _reduce_ints(heap, spine, fresh, keys, what, out):
    """Write the differences of sums or means of ints in one epoch; False if a sum does not fit.

    All that a key has is four numbers, so no list of its content is made.
    """
    new = words(heap, fresh)
    slots, _, _ = open_runs(spine, NONE)
    places = find_keys(heap, slots, keys, fresh)
    weights = np.empty(4, np.int64)
    at = 0
    i = 0
    while i < new[ROWS]:
        weights[:] = 0
        for r in range(slots.shape[0]):
            batch = words(heap, slots[r])
            row = places[r, i]
            while row < batch[ROWS] and same_data(batch, row, new, i, keys):
                weights[_place(value(batch, keys, row))] += value(batch, keys + 2, row)
                row += 1
        was_there, old, _ = _total_of(what, weights)
        first = i
        while i < new[ROWS] and same_data(new, i, new, first, keys):
            weights[_place(value(new, keys, i))] += value(new, keys + 2, i)
            i += 1
        is_there, total, fits = _total_of(what, weights)
        if not fits:
            return False
        if was_there and is_there and old == total:
            continue
        # The lesser one comes first.
        for turn in range(2):
            if is_there and (turn == 0) == (not was_there or total < old):
                put(out, keys, at, total)
                at = _put_row(out, at, new, first, keys, 1, 0, 1)
            elif was_there and (turn == 0) == (not is_there or old < total):
                put(out, keys, at, old)
                at = _put_row(out, at, new, first, keys, 1, 0, -1)
    out[ROWS] = at
    return True


@leaf
def _place(tag):
    """Where the weight of a tag of ints is among four: rows, numbers, and both limbs."""
    return tag - LIMB + 2 if tag >= LIMB else tag


@leaf
def _total_of(what, weights):
    """Whether a key has rows, its sum or mean, and whether that fits."""
    if weights[0] == 0:
        return False, 0, True
    if weights[1] == 0:
        return True, NULL, True
    code, fits = total_of_ints(what, weights[1], weights[2], weights[3])
    return True, code, fits


@leaf
def _put_row(out, at, new, i, keys, values, epoch, diff):
    for c in range(keys):
        put(out, c, at, value(new, c, i))
    if stride(out, keys + values) == 1:
        put(out, keys + values, at, epoch)
    put(out, keys + values + 1, at, diff)
    return at + 1


@leaf
def _by_epoch(batch, start, end, c):
    """The rows [start, end) in the order of their epochs."""
    rows = np.arange(start, end)
    if end - start == 1 or stride(batch, c) == 0:
        return rows
    keys = np.empty(end - start, np.uint64)
    top = np.uint64(0)
    for k in range(end - start):
        keys[k] = np.uint64(value(batch, c, start + k))
        top = max(top, keys[k])
    keys, rows = sort_pairs(keys, rows, end - start, bit_length(top))
    return rows


@leaf
def _add(content, count, batch, i, keys, values):
    """Add a row of the batch to a sorted list of (values..., multiplicity)."""
    diff = value(batch, batch[layout.WIDTH] - 1, i)
    at = count
    while at > 0:
        order = 0
        for c in range(values):
            x = value(batch, keys + c, i)
            if x != content[at - 1, c]:
                order = -1 if x < content[at - 1, c] else 1
                break
        if order == 0:
            content[at - 1, values] += diff
            if content[at - 1, values] == 0:
                for k in range(at, count):
                    content[k - 1] = content[k]
                count -= 1
            return content, count
        if order > 0:
            break
        at -= 1
    content = grow(content, count + 1)
    for k in range(count, at, -1):
        content[k] = content[k - 1]
    for c in range(values):
        content[at, c] = value(batch, keys + c, i)
    content[at, values] = diff
    return content, count + 1


@leaf
def _write(heap, result, new, row, keys, values, epoch, rows, count):
    out = words(heap, result)
    at = out[ROWS]
    if at + count > out[layout.CAPACITY]:
        reserve(heap, result, at + count)
        out = words(heap, result)
    for k in range(count):
        for c in range(keys):
            put(out, c, at + k, value(new, c, row))
        for c in range(values):
            put(out, keys + c, at + k, rows[k, c])
        if stride(out, keys + values) == 1:
            put(out, keys + values, at + k, epoch)
        put(out, keys + values + 1, at + k, rows[k, values])
    out[ROWS] = at + count
