"""Vertices to go on from, the one with the least key first: a binary heap in two arrays.

An entry is never taken out early: who takes it looks whether it still counts.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf

__all__ = ["longer", "put", "take_least"]


@leaf
def put(keys, items, count, key, item):
    """Add an entry to the first `count`; there is a place for it."""
    at = count
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at] = keys[above]
        items[at] = items[above]
        at = above
    keys[at] = key
    items[at] = item


@leaf
def take_least(keys, items, count):
    """Remove the first of `count` entries; it is read before."""
    last = count - 1
    key, item = keys[last], items[last]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at] = keys[below]
        items[at] = items[below]
        at = below
    keys[at] = key
    items[at] = item


@leaf
def longer(array):
    """Twice as many places, the first ones as they are."""
    out = np.empty(2 * array.shape[0], array.dtype)
    out[: array.shape[0]] = array
    return out
