"""The state of a vertex at a round: by the steps that are kept, or exactly, with dropped ones computed again."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.fields import HIGHEST, KIND, MARK_WIDTH, MARK_WORDS, OWN, RECOMPUTED, SIDES, TICK
from graphtide.frontier.kernels.marks import is_marked
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.stairs import last_round, last_round_up_to, state_at
from graphtide.frontier.kernels.work import count_work
from graphtide.jit import borrowing_leaf, kernel

__all__ = ["bound", "compute_again", "end_of_dropped", "exact_state", "last_dropped", "may_have_lost", "rest"]


@borrowing_leaf
def rest(query, scratch, v, nothing):
    """The state of a vertex before its first step."""
    return scratch.labels[v] if query[OWN] == 1 else nothing


@borrowing_leaf
def bound(query, kept, scratch, v, r, nothing):
    """The state of a vertex by the steps that are kept: as it is, or worse."""
    return state_at(kept.head, kept.states, kept.rounds, v, r, rest(query, scratch, v, nothing))


@borrowing_leaf
def may_have_lost(query, kept, v, r):
    """Whether a step may have been dropped.

    A full filter would tell of steps at any round, and doubts would follow each other along a cycle for ever.
    """
    return query[MARK_WORDS] > 0 and r <= query[HIGHEST] and is_marked(kept.marks, query[MARK_WIDTH], v, r)


@borrowing_leaf
def end_of_dropped(query, control, kept, scratch, v):
    """No step of `v` at this round or later was dropped: its last one is kept, unless this batch has changed it."""
    if query[MARK_WORDS] == 0:
        return np.int64(0)
    if scratch.stamp[v] == control[TICK]:
        return query[HIGHEST] + 1
    return last_round(kept.head, kept.rounds, v)


@borrowing_leaf
def exact_state(query, control, kept, graph, weights, scratch, u, q, nothing):
    """The state of `u` at a round that is final; computed again if its last step up to there may have been dropped."""
    if query[MARK_WORDS] == 0:
        return bound(query, kept, scratch, u, q, nothing)
    d = last_dropped(query, control, kept, scratch, u, q)
    if d < 0:
        return bound(query, kept, scratch, u, q, nothing)
    return compute_again(query, control, kept, graph, weights, scratch, u, d, nothing)


@borrowing_leaf
def last_dropped(query, control, kept, scratch, u, q):
    """The last round up to `q`, after the last kept step up to there, at which a step may have been dropped; or -1."""
    end = min(q, end_of_dropped(query, control, kept, scratch, u) - 1)
    begin = last_round_up_to(kept.head, kept.rounds, u, q)
    for d in range(end, begin, -1):
        if may_have_lost(query, kept, u, d):
            return d
    return np.int64(-1)


@kernel
def compute_again(query, control, kept, graph, weights, scratch, vertex, r, nothing):
    """The state of a vertex at round `r`, from the states of its in-neighbours one round before, and so on.

    What is found is remembered until the batch is over: these rounds are final.
    """
    start, size, other = graph.start, graph.size, graph.other
    stack, found = scratch.stack, scratch.stack_states
    kind = query[KIND]
    depth = 0
    result = nothing
    has_result = False
    stack[0], stack[1], stack[2], stack[3] = vertex, r, -1, 0
    found[0] = bound(query, kept, scratch, vertex, 0, nothing)
    while depth >= 0:
        base = 4 * depth
        v, d = stack[base], stack[base + 1]
        key = control[TICK] << 24 | d
        place = (v * 31 + d * 0x9E3779B1) & (scratch.memo_states.shape[0] - 1)
        if stack[base + 2] < 0:
            if scratch.memo[2 * place] == key and scratch.memo[2 * place + 1] == v:
                result = scratch.memo_states[place]
                has_result = True
                depth -= 1
                continue
            query[RECOMPUTED] += 1
            count_work(query, size, v)
            stack[base + 2] = 0
        elif has_result:
            # What was asked for one round before is there: go on behind the edge that asked.
            slot = stack[base + 3]
            if result != nothing:
                found[depth] = min(found[depth], message(kind, result, weight_of(weights, slot)))
            stack[base + 3] = slot + 1
            has_result = False
        asked = np.int64(-1)
        while stack[base + 2] < 2 and asked < 0:
            side = stack[base + 2]
            own = 2 * v + 1 - side
            if not query[SIDES] >> side & 1:
                stack[base + 2] += 1
                stack[base + 3] = 0
                continue
            slot = max(stack[base + 3], start[own])
            end = start[own] + size[own]
            while slot < end:
                u = np.int64(other[slot])
                before = last_dropped(query, control, kept, scratch, u, d - 1)
                if before >= 0:
                    asked = before
                    break
                state = bound(query, kept, scratch, u, d - 1, nothing)
                if state != nothing:
                    found[depth] = min(found[depth], message(kind, state, weight_of(weights, slot)))
                slot += 1
            if asked >= 0:
                stack[base + 3] = slot
                depth += 1
                stack[base + 4], stack[base + 5], stack[base + 6], stack[base + 7] = other[slot], asked, -1, 0
                found[depth] = bound(query, kept, scratch, np.int64(other[slot]), 0, nothing)
            else:
                stack[base + 2] += 1
                stack[base + 3] = 0
        if asked < 0:
            result = found[depth]
            has_result = True
            scratch.memo[2 * place] = key
            scratch.memo[2 * place + 1] = v
            scratch.memo_states[place] = result
            depth -= 1
    return result
