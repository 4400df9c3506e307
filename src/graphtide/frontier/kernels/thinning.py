"""Dropping more of what a query keeps, in place: nothing is computed again, what goes is marked.

A step may go if it is neither of round 0 nor the last of its vertex (docs/design/06).
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.degrees import degree_of
from graphtide.frontier.kernels.marks import is_chosen, set_mark
from graphtide.frontier.kernels.rooms import END, NOWHERE, new_free, room_for
from graphtide.frontier.kernels.stairs import most_rounds
from graphtide.frontier.kernels.work import degree_class
from graphtide.jit import kernel

__all__ = ["census", "fold", "places_after", "thin", "unfold"]


@kernel
def census(head, rounds, size, counts):
    """Count the steps that may go, by degree; the places that all need, and those without the ones that may go."""
    most = most_rounds(rounds)
    places = np.int64(0)
    least = np.int64(0)
    for v in range(head.shape[0]):
        at = np.int64(head[v])
        if at == NOWHERE:
            continue
        stay = np.int64(1)
        go = np.int64(0)
        while np.int64(rounds[at]) <= most:
            if rounds[at] > 0:
                go += 1
            else:
                stay += 1
            at += 1
        counts[degree_class(degree_of(size, v))] += go
        places += room_for(stay + go)
        least += room_for(stay)
    return places, least


@kernel
def places_after(head, rounds, size, low, high, chance):
    """The places that are needed when chosen steps have gone, and how many go."""
    most = most_rounds(rounds)
    places = np.int64(0)
    gone = np.int64(0)
    for v in range(head.shape[0]):
        at = np.int64(head[v])
        if at == NOWHERE:
            continue
        degree = degree_of(size, v)
        stay = np.int64(1)
        while np.int64(rounds[at]) <= most:
            r = np.int64(rounds[at])
            if r > 0 and is_chosen(v, r, degree, low, high, chance):
                gone += 1
            else:
                stay += 1
            at += 1
        places += room_for(stay)
    return places, gone


@kernel
def thin(head, states, rounds, size, low, high, chance, marks, to_states, to_rounds):
    """Move the steps to an empty pool, and mark chosen ones instead; the state of its places.

    The new pool has the places that `places_after` tells of; without a choice there need be no marks.
    """
    most = most_rounds(rounds)
    free = new_free()
    end = np.int64(0)
    for v in range(head.shape[0]):
        at = np.int64(head[v])
        if at == NOWHERE:
            continue
        degree = degree_of(size, v)
        count = np.int64(0)
        while True:
            word = np.int64(rounds[at])
            if word <= most and word > 0 and is_chosen(v, word, degree, low, high, chance):
                set_mark(marks, 0, v, word)
            else:
                to_rounds[end + count] = word
                to_states[end + count] = states[at]
                count += 1
            if word > most:
                break
            at += 1
        head[v] = end
        end += room_for(count)
    free[END] = end
    return free


@kernel
def unfold(marks):
    """A filter twice as long that says the same of every step: where a bit was, two are.

    A step's bit in a filter of twice the length is one of these two, so nothing need be known of the steps.
    """
    wider = np.zeros(2 * marks.shape[0], np.int64)
    for word in range(marks.shape[0]):
        for bit in range(64):
            if (marks[word] >> bit) & 1:
                at = 2 * (64 * word + bit)
                wider[at >> 6] |= np.int64(3) << (at & 63)
    return wider


@kernel
def fold(marks):
    """A filter half as long, which says of no fewer steps that they may have been dropped: undoes `unfold`."""
    narrower = np.zeros(marks.shape[0] // 2, np.int64)
    for word in range(marks.shape[0]):
        for bit in range(64):
            if (marks[word] >> bit) & 1:
                at = (64 * word + bit) >> 1
                narrower[at >> 6] |= np.int64(1) << (at & 63)
    return narrower
