"""What an edge carries: the state that one end offers the other. Less is better."""

from __future__ import annotations

import numpy as np

from graphtide.functions import call_at
from graphtide.jit import borrowing_leaf, kernel
from graphtide.memory import address_to_words

__all__ = ["ADD", "COPY", "HOP", "TIMES", "WIDE", "first_offence", "message", "states_in_reach", "weight_of"]

ADD = 0  # a distance
HOP = 1  # a number of edges
COPY = 2  # a label
WIDE = 3  # a capacity, negated
TIMES = 4  # a probability, negated


@borrowing_leaf
def message(kind, state, weight):
    """The state that an edge of that weight makes of the state at its source.

    A kind that is none of ours is the address of a user's function.
    """
    if kind == ADD:
        return state + weight
    if kind == HOP:
        return state + 1
    if kind == WIDE:
        return max(state, -weight)
    if kind == TIMES:
        return state * weight
    if kind == COPY:
        return state
    return call_at(kind, (state, weight))  # pyright: ignore[reportCallIssue] - numba fills in the context


@borrowing_leaf
def weight_of(weights, slot):
    """The weight of the edge in a slot; edges of a program without weights count 1."""
    return weights[slot] if weights.shape[0] > 0 else weights.dtype.type(1)


@kernel
def states_in_reach(kind, states, weights, most, nothing, doubt_flag):
    """States that walks along edges of these weights may make of the given ones, at most so many; they ascend.

    A state is none if an int on its way was too long, which the word at an address tells.
    """
    flag = address_to_words(doubt_flag, 1)
    flag[0] = 0
    found = np.unique(states)[:most]
    while found.shape[0] < most:
        made = np.empty(found.shape[0] * weights.shape[0], found.dtype)
        count = 0
        for state in found:
            for weight in weights:
                offer = message(kind, state, weight)
                if offer != nothing and flag[0] == 0:
                    made[count] = offer
                    count += 1
                flag[0] = 0
        grown = np.unique(np.concatenate((found, made[:count])))
        if grown.shape[0] == found.shape[0]:
            break
        if grown.shape[0] > most:
            # Spread over all of them, the ends included.
            chosen = np.empty(most, found.dtype)
            for k in range(most):
                chosen[k] = grown[k * (grown.shape[0] - 1) // (most - 1)]
            return chosen
        found = grown
    return found


@kernel
def first_offence(kind, states, weights, doubt_flag):
    """Of states that ascend: the first that makes a better message than the one before it, and the weight of the edge.

    Places in both arrays, or (-1, -1) if there is none. Messages with ints that are too long are not compared.
    """
    flag = address_to_words(doubt_flag, 1)
    for w in range(weights.shape[0]):
        for k in range(1, states.shape[0]):
            flag[0] = 0
            is_better = message(kind, states[k], weights[w]) < message(kind, states[k - 1], weights[w])
            if is_better and flag[0] == 0:
                return k, w
    return -1, -1
