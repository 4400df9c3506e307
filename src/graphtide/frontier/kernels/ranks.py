"""PageRank for a fixed number of rounds, all rounds kept: a vertex is computed again where a neighbour's rank changed.

D(0, v) = 1        D(r + 1, v) = 1 - damping + damping * (sum of D(r, u) / out-degree of u over edges u -> v)
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["rank_all", "rank_some"]


@leaf
def _rank(v, before, damping, start, size, other):
    total = 0.0
    own = 2 * v + 1
    for slot in range(start[own], start[own] + size[own]):
        u = np.int64(other[slot])
        total += before[u] / size[2 * u]
    return 1.0 - damping + damping * total


@kernel
def rank_all(ranks, vertices, damping, start, size, other):
    """All ranks of all rounds; round r is line r."""
    for v in range(vertices):
        ranks[0, v] = 1.0
    for r in range(1, ranks.shape[0]):
        for v in range(vertices):
            ranks[r, v] = _rank(v, ranks[r - 1], damping, start, size, other)


@kernel
def rank_some(ranks, damping, start, size, other, lost, gained, mark, tick, was):
    """Follow edges that were lost and gained; the vertices whose last rank changed.

    `mark` has for each vertex the last tick at which it was chosen, `was` gets the last ranks before.
    Gives also the next tick and how many ranks were computed.
    """
    rounds = ranks.shape[0] - 1
    vertices = mark.shape[0]
    active = np.empty(vertices, np.int64)
    active_count = 0
    chosen = np.empty(vertices, np.int64)
    computed = 0
    for r in range(1, rounds + 1):
        tick += 1
        count = 0
        # The ends of changed edges, and all that a source with another out-degree shares its rank with.
        for way in range(2):
            edges = lost if way == 0 else gained
            for k in range(edges.shape[0]):
                v = edges[k, 1]
                if mark[v] != tick:
                    mark[v] = tick
                    chosen[count] = v
                    count += 1
                count = _choose_after(edges[k, 0], start, size, other, mark, tick, chosen, count)
        for k in range(active_count):
            count = _choose_after(active[k], start, size, other, mark, tick, chosen, count)
        computed += count
        active_count = 0
        for k in range(count):
            v = chosen[k]
            rank = _rank(v, ranks[r - 1], damping, start, size, other)
            if rank != ranks[r, v]:
                if r == rounds:
                    was[active_count] = ranks[r, v]
                ranks[r, v] = rank
                active[active_count] = v
                active_count += 1
    return active[:active_count].copy(), tick, computed


@leaf
def _choose_after(u, start, size, other, mark, tick, chosen, count):
    for slot in range(start[2 * u], start[2 * u] + size[2 * u]):
        v = np.int64(other[slot])
        if mark[v] != tick:
            mark[v] = tick
            chosen[count] = v
            count += 1
    return count
