"""Turning 64 words by 64 bits around (Warren, "Hacker's Delight", 7-3)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf

__all__ = ["transpose"]

LOW_HALF = np.uint64(0x00000000FFFFFFFF)


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
