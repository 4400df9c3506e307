"""In which later rounds a key must be looked at again: the least upper bounds of this round with its history.

All epochs of the history are at or before the one that runs, so rounds are told apart by their loop coordinates alone.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import COORDINATES, LOWER
from graphtide.dataflow.kernels.lists import grow
from graphtide.jit import kernel, leaf

__all__ = ["CLOSED", "later_rounds"]

# With so many coordinates of time, or fewer, the least upper bounds are closed at once. A visit that brings no new row
# then has none to add: its own are among the bounds that the rows before it have called for.
CLOSED = 3


@kernel
def later_rounds(past, length, first, depth, state, rounds, spare):
    """The times after this round to visit a key at, ascending; its history has times in the columns from `first` on.

    Returns the list, one to use next time, and the length of the first. With more coordinates than CLOSED it has the
    least upper bounds with one time of the history each.
    """
    count = 0
    for i in range(length):
        for d in range(1, depth):
            if past[i, first + d] > state[COORDINATES + d]:
                rounds, count = _add(rounds, count, past, first, i, depth, state)
                break
    if depth == CLOSED and count > 1:
        spare, count = _closed(rounds, count, state, spare)
        return spare, rounds, count
    return rounds, spare, count


@leaf
def _add(rounds, count, past, first, i, depth, state):
    """Add the least upper bound of a time and this round to the list, unless it is there."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) >> 1
        order = 0
        for d in range(1, depth):
            bound = max(past[i, first + d], state[COORDINATES + d])
            if rounds[middle, d] != bound:
                order = -1 if rounds[middle, d] < bound else 1
                break
        if order == 0:
            return rounds, count
        if order < 0:
            low = middle + 1
        else:
            high = middle
    rounds = grow(rounds, count + 1)
    for k in range(count, low, -1):
        for d in range(depth):
            rounds[k, d] = rounds[k - 1, d]
    rounds[low, 0] = state[LOWER]
    for d in range(1, depth):
        rounds[low, d] = max(past[i, first + d], state[COORDINATES + d])
    return rounds, count + 1


@kernel
def _closed(rounds, count, state, out):
    """The least upper bounds of any of the rounds, which have two coordinates.

    A bound takes its outer coordinate from some round, and its inner one from a round that is not further out.
    """
    inner = np.empty(count + 1, np.int64)
    inner[0] = state[COORDINATES + 2]
    known = 1
    found = 0
    k = 0
    while k < count:
        outer = rounds[k, 1]
        least = rounds[k, 2] if outer > state[COORDINATES + 1] else inner[0] + 1
        while k < count and rounds[k, 1] == outer:
            known = _insert(inner, known, rounds[k, 2])
            k += 1
        for n in range(known):
            if inner[n] >= least:
                out = grow(out, found + 1)
                out[found, 0] = state[LOWER]
                out[found, 1] = outer
                out[found, 2] = inner[n]
                found += 1
    return out, found


@leaf
def _insert(inner, known, coordinate):
    """Add a coordinate to an ascending list without doubles."""
    at = known
    while at > 0 and inner[at - 1] > coordinate:
        at -= 1
    if at > 0 and inner[at - 1] == coordinate:
        return known
    for k in range(known, at, -1):
        inner[k] = inner[k - 1]
    inner[at] = coordinate
    return known + 1
