"""How many edges each two views share, counted from the rows of the edge boolean matrix in one of two ways.

Both give the lower triangle of the same matrix, its diagonal the sizes of the views; what is above it means nothing.
Counts are not negative. Bits beyond the number of views are ignored.
"""

from __future__ import annotations

import numpy as np

from graphtide.bits import popcount
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.radix import bit_length
from graphtide.views.kernels.bits import transpose

__all__ = ["overlaps_by_columns", "overlaps_by_rows"]

# Words of a column that are gathered before columns are compared: 252 of them fill 129 kB, near a core.
COLUMN = 64


@kernel
def overlaps_by_rows(words, counts, views):
    """Add each row's count to every pair of views that has the row: cheap if few views do."""
    overlaps = np.zeros((views, views), np.int64)
    present = np.empty(views, np.int64)
    for r in range(words.shape[0]):
        found = _views_of(words, r, present)
        count = counts[r]
        for a in range(found):
            view = present[a]
            for b in range(a + 1):
                overlaps[view, present[b]] += count
    return overlaps


@leaf
def _views_of(words, row, present):
    """Write the numbers of the views that have the row, ascending, and say how many they are."""
    found = 0
    for c in range(words.shape[1]):
        word = words[row, c]
        while word != 0:
            rest = word & (word - np.uint64(1))
            view = 64 * c + popcount((word ^ rest) - np.uint64(1))
            if view >= present.shape[0]:
                return found
            present[found] = view
            found += 1
            word = rest
    return found


@kernel
def overlaps_by_columns(words, counts, views):
    """Turn each 64 rows into a word of every column, and count the bits that two columns share.

    A row with several bits set in its count takes part once for each: rows with bit b count 2^b times.
    """
    even = views + views % 2
    overlaps = np.zeros((even, even), np.int64)
    tiles = np.empty((words.shape[1], 64), np.uint64)
    columns = np.empty((64 * words.shape[1], COLUMN), np.uint64)
    largest = 0
    for r in range(counts.shape[0]):
        largest = max(largest, counts[r])
    for b in range(bit_length(np.uint64(largest))):
        lines = 0
        filled = 0
        for r in range(words.shape[0]):
            if (counts[r] >> b) & 1 == 0:
                continue
            for c in range(words.shape[1]):
                tiles[c, lines] = words[r, c]
            lines += 1
            if lines == 64:
                _append(columns, filled, tiles)
                lines = 0
                filled += 1
                if filled == COLUMN:
                    _add_shared(overlaps, columns, filled, b)
                    filled = 0
        if lines > 0:
            tiles[:, lines:] = np.uint64(0)
            _append(columns, filled, tiles)
            filled += 1
        _add_shared(overlaps, columns, filled, b)
    return overlaps[:views, :views]


@kernel
def _append(columns, place, tiles):
    """Write 64 rows, a tile for each of their words, as word `place` of the columns; the tiles are used up."""
    for c in range(tiles.shape[0]):
        transpose(tiles[c])
        for v in range(64):
            columns[64 * c + v, place] = tiles[c, v]


@kernel
def _add_shared(overlaps, columns, filled, shift):
    """Add how many bits each two columns share in their first `filled` words, shifted."""
    # Two by two, so that a word once loaded is used twice.
    for i in range(0, overlaps.shape[0], 2):
        for j in range(0, i + 1, 2):
            ac = ad = bc = bd = 0
            for w in range(filled):
                a, b = columns[i, w], columns[i + 1, w]
                c, d = columns[j, w], columns[j + 1, w]
                ac += popcount(a & c)
                ad += popcount(a & d)
                bc += popcount(b & c)
                bd += popcount(b & d)
            overlaps[i, j] += ac << shift
            overlaps[i, j + 1] += ad << shift
            overlaps[i + 1, j] += bc << shift
            overlaps[i + 1, j + 1] += bd << shift
