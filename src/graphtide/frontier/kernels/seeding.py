"""What the edges of a batch call for: looks where new ones may better a state, doubts where lost ones supported one."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.adjacency import (
    BEFORE,
    ENTERING,
    ENTERING_COUNT,
    FIRST_COLUMN,
    LEAVING,
    LEAVING_COUNT,
    RENEWED,
    RENEWED_COUNT,
    WIDTH,
)
from graphtide.frontier.kernels.exact import bound, may_have_lost
from graphtide.frontier.kernels.fields import (
    CALLS,
    CHANGED,
    COLUMN,
    HIGHEST,
    KIND,
    LAST_ROUND,
    MARK_WORDS,
    NEED,
    NEXT,
    OWN,
    ROUND,
    SIDES,
    SLOT,
    SOURCE,
    TICK,
    TOP,
    VERTEX,
    WIDEST_ROUND,
)
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.region import is_outside
from graphtide.frontier.kernels.rooms import NOWHERE
from graphtide.frontier.kernels.stairs import find_step, most_rounds
from graphtide.functions import as_bits
from graphtide.jit import borrowing_leaf, kernel
from graphtide.memory import address_to_words

__all__ = ["call", "may_support", "seed"]


@borrowing_leaf
def call(scratch, control, r, vertex, source, slot):
    """Ask for a look at round `r`, or for a doubt if there is no slot."""
    due, calls = scratch.due, scratch.calls
    at = control[CALLS]
    calls[at, NEXT] = due[r]
    calls[at, VERTEX] = vertex
    calls[at, SOURCE] = source
    calls[at, SLOT] = slot
    due[r] = at
    control[CALLS] = at + 1
    control[TOP] = max(control[TOP], r)


@borrowing_leaf
def may_support(query, kept, v, r, offer):
    """Whether an offer is the state of the step of `v` at `r`, or may be because that was dropped."""
    step = find_step(kept.head, kept.rounds, v, r)
    if step != NOWHERE:
        return kept.states[step] == offer
    return may_have_lost(query, kept, v, r)


@kernel
def seed(query, control, kept, adjacent, weights, scratch, nothing):
    """Call for what the edges of the last batch themselves have changed; False if an array is too short."""
    due, calls = scratch.due, scratch.calls
    control[CALLS] = 0
    control[TOP] = 0
    control[CHANGED] = 0
    control[ROUND] = 1
    control[TICK] += 1
    control[NEED] = 0
    if due.shape[0] < query[HIGHEST] + 3:
        control[WIDEST_ROUND] = query[HIGHEST] + 3
        return False
    width, column = FIRST_COLUMN + adjacent[WIDTH], control[COLUMN]
    before = address_to_words(adjacent[BEFORE], (adjacent[RENEWED_COUNT], width))
    now = address_to_words(adjacent[RENEWED], before.shape)
    complete = True
    for k in range(before.shape[0]):
        # An edge that has another value in another column is the same to these queries.
        if column >= 0 and before[k, FIRST_COLUMN + column] != now[k, FIRST_COLUMN + column]:
            complete &= _seed_lost(query, control, kept, weights, before[k], scratch, nothing)
            complete &= _seed_gained(query, control, kept, weights, now[k], scratch, nothing)
    leaving = address_to_words(adjacent[LEAVING], (adjacent[LEAVING_COUNT], width))
    for k in range(leaving.shape[0]):
        complete &= _seed_lost(query, control, kept, weights, leaving[k], scratch, nothing)
    entering = address_to_words(adjacent[ENTERING], (adjacent[ENTERING_COUNT], width))
    for k in range(entering.shape[0]):
        complete &= _seed_gained(query, control, kept, weights, entering[k], scratch, nothing)
    if not complete:
        for r in range(control[TOP] + 1):
            due[r] = NOWHERE
        control[NEED] = 2 * calls.shape[0]
    return complete


@borrowing_leaf
def _seed_lost(query, control, kept, weights, row, scratch, nothing):
    """Both ways of a lost edge that messages may have gone."""
    column = control[COLUMN]
    weight = weights.dtype.type(1)
    if column >= 0:
        weight = as_bits(row[FIRST_COLUMN + column], nothing)  # pyright: ignore[reportCallIssue] - numba fills it in
    complete = True
    for way in range(2):
        if query[SIDES] >> way & 1:
            complete &= _seed_edge(query, control, kept, row[way], row[1 - way], weight, -1, scratch, nothing)
    return complete


@borrowing_leaf
def _seed_gained(query, control, kept, weights, row, scratch, nothing):
    """Both ways of a new edge that messages may go."""
    complete = True
    for way in range(2):
        if query[SIDES] >> way & 1:
            slot = row[2 + way]
            weight = weight_of(weights, slot)
            complete &= _seed_edge(query, control, kept, row[way], row[1 - way], weight, slot, scratch, nothing)
    return complete


@borrowing_leaf
def _seed_edge(query, control, kept, u, v, weight, slot, scratch, nothing):
    """A look for every step of `u` by which a new edge betters `v`, a doubt for every step that a lost one supported.

    False if there is no place for a call.
    """
    if is_outside(query, v):
        return True
    rounds = kept.rounds
    most = most_rounds(rounds)
    if query[OWN] == 1 and not _seed_step(
        query, control, kept, np.int64(0), scratch.labels[u], u, v, weight, slot, scratch, nothing
    ):
        return False
    at = np.int64(kept.head[u])
    is_last = at == NOWHERE
    r = np.int64(0)
    while not is_last:
        word = np.int64(rounds[at])
        # Dropped steps between those that are kept: what they offer is not known yet.
        while query[MARK_WORDS] > 0 and r < word & most:
            if (
                may_have_lost(query, kept, u, r)
                and r < query[LAST_ROUND]
                and (
                    slot >= 0
                    or find_step(kept.head, rounds, v, r + 1) != NOWHERE
                    or may_have_lost(query, kept, v, r + 1)
                )
            ):
                if control[CALLS] == scratch.calls.shape[0]:
                    return False
                call(scratch, control, r + 1, v, u, slot)
            r += 1
        r = (word & most) + 1
        if not _seed_step(query, control, kept, word & most, kept.states[at], u, v, weight, slot, scratch, nothing):
            return False
        is_last = word > most
        at += 1
    return True


@borrowing_leaf
def _seed_step(query, control, kept, r, state, u, v, weight, slot, scratch, nothing):
    if r >= query[LAST_ROUND]:
        return True
    offer = message(query[KIND], state, weight)
    if slot >= 0:
        wanted = offer < bound(query, kept, scratch, v, r + 1, nothing)
    else:
        wanted = may_support(query, kept, v, r + 1, offer)
    if wanted:
        if control[CALLS] == scratch.calls.shape[0]:
            return False
        call(scratch, control, r + 1, v, u, slot)
    return True
