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

from graphtide.jit import kernel, leaf
from graphtide.memory import address_to_words
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
    row_mask,
    same_data,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.index import (
    close_index,
    index_words,
    is_coarse,
    note_row,
    note_rows,
    plan_index,
    second_range,
)
from graphtide.trace.kernels.times import advance

__all__ = ["merge_some", "start_merge"]

# In the spare header word of a batch that is being merged: where the diffs of a plain merge would go.
GATHERED = 0
# Rows that a plain merge takes at a time.
BLOCK = 1024
# Columns by which it is computed which row comes next.
COMPUTED = 3


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
        second_low = second_high = 0
        if data > 1 and is_coarse(rows, low, high):
            least_a, most_a = second_range(a)
            least_b, most_b = second_range(b)
            second_low = min(least_a, least_b)
            second_high = max(most_a, most_b)
        plan_index(out, rows, low, high, second_low, second_high, out.shape[0] - index_words(rows))
    return slot


@leaf
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
    """Merge row against row, in the order of the data and the loop coordinates.

    A block of rows at a time: first which row comes when and with what diff, then column after column.
    """
    width = a[WIDTH]
    data = data_width(a)
    # The columns that are compared, in their order: all but the epoch and the diff, and what all rows share.
    compared = np.empty(width, np.int64)
    count = 0
    for c in range(width - 1):
        if c != data and not _is_constant(a, b, c):
            compared[count] = c
            count += 1
    order = np.empty(BLOCK, np.int64)  # rows of `a`, and rows of `b` as -1, -2, ...
    amounts = np.empty(BLOCK, np.int64)
    i = progress[0]
    j = progress[1]
    stop = i + j + fuel
    while i + j < stop and (i < a[ROWS] or j < b[ROWS]):
        most = min(BLOCK, stop - i - j)
        written = 0
        if count > 0 and i < a[ROWS] and j < b[ROWS]:
            written = min(COMPUTED, count)
            i, j, rows = _interleave(a, i, b, j, compared, count, out, order, amounts, most)
        else:
            i, j, rows = _line_up(a, i, b, j, order, amounts, most)
        for k in range(written, count):
            _copy_rows(a, b, compared[k], order, rows, out)
        _put_diffs(out, amounts, rows)
        if out[INDEX] != 0:
            progress[2] = note_rows(out, out[ROWS], rows, progress[2])
        out[ROWS] += rows
    progress[0] = i
    progress[1] = j


@kernel
def _interleave(a, i, b, j, compared, count, out, order, amounts, most):
    """The next rows of both, until `most` are read or one side is spent; where it is now, and how many came out.

    Which side is next cannot be foreseen, so for three columns it is computed, not branched on. These columns are
    written to `out` at once.
    """
    c = compared[0]
    first_a, first_b = a[column(a, c) :], b[column(b, c) :]
    mask_a, mask_b = row_mask(a, c), row_mask(b, c)
    first = out[column(out, c) + out[ROWS] :]
    c = compared[min(1, count - 1)]
    second = out[column(out, c) + out[ROWS] :]
    second_a, second_b = a[column(a, c) :], b[column(b, c) :]
    second_mask_a, second_mask_b = row_mask(a, c), row_mask(b, c)
    c = compared[min(2, count - 1)]
    third = out[column(out, c) + out[ROWS] :]
    third_a, third_b = a[column(a, c) :], b[column(b, c) :]
    third_mask_a, third_mask_b = row_mask(a, c), row_mask(b, c)
    c = a[WIDTH] - 1
    diffs_a, diffs_b = a[column(a, c) :], b[column(b, c) :]
    diff_mask_a, diff_mask_b = row_mask(a, c), row_mask(b, c)
    # Unsigned, so that no index is taken from the end.
    last_a, last_b = np.uint64(a[ROWS]), np.uint64(b[ROWS])
    row_a, row_b = np.uint64(i), np.uint64(j)
    stop = np.uint64(i + j + most)
    rows = np.uint64(0)
    while row_a < last_a and row_b < last_b and row_a + row_b < stop:
        x = first_a[row_a & mask_a]
        y = first_b[row_b & mask_b]
        side = _order(x, y)
        if count > 1:
            x2 = second_a[row_a & second_mask_a]
            y2 = second_b[row_b & second_mask_b]
            side = 2 * side + _order(x2, y2)
            if count > 2:
                x3 = third_a[row_a & third_mask_a]
                y3 = third_b[row_b & third_mask_b]
                side = 2 * side + _order(x3, y3)
                if count > COMPUTED and side == 0:
                    side = _compare_columns(a, np.int64(row_a), b, np.int64(row_b), compared, COMPUTED, count)
                third[rows] = x3 if side <= 0 else y3
            second[rows] = x2 if side <= 0 else y2
        from_a = side <= 0
        from_b = side >= 0
        amount = from_a * diffs_a[row_a & diff_mask_a] + from_b * diffs_b[row_b & diff_mask_b]
        first[rows] = min(x, y)
        order[rows] = np.int64(row_a) if from_a else ~np.int64(row_b)
        amounts[rows] = amount
        rows += np.uint64(amount != 0)
        row_a += np.uint64(from_a)
        row_b += np.uint64(from_b)
    return np.int64(row_a), np.int64(row_b), np.int64(rows)


