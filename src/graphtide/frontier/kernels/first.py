"""The first answer of a selective program: in each round, from the vertices whose state got better in the last.

States are read in no order, so they lie in as few bytes as hold them: `now` may have narrower numbers than messages.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.degrees import degree_along
from graphtide.frontier.kernels.messages import ADD, COPY, HOP, message, weight_of
from graphtide.jit import inlined, kernel

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

    Gives the round, its active vertices, which may lie in the log, and the length of the log. `mark` has for each
    vertex the last round at which it was offered a state, `coming` that state.

    When few are active they offer their states; when many are, it costs less to let every vertex ask for them.
    """
    vertices = now.shape[0]
    slots = np.int64(0)
    for v in range(vertices):
        slots += degree_along(size, v, sides)
    while active.shape[0] > 0 and r < last:
        if at + vertices > log_vertices.shape[0]:
            return r, active, at
        edges = np.int64(0)
        least = now[active[0]]
        for k in range(active.shape[0]):
            edges += degree_along(size, active[k], sides)
            least = min(least, now[active[k]])
        touched = log_vertices[at:]
        if edges * ASKING_PAYS > slots:
            count = _ask(kind, sides, start, size, other, weights, now, coming, least, touched)
        else:
            count = _offer(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched)
        r += 1
        active = touched[:count]
        for k in range(count):
            v = active[k]
            now[v] = coming[v]
            log_rounds[at] = r
            log_states[at] = coming[v]
            at += 1
    return r, active, at


# A kind that is known when the loop is compiled costs nothing in it.


@kernel
def _offer(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched):
    """Active vertices offer their states; how many vertices take one."""
    if kind == ADD:
        return _offer_by(ADD, sides, start, size, other, weights, now, coming, mark, active, r, touched)
    if kind == HOP:
        return _offer_by(HOP, sides, start, size, other, weights, now, coming, mark, active, r, touched)
    if kind == COPY:
        return _offer_by(COPY, sides, start, size, other, weights, now, coming, mark, active, r, touched)
    return _offer_by(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched)


@inlined
def _offer_by(kind, sides, start, size, other, weights, now, coming, mark, active, r, touched):
    count = 0
    for k in range(active.shape[0]):
        u = np.int64(active[k])
        state = weights.dtype.type(now[u])
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
def _ask(kind, sides, start, size, other, weights, now, coming, least, touched):
    """Every vertex that could have a better state asks its neighbours for the best; how many get one.

    No active vertex has a better state than `least`.
    """
    if kind == ADD:
        return _ask_for(ADD, True, sides, start, size, other, weights, now, coming, least, touched)
    if kind == HOP:
        return _ask_for(HOP, True, sides, start, size, other, weights, now, coming, least + 1, touched)
    if kind == COPY:
        return _ask_for(COPY, True, sides, start, size, other, weights, now, coming, least, touched)
    # The best message of a product, of a width or of a function is not known.
    return _ask_for(kind, False, sides, start, size, other, weights, now, coming, least, touched)


@inlined
def _ask_for(kind, is_bounded, sides, start, size, other, weights, now, coming, least, touched):
    """As `_ask`; no message is better than `least` if it is bounded."""
    count = 0
    for v in range(now.shape[0]):
        if is_bounded and now[v] <= least:
            continue
        best = weights.dtype.type(now[v])
        for side in range(2):
            if not sides >> side & 1 or (is_bounded and best == least):
                continue
            own = 2 * v + 1 - side
            for slot in range(start[own], start[own] + size[own]):
                state = weights.dtype.type(now[other[slot]])
                best = min(best, message(kind, state, weight_of(weights, slot)))
                if is_bounded and best == least:
                    break
        if best < now[v]:
            coming[v] = best
            touched[count] = v
            count += 1
    return count
