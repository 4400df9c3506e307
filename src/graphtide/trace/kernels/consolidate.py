"""Sorting differences and adding up those that are equal in row and time.

Columns are measured first and packed side by side into one word where they fit: a row is then one
key, its order is the word's order, and it is read back from the sorted word. Columns that are too wide are packed
without their gaps. Rows that need more than 64 bits all the same are sorted by several words, the least significant
first.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels.batch import (
    CONSOLIDATED,
    DEPTH,
    FORM,
    LOWER,
    ROWS,
    UPPER,
    WIDTH,
    cells,
    column,
    constant,
    copy_batch,
    new_batch,
    range_of,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.gaps import find_gap, pack_around, unpack_around
from graphtide.trace.kernels.heap import NONE, allocate, release, retain, words
from graphtide.trace.kernels.index import finish, index_words
from graphtide.trace.kernels.radix import bit_length, sort_keys, sort_pairs

__all__ = ["consolidate", "keep_before", "seal_sorted"]

# Rows under which sorting by direct comparison is cheaper than measuring columns.
FEW = 16


@kernel
def consolidate(heap, owner, slot, order):
    """The batch with its data columns in `order`, sorted and added up; slot 0 if nothing is left.

    The caller keeps `slot` and gets a count of the result, which may be the same slot.
    """
    if slot == NONE:
        return NONE
    batch = words(heap, slot)
    rows = batch[ROWS]
    if rows == 0:
        return NONE
    if batch[FORM] == CONSOLIDATED and _is_identity(order, batch[WIDTH] - batch[DEPTH] - 1):
        return retain(heap, slot)
    columns = _sort_columns(batch, order)
    if rows <= FEW:
        return _consolidate_few(heap, owner, slot, columns)
    return _consolidate_many(heap, owner, slot, columns)


@inlined
def _is_identity(order, width):
    if order.shape[0] != width:
        return False
    for c in range(width):
        if order[c] != c:
            return False
    return True


@inlined
def _sort_columns(batch, order):
    """The source column of each target column: data as ordered, then the times and the diff."""
    chosen = order.shape[0]
    tail = batch[DEPTH] + 1
    data = batch[WIDTH] - tail
    columns = np.empty(chosen + tail, np.int64)
    columns[:chosen] = order
    for c in range(tail):
        columns[chosen + c] = data + c
    return columns


@leaf
def _less(batch, columns, count, i, j):
    for k in range(count):
        x = value(batch, columns[k], i)
        y = value(batch, columns[k], j)
        if x != y:
            return x < y
    return False


@leaf
def _equal(batch, columns, count, i, j):
    for k in range(count):
        if value(batch, columns[k], i) != value(batch, columns[k], j):
            return False
    return True


@inlined
def _consolidate_few(heap, owner, slot, columns):
    batch = words(heap, slot)
    rows = batch[ROWS]
    sorted_by = columns.shape[0] - 1
    picked = np.empty(rows, np.int64)
    for i in range(rows):
        j = i - 1
        while j >= 0 and _less(batch, columns, sorted_by, i, picked[j]):
            picked[j + 1] = picked[j]
            j -= 1
        picked[j + 1] = i
    return _write_picked(heap, owner, slot, columns, picked)


@kernel
def _write_picked(heap, owner, slot, columns, picked):
    """A consolidated batch of the rows in the sorted order `picked`."""
    batch = words(heap, slot)
    rows = batch[ROWS]
    diff = columns.shape[0] - 1
    sums = np.empty(rows, np.int64)
    kept = 0
    i = 0
    while i < rows:
        first = picked[i]
        total = value(batch, columns[diff], first)
        i += 1
        while i < rows and _equal(batch, columns, diff, first, picked[i]):
            total += value(batch, columns[diff], picked[i])
            i += 1
        if total != 0:
            picked[kept] = first
            sums[kept] = total
            kept += 1
    if kept == 0:
        return NONE
    return _write_rows(heap, owner, slot, columns, picked, sums, kept)


@kernel
def _write_rows(heap, owner, slot, columns, picked, sums, rows):
    """A consolidated batch of the rows `picked` of `slot`, with `sums` as their diffs."""
    batch = words(heap, slot)
    width = columns.shape[0]
    varying = 0
    for c in range(width - 1):
        if stride(batch, columns[c]) == 1 and _differs(batch, columns[c], picked, rows):
            varying = with_column(varying, c)
    if _varies(sums, rows):
        varying = with_column(varying, width - 1)
    result = new_batch(heap, owner, width, batch[DEPTH], rows, varying, index_words(rows))
    target = words(heap, result)
    target[LOWER] = batch[LOWER]
    target[UPPER] = batch[UPPER]
    for c in range(width - 1):
        source = columns[c]
        if stride(target, c) == 0:
            constant(target, c, value(batch, source, picked[0]))
        else:
            own = cells(target, c, rows)
            for i in range(rows):
                own[i] = value(batch, source, picked[i])
    _write_diffs(target, sums, rows)
    finish(target, rows)
    return result


@leaf
def _differs(batch, c, picked, n):
    """Whether a column has several values in some rows: where it has one, merges need not look at it."""
    for i in range(1, n):
        if value(batch, c, picked[i]) != value(batch, c, picked[0]):
            return True
    return False


@leaf
def _varies(values, n):
    for i in range(1, n):
        if values[i] != values[0]:
            return True
    return False


@kernel
def _write_diffs(target, sums, rows):
    diff = target[WIDTH] - 1
    if stride(target, diff) == 0:
        constant(target, diff, sums[0])
    else:
        own = cells(target, diff, rows)
        for i in range(rows):
            own[i] = sums[i]


@kernel
def _measure(batch, c):
    """The least value of a column and the bits that its range takes."""
    low, high = range_of(batch, c)
    return low, bit_length(np.uint64(high) - np.uint64(low))


@inlined
def _consolidate_many(heap, owner, slot, columns):
    batch = words(heap, slot)
    width = columns.shape[0]
    lows = np.empty(width, np.int64)
    bits = np.empty(width, np.int64)
    total = 0
    for c in range(width):
        lows[c], bits[c] = _measure(batch, columns[c])
        total += bits[c]
    gaps = np.zeros((width, 2), np.int64)
    if total <= 64:
        return _consolidate_packed(heap, owner, slot, columns, lows, bits, gaps, total)
    closed, total = _close_gaps(batch, columns, lows, bits, gaps)
    if total <= 64:
        return _consolidate_packed(heap, owner, slot, columns, lows, closed, gaps, total)
    return _consolidate_wide(heap, owner, slot, columns, lows, bits)


@kernel
def _close_gaps(batch, columns, lows, bits, gaps):
    """The bits of each column without its longest gap, and of all of them; where the gaps begin and end."""
    closed = bits.copy()
    total = 0
    for c in range(columns.shape[0]):
        if bits[c] > 0 and lows[c] >= 0 and c < columns.shape[0] - 1:
            begin, end, left = find_gap(batch, columns[c])
            if left < bits[c]:
                gaps[c, 0] = begin
                gaps[c, 1] = end
                closed[c] = left
        total += closed[c]
    return closed, total


@kernel
def _pack_into(batch, c, low, shift, keys):
    """Add column `c`, counted from `low`, to the keys at bit `shift`."""
    own = cells(batch, c, batch[ROWS])
    origin = np.uint64(low)
    place = np.uint64(shift)
    for i in range(batch[ROWS]):
        keys[i] |= (np.uint64(own[i]) - origin) << place


@inlined
def _consolidate_packed(heap, owner, slot, columns, lows, bits, gaps, total):
    """One word holds a whole row, its diff in the lowest bits."""
    batch = words(heap, slot)
    rows = batch[ROWS]
    width = columns.shape[0]
    # Scratch comes from the heap: its large blocks are not touched for the first time.
    scratch = allocate(heap, owner, 2 * rows)
    keys = words(heap, scratch)[:rows].view(np.uint64)
    other = words(heap, scratch)[rows:].view(np.uint64)
    keys[:] = np.uint64(0)
    shifts = np.empty(width, np.int64)
    place = 0
    for c in range(width - 1, -1, -1):
        shifts[c] = place
        if gaps[c, 1] > 0:
            pack_around(batch, columns[c], lows[c], gaps[c, 0], gaps[c, 1], place, keys)
        elif bits[c] > 0:
            _pack_into(batch, columns[c], lows[c], place, keys)
        place += bits[c]
    if sort_keys(keys, other, rows, total):
        keys, other = other, keys
    sums = other.view(np.int64)
    kept = _add_up(keys, sums, rows, bits[width - 1], lows[width - 1])
    if kept == 0:
        release(heap, scratch)
        return NONE
    varying = 0
    for c in range(width - 1):
        if bits[c] > 0:
            varying = with_column(varying, c)
    if _varies(sums, kept):
        varying = with_column(varying, width - 1)
    result = new_batch(heap, owner, width, batch[DEPTH], kept, varying, index_words(kept))
    target = words(heap, result)
    target[LOWER] = batch[LOWER]
    target[UPPER] = batch[UPPER]
    for c in range(width - 1):
        if stride(target, c) == 0:
            constant(target, c, lows[c])
        elif gaps[c, 1] > 0:
            shift = shifts[c] - bits[width - 1]
            unpack_around(keys, kept, target, c, lows[c], gaps[c, 0], gaps[c, 1], shift, bits[c])
        else:
            _unpack(keys, kept, target, c, lows[c], shifts[c] - bits[width - 1], bits[c])
    _write_diffs(target, sums, kept)
    release(heap, scratch)
    finish(target, kept)
    return result


@inlined
def _add_up(keys, sums, rows, diff_bits, diff_low):
    """Sum the diffs of equal keys; keys lose their diff bits, those that sum to zero are dropped."""
    mask = (np.uint64(1) << np.uint64(diff_bits)) - np.uint64(1)
    drop = np.uint64(diff_bits)
    kept = 0
    i = 0
    while i < rows:
        key = keys[i] >> drop
        total = np.int64(keys[i] & mask) + diff_low
        i += 1
        while i < rows and keys[i] >> drop == key:
            total += np.int64(keys[i] & mask) + diff_low
            i += 1
        if total != 0:
            keys[kept] = key
            sums[kept] = total
            kept += 1
    return kept


@kernel
def _unpack(keys, rows, target, c, low, shift, bits):
    own = cells(target, c, rows)
    place = np.uint64(shift)
    mask = ~np.uint64(0) if bits == 64 else (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    origin = np.uint64(low)
    for i in range(rows):
        own[i] = np.int64(((keys[i] >> place) & mask) + origin)


@inlined
def _consolidate_wide(heap, owner, slot, columns, lows, bits):
    """Several words to a row: sort by the last word first, each pass keeping the order of the one before."""
    batch = words(heap, slot)
    rows = batch[ROWS]
    picked = np.arange(rows)
    keys = np.empty(rows, np.uint64)
    last = columns.shape[0] - 2
    while last >= 0:
        keys[:] = np.uint64(0)
        place = 0
        while last >= 0 and place + bits[last] <= 64:
            if bits[last] > 0:
                _pack_picked(batch, columns[last], lows[last], place, keys, picked)
            place += bits[last]
            last -= 1
        keys, picked = sort_pairs(keys, picked, rows, place)
    return _write_picked(heap, owner, slot, columns, picked)


@kernel
def _pack_picked(batch, c, low, shift, keys, picked):
    start = column(batch, c)
    origin = np.uint64(low)
    place = np.uint64(shift)
    for i in range(batch[ROWS]):
        keys[i] |= (np.uint64(batch[start + picked[i]]) - origin) << place


@kernel
def keep_before(heap, owner, slot, epoch):
    """The rows of a consolidated batch before `epoch`; slot 0 if there are none."""
    batch = words(heap, slot)
    rows = batch[ROWS]
    width = batch[WIDTH]
    first = width - batch[DEPTH] - 1
    picked = np.empty(rows, np.int64)
    sums = np.empty(rows, np.int64)
    kept = 0
    for i in range(rows):
        if value(batch, first, i) < epoch:
            picked[kept] = i
            sums[kept] = value(batch, width - 1, i)
            kept += 1
    if kept == 0:
        return NONE
    result = _write_rows(heap, owner, slot, np.arange(width), picked, sums, kept)
    words(heap, result)[UPPER] = epoch
    return result


@kernel
def seal_sorted(heap, owner, slot):
    """A consolidated batch of rows that were written in order: trimmed and indexed; slot 0 if there are none.

    Takes the caller's count of `slot`.
    """
    rows = words(heap, slot)[ROWS]
    if rows == 0:
        release(heap, slot)
        return NONE
    sealed = copy_batch(heap, owner, slot, index_words(rows))
    release(heap, slot)
    finish(words(heap, sealed), rows)
    return sealed
