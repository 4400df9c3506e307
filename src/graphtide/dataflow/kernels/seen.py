"""A set of rows, each packed into one word, in a table that says at once whether a row is there.

A loop that only adds rows asks of each whether it was put out before. Looked up in the index of the output that takes a
search in every run, of which each round makes one; here it takes one look. The last three bits of a word choose a cell
in a line of memory, the others the line, so that rows which follow each other are found where the last ones were.
Where columns have so few values that a bit for each possible row takes no more memory, the table is *dense*: a word is
the number of its bit. Most relations between some thousand vertices are.

A table lives for one run of the machine. It is made from the runs of an index, and made anew when it is half full or
a row is beyond the ranges that it was made for.

Invariant: cells, or bits, hold the rows of the index that the table was made from, and those that `strike` let pass.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.memory import prefetch
from graphtide.trace.kernels.batch import ROWS, cells, range_of, stride
from graphtide.trace.kernels.heap import allocate, words
from graphtide.trace.kernels.radix import bit_length
from graphtide.trace.kernels.spine import RUNS, run_slot

__all__ = ["CELLS", "IS_DENSE", "has_room", "make_table", "strike"]

# Words of a table: rows held, cells, whether these are words of bits, then per column the value that counts as 0 and
# the bits it takes; then the cells.
HELD = 0
CELLS = 1
IS_DENSE = 2
RANGES = 3

EMPTY = -1
# So that no row is EMPTY.
MOST_BITS = 63
LINE_BITS = 3
WORD_BITS = 6
# Odd, with bits everywhere: the golden ratio of 64 bits.
SPREAD = 0x9E3779B97F4A7C15
# Rows whose cells are asked of the memory while others are looked at.
AHEAD = 16


@kernel
def make_table(heap, owner, spine, fresh, columns, may_be_dense):
    """A table of the rows of an index, with room for those of a batch; one without cells if words cannot hold them.

    In a dense one there is no room for rows beyond the ranges that columns have now.
    """
    lows = np.empty(columns, np.int64)
    bits = np.empty(columns, np.int64)
    total = 0
    for c in range(columns):
        lows[c], bits[c] = _range(heap, spine, fresh, c)
        total += bits[c]
    if total > MOST_BITS:
        slot = allocate(heap, owner, RANGES)
        words(heap, slot)[CELLS] = 0
        words(heap, slot)[IS_DENSE] = 0
        return slot
    rows = fresh[ROWS]
    for r in range(spine[RUNS]):
        rows += words(heap, run_slot(spine, r))[ROWS]
    cells = max(2 << LINE_BITS, 1 << (bit_length(np.uint64(rows)) + 1))
    is_dense = may_be_dense and total - WORD_BITS < bit_length(np.uint64(cells))
    if is_dense:
        cells = max(1, (1 << total) >> WORD_BITS)
    # What is left is shared out, below and above, for values to come.
    more = 0 if is_dense else (MOST_BITS - total) // columns
    first = RANGES + 2 * columns
    slot = allocate(heap, owner, first + cells)
    table = words(heap, slot)
    table[HELD] = 0
    table[CELLS] = cells
    table[IS_DENSE] = is_dense
    for c in range(columns):
        if more > 0:
            # Unsigned, as what is below the least number counts from the greatest.
            lows[c] = np.uint64(lows[c]) - np.uint64((1 << (bits[c] + more - 1)) - (1 << bits[c] >> 1))
            bits[c] += more
        table[RANGES + 2 * c] = lows[c]
        table[RANGES + 2 * c + 1] = bits[c]
    table[first:] = 0 if is_dense else EMPTY
    for r in range(spine[RUNS]):
        keys = _packed(table, words(heap, run_slot(spine, r)), columns)
        if is_dense:
            _strike_bits(table[first:], keys, np.empty(keys.shape[0], np.bool_))
        else:
            _fill(table, keys, columns)
    return slot


@kernel
def _range(heap, spine, fresh, c):
    """The least value of a column in an index and a batch, and the bits that their range takes."""
    low, high = range_of(fresh, c)
    for r in range(spine[RUNS]):
        least, most = range_of(words(heap, run_slot(spine, r)), c)
        low = min(low, least)
        high = max(high, most)
    return low, bit_length(np.uint64(high) - np.uint64(low))


@kernel
def has_room(table, batch, columns):
    """Whether the rows of a batch are within the ranges of the table, and leave cells at most half full with them."""
    if table[IS_DENSE] == 0 and 2 * (table[HELD] + batch[ROWS]) > table[CELLS]:
        return False
    for c in range(columns):
        low = np.uint64(table[RANGES + 2 * c])
        most = (np.uint64(1) << np.uint64(table[RANGES + 2 * c + 1])) - np.uint64(1)
        own = cells(batch, c, batch[ROWS])
        beyond = np.uint64(0)
        for i in range(own.shape[0]):
            beyond |= np.uint64(np.uint64(own[i]) - low > most)
        if beyond != 0:
            return False
    return True


@kernel
def _packed(table, batch, columns):
    """The words of a batch's rows: the first column in the highest bits, so that words ascend as rows do."""
    rows = batch[ROWS]
    keys = np.zeros(rows, np.uint64)
    for c in range(columns):
        low = np.uint64(table[RANGES + 2 * c])
        bits = np.uint64(table[RANGES + 2 * c + 1])
        own = cells(batch, c, rows)
        if stride(batch, c) == 1:
            for i in range(rows):
                keys[i] = keys[i] << bits | np.uint64(own[i]) - low
        else:
            held = np.uint64(own[0]) - low
            for i in range(rows):
                keys[i] = keys[i] << bits | held
    return keys


