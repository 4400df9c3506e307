"""Places for short lists in one pool, by size: 1, 2, 3, 4, 6, 8, 12, 16, 24 ... elements.

A pool is any arrays of one length. `free` has where its unused end begins, then for each size
the first free place of that size; the others follow through an array of the pool, its `links`,
which has nothing else to hold in a free place.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import borrowing_leaf, leaf
from graphtide.trace.kernels.radix import bit_length

__all__ = ["END", "FREE_FIELDS", "NOWHERE", "fits", "fits_up_to", "give_back", "new_free", "room_for", "take"]

NOWHERE = -1
END = 0
FREE_FIELDS = 128


@leaf
def new_free():
    """The state of a pool in which nothing was placed yet."""
    free = np.full(FREE_FIELDS, NOWHERE, np.int64)
    free[END] = 0
    return free


@borrowing_leaf
def room_for(size):
    """The least room that holds `size` elements."""
    if size <= 4:
        return size
    bits = np.int64(bit_length(np.uint64(size - 1)))
    middle = np.int64(3) << (bits - 2)
    return middle if size <= middle else np.int64(1) << bits


@borrowing_leaf
def _class_of(room):
    bits = np.int64(bit_length(np.uint64(room - 1)))
    return 2 * bits + (1 if room == np.int64(1) << bits else 0) + 1


@borrowing_leaf
def fits(free, links, room):
    """Whether the pool has a place for a list of that room."""
    return room == 0 or free[_class_of(room)] != NOWHERE or free[END] + room <= links.shape[0]


@borrowing_leaf
def fits_up_to(free, links, room):
    """Whether the unused end of the pool has a place for a list of that room or any smaller one."""
    return free[END] + room <= links.shape[0]


@borrowing_leaf
def take(free, links, room):
    """A place for a list of that room, which must fit."""
    if room == 0:
        return np.int64(NOWHERE)
    own = _class_of(room)
    place = free[own]
    if place != NOWHERE:
        free[own] = np.int64(links[place])
        return place
    place = free[END]
    free[END] = place + room
    return place


@borrowing_leaf
def give_back(free, links, place, room):
    """Let another list have the place."""
    if room > 0:
        own = _class_of(room)
        links[place] = free[own]
        free[own] = place
