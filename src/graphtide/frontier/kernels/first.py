"""The first answer of a selective program: in each round, from the vertices whose state got better in the last."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.messages import ADD, COPY, HOP, message, weight_of
from graphtide.jit import kernel, leaf

__all__ = ["begin", "spread"]

# Asking goes along all edges in the order of memory, offering along a few in none.
ASKING_PAYS = 4


@kernel
def begin(now, own, names, vertices, initial, initial_states, log_vertices, log_rounds, log_states, nothing):
    """Set the states of round 0 and log the steps that are given; the vertices that have a state."""
    for v in range(vertices):
        now[v] = names[v] if own else nothing
    for k in range(initial.shape[0]):
        v = initial[k]
        now[v] = initial_states[k]
        log_vertices[k] = v
        log_rounds[k] = 0
        log_states[k] = initial_states[k]
    if own:
        return np.arange(vertices).astype(np.int32)
    return initial.copy()


@kernel
def spread(
    kind,
    sides,
    start,
    size,
    other,
    weights,
    now,
    coming,
    mark,
    active,
    r,
    last,
    log_vertices,
    log_rounds,
    log_states,
    at,
):
    """Go on from round `r` with its active vertices, until none is left, round `last` is done or the log is too short.

    Gives the round, its active vertices and the length of the log. `mark` has for each vertex the last round
    at which it was offered a state, `coming` that state.

    When few are active they offer their states; when many are, it costs less to let every vertex ask for them.
    """
    vertices = now.shape[0]
    slots = np.int64(0)
    for v in range(vertices):
        slots += _degree(v, sides, size)
    touched = np.empty(vertices, np.int32)
    while active.shape[0] > 0 and r < last:
        if at + vertices > log_vertices.shape[0]:
            return r, active, at
        edges = np.int64(0)
        for k in range(active.shape[0]):
            edges += _degree(active[k], sides, size)
        if edges * ASKING_PAYS > slots:
            count = _ask(kind, sides, start, size, other, weights, now, coming, active, touched)
        else:
            count = _offer(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched)
        r += 1
        for k in range(count):
            v = touched[k]
            now[v] = coming[v]
            log_vertices[at] = v
            log_rounds[at] = r
            log_states[at] = now[v]
            at += 1
        active = touched[:count].copy()
    return r, active, at


@leaf
def _degree(v, sides, size):
    return np.int64(size[2 * v] if sides & 1 else 0) + np.int64(size[2 * v + 1] if sides & 2 else 0)


@kernel
def _offer(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched):
    """Active vertices offer their states; how many vertices take one."""
    count = 0
    for k in range(active.shape[0]):
        u = np.int64(active[k])
        state = now[u]
        for side in range(2):
            if not sides >> side & 1:
                continue
            own = 2 * u + side
            for slot in range(start[own], start[own] + size[own]):
                offer = message(kind, state, weight_of(weights, slot))
                v = other[slot]
                if offer < now[v]:
                    if mark[v] != r + 1:
                        mark[v] = r + 1
                        coming[v] = offer
                        touched[count] = v
                        count += 1
                    elif offer < coming[v]:
                        coming[v] = offer
    return count


@kernel
def _ask(kind, sides, start, size, other, weights, now, coming, active, touched):
    """Every vertex that could have a better state asks its neighbours for the best; how many get one."""
    least = now[active[0]]
    for k in range(1, active.shape[0]):
        least = min(least, now[active[k]])
    # No message is better than this one; that of a product or of a width is not known.
    bounded = kind in (ADD, HOP, COPY)
    if kind == HOP:
        least += 1
    count = 0
    for v in range(now.shape[0]):
        if bounded and now[v] <= least:
            continue
        best = now[v]
        for side in range(2):
            if not sides >> side & 1:
                continue
            own = 2 * v + 1 - side
            for slot in range(start[own], start[own] + size[own]):
                best = min(best, message(kind, now[other[slot]], weight_of(weights, slot)))
                if bounded and best == least:
                    break
        if best < now[v]:
            coming[v] = best
            touched[count] = v
            count += 1
    return count
