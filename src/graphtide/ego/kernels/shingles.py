"""Shingles: signatures by which lists that have much in common come to stand together (EAGr, section 3.2.1)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["shingles"]

SHINGLES = 3
BITS = 21


@kernel
def shingles(starts, items, seed):
    """Three shingles of each list in one number, the first in its highest bits; -1 for a list of fewer than two.

    A shingle is the least hash of the list's items: two lists have the same with the probability of their Jaccard
    index.
    """
    keys = np.full(len(starts) - 1, -1, np.int64)
    seeds = np.empty(SHINGLES, np.uint64)
    for s in range(SHINGLES):
        seeds[s] = mixed(np.uint64(SHINGLES) * np.uint64(seed) + np.uint64(s))
    for owner in range(len(keys)):
        if starts[owner + 1] - starts[owner] < 2:
            continue
        a = b = c = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(starts[owner], starts[owner + 1]):
            # One good hash, and a multiplication for each shingle.
            x = mixed(np.uint64(items[k]))
            a = min(a, (x ^ seeds[0]) * np.uint64(0x9E3779B97F4A7C15))
            b = min(b, (x ^ seeds[1]) * np.uint64(0xD1342543DE82EF95))
            c = min(c, (x ^ seeds[2]) * np.uint64(0xAF251AF3B0F025B5))
        keys[owner] = (_middle(a) << (2 * BITS)) | (_middle(b) << BITS) | _middle(c)
    return keys


@leaf
def _middle(least):
    """Some bits of a least hash. The highest are zero in long lists, and would tell few of them apart."""
    return np.int64(least >> np.uint64(BITS)) & ((1 << BITS) - 1)


@leaf
def mixed(x):
    """Bits that depend on all bits of `x` (the finalizer of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
