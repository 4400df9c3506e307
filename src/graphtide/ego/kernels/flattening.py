"""Which partial aggregates of an overlay are worth keeping if each stands on its writers, and the overlay of these."""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import grow_stack
from graphtide.jit import kernel

__all__ = ["add_up", "choose_kept", "flatten"]


@kernel
def add_up(starts, inputs, signs, by_level, amounts):
    """Let `amounts`, which writers have, be for each node the sum over its inputs, those subtracted that it subtracts.

    Of a node that stands for a set of writers, that is the sum over the set.
    """
    for node in by_level:
        for k in range(starts[node], starts[node + 1]):
            amounts[node] += signs[k] * amounts[inputs[k]]


@kernel
def choose_kept(
    starts, inputs, by_level, often, reads, writers, readers, sizes, push_cost, pull_cost, merged, each, can_keep, keep
):
    """What it costs to keep what `keep` says, which is then chosen anew: each node as if the others stayed as they are.

    A reader that is not kept pulls the partial aggregates that are, the nearest ones, and the writers behind the rest;
    `each` is about what one input of it costs, and `merged` as how many of them a partial aggregate of so many writers
    counts. `often` is how often the writers of a node write, `sizes` how many it
    has, and costs are by the number of inputs, for readers and for partial aggregates. Of these only some can be kept.
    """
    nodes = len(starts) - 1
    as_input = np.ones(nodes)  # inputs that a reader has for a node that stands in its list
    behind = np.zeros(nodes)  # inputs of a node, if it is not kept
    has_kept = keep.copy()  # itself or something behind it
    has_kept[:writers] = False
    for node in by_level:
        if node >= writers:
            shares = False
            for k in range(starts[node], starts[node + 1]):
                behind[node] += as_input[inputs[k]]
                shares |= has_kept[inputs[k]]
            if not shares:
                behind[node] = sizes[node]  # what is subtracted is not there at all
            has_kept[node] |= shares
            as_input[node] = min(merged[sizes[node]], behind[node]) if keep[node] else behind[node]
    now = np.zeros(nodes)  # pulls of nodes as things are, and as they will be
    then = np.zeros(nodes)
    now[writers : writers + readers] = reads
    then[writers : writers + readers] = reads
    cost = 0.0
    for node in by_level[::-1]:
        if node < writers:
            continue
        is_reader = node < writers + readers
        pushed = often[node] * push_cost[0 if is_reader else 1, sizes[node]]
        was_kept = keep[node]
        if is_reader:
            pulled = reads[node - writers] * pull_cost[0, min(np.int64(behind[node]), pull_cost.shape[1] - 1)]
            cost += pushed if was_kept else pulled
            keep[node] = pushed < pulled
        else:
            cost += pushed if was_kept and now[node] > 0 else 0.0
            keep[node] = can_keep[node] and pushed < then[node] * each * (behind[node] - merged[sizes[node]])
        for k in range(starts[node], starts[node + 1]):
            now[inputs[k]] += 0.0 if was_kept else now[node]
            then[inputs[k]] += 0.0 if keep[node] else then[node]
    return cost


@kernel
def flatten(starts, inputs, signs, writers, readers, overlapping, keep):
    """The starts, inputs and signs of an overlay of what is kept, and by its partial aggregates which these were.

    A node that is kept has its writers as inputs, a reader that is not has what is kept, and writers. In an overlapping
    overlay an input may be reached twice, and counts once; else the ways to it add up with their signs. Partial
    aggregates that are kept must stand for sets of writers.
    """
    first = writers + readers
    nodes = len(starts) - 1
    number = np.full(nodes, -1, np.int64)
    kept = np.empty(nodes - first, np.int64)
    many = 0
    counts = np.zeros(nodes, np.int64)
    stack = np.empty(1024, np.int64)
    found = np.empty(2 * len(inputs) + 16, np.int64)
    ends = np.zeros(nodes + 1, np.int64)
    place, at = writers, 0
    while place < first + many:
        owner = place if place < first else kept[place - first]
        pulls = owner < first and not keep[owner]
        while True:
            found, stack, end = _reach(
                starts, inputs, signs, writers, owner, pulls, overlapping, keep, counts, stack, found, at
            )
            # What counts twice can be no input. The writers behind a reader count once.
            if not pulls or _largest(counts, found, at, end) == 1:
                break
            for k in range(at, end):
                counts[found[k]] = 0
            pulls = False
        begin = at
        for k in range(begin, end):
            node = found[k]
            if counts[node] != 0:
                if node >= writers and number[node] < 0:
                    number[node] = first + many
                    kept[many] = node
                    many += 1
                found[at] = (node if node < writers else number[node]) << 1 | (counts[node] < 0)
                counts[node] = 0
                at += 1
        found[begin:at].sort()  # a list is looked at in the order of memory
        place += 1
        ends[place] = at
    signs_found = (1 - 2 * (found[:at] & 1)).astype(np.int8)
    return ends[: first + many + 1].copy(), (found[:at] >> 1).astype(np.int32), signs_found, kept[:many].copy()


@kernel
def _reach(starts, inputs, signs, writers, owner, pulls, overlapping, keep, counts, stack, found, at):
    """Write what a node would have as inputs from a place on, and count how often each is reached, with its sign.

    One whose count was back at 0 is there again. `stack` and `found` are only room, and may be longer afterwards.
    """
    stack[0] = owner << 1
    top = 1
    while top > 0:
        top -= 1
        node, negative = stack[top] >> 1, stack[top] & 1
        if node < writers or (node != owner and pulls and keep[node]):
            if counts[node] == 0:
                found = grow_stack(found, at + 1)
                found[at] = node
                at += 1
            if counts[node] == 0 or not overlapping:
                counts[node] += -1 if negative else 1
            continue
        stack = grow_stack(stack, top + starts[node + 1] - starts[node])
        for k in range(starts[node], starts[node + 1]):
            stack[top] = inputs[k] << 1 | (negative ^ (signs[k] < 0))
            top += 1
    return found, stack, at


@kernel
def _largest(counts, found, begin, end):
    """The greatest number of times, added or subtracted, that something was reached; 1 if nothing was."""
    most = 1
    for k in range(begin, end):
        most = max(most, abs(counts[found[k]]))
    return most
