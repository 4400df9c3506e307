"""Merging two adjacent runs, a little at a time.

A merge reads two consolidated batches and writes a third, advancing times to the readers' frontier
and adding up what has become equal. It stops when its fuel is spent and goes on where it stopped,
so that no single insertion pays for a large merge (K-Pg, section 4.2).
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    CONSOLIDATED,
    DEPTH,
    FORM,
    INDEX,
    LAYOUT,
    LOWER,
    ROWS,
    UPPER,
    WIDTH,
    column,
    compare_data,
    constant,
    new_batch,
    put,
    same_data,
    stride,
    value,
)
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.index import close_index, index_words, note_row, plan_index
from graphtide.trace.kernels.times import advance

__all__ = ["merge_some", "start_merge"]


@kernel
def start_merge(heap, owner, left, right):
    """An empty batch with room for both; its times and diffs are constants until they prove not to be."""
    a = words(heap, left)
    b = words(heap, right)
    width = a[WIDTH]
    rows = a[ROWS] + b[ROWS]
    slot = new_batch(heap, owner, width, a[DEPTH], rows, ALL_VARY, index_words(rows))
    out = words(heap, slot)
    a = words(heap, left)
    b = words(heap, right)
    out[LOWER] = min(a[LOWER], b[LOWER])
    out[UPPER] = max(a[UPPER], b[UPPER])
    for c in range(width - out[DEPTH] - 1, width):
        out[LAYOUT + 2 * c + 1] = 0
    if width == out[DEPTH] + 1:
        return slot
    low = min(value(a, 0, 0), value(b, 0, 0))
    high = max(value(a, 0, a[ROWS] - 1), value(b, 0, b[ROWS] - 1))
    plan_index(out, rows, low, high, out.shape[0] - index_words(rows))
    return slot


@kernel
def merge_some(heap, left, right, result, progress, since, fuel):
    """Merge until `fuel` rows are read or both sides are spent; True when the merge is done.

    `progress` holds the next row of each side and the next index bucket to fill.
    """
    a = words(heap, left)
    b = words(heap, right)
    out = words(heap, result)
    data = a[WIDTH] - a[DEPTH] - 1
    i = progress[0]
    j = progress[1]
    bucket = progress[2]
    stop = i + j + fuel
    group = np.empty((8, a[DEPTH] + 1), np.int64)
    rows_a = a[ROWS]
    rows_b = b[ROWS]
    while i + j < stop and (i < rows_a or j < rows_b):
        if i == rows_a:
            side = 1
        elif j == rows_b:
            side = -1
        else:
            side = compare_data(a, i, b, j, data)
        size = 0
        first = out[ROWS]
        if side <= 0:
            start = i
            group, size = _gather(a, i, data, group, size)
            i += size
            _put_data(out, first, a, start, data)
        if side >= 0:
            before = size
            if side > 0:
                _put_data(out, first, b, j, data)
            group, size = _gather(b, j, data, group, size)
            j += size - before
        for g in range(size):
            advance(group[g], a[DEPTH], since)
        if size > 1:
            size = _consolidate_group(group, size)
        if size > 0:
            if out[INDEX] != 0:
                bucket = note_row(out, first, value(out, 0, first), bucket)
            for g in range(size):
                if g > 0:
                    _put_data(out, first + g, out, first, data)
                _put_tail(out, first + g, data, group[g])
            out[ROWS] = first + size
    progress[0] = i
    progress[1] = j
    progress[2] = bucket
    if i < rows_a or j < rows_b:
        return False
    _complete(out, bucket)
    return True


@kernel
def _gather(batch, start, data, group, size):
    """Append the times and diffs of all rows with the data of row `start`."""
    tail = batch[DEPTH] + 1
    i = start
    rows = batch[ROWS]
    while True:
        if size == group.shape[0]:
            grown = np.empty((2 * size, tail), np.int64)
            grown[:size] = group
            group = grown
        for d in range(tail):
            group[size, d] = value(batch, data + d, i)
        size += 1
        i += 1
        if i == rows or not same_data(batch, i, batch, start, data):
            return group, size


@kernel
def _consolidate_group(group, size):
    """Sort the times of one row, add up equal ones, drop zeros; how many are left."""
    tail = group.shape[1]
    depth = tail - 1
    for i in range(1, size):
        j = i
        while j > 0 and _time_less(group, j, j - 1, depth):
            for d in range(tail):
                group[j, d], group[j - 1, d] = group[j - 1, d], group[j, d]
            j -= 1
    kept = 0
    i = 0
    while i < size:
        total = group[i, depth]
        j = i + 1
        while j < size and not _time_less(group, i, j, depth):
            total += group[j, depth]
            j += 1
        if total != 0:
            for d in range(depth):
                group[kept, d] = group[i, d]
            group[kept, depth] = total
            kept += 1
        i = j
    return kept


@kernel
def _time_less(group, i, j, depth):
    for d in range(depth):
        if group[i, d] != group[j, d]:
            return group[i, d] < group[j, d]
    return False


@kernel
def _put_data(out, row, source, i, data):
    for c in range(data):
        put(out, c, row, value(source, c, i))


@kernel
def _put_tail(out, row, data, tail):
    """Write a row's time and diff; a constant column that no longer is one gets its words."""
    for d in range(tail.shape[0]):
        c = data + d
        if stride(out, c) == 1:
            put(out, c, row, tail[d])
        elif row == 0:
            _hold(out, c, tail[d])
        elif out[_cell(out, c)] != tail[d]:
            held = out[_cell(out, c)]
            start = column(out, c)
            for i in range(row):
                out[start + i] = held
            out[start + row] = tail[d]
            out[LAYOUT + 2 * c + 1] = 1


@kernel
def _cell(out, c):
    return LAYOUT + 2 * out[WIDTH] + c


@kernel
def _hold(out, c, v):
    out[_cell(out, c)] = v


@kernel
def _complete(out, bucket):
    """Point columns that stayed constant at their one word, and close the index."""
    width = out[WIDTH]
    for c in range(width - out[DEPTH] - 1, width):
        if stride(out, c) == 0:
            constant(out, c, out[_cell(out, c)])
    out[FORM] = CONSOLIDATED
    if out[INDEX] != 0:
        close_index(out, bucket)