@leaf
def _cell(key, shift):
    line = (key >> np.uint64(LINE_BITS)) * np.uint64(SPREAD) >> shift
    return line << np.uint64(LINE_BITS) | key & np.uint64((1 << LINE_BITS) - 1)


@leaf
def _shift(table):
    """How far the product of a hash goes down to be the number of a line."""
    return np.uint64(64 + LINE_BITS - bit_length(np.uint64(table[CELLS] - 1)))


@kernel
def _fill(table, keys, columns):
    """Enter words that are not there."""
    cells = table[RANGES + 2 * columns :]
    last = np.uint64(table[CELLS] - 1)
    shift = _shift(table)
    rows = keys.shape[0]
    for i in range(rows):
        if i + AHEAD < rows:
            prefetch(cells, _cell(keys[i + AHEAD], shift))
        at = _cell(keys[i], shift)
        while cells[at] != EMPTY:
            at = at + np.uint64(1) & last
        cells[at] = keys[i]
    table[HELD] += rows


@kernel
def strike(table, batch, columns, is_new):
    """Rule out the rows of a batch that are there, and enter the others; no two of its rows are equal."""
    keys = _packed(table, batch, columns)
    cells = table[RANGES + 2 * columns :]
    if table[IS_DENSE] == 1:
        _strike_bits(cells, keys, is_new)
        return
    last = np.uint64(table[CELLS] - 1)
    shift = _shift(table)
    rows = keys.shape[0]
    held = 0
    for i in range(rows):
        if i + AHEAD < rows:
            prefetch(cells, _cell(keys[i + AHEAD], shift))
        key = np.int64(keys[i])
        at = _cell(keys[i], shift)
        while cells[at] != EMPTY and cells[at] != key:
            at = at + np.uint64(1) & last
        is_new[i] = cells[at] == EMPTY
        held += is_new[i]
        cells[at] = key
    table[HELD] += held


@kernel
def _strike_bits(cells, keys, is_new):
    """The same in a dense table; words that are there already are set again."""
    for i in range(keys.shape[0]):
        place = keys[i] >> np.uint64(WORD_BITS)
        bit = np.uint64(1) << (keys[i] & np.uint64((1 << WORD_BITS) - 1))
        held = np.uint64(cells[place])
        is_new[i] = held & bit == 0
        cells[place] = held | bit
