"""The walk behind a state: back from a vertex over the steps that support each other."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.rooms import NOWHERE
from graphtide.frontier.kernels.stairs import find_step, most_rounds
from graphtide.jit import kernel

__all__ = ["walk_back"]


@kernel
def walk_back(head, states, rounds, kind, sides, own, labels, start, size, other, weights, vertex):
    """The vertices of a walk that ends at `vertex` with its last state, last one first; empty if it has no state."""
    most = most_rounds(rounds)
    at = np.int64(head[vertex])
    if at == NOWHERE:
        if own:
            return np.array([vertex])
        return np.empty(0, np.int64)
    while np.int64(rounds[at]) <= most:
        at += 1
    r = np.int64(rounds[at]) & most
    state = states[at]
    walk = np.empty(r + 1, np.int64)
    walk[0] = vertex
    for k in range(1, r + 1):
        found = np.int64(NOWHERE)
        for side in range(2):
            if found != NOWHERE or not sides >> side & 1:
                continue
            lists = 2 * vertex + 1 - side
            for slot in range(start[lists], start[lists] + size[lists]):
                u = np.int64(other[slot])
                step = find_step(head, rounds, u, r - k)
                if step != NOWHERE:
                    offered = states[step]
                elif own and r == k:
                    offered = labels[u]
                else:
                    continue
                if message(kind, offered, weight_of(weights, slot)) == state:
                    found = u
                    state = offered
                    break
        assert found != NOWHERE, "a step has a support"
        vertex = found
        walk[k] = vertex
    return walk
