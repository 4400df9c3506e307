"""Inputs of a node that are worth pushing to a partial aggregate of their own (EAGr, section 4)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["prefixes", "with_prefixes"]


@kernel
def prefixes(
    starts, inputs, output_starts, outputs, writers, by_level, often, pulls, push, partials, push_cost, pull_cost
):
    """For each node how many of its inputs, those with fewest pushes first, are to be pushed to a node of their own.

    Nodes with an output that pushes push and stay as they are; the last come first, since one that is split pulls, and
    `push` is changed so. `push_cost` and `pull_cost` are by the number of inputs, for readers and for partial
    aggregates, the first of which is `partials`. Also which inputs: `taken`.
    """
    sizes = np.zeros(len(starts) - 1, np.int32)
    taken = np.zeros(len(inputs), np.bool_)
    feeds_new = np.zeros(len(starts) - 1, np.bool_)  # an input of a node that is to be made, which pushes
    for node in by_level[::-1]:
        count = starts[node + 1] - starts[node]
        if node < writers or count < 3 or feeds_new[node] or _feeds_push(output_starts, outputs, push, node):
            continue
        ready = np.empty(count, np.int64)
        many = 0
        for k in range(starts[node], starts[node + 1]):
            if push[inputs[k]]:
                ready[many] = k
                many += 1
        frequency = np.empty(many)
        for j in range(many):
            frequency[j] = often[inputs[ready[j]]]
        rising = np.argsort(frequency, kind="mergesort")
        sort = 1 if node >= partials else 0
        best = often[node] * push_cost[sort, count] if push[node] else pulls[node] * pull_cost[sort, count]
        pushed = 0.0
        for j in range(min(many, count - 1)):
            pushed += frequency[rising[j]]
            size = j + 1
            cost = pushed * push_cost[1, size] + pulls[node] * pull_cost[sort, count - size + 1]
            if size > 1 and cost < best:
                best = cost
                sizes[node] = size
        if sizes[node] > 0:
            push[node] = False
            for j in range(sizes[node]):
                taken[ready[rising[j]]] = True
                feeds_new[inputs[ready[rising[j]]]] = True
    return sizes, taken


@leaf
def _feeds_push(output_starts, outputs, push, node):
    feeds = False
    for k in range(output_starts[node], output_starts[node + 1]):
        feeds |= push[outputs[k]]
    return feeds


@kernel
def with_prefixes(starts, inputs, signs, sizes, taken):
    """The starts, inputs and signs after inputs that are taken moved to new nodes, which are inputs in their place."""
    nodes = len(starts) - 1
    made = 0
    for node in range(nodes):
        made += sizes[node] > 0
    new_starts = np.zeros(nodes + made + 1, np.int64)
    new_inputs = np.empty(len(inputs) + made, np.int32)
    new_signs = np.ones(len(inputs) + made, np.int8)
    at = 0
    number = nodes
    for node in range(nodes):
        for k in range(starts[node], starts[node + 1]):
            if not taken[k]:
                new_inputs[at], new_signs[at] = inputs[k], signs[k]
                at += 1
        if sizes[node] > 0:
            new_inputs[at] = number
            number += 1
            at += 1
        new_starts[node + 1] = at
    number = nodes
    for node in range(nodes):
        if sizes[node] > 0:
            for k in range(starts[node], starts[node + 1]):
                if taken[k]:
                    new_inputs[at], new_signs[at] = inputs[k], signs[k]
                    at += 1
            number += 1
            new_starts[number] = at
    return new_starts, new_inputs, new_signs
