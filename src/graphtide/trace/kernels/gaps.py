"""Columns without the bits that are the same in all of their rows, between others that are not.

A coordinate of a loop with priorities, or of a dimension, has a small number in its high bits and another in the low
ones. Without the gap between them several such columns fit into one word. What is left keeps the order of the values.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.batch import ROWS, cells
from graphtide.trace.kernels.radix import bit_length

__all__ = ["find_gap", "pack_around", "unpack_around"]


@kernel
def find_gap(batch, c):
    """Where the longest gap of a column begins and ends, and how many bits are left without it.

    The column has no negative value.
    """
    own = cells(batch, c, batch[ROWS])
    first = own[0]
    different = np.int64(0)
    for i in range(own.shape[0]):
        different |= own[i] ^ first
    varying = np.uint64(different)
    begin = 0
    end = 0
    length = 0
    for bit in range(bit_length(varying)):
        length = 0 if varying >> np.uint64(bit) & np.uint64(1) else length + 1
        if length > end - begin:
            begin = bit + 1 - length
            end = bit + 1
    return begin, end, begin + bit_length(varying >> np.uint64(end))


@leaf
def _ones(bits):
    """A word with so many low bits set, fewer than all."""
    return (np.uint64(1) << np.uint64(bits)) - np.uint64(1)


@kernel
def pack_around(batch, c, low, begin, end, shift, keys):
    """Add column `c`, its part above the gap counted from that of `low`, to the keys at bit `shift`."""
    own = cells(batch, c, batch[ROWS])
    below = _ones(begin)
    above = np.uint64(end)
    origin = np.uint64(low) >> above
    closed = np.uint64(begin)
    place = np.uint64(shift)
    for i in range(batch[ROWS]):
        x = np.uint64(own[i])
        keys[i] |= (((x >> above) - origin) << closed | (x & below)) << place


@kernel
def unpack_around(keys, rows, target, c, low, begin, end, shift, bits):
    """Read the first `rows` of a column back from `bits` bits of the keys; in the gap all are as `low` is."""
    own = cells(target, c, rows)
    place = np.uint64(shift)
    mask = _ones(bits)
    below = _ones(begin)
    above = np.uint64(end)
    origin = np.uint64(low) >> above
    closed = np.uint64(begin)
    gap = np.uint64(low) & (_ones(end) ^ below)
    for i in range(rows):
        x = keys[i] >> place & mask
        own[i] = np.int64(((x >> closed) + origin) << above | gap | (x & below))
