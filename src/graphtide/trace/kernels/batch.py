"""The one shape in which differences lie in memory: a columnar batch in a block of words.

A batch has `width` columns: the data columns (an arrangement's key first), then `depth` time
coordinates, then the difference. A column is an offset and a stride into the block, so a column
that never changes takes one word (stride 0): the epoch of a compacted run, the diff of a set.

Invariant of a batch marked CONSOLIDATED: rows ascend lexicographically by data, then time, no two
are equal in both, and no diff is zero.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.heap import SIZE, allocate, resize, words

__all__ = [
    "ALL_VARY",
    "AS_IT_CAME",
    "CAPACITY",
    "CONSOLIDATED",
    "DEPTH",
    "FORM",
    "INDEX",
    "INDEX_BASE",
    "INDEX_SHIFT",
    "INDEX_SIZE",
    "LAYOUT",
    "LOWER",
    "ROWS",
    "SECOND_BITS",
    "SECOND_HIGH",
    "SECOND_LOW",
    "SECOND_SHIFT",
    "SPARE",
    "UPPER",
    "WIDTH",
    "add_rows",
    "cells",
    "column",
    "compare_data",
    "constant",
    "copy_batch",
    "copy_column",
    "data_width",
    "header_words",
    "new_batch",
    "put",
    "range_of",
    "reserve",
    "row_mask",
    "rows_of",
    "same_between",
    "same_data",
    "stride",
    "used_words",
    "value",
    "varies",
    "with_column",
]

# Header fields, before the layout.
ROWS = 0
WIDTH = 1
DEPTH = 2
CAPACITY = 3
FORM = 4
LOWER = 5  # the epochs it may speak of: LOWER <= epoch < UPPER
UPPER = 6
INDEX = 7  # offset of the directory over the first columns, 0 if there is none
INDEX_SHIFT = 8
INDEX_BASE = 9
INDEX_SIZE = 10
SPARE = 11  # for whoever is writing the batch
SECOND_BITS = 12  # bits of the second column that the directory tells apart
SECOND_SHIFT = 13
SECOND_LOW = 14  # its range, if there are any
SECOND_HIGH = 15
LAYOUT = 16  # then (offset, stride) per column, then one word per column for constants

AS_IT_CAME = 0
CONSOLIDATED = 1

ALL_VARY = -1
MASKED = 62  # the last column that a set of varying columns can speak of


@leaf
def header_words(width):
    """Words before the first column."""
    return LAYOUT + 3 * width


@leaf
def varies(varying, c):
    """Whether the bit set `varying` holds column `c`; columns past its 63 bits always vary."""
    return c > MASKED or (varying >> c) & 1 == 1


@leaf
def with_column(varying, c):
    """The bit set with column `c` in it."""
    return varying | (1 << c) if c <= MASKED else varying


@kernel
def new_batch(heap, owner, width, depth, capacity, varying, spare):
    """An empty batch; columns not in `varying` are constants, zero until `constant` sets them.

    `spare` words are left behind the columns, for an index.
    """
    head = header_words(width)
    strided = 0
    for c in range(width):
        if varies(varying, c):
            strided += 1
    slot = allocate(heap, owner, head + strided * capacity + spare)
    batch = words(heap, slot)
    batch[ROWS] = 0
    batch[WIDTH] = width
    batch[DEPTH] = depth
    batch[CAPACITY] = capacity
    batch[FORM] = AS_IT_CAME
    batch[LOWER] = 0
    batch[UPPER] = 0
    batch[INDEX] = 0
    place = head
    for c in range(width):
        if varies(varying, c):
            batch[LAYOUT + 2 * c] = place
            batch[LAYOUT + 2 * c + 1] = 1
            place += capacity
        else:
            constant(batch, c, 0)
    return slot


@leaf
def constant(batch, c, v):
    """Make column `c` the value `v` in every row."""
    cell = LAYOUT + 2 * batch[WIDTH] + c
    batch[LAYOUT + 2 * c] = cell
    batch[LAYOUT + 2 * c + 1] = 0
    batch[cell] = v


@leaf
def column(batch, c):
    """The offset of column `c`."""
    return batch[LAYOUT + 2 * c]


@leaf
def stride(batch, c):
    """1 for a column of its own, 0 for a constant one."""
    return batch[LAYOUT + 2 * c + 1]


@leaf
def cells(batch, c, rows):
    """The words of the first `rows` rows of a column, one word if it is the same for all.

    Loops over them count from 0, where those over the words of a batch might begin before its first: only the former
    become vector instructions, and take a fifth to a third of the time.
    """
    start = column(batch, c)
    return batch[start : start + (rows if stride(batch, c) == 1 else 1)]


@kernel
def copy_column(target, batch, c):
    """Write as many rows of a column as there is room for."""
    source = cells(batch, c, target.shape[0])
    if stride(batch, c) == 0:
        target[:] = source[0]
        return
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def range_of(batch, c):
    """The least and the greatest value of a column of a batch that has rows."""
    own = cells(batch, c, batch[ROWS])
    low = own[0]
    high = low
    for i in range(own.shape[0]):
        low = min(low, own[i])
        high = max(high, own[i])
    return low, high


@leaf
def row_mask(batch, c):
    """What leaves a row's number as it is, or makes it 0 in a column that is the same for all rows."""
    return np.uint64(-stride(batch, c))


