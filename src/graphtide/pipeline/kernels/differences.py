"""Where an edge comes and goes along an order of views, or on the lattice of a product.

A lattice has three dimensions here, of which those that are not needed have one view that every edge is in; a chain
of views is a lattice that is one line. Along a dimension in its order an edge's bits change first to 1, then to 0, and
so on: the t-th change counts +1 if t is even and -1 if it is odd. A difference at a cell is the product of the
changes of each dimension there.

A row of the matrix holds the bits of cells, numbered in the given order with the last dimension fastest. A row with
a bit tells the bits of each dimension: along the line through one set cell they are those of the cells.
"""

from __future__ import annotations

import numpy as np

from graphtide.bits import popcount
from graphtide.jit import kernel, leaf

__all__ = ["count_differences", "decoded", "emit_differences", "group_by_position"]

WORD = 64


@kernel
def count_differences(words, shape, rank, counts):
    """Add to `counts` how many differences the rows of `words` have at each position.

    `rank[d, i]` is the place of view i in the order of dimension d.
    """
    changes, bits = _room(shape)
    found = np.empty(3, np.int64)
    for r in range(words.shape[0]):
        _find_changes(words, r, shape, rank, bits, changes, found)
        for a in range(found[0]):
            for b in range(found[1]):
                line = (changes[0, a] * shape[1] + changes[1, b]) * shape[2]
                for c in range(found[2]):
                    counts[line + changes[2, c]] += 1


@kernel
def emit_differences(edges, words, row, shape, rank, codes, positions, filled, counts):
    """Append the differences of rows from `row` on until one has no room: the next row, and how much is filled.

    A code is twice the edge's number, plus one if the difference is -1. `counts` by position grow along.
    """
    changes, bits = _room(shape)
    found = np.empty(3, np.int64)
    while row < words.shape[0]:
        _find_changes(words, row, shape, rank, bits, changes, found)
        if filled + found[0] * found[1] * found[2] > codes.shape[0]:
            break
        code = 2 * edges[row]
        for a in range(found[0]):
            for b in range(found[1]):
                line = (changes[0, a] * shape[1] + changes[1, b]) * shape[2]
                for c in range(found[2]):
                    position = line + changes[2, c]
                    codes[filled] = code + ((a + b + c) & 1)
                    positions[filled] = position
                    counts[position] += 1
                    filled += 1
        row += 1
    return row, filled


@kernel
def group_by_position(codes, positions, filled, counts):
    """The first `filled` codes by position, in the order they came in; `counts` says how many each position has."""
    place = np.empty(counts.shape[0], np.int64)
    total = 0
    for p in range(counts.shape[0]):
        place[p] = total
        total += counts[p]
    grouped = np.empty(filled, np.int64)
    for i in range(filled):
        p = positions[i]
        grouped[place[p]] = codes[i]
        place[p] += 1
    return grouped


@kernel
def decoded(codes):
    """The edges and diffs that codes stand for."""
    edges = np.empty(codes.shape[0], np.int64)
    diffs = np.empty(codes.shape[0], np.int8)
    for i in range(codes.shape[0]):
        edges[i] = codes[i] >> 1
        diffs[i] = 1 - 2 * (codes[i] & 1)
    return edges, diffs


@leaf
def _room(shape):
    longest = max(shape[0], shape[1], shape[2])
    return np.empty((3, longest), np.int64), np.empty((longest + WORD - 1) // WORD, np.uint64)


@leaf
def _find_changes(words, row, shape, rank, bits, changes, found):
    """Write for each dimension the places, ascending, where the row's bits change along its order, and how many."""
    if shape[0] * shape[1] == 1:
        found[0] = found[1] = 1
        changes[0, 0] = changes[1, 0] = 0
        _order_bits(words, row, rank[2], bits)
        found[2] = _changes_of(bits, shape[2], changes[2])
        return
    cell = _first_set(words, row)
    if cell < 0:
        found[:] = 0
        return
    step = shape[0] * shape[1] * shape[2]
    for d in range(3):
        step //= shape[d]
        start = cell - (cell // step) % shape[d] * step
        _order_bits_of_line(words, row, start, step, shape[d], rank[d], bits)
        found[d] = _changes_of(bits, shape[d], changes[d])


@leaf
def _order_bits(words, row, rank, bits):
    """Set bit rank[v] for each bit v of the row."""
    bits[:] = np.uint64(0)
    for w in range(words.shape[1]):
        word = words[row, w]
        while word != 0:
            rest = word & (word - np.uint64(1))
            place = rank[WORD * w + popcount((word ^ rest) - np.uint64(1))]
            bits[place // WORD] |= np.uint64(1) << np.uint64(place % WORD)
            word = rest


@leaf
def _order_bits_of_line(words, row, start, step, size, rank, bits):
    """Set bit rank[i] for each of `size` cells that is set, `step` apart."""
    bits[:] = np.uint64(0)
    for i in range(size):
        cell = start + i * step
        bit = (words[row, cell // WORD] >> np.uint64(cell % WORD)) & np.uint64(1)
        bits[rank[i] // WORD] |= bit << np.uint64(rank[i] % WORD)


@leaf
def _changes_of(bits, size, places):
    """Write the places where the bits differ from those before them, 0 before the first; how many."""
    found = 0
    carry = np.uint64(0)
    for w in range((size + WORD - 1) // WORD):
        changed = bits[w] ^ (bits[w] << np.uint64(1) | carry)
        carry = bits[w] >> np.uint64(WORD - 1)
        while changed != 0:
            rest = changed & (changed - np.uint64(1))
            place = WORD * w + popcount((changed ^ rest) - np.uint64(1))
            if place >= size:
                # The last view's edges do not leave after it.
                return found
            places[found] = place
            found += 1
            changed = rest
    return found


@leaf
def _first_set(words, row):
    for w in range(words.shape[1]):
        word = words[row, w]
        if word != 0:
            return WORD * w + popcount((word ^ (word & (word - np.uint64(1)))) - np.uint64(1))
    return -1
