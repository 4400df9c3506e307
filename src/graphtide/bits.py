"""Words of 64 bits in kernels: how many bits are set, and which is the lowest ("Hacker's Delight", 5-1 and 5-4)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf

__all__ = ["lowest", "popcount"]


@leaf
def popcount(x):
    """How many bits of the unsigned word `x` are set."""
    # LLVM knows this idiom and makes it one instruction.
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@leaf
def lowest(x):
    """The place of the lowest bit that is set in the unsigned word `x`, which is not zero."""
    return popcount(~x & (x - np.uint64(1)))
