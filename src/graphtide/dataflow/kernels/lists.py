"""Small sorted lists of (values..., multiplicity), the content of one key at one time.

A list is a two-dimensional array that grows by doubling; its rows ascend by value, no two are
equal and no multiplicity is zero.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import value
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.times import is_at_most

__all__ = ["ALL", "accumulate", "combine", "compare_values", "grow"]

# For `most`: the whole content is asked for, negative multiplicities included.
ALL = -1


@leaf
def grow(rows, needed):
    """An array with room for at least `needed` rows and the same content."""
    if needed <= rows.shape[0]:
        return rows
    grown = np.empty((max(needed, 2 * rows.shape[0]), rows.shape[1]), np.int64)
    grown[: rows.shape[0]] = rows
    return grown


@kernel
def accumulate(heap, slots, lows, highs, keys, values, depth, time, most, step, heads, out):
    """The content of one key at `time`: rows [lows, highs) of each batch, added up over times at or before.

    Returns the list and its length. With `most` >= 0, only positive multiplicities count, and it ends
    when `most` rows are found, going up in value (`step` 1) or down (-1).
    """
    runs = slots.shape[0]
    for r in range(runs):
        heads[r] = lows[r] if step > 0 else highs[r] - 1
    count = 0
    found = 0
    while True:
        best = _best_head(heap, slots, lows, highs, heads, keys, values, step)
        if best < 0:
            return out, count
        out = grow(out, count + 1)
        batch = words(heap, slots[best])
        for c in range(values):
            out[count, c] = value(batch, keys + c, heads[best])
        total = 0
        # Runs before the best one have no row of this value at their head.
        for r in range(best, runs):
            batch = words(heap, slots[r])
            while lows[r] <= heads[r] < highs[r] and _has_values(batch, heads[r], keys, values, out, count):
                if is_at_most(batch, keys + values, depth, heads[r], time):
                    total += value(batch, keys + values + depth, heads[r])
                heads[r] += step
        if total > 0 or (total != 0 and most < 0):
            out[count, values] = total
            count += 1
            found += total
            if 0 <= most <= found:
                return out, count


@leaf
def _best_head(heap, slots, lows, highs, heads, keys, values, step):
    """The run whose head has the least value (the greatest, going backwards); -1 if all are spent."""
    best = -1
    for r in range(slots.shape[0]):
        if heads[r] < lows[r] or heads[r] >= highs[r]:
            continue
        if best < 0:
            best = r
            continue
        order = compare_values(words(heap, slots[r]), heads[r], words(heap, slots[best]), heads[best], keys, values)
        if order * step < 0:
            best = r
    return best


@leaf
def compare_values(a, i, b, j, keys, values):
    """-1, 0 or 1 as the values of a row, behind its key, come before those of another, are equal or come after."""
    for c in range(keys, keys + values):
        x = value(a, c, i)
        y = value(b, c, j)
        if x != y:
            return -1 if x < y else 1
    return 0


@leaf
def _has_values(batch, i, keys, values, rows, row):
    for c in range(values):
        if value(batch, keys + c, i) != rows[row, c]:
            return False
    return True


@kernel
def combine(left, left_count, right, right_count, sign, out):
    """The list left + sign * right; returns it and its length."""
    out = grow(out, left_count + right_count)
    values = left.shape[1] - 1
    i = 0
    j = 0
    count = 0
    while i < left_count or j < right_count:
        order = 0
        if i == left_count:
            order = 1
        elif j == right_count:
            order = -1
        else:
            for c in range(values):
                if left[i, c] != right[j, c]:
                    order = -1 if left[i, c] < right[j, c] else 1
                    break
        total = 0
        if order <= 0:
            for c in range(values):
                out[count, c] = left[i, c]
            total += left[i, values]
            i += 1
        if order >= 0:
            for c in range(values):
                out[count, c] = right[j, c]
            total += sign * right[j, values]
            j += 1
        if total != 0:
            out[count, values] = total
            count += 1
    return out, count
