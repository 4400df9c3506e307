"""The region that a query for one pair is kept to: a set of vertices, as bits, outside of which nothing has steps.

A way from the query's origin to its target that leaves the region does so first along some edge out of it, an *exit*.
The *bound* of a region is what no way over an exit is shorter than (docs/design/07).
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.fields import REGION, REGION_VERTICES
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.queue import longer
from graphtide.jit import borrowing_leaf, kernel
from graphtide.memory import byte_at

__all__ = ["enclosed", "is_outside", "spread_within"]


@borrowing_leaf
def is_outside(query, v):
    """Whether a query is kept to a region in which `v` is not."""
    if query[REGION] == 0:
        return False
    if v >= query[REGION_VERTICES]:
        return True
    return byte_at(query[REGION] + (v >> 3)) >> (v & 7) & 1 == 0  # pyright: ignore[reportCallIssue] - numba fills it in


@kernel
def enclosed(vertices, members, origin):
    """The bits of a region with these members, and the origin."""
    bits = np.zeros((vertices + 7) >> 3, np.uint8)
    bits[origin >> 3] |= 1 << (origin & 7)
    for k in range(members.shape[0]):
        v = members[k]
        bits[v >> 3] |= 1 << (v & 7)
    return bits


@kernel
def spread_within(
    kind, start, size, other, weights, bits, origin, now, coming, log_vertices, log_rounds, log_states
):  # fmt: skip
    """The first answer in a region, round by round: a log of its steps, how many, and the last round.

    `now` has no states yet, and `coming` is memory of its length. The log becomes as long as it must.
    """
    log_vertices[0] = origin
    log_rounds[0] = 0
    log_states[0] = now.dtype.type(0)
    now[origin] = log_states[0]
    mark = np.zeros(now.shape[0], np.int32)
    begin, end, r = 0, 1, 0
    while begin < end:
        # The steps of one round are the active set of the next; those being made are not yet anyone's state.
        made = end
        for k in range(begin, end):
            u = np.int64(log_vertices[k])
            for slot in range(start[2 * u], start[2 * u] + size[2 * u]):
                v = np.int64(other[slot])
                if bits[v >> 3] >> (v & 7) & 1 == 0:
                    continue
                offer = message(kind, log_states[k], weight_of(weights, slot))
                if offer >= now[v]:
                    continue
                if mark[v] == r + 1:
                    coming[v] = min(coming[v], offer)
                    continue
                mark[v] = r + 1
                coming[v] = offer
                if made == log_vertices.shape[0]:
                    log_vertices, log_rounds, log_states = longer(log_vertices), longer(log_rounds), longer(log_states)
                log_vertices[made] = v
                made += 1
        r += made > end
        for k in range(end, made):
            v = log_vertices[k]
            log_rounds[k] = r
            log_states[k] = now[v] = coming[v]
        begin, end = end, made
    return log_vertices, log_rounds, log_states, end, r