@leaf
def value(batch, c, i):
    """Row `i` of column `c`."""
    return batch[batch[LAYOUT + 2 * c] + i * batch[LAYOUT + 2 * c + 1]]


@leaf
def put(batch, c, i, v):
    """Write row `i` of the strided column `c`."""
    batch[batch[LAYOUT + 2 * c] + i] = v


@leaf
def data_width(batch):
    """How many columns are data, before the times and the diff."""
    return batch[WIDTH] - batch[DEPTH] - 1


@leaf
def rows_of(heap, slot):
    """The number of rows; none in slot 0."""
    if slot == 0:
        return 0
    return words(heap, slot)[ROWS]


@leaf
def compare_data(a, i, b, j, columns):
    """Below, at or above zero as row `i` of `a` stands to row `j` of `b` in the first `columns` columns."""
    for c in range(columns):
        x = value(a, c, i)
        y = value(b, c, j)
        if x < y:
            return -1
        if x > y:
            return 1
    return 0


@leaf
def same_data(a, i, b, j, columns):
    """Whether the first `columns` columns of the two rows agree."""
    for c in range(columns):
        if value(a, c, i) != value(b, c, j):
            return False
    return True


@leaf
def same_between(a, i, b, j, first, end):
    """Whether the columns from `first` on and before `end` agree."""
    for c in range(first, end):
        if value(a, c, i) != value(b, c, j):
            return False
    return True


@kernel
def reserve(heap, slot, capacity):
    """Make room for `capacity` rows in a batch under construction; its index is dropped."""
    batch = words(heap, slot)
    if batch[CAPACITY] >= capacity:
        return
    width = batch[WIDTH]
    rows = batch[ROWS]
    old_capacity = batch[CAPACITY]
    grown = max(capacity, 2 * old_capacity)
    head = header_words(width)
    strided = 0
    for c in range(width):
        strided += stride(batch, c)
    resize(heap, slot, head + strided * grown, heap[slot, SIZE])
    batch = words(heap, slot)
    place = strided
    # From the last column to the first, so that no column is overwritten before it has moved.
    for c in range(width - 1, -1, -1):
        if stride(batch, c) == 1:
            place -= 1
            # The new place may begin within the old one.
            source = cells(batch, c, rows)
            target = batch[head + place * grown : head + place * grown + rows]
            for i in range(rows):
                target[rows - 1 - i] = source[rows - 1 - i]
            batch[LAYOUT + 2 * c] = head + place * grown
    batch[CAPACITY] = grown
    batch[INDEX] = 0


@kernel
def add_rows(heap, slot, more):
    """Let a batch of strided columns have `more` rows, which the caller writes; the first of them."""
    batch = words(heap, slot)
    first = batch[ROWS]
    if first + more > batch[CAPACITY]:
        reserve(heap, slot, first + more)
        batch = words(heap, slot)
    batch[ROWS] = first + more
    return first


@kernel
def copy_batch(heap, owner, slot, spare):
    """A batch of its own with the same content and no index, with `spare` words behind its columns."""
    source = words(heap, slot)
    width = source[WIDTH]
    rows = source[ROWS]
    strided = 0
    for c in range(width):
        strided += stride(source, c)
    head = header_words(width)
    copy = allocate(heap, owner, head + strided * rows + spare)
    source = words(heap, slot)
    target = words(heap, copy)
    for i in range(head):
        target[i] = source[i]
    target[CAPACITY] = rows
    target[INDEX] = 0
    place = head
    for c in range(width):
        if stride(source, c) == 1:
            copy_column(target[place : place + rows], source, c)
            target[LAYOUT + 2 * c] = place
            place += rows
    return copy


@leaf
def used_words(batch):
    """Words that hold something: the header, the rows of strided columns, the index."""
    strided = 0
    for c in range(batch[WIDTH]):
        strided += stride(batch, c)
    return header_words(batch[WIDTH]) + strided * batch[ROWS] + (batch[INDEX_SIZE] if batch[INDEX] else 0)
