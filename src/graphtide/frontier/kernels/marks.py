"""Which steps were dropped: a table with a bit for each vertex and round, or a Bloom filter, which may name others too.

`marks` are words of 64 bits. In a table, `width` rounds of a vertex follow each other; in a filter (width 0) a step
has five bits anywhere. Which steps are dropped depends on the vertex, the round and the degree alone.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import borrowing_leaf

__all__ = ["clear_mark", "is_chosen", "is_marked", "set_mark"]

_HASHES = 5


@borrowing_leaf
def _mixed(v, r):
    """Bits that depend on all bits of both (the finalizer of splitmix64)."""
    x = np.uint64(v) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(r)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@borrowing_leaf
def _bit(marks, hashed, k):
    """The k-th bit of a step in a filter: two hashes make all of them."""
    low = hashed & np.uint64(0xFFFFFFFF)
    high = (hashed >> np.uint64(32)) | np.uint64(1)
    mixed = (low + np.uint64(k) * high) & np.uint64(0xFFFFFFFF)
    return np.int64((mixed * np.uint64(64 * marks.shape[0])) >> np.uint64(32))


@borrowing_leaf
def is_marked(marks, width, v, r):
    """Whether the step of `v` at round `r` was dropped, or may have been."""
    if marks.shape[0] == 0:
        return False
    if width > 0:
        at = v * width + r
        return r < width and (marks[at >> 6] >> (at & 63)) & 1 == 1
    hashed = _mixed(v, r)
    for k in range(_HASHES):
        at = _bit(marks, hashed, k)
        if (marks[at >> 6] >> (at & 63)) & 1 == 0:
            return False
    return True


@borrowing_leaf
def set_mark(marks, width, v, r):
    """Note that a step was dropped."""
    if width > 0:
        at = v * width + r
        marks[at >> 6] |= np.int64(1) << (at & 63)
        return
    hashed = _mixed(v, r)
    for k in range(_HASHES):
        at = _bit(marks, hashed, k)
        marks[at >> 6] |= np.int64(1) << (at & 63)


@borrowing_leaf
def clear_mark(marks, width, v, r):
    """Note that there is no such step any more; a filter cannot forget."""
    if width > 0 and r < width:
        at = v * width + r
        marks[at >> 6] &= ~(np.int64(1) << (at & 63))


@borrowing_leaf
def is_chosen(v, r, degree, low, high, chance):
    """Whether a step is to be dropped: below a degree always, above another never, else by chance (of 2 ** 32)."""
    if degree < low:
        return True
    if degree > high:
        return False
    return np.int64(_mixed(v, r + 0x10000) >> np.uint64(32)) < chance
