"""Merging two adjacent runs, a little at a time.

A merge reads two consolidated batches and writes a third, advancing times to the readers' frontier
and adding up what has become equal. It stops when its fuel is spent and goes on where it stopped,
so that no single insertion pays for a large merge (K-Pg, section 4.2).

Mostly both batches are of one epoch each when they are merged, and the same one once it is advanced: the
merge is then *plain*, row against row. Otherwise times may change their order as they are advanced,
and all times of a row are gathered before it is written.
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
    SPARE,
    UPPER,
    WIDTH,
    column,
    compare_data,
    constant,
    data_width,
    new_batch,
    put,
    same_data,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.index import close_index, index_words, note_row, plan_index
from graphtide.trace.kernels.times import advance

__all__ = ["merge_some", "start_merge"]

# In the spare header word of a batch that is being merged: where the diffs of a plain merge would go.
GATHERED = 0


@kernel
def start_merge(heap, owner, left, right, since):
    """An empty batch with room for both, its columns as far as they are known to be constants."""
    a = words(heap, left)
    b = words(heap, right)
    width = a[WIDTH]
    depth = a[DEPTH]
    data = width - depth - 1
    rows = a[ROWS] + b[ROWS]
    epoch = _common_epoch(a, b, data, depth, since)
    varying = ALL_VARY
    if epoch >= 0:
        varying = with_column(0, width - 1)
        for c in range(width - 1):
            if c != data and not _is_constant(a, b, c):
                varying = with_column(varying, c)
    slot = new_batch(heap, owner, width, depth, rows, varying, index_words(rows))
    out = words(heap, slot)
    out[LOWER] = min(a[LOWER], b[LOWER])
    out[UPPER] = max(a[UPPER], b[UPPER])
    out[SPARE] = GATHERED
    if epoch >= 0:
        out[SPARE] = column(out, width - 1)
        for c in range(width - 1):
            if stride(out, c) == 0:
                constant(out, c, epoch if c == data else value(a, c, 0))
        if _is_constant(a, b, width - 1):
            constant(out, width - 1, value(a, width - 1, 0))
    else:
        for c in range(data, width):
            out[LAYOUT + 2 * c + 1] = 0
    if data > 0:
        low = min(value(a, 0, 0), value(b, 0, 0))
        high = max(value(a, 0, a[ROWS] - 1), value(b, 0, b[ROWS] - 1))
        plan_index(out, rows, low, high, out.shape[0] - index_words(rows))
    return slot


@kernel
def _is_constant(a, b, c):
    return stride(a, c) == 0 and stride(b, c) == 0 and value(a, c, 0) == value(b, c, 0)


@kernel
def _common_epoch(a, b, data, depth, since):
    """The one epoch that all rows of both have once they are advanced; -1 if there is none."""
    if stride(a, data) == 1 or stride(b, data) == 1 or since[0] != 1:
        return -1
    for d in range(1, depth):
        if since[1 + d] != 0:
            return -1
    epoch = max(value(a, data, 0), since[1])
    return epoch if epoch == max(value(b, data, 0), since[1]) else -1


@kernel
def merge_some(heap, left, right, result, progress, since, fuel):
    """Merge until `fuel` rows are read or both sides are spent; True when the merge is done.

    `progress` holds the next row of each side and the next index bucket to fill.
    """
    a = words(heap, left)
    b = words(heap, right)
    out = words(heap, result)
    if out[SPARE] == GATHERED:
        _merge_gathered(a, b, out, progress, since, fuel)
    else:
        _merge_plain(a, b, out, progress, fuel)
    if progress[0] < a[ROWS] or progress[1] < b[ROWS]:
        return False
    _complete(out, progress[2])
    return True


@kernel
def _merge_plain(a, b, out, progress, fuel):
    """Merge row against row: the order of rows is that of the data and the loop coordinates."""
    width = a[WIDTH]
    data = data_width(a)
    diff = width - 1
    # Offsets and strides of the columns that are compared, in their order: all but the epoch and the diff.
    compared = width - 2
    place_a = np.empty(compared, np.int64)
    step_a = np.empty(compared, np.int64)
    place_b = np.empty(compared, np.int64)
    step_b = np.empty(compared, np.int64)
    for k in range(compared):
        c = k if k < data else k + 1
        place_a[k] = column(a, c)
        step_a[k] = stride(a, c)
        place_b[k] = column(b, c)
        step_b[k] = stride(b, c)
    diff_a = column(a, diff)
    diff_step_a = stride(a, diff)
    diff_b = column(b, diff)
    diff_step_b = stride(b, diff)
    written = np.empty(compared, np.int64)  # of those, the ones that vary in the output
    targets = np.empty(compared, np.int64)
    writes = 0
    for k in range(compared):
        c = k if k < data else k + 1
        if stride(out, c) == 1:
            written[writes] = k
            targets[writes] = column(out, c)
            writes += 1
    i = progress[0]
    j = progress[1]
    bucket = progress[2]
    rows_a = a[ROWS]
    rows_b = b[ROWS]
    stop = i + j + fuel
    at = out[ROWS]
    first_a = place_a[0] if compared > 0 else 0
    indexed = out[INDEX] != 0
    while i + j < stop and (i < rows_a or j < rows_b):
        order = 0
        if i == rows_a:
            order = 1
        elif j == rows_b:
            order = -1
        else:
            for k in range(compared):
                x = a[place_a[k] + i * step_a[k]]
                y = b[place_b[k] + j * step_b[k]]
                if x != y:
                    order = -1 if x < y else 1
                    break
        if order < 0:
            amount = a[diff_a + i * diff_step_a]
        elif order > 0:
            amount = b[diff_b + j * diff_step_b]
        else:
            amount = a[diff_a + i * diff_step_a] + b[diff_b + j * diff_step_b]
        if amount != 0:
            if order <= 0:
                for w in range(writes):
                    k = written[w]
                    out[targets[w] + at] = a[place_a[k] + i * step_a[k]]
                if indexed:
                    bucket = note_row(out, at, a[first_a + i * step_a[0]], bucket)
            else:
                for w in range(writes):
                    k = written[w]
                    out[targets[w] + at] = b[place_b[k] + j * step_b[k]]
                if indexed:
                    bucket = note_row(out, at, b[place_b[0] + j * step_b[0]], bucket)
            _put_diff(out, diff, at, amount)
            at += 1
        if order <= 0:
            i += 1
        if order >= 0:
            j += 1
    out[ROWS] = at
    progress[0] = i
    progress[1] = j
    progress[2] = bucket


@kernel
def _put_diff(out, diff, row, amount):
    """Write a diff; a constant column of diffs that no longer is one gets its words."""
    if stride(out, diff) == 1:
        out[out[SPARE] + row] = amount
    elif out[column(out, diff)] != amount:
        held = out[column(out, diff)]
        start = out[SPARE]
        for i in range(row):
            out[start + i] = held
        out[start + row] = amount
        out[LAYOUT + 2 * diff] = start
        out[LAYOUT + 2 * diff + 1] = 1


@kernel
def _merge_gathered(a, b, out, progress, since, fuel):
    """Merge row by row of data, with all times that it has on both sides."""
    data = data_width(a)
    depth = a[DEPTH]
    i = progress[0]
    j = progress[1]
    bucket = progress[2]
    stop = i + j + fuel
    group = np.empty((8, depth + 1), np.int64)
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
            _put_data(out, first, a, i, data)
            group, size = _gather(a, i, data, group, size)
            i += size
        if side >= 0:
            before = size
            if side > 0:
                _put_data(out, first, b, j, data)
            group, size = _gather(b, j, data, group, size)
            j += size - before
        for g in range(size):
            advance(group[g], depth, since)
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
            out[_cell(out, c)] = tail[d]
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
def _complete(out, bucket):
    """Point columns that stayed constant at their one word, and close the index."""
    width = out[WIDTH]
    if out[SPARE] == GATHERED:
        for c in range(data_width(out), width):
            if stride(out, c) == 0:
                constant(out, c, out[_cell(out, c)])
    out[FORM] = CONSOLIDATED
    if out[INDEX] != 0:
        close_index(out, bucket)
