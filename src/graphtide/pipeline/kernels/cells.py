"""The bits of a product's cells from the bits of its dimensions.

Words are laid out by columns, one line to a word and one place to an edge, as Arrow has them: the innermost loops
run along edges, and the compiler makes vectors of them.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["product_cells"]


@kernel
def product_cells(left, left_size, right, right_size):
    """Cell (i, j) is bit i * right_size + j, set where bit i of `left` and bit j of `right` are.

    Both are uint64; bits beyond a side's size must be 0.
    """
    edges = left.shape[1]
    cells = np.zeros(((left_size * right_size + 63) // 64, edges), np.uint64)
    for i in range(left_size):
        for w in range(right.shape[0]):
            place = i * right_size + 64 * w
            line, shift = place // 64, place % 64
            _add_shifted(cells[line], left[i // 64], i % 64, right[w], np.uint64(shift))
            # What a shift pushes out of one word belongs to the next; behind the last there is nothing.
            if shift > 0 and line + 1 < cells.shape[0]:
                _add_carried(cells[line + 1], left[i // 64], i % 64, right[w], np.uint64(64 - shift))
    return cells


@leaf
def _add_shifted(into, left, bit, right, shift):
    for e in range(into.shape[0]):
        into[e] |= (right[e] << shift) & _all_or_none(left[e], bit)


@leaf
def _add_carried(into, left, bit, right, shift):
    for e in range(into.shape[0]):
        into[e] |= (right[e] >> shift) & _all_or_none(left[e], bit)


@leaf
def _all_or_none(word, bit):
    """All ones if the bit is set, else all zeros: a loop with a branch would not become vectors."""
    return np.uint64(0) - ((word >> np.uint64(bit)) & np.uint64(1))