@leaf
def _order(x, y):
    """1, 0 or -1 as `x` is greater than, equal to or less than `y`."""
    return np.int64(x > y) - np.int64(x < y)


@leaf
def _compare_columns(a, i, b, j, columns, first, count):
    for k in range(first, count):
        side = _order(value(a, columns[k], i), value(b, columns[k], j))
        if side != 0:
            return side
    return 0


@kernel
def _line_up(a, i, b, j, order, amounts, most):
    """The next rows when one side is spent, or when nothing tells the rows of the two apart."""
    diff = a[WIDTH] - 1
    rows = 0
    if i < a[ROWS] and j < b[ROWS]:
        amounts[0] = value(a, diff, i) + value(b, diff, j)
        order[0] = i
        return i + 1, j + 1, 1 if amounts[0] != 0 else 0
    while rows < most and i < a[ROWS]:
        order[rows] = i
        amounts[rows] = value(a, diff, i)
        i += 1
        rows += 1
    while rows < most and j < b[ROWS]:
        order[rows] = ~j
        amounts[rows] = value(b, diff, j)
        j += 1
        rows += 1
    return i, j, rows


@kernel
def _copy_rows(a, b, c, order, rows, out):
    """Append column `c` of the rows in `order`."""
    # One array over both, so that the side that a row is of moves an index instead of choosing a branch.
    start_a = np.int64(a.ctypes.data)
    start_b = np.int64(b.ctypes.data)
    least = min(start_a, start_b)
    memory = address_to_words(least, max(start_a + a.nbytes, start_b + b.nbytes) - least >> 3)
    origin_a = (start_a - least >> 3) + column(a, c)
    origin_b = (start_b - least >> 3) + column(b, c)
    step_a = stride(a, c)
    step_b = stride(b, c)
    copied = out[column(out, c) + out[ROWS] :]
    for k in range(rows):
        row = order[k]
        copied[k] = memory[np.uint64(origin_a + row * step_a if row >= 0 else origin_b + ~row * step_b)]


@kernel
def _put_diffs(out, amounts, rows):
    """Append diffs; a constant column of diffs that no longer is one gets its words."""
    diff = out[WIDTH] - 1
    at = out[ROWS]
    if stride(out, diff) == 0:
        held = out[column(out, diff)]
        same = True
        for k in range(rows):
            same &= amounts[k] == held
        if same:
            return
        start = out[SPARE]
        for i in range(at):
            out[start + i] = held
        out[LAYOUT + 2 * diff] = start
        out[LAYOUT + 2 * diff + 1] = 1
    start = out[SPARE] + at
    for k in range(rows):
        out[start + k] = amounts[k]


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
                bucket = note_row(out, first, bucket)
            for g in range(size):
                if g > 0:
                    _put_data(out, first + g, out, first, data)
                _put_tail(out, first + g, data, group[g])
            out[ROWS] = first + size
    progress[0] = i
    progress[1] = j
    progress[2] = bucket


@leaf
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


@leaf
def _time_less(group, i, j, depth):
    for d in range(depth):
        if group[i, d] != group[j, d]:
            return group[i, d] < group[j, d]
    return False


@leaf
def _put_data(out, row, source, i, data):
    for c in range(data):
        put(out, c, row, value(source, c, i))


@leaf
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


@leaf
def _cell(out, c):
    return LAYOUT + 2 * out[WIDTH] + c


@leaf
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
