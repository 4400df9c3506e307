"""Push and pull along an overlay: how often, and which nodes can be decided by themselves (EAGr, section 4)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["PULL", "PUSH", "UNDECIDED", "components", "decide_greedily", "prune", "spread_frequencies"]

UNDECIDED, PUSH, PULL = range(3)


@kernel
def spread_frequencies(starts, inputs, by_level, push, pull):
    """Add up pushes along the inputs of each node, and pulls along its outputs; nodes of lower levels come first."""
    for node in by_level:
        for k in range(starts[node], starts[node + 1]):
            push[node] += push[inputs[k]]
    for node in by_level[::-1]:
        for k in range(starts[node], starts[node + 1]):
            pull[inputs[k]] += pull[node]


@kernel
def prune(starts, inputs, output_starts, outputs, writers, worth):
    """Decide what no other node has a say in: push what is worth it (P1), pull what is not (P2), again and again.

    `worth` is what a push saves. Writers push.
    """
    nodes = len(starts) - 1
    decided = np.zeros(nodes, np.int8)
    before = np.zeros(nodes, np.int64)  # inputs that are undecided
    after = np.empty(nodes, np.int64)  # outputs that are undecided
    waiting = np.empty(nodes, np.int64)
    for node in range(writers):
        decided[node] = PUSH
    many = 0
    for node in range(writers, nodes):
        after[node] = output_starts[node + 1] - output_starts[node]
        for k in range(starts[node], starts[node + 1]):
            before[node] += inputs[k] >= writers
        many = _settle(node, worth, before, after, decided, waiting, many)
    done = 0
    while done < many:
        node = waiting[done]
        done += 1
        if decided[node] == PUSH:
            for k in range(output_starts[node], output_starts[node + 1]):
                before[outputs[k]] -= 1
                many = _settle(outputs[k], worth, before, after, decided, waiting, many)
        else:
            for k in range(starts[node], starts[node + 1]):
                after[inputs[k]] -= 1
                many = _settle(inputs[k], worth, before, after, decided, waiting, many)
    return decided


@leaf
def _settle(node, worth, before, after, decided, waiting, many):
    """Decide a node if it stands alone on the side that matters; how many were decided."""
    if decided[node] == UNDECIDED:
        if worth[node] >= 0 and before[node] == 0:
            decided[node] = PUSH
        elif worth[node] <= 0 and after[node] == 0:
            decided[node] = PULL
        else:
            return many
        waiting[many] = node
        many += 1
    return many


@kernel
def components(starts, inputs, decided):
    """How many connected parts the undecided nodes make."""
    nodes = len(starts) - 1
    parent = np.arange(nodes)
    count = 0
    for node in range(nodes):
        if decided[node] == UNDECIDED:
            count += 1
            for k in range(starts[node], starts[node + 1]):
                if decided[inputs[k]] == UNDECIDED:
                    a, b = _root(parent, node), _root(parent, inputs[k])
                    if a != b:
                        parent[max(a, b)] = min(a, b)
                        count -= 1
    return count


@leaf
def _root(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def decide_greedily(starts, inputs, writers, by_level, worth):
    """Decide node after node from the writers on; one that would push makes its inputs push if that costs less."""
    nodes = len(starts) - 1
    push = np.zeros(nodes, np.bool_)
    push[:writers] = True
    for node in by_level:
        if node < writers or worth[node] < 0:
            continue
        loss = 0.0
        may_push = True
        for k in range(starts[node], starts[node + 1]):
            item = inputs[k]
            if not push[item]:
                loss -= worth[item]
                may_push &= _inputs_push(starts, inputs, push, item)
        if may_push and loss <= worth[node]:
            push[node] = True
            for k in range(starts[node], starts[node + 1]):
                push[inputs[k]] = True
    return push


@leaf
def _inputs_push(starts, inputs, push, node):
    all_push = True
    for k in range(starts[node], starts[node + 1]):
        all_push &= push[inputs[k]]
    return all_push
