"""Partial aggregates that save nothing: those that serve one node alone or none, or that have one input."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel

__all__ = ["dissolve"]


@kernel
def dissolve(starts, inputs, signs, last_reader, overlapping):
    """Put the inputs of needless partial aggregates where these were inputs; the starts, inputs and signs then.

    One whose own inputs are needless waits for them: call it until nothing changes.
    """
    nodes = len(starts) - 1
    outputs = np.zeros(nodes, np.int64)
    for item in inputs:
        outputs[item] += 1
    needless = np.zeros(nodes, np.bool_)
    for node in range(last_reader, nodes):
        needless[node] = outputs[node] == 1 or starts[node + 1] - starts[node] == 1
    waits = np.zeros(nodes, np.bool_)
    for node in range(last_reader, nodes):
        if needless[node]:
            for k in range(starts[node], starts[node + 1]):
                waits[node] |= needless[inputs[k]]
    # A needless one has as many places as its output needs, and if it has one input it needs no more than it had.
    new_inputs = np.empty(2 * len(inputs), np.int32)
    new_signs = np.empty(2 * len(inputs), np.int8)
    ends = np.zeros(nodes + 1, np.int64)
    place = np.full(nodes, -1, np.int64)  # of each input in the list of a node
    at = 0
    for node in range(nodes):
        begin = at
        for k in range(starts[node], starts[node + 1]):
            new_inputs[at], new_signs[at] = inputs[k], signs[k]
            place[inputs[k]] = at
            at += 1
        for k in range(begin, at):
            partial, sign = new_inputs[k], new_signs[k]
            if needless[partial] and not waits[partial]:
                if _fits(starts, inputs, signs, partial, sign, place, begin, new_signs, overlapping):
                    new_signs[k] = 0
                    at = _put(starts, inputs, signs, partial, sign, place, begin, new_inputs, new_signs, at)
        kept = begin
        for k in range(begin, at):
            place[new_inputs[k]] = -1
            if new_signs[k] != 0:
                new_inputs[kept], new_signs[kept] = new_inputs[k], new_signs[k]
                kept += 1
        at = kept
        ends[node + 1] = at
    return _without_idle(ends, new_inputs, new_signs, last_reader)


@kernel
def _fits(starts, inputs, signs, partial, sign, place, begin, new_signs, overlapping):
    """Whether no input would count twice."""
    if overlapping:
        return True
    for k in range(starts[partial], starts[partial + 1]):
        there = place[inputs[k]]
        if there >= begin and new_signs[there] == sign * signs[k]:
            return False
    return True


@kernel
def _put(starts, inputs, signs, partial, sign, place, begin, new_inputs, new_signs, at):
    """Add the inputs of a partial aggregate to a list; one and its opposite go. Where the list ends."""
    for k in range(starts[partial], starts[partial + 1]):
        item, total = inputs[k], sign * signs[k]
        there = place[item]
        if there >= begin and new_signs[there] == -total:
            new_signs[there] = 0
        elif there < begin or new_signs[there] == 0:
            place[item] = at
            new_inputs[at], new_signs[at] = item, total
            at += 1
    return at


@kernel
def _without_idle(starts, inputs, signs, last_reader):
    """Leave out the partial aggregates that serve none, and number the others anew."""
    nodes = len(starts) - 1
    outputs = np.zeros(nodes, np.int64)
    for k in range(starts[-1]):
        outputs[inputs[k]] += 1
    idle = np.empty(nodes, np.int64)
    many = 0
    for node in range(last_reader, nodes):
        if outputs[node] == 0:
            idle[many] = node
            many += 1
    done = 0
    while done < many:
        node = idle[done]
        done += 1
        for k in range(starts[node], starts[node + 1]):
            outputs[inputs[k]] -= 1
            if outputs[inputs[k]] == 0 and inputs[k] >= last_reader:
                idle[many] = inputs[k]
                many += 1
    number = np.empty(nodes, np.int32)
    kept = 0
    edges = 0
    for node in range(nodes):
        number[node] = kept
        if node < last_reader or outputs[node] > 0:
            kept += 1
            edges += starts[node + 1] - starts[node]
    new_starts = np.zeros(kept + 1, np.int64)
    new_inputs = np.empty(edges, np.int32)
    new_signs = np.empty(edges, np.int8)
    at = 0
    for node in range(nodes):
        if node < last_reader or outputs[node] > 0:
            for k in range(starts[node], starts[node + 1]):
                new_inputs[at], new_signs[at] = number[inputs[k]], signs[k]
                at += 1
            new_starts[number[node] + 1] = at
    return new_starts, new_inputs, new_signs
