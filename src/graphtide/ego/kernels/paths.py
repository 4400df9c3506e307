"""Paths through an overlay, from writers to a node."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["first_wrong_reader", "signed_paths", "stand_for_sets"]


@kernel
def signed_paths(starts, inputs, signs, writers, node, counts, found):
    """Add the signs of the paths from each writer to a node to `counts`; the writers met, and how many.

    A writer is met again if its count was back at zero. Writers are written to `found`, or to a longer array.
    """
    waiting = np.empty(64, np.int64)
    sign_of = np.empty(64, np.int64)
    waiting[0], sign_of[0] = node, 1
    left = 1
    met = 0
    while left > 0:
        left -= 1
        at, sign = waiting[left], sign_of[left]
        if at < writers:
            if counts[at] == 0:
                if met == len(found):
                    found = _longer(found, 2 * met + 16)
                found[met] = at
                met += 1
            counts[at] += sign
            continue
        size = starts[at + 1] - starts[at]
        if left + size > len(waiting):
            waiting = _longer(waiting, 2 * (left + size))
            sign_of = _longer(sign_of, 2 * (left + size))
        for k in range(starts[at], starts[at + 1]):
            waiting[left] = inputs[k]
            sign_of[left] = sign * signs[k]
            left += 1
    return found, met


@kernel
def first_wrong_reader(starts, inputs, signs, writers, wanted_starts, wanted, overlapping):
    """The first reader whose paths do not add up to its neighbourhood; -1 if there is none."""
    counts = np.zeros(writers, np.int64)
    found = np.empty(1024, np.int64)
    for reader in range(len(wanted_starts) - 1):
        found, met = signed_paths(starts, inputs, signs, writers, writers + reader, counts, found)
        right = True
        for k in range(wanted_starts[reader], wanted_starts[reader + 1]):
            writer = wanted[k]
            right &= counts[writer] >= 1 if overlapping else counts[writer] == 1
            counts[writer] = 0
        for k in range(met):
            right &= counts[found[k]] == 0
            counts[found[k]] = 0
        if not right:
            return reader
    return -1


@kernel
def stand_for_sets(starts, inputs, signs, writers):
    """For each node whether the paths from each writer to it add up to 1 or to 0."""
    nodes = len(starts) - 1
    counts = np.zeros(writers, np.int64)
    found = np.empty(1024, np.int64)
    are_sets = np.ones(nodes, np.bool_)
    for node in range(writers, nodes):
        found, met = signed_paths(starts, inputs, signs, writers, node, counts, found)
        for k in range(met):
            are_sets[node] &= 0 <= counts[found[k]] <= 1
        for k in range(met):
            counts[found[k]] = 0
    return are_sets


@leaf
def _longer(values, size):
    """A longer array that begins as this one."""
    longer = np.empty(size, values.dtype)
    longer[: len(values)] = values
    return longer
