"""Whether the answers of queries that are kept to regions are still certain after a batch (docs/design/07).

Invariant: no way from the origin to the target over an exit of the region is shorter than the region's bound. So an
answer up to the bound is the distance in the whole graph. What a batch changes lowers the bound; it never rises.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.adjacency import lists_of, weights_of
from graphtide.frontier.kernels.bounds import lower, shrunk
from graphtide.frontier.kernels.fields import (
    ANCHOR,
    HEAD,
    KIND,
    ORIGIN,
    PLACES,
    REGION,
    ROUNDS,
    STATES,
    TARGET,
    VERTICES,
)
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.region import is_outside
from graphtide.frontier.kernels.search import widened
from graphtide.frontier.kernels.stairs import most_rounds, state_at
from graphtide.jit import kernel, leaf
from graphtide.memory import address_to_array

__all__ = ["uncertain"]


@kernel
def uncertain(
    queries, first, last, changes, adjacent, column, gained, moved, near, like_rounds, like_states, margins, nothing
):  # fmt: skip
    """Lower the bounds of the regions of queries `first` to before `last`; the places of those that need another one.

    `changes` are those of the queries' states, `gained` the new edges, `moved` the vertices that landmarks say
    something else of. `margins` are the slack and the room of a fresh bound, and the slip.
    """
    slack, room, slip = margins
    graph = lists_of(adjacent)
    weights = weights_of(adjacent, column, near[0])
    found = np.empty(last - first, np.int64)
    failed = 0
    for q in range(first, last):
        query = queries[q]
        if query[REGION] == 0:
            continue
        kept = (
            address_to_array(query[HEAD], query[VERTICES], np.int32),
            address_to_array(query[STATES], query[PLACES], like_states),
            address_to_array(query[ROUNDS], query[PLACES], like_rounds),
        )
        anchor = address_to_array(query[ANCHOR], 1 + near.shape[1], near[0])
        limit = _shifted(anchor, near, query[TARGET], slip, nothing)
        limit = _over_fallen(
            query, changes, 0 if q == first else changes.ends[q - 1], changes.ends[q],
            graph, weights, near, limit, slip, nothing,
        )  # fmt: skip
        limit = _over_gained(query, kept, gained, weights, near, limit, slip, nothing)
        limit = _over_moved(query, kept, moved, graph, weights, near, limit, slip, nothing)
        anchor[0] = limit
        answer = _last(kept, query[TARGET], nothing)
        fresh = widened(answer, slack, room, nothing)
        # A region that has become far too large costs more than another search.
        if answer > limit or (answer != nothing and limit - fresh > fresh):
            found[failed] = q
            failed += 1
    return found[:failed]


@leaf
def _last(kept, v, nothing):
    head, states, rounds = kept
    return state_at(head, states, rounds, v, most_rounds(rounds), nothing)


@leaf
def _shifted(anchor, near, t, slip, nothing):
    """The bound after what landmarks say of the target has changed: `lower` fell by no more, from anywhere."""
    limit = anchor[0]
    shift = slip - slip
    for c in range(near.shape[1]):
        before, now = anchor[1 + c], near[t, c]
        if before == now:
            continue
        anchor[1 + c] = now
        if c & 1 and now > before:
            # From the target to the landmark: what is taken off.
            if now == nothing:
                limit = slip - slip
            else:
                shift = max(shift, now - before)
        elif not c & 1 and now < before:
            if before == nothing:
                limit = slip - slip
            else:
                shift = max(shift, before - now)
    if shift > 0 and limit != nothing:
        limit = max(slip - slip, limit - shift - slip * (4 * shift + limit))
    return limit


@leaf
def _with_exit(query, length, v, near, limit, slip, nothing):
    """The bound with an exit to `v` over which a way has this length there."""
    rest = lower(near, v, query[TARGET], slip, nothing)
    return limit if rest == nothing else min(limit, shrunk(length + rest, slip, nothing))


@leaf
def _over_fallen(query, changes, begin, end, graph, weights, near, limit, slip, nothing):
    """Exits out of vertices that are reached by a shorter way."""
    start, size, other = graph.start, graph.size, graph.other
    for k in range(begin, end):
        u = np.int64(changes.vertices[k])
        if changes.after[k] >= changes.before[k] or changes.after[k] >= limit or u == query[TARGET]:
            continue
        for slot in range(start[2 * u], start[2 * u] + size[2 * u]):
            v = np.int64(other[slot])
            if is_outside(query, v):
                length = message(query[KIND], changes.after[k], weight_of(weights, slot))
                limit = _with_exit(query, length, v, near, limit, slip, nothing)
    return limit


@leaf
def _over_gained(query, kept, gained, weights, near, limit, slip, nothing):
    """Exits that are new, or have other weights."""
    for k in range(gained.shape[0]):
        u, v = gained[k, 0], gained[k, 1]
        if u == query[TARGET] or is_outside(query, u) or not is_outside(query, v):
            continue
        state = _last(kept, u, nothing)
        if state < limit:
            length = message(query[KIND], state, weight_of(weights, gained[k, 2]))
            limit = _with_exit(query, length, v, near, limit, slip, nothing)
    return limit


@leaf
def _over_moved(query, kept, moved, graph, weights, near, limit, slip, nothing):
    """Exits to vertices that landmarks say something else of."""
    start, size, other = graph.start, graph.size, graph.other
    for k in range(moved.shape[0]):
        v = moved[k]
        if not is_outside(query, v):
            continue
        rest = lower(near, v, query[TARGET], slip, nothing)
        if rest == nothing:
            continue
        # Whichever way one comes, it is no shorter than what landmarks say.
        to = lower(near, query[ORIGIN], v, slip, nothing)
        if to == nothing or shrunk(to + rest, slip, nothing) >= limit:
            continue
        own = 2 * v + 1
        for slot in range(start[own], start[own] + size[own]):
            u = np.int64(other[slot])
            if u == query[TARGET] or is_outside(query, u):
                continue
            state = _last(kept, u, nothing)
            if state < limit:
                length = message(query[KIND], state, weight_of(weights, slot))
                limit = min(limit, shrunk(length + rest, slip, nothing))
    return limit
