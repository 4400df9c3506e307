"""What the edges into a vertex offer it at a round."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.exact import end_of_dropped, exact_state, may_have_lost
from graphtide.frontier.kernels.fields import CHAIN, HIGHEST, KIND, LOOKS, SCANS, SIDES, SOURCE
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.rooms import NOWHERE
from graphtide.frontier.kernels.stairs import steps_from
from graphtide.jit import kernel, leaf

__all__ = ["all_offers", "support"]


@kernel
def support(query, control, kept, graph, weights, scratch, v, r, old, nothing):
    """The best state that edges into `v` give it at round `r`, as soon as it is known to be `old`.

    Otherwise also how many steps from `r` on their sources have.
    """
    start, size, other = graph.start, graph.size, graph.other
    control[SCANS] += 1
    found = nothing
    later = np.int64(0)
    for side in range(2):
        if query[SIDES] >> side & 1:
            own = 2 * v + 1 - side
            for slot in range(start[own], start[own] + size[own]):
                control[LOOKS] += 1
                u = np.int64(other[slot])
                state = exact_state(query, control, kept, graph, weights, scratch, u, r - 1, nothing)
                if state != nothing:
                    offer = message(query[KIND], state, weight_of(weights, slot))
                    if offer == old:
                        return old, np.int64(0)
                    found = min(found, offer)
                later += _steps_later(query, control, kept, scratch, v, u, r)
    return found, later


@kernel
def all_offers(query, control, kept, graph, weights, scratch, v, r, call, nothing):
    """The best state that edges into `v` give it at round `r`, and that of edges whose sources did not call.

    Also how many steps from `r` on all sources have. `call` is the last call for the vertex.
    """
    start, size, other = graph.start, graph.size, graph.other
    control[SCANS] += 1
    found = nothing
    others = nothing
    later = np.int64(0)
    for side in range(2):
        if query[SIDES] >> side & 1:
            own = 2 * v + 1 - side
            for slot in range(start[own], start[own] + size[own]):
                control[LOOKS] += 1
                u = np.int64(other[slot])
                later += _steps_later(query, control, kept, scratch, v, u, r)
                state = exact_state(query, control, kept, graph, weights, scratch, u, r - 1, nothing)
                if state == nothing:
                    continue
                offer = message(query[KIND], state, weight_of(weights, slot))
                found = min(found, offer)
                at = call
                while at != NOWHERE and scratch.calls[at, SOURCE] != u:
                    at = np.int64(scratch.calls[at, CHAIN])
                if at == NOWHERE:
                    others = min(others, offer)
    return found, others, later


@leaf
def _steps_later(query, control, kept, scratch, v, u, r):
    """How many calls for `v` the steps of `u` from round `r` on may become, with those that may have been dropped."""
    if u == v:
        # Its own steps are about to change.
        return 2 * (query[HIGHEST] + 2)
    count = steps_from(kept.head, kept.rounds, u, r)
    for q in range(r, end_of_dropped(query, control, kept, scratch, u)):
        count += may_have_lost(query, kept, u, q)
    return count
