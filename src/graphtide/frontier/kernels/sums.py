"""Programs that sum the messages to a vertex: a state by its definition.

    D(r + 1, v) = finish(D(0, v), sum of message(D(r, u), w, degree of u) over the edges u -> v)

What is kept of a vertex are the rounds at which its state is another one than the round before (see `stairs`; these
states do not fall). Steps may be dropped and marked as those of selective programs are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels.degrees import degree_along
from graphtide.frontier.kernels.exact_sum import MOST_PARTS, add_part, is_no_int, is_too_long, rounded
from graphtide.frontier.kernels.fields import (
    DOUBTED,
    FINISH,
    KIND,
    LAST_ROUND,
    MARK_WIDTH,
    MARK_WORDS,
    RECOMPUTED,
    SIDES,
)
from graphtide.frontier.kernels.marks import is_marked
from graphtide.frontier.kernels.messages import weight_of
from graphtide.frontier.kernels.shapes import Ints, Small
from graphtide.frontier.kernels.stairs import last_round, last_round_up_to, most_rounds, state_at
from graphtide.functions import call_at
from graphtide.jit import borrowing_leaf, kernel, leaf

__all__ = [
    "AT_ROUND",
    "BATCH",
    "CHOSEN",
    "LOOKS",
    "MOVED",
    "NOTED",
    "RUN_FIELDS",
    "TICK",
    "SumScratch",
    "computed",
    "exact",
    "last_dropped",
    "last_of",
    "sum_all",
]

# The state of a run, so that it can go on.
AT_ROUND = 0  # 0: nothing is chosen yet
CHOSEN = 1
MOVED = 2
NOTED = 3
TICK = 4  # of rounds: it never falls
BATCH = 5  # the tick at which the batch began
LOOKS = 6  # edges gone along in this batch
RUN_FIELDS = 7


class SumScratch(NamedTuple):
    """What the maintenance of a batch needs besides the query; queries with states of one type share it."""

    chosen: Small  # to be computed at this round
    chosen_at: Ints  # by vertex: the last tick at which it was chosen
    moved: Small  # by the round's parity: those whose state is another one, or may be
    moved_at: Ints  # by vertex: the last tick at which it moved
    was: NDArray[Any]  # by vertex: its old state at that round
    was_known: NDArray[np.bool_]
    noted: Small  # those whose steps the batch has touched
    noted_at: Ints  # by vertex: the last batch that did
    last_was: NDArray[Any]  # of each that is noted: its last state before
    rounds: Ints  # the steps of one vertex
    states: NDArray[Any]
    stack: Ints  # of states that are being computed: five words each
    parts: NDArray[Any]  # their sums
    memo: Ints  # keys of states that were computed again, and these
    memo_states: NDArray[Any]


@leaf
def _offer(query, graph, weights, u, slot, state):
    """The message of `u` along the edge in a slot."""
    arguments = (state, weight_of(weights, slot), degree_along(graph.size, u, query[SIDES]))
    return call_at(query[KIND], arguments)  # pyright: ignore[reportCallIssue] - numba fills in the context


@leaf
def _finished(query, begin, parts, count):
    """The state that a sum makes; whether one was too long is noted."""
    arguments = (begin, rounded(parts, count))
    made = call_at(query[FINISH], arguments)  # pyright: ignore[reportCallIssue] - numba fills in the context
    if is_too_long(parts, count) or is_no_int(parts, made):
        query[DOUBTED] = 1
    return made


@kernel
def sum_all(query, graph, weights, begins, now, r, log_vertices, log_rounds, log_states, at):
    """Go on from round `r`, until no state changes, the last round is done or the log is too short.

    Gives the round, whether it is all, and the length of the log.
    """
    parts = np.empty(MOST_PARTS, now.dtype)
    vertices = now.shape[0]
    while r < query[LAST_ROUND]:
        if at + vertices > log_vertices.shape[0]:
            return r, False, at
        r += 1
        before = at
        for v in range(vertices):
            count = 0
            for side in range(2):
                if query[SIDES] >> side & 1:
                    own = 2 * v + 1 - side
                    for slot in range(graph.start[own], graph.start[own] + graph.size[own]):
                        u = np.int64(graph.other[slot])
                        count = add_part(parts, count, _offer(query, graph, weights, u, slot, now[u]))
            state = _finished(query, begins[v], parts, count)
            if state != now[v]:
                log_vertices[at] = v
                log_rounds[at] = r
                log_states[at] = state
                at += 1
        for k in range(before, at):
            now[log_vertices[k]] = log_states[k]
        if at == before:
            break
    return r, True, at


@leaf
def last_dropped(query, run, kept, scratch, v, q):
    """The last round up to `q`, after the last kept step up to there, at which a step may have been dropped; or -1."""
    if query[MARK_WORDS] == 0:
        return np.int64(-1)
    # A vertex that the batch has not touched has its last step.
    end = q if scratch.noted_at[v] == run[BATCH] else min(q, last_round(kept.head, kept.rounds, v) - 1)
    begin = last_round_up_to(kept.head, kept.rounds, v, q)
    for d in range(end, begin, -1):
        if is_marked(kept.marks, query[MARK_WIDTH], v, d):
            return d
    return np.int64(-1)


@leaf
def exact(query, run, kept, graph, weights, scratch, v, q, rest):
    """The state of `v` at a round that is final; computed again if its last step up to there may have been dropped."""
    d = last_dropped(query, run, kept, scratch, v, q)
    if d < 0:
        return state_at(kept.head, kept.states, kept.rounds, v, q, rest)
    return computed(query, run, kept, graph, weights, scratch, v, d, rest)


@borrowing_leaf
def computed(query, run, kept, graph, weights, scratch, vertex, r, rest):
    """The state of a vertex at round `r` by its definition, from states one round before, and so on where they dropped.

    What is found below it is remembered until the batch is over: these rounds are final.
    """
    start, size, other = graph.start, graph.size, graph.other
    stack, memo = scratch.stack, scratch.memo
    head, states, rounds = kept.head, kept.states, kept.rounds
    drops = query[MARK_WORDS] > 0
    depth = 0
    result = rest
    has_result = False
    stack[0], stack[1], stack[2], stack[3], stack[4] = vertex, r, -1, 0, 0
    while depth >= 0:
        base = 5 * depth
        v, d = stack[base], stack[base + 1]
        parts = scratch.parts[depth]
        place = (v * 31 + d * 0x9E3779B1) & (scratch.memo_states.shape[0] - 1)
        key = run[BATCH] << 20 | d
        if stack[base + 2] < 0:
            query[RECOMPUTED] += depth > 0
            if drops and memo[2 * place] == key and memo[2 * place + 1] == v:
                result = scratch.memo_states[place]
                has_result = True
                depth -= 1
                continue
            stack[base + 2] = 0
        elif has_result:
            # What was asked for one round before is there: go on behind the edge that asked.
            slot = stack[base + 3]
            offer = _offer(query, graph, weights, np.int64(other[slot]), slot, result)
            stack[base + 4] = add_part(parts, stack[base + 4], offer)
            stack[base + 3] = slot + 1
            has_result = False
        asked = np.int64(-1)
        while stack[base + 2] < 2 and asked < 0:
            side = stack[base + 2]
            own = 2 * v + 1 - side
            slot = max(stack[base + 3], start[own])
            end = start[own] + size[own] if query[SIDES] >> side & 1 else slot
            count = stack[base + 4]
            while slot < end:
                u = np.int64(other[slot])
                asked = last_dropped(query, run, kept, scratch, u, d - 1)
                if asked >= 0:
                    break
                state = state_at(head, states, rounds, u, d - 1, rest)
                count = add_part(parts, count, _offer(query, graph, weights, u, slot, state))
                slot += 1
                run[LOOKS] += 1
            stack[base + 4] = count
            if asked >= 0:
                stack[base + 3] = slot
                depth += 1
                stack[base + 5], stack[base + 6], stack[base + 7] = other[slot], asked, -1
                stack[base + 8], stack[base + 9] = 0, 0
            else:
                stack[base + 2] += 1
                stack[base + 3] = 0
        if asked < 0:
            begin = state_at(head, states, rounds, v, 0, rest)
            result = _finished(query, begin, parts, stack[base + 4])
            has_result = True
            if drops:
                memo[2 * place] = key
                memo[2 * place + 1] = v
                scratch.memo_states[place] = result
            depth -= 1
    return result


@kernel
def last_of(head, states, rounds, vertices, rest, out):
    """The last states of some vertices."""
    for k in range(vertices.shape[0]):
        out[k] = state_at(head, states, rounds, np.int64(vertices[k]), most_rounds(rounds), rest)
