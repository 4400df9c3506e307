"""Counting the bits of a word and turning 64 words by 64 bits around (Warren, "Hacker's Delight", 5-1 and 7-3)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf

__all__ = ["popcount", "transpose"]

LOW_HALF = np.uint64(0x00000000FFFFFFFF)


@leaf
def popcount(x):
    """How many bits of the unsigned word `x` are set."""
    # LLVM knows this idiom and makes it one instruction.
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@leaf
def transpose(tile):
    """Swap bit `c` of word `r` with bit `r` of word `c`, for all of the tile's 64 words."""
    width = 32
    mask = LOW_HALF
    while width > 0:
        shift = np.uint64(width)
        r = 0
        while r < 64:
            swapped = ((tile[r] >> shift) ^ tile[r + width]) & mask
            tile[r + width] ^= swapped
            tile[r] ^= swapped << shift
            r = (r + width + 1) & ~width
        width >>= 1
        mask ^= mask << np.uint64(width)
