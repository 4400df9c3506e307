"""What an edge carries: the state that one end offers the other. Less is better."""

from __future__ import annotations

from graphtide.jit import leaf

__all__ = ["ADD", "COPY", "HOP", "TIMES", "WIDE", "message", "weight_of"]

ADD = 0  # a distance
HOP = 1  # a number of edges
COPY = 2  # a label
WIDE = 3  # a capacity, negated
TIMES = 4  # a probability, negated


@leaf
def message(kind, state, weight):
    """The state that an edge of that weight makes of the state at its source."""
    if kind == ADD:
        return state + weight
    if kind == HOP:
        return state + 1
    if kind == WIDE:
        return max(state, -weight)
    if kind == TIMES:
        return state * weight
    return state


@leaf
def weight_of(weights, slot):
    """The weight of the edge in a slot; edges of a program without weights count 1."""
    return weights[slot] if weights.shape[0] > 0 else weights.dtype.type(1)
