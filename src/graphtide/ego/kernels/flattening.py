"""Which partial aggregates of an overlay are worth keeping if each stands on its writers, and the overlay of these."""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import grow_stack
from graphtide.jit import kernel

__all__ = ["choose_kept", "count_writers", "flatten"]


@kernel
def count_writers(starts, inputs, by_level, writers):
    """How many writers stand behind each node; at most so many, in an overlapping overlay."""
    sizes = np.zeros(len(starts) - 1, np.int64)
    for node in by_level:
        if node < writers:
            sizes[node] = 1
        for k in range(starts[node], starts[node + 1]):
            sizes[node] += sizes[inputs[k]]
        sizes[node] = min(sizes[node], writers)
    return sizes


@kernel
def choose_kept(
    starts, inputs, by_level, often, reads, writers, readers, sizes, push_cost, pull_cost, merged, each, keep
):
    """What it costs to keep what `keep` says, which is then chosen anew: each node as if the others stayed as they are.

    A reader that is not kept pulls the partial aggregates that are, the nearest ones, and the writers behind the rest;
    `each` is about what one input of it costs, and `merged` as how many of them a partial aggregate of so many writers
    counts. `often` is how often the writers of a node write, `sizes` how many it
    has, and costs are by the number of inputs, for readers and for partial aggregates.
    """
    nodes = len(starts) - 1
    as_input = np.ones(nodes)  # inputs that a reader has for a node that stands in its list
    behind = np.zeros(nodes)  # inputs of a node, if it is not kept
    for node in by_level:
        if node >= writers:
            for k in range(starts[node], starts[node + 1]):
                behind[node] += as_input[inputs[k]]
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
            keep[node] = pushed < then[node] * each * (behind[node] - merged[sizes[node]])
        for k in range(starts[node], starts[node + 1]):
            now[inputs[k]] += 0.0 if was_kept else now[node]
            then[inputs[k]] += 0.0 if keep[node] else then[node]
    return cost


@kernel
def flatten(starts, inputs, writers, readers, keep):
    """The starts and inputs of an overlay of what is kept, and by its partial aggregates which these were.

    A node that is kept has its writers as inputs, a reader that is not has what is kept, and writers. In an overlapping
    overlay a node may be reached twice, and is an input once.
    """
    nodes = len(starts) - 1
    number = np.full(nodes, -1, np.int64)
    kept = np.empty(nodes - writers - readers, np.int64)
    many = 0
    seen = np.full(nodes, -1, np.int64)
    stack = np.empty(1024, np.int64)
    found = np.empty(2 * len(inputs) + 16, np.int32)
    ends = np.zeros(nodes + 1, np.int64)
    at = 0
    node = writers
    done = 0
    while node < writers + readers or done < many:
        if node < writers + readers:
            owner, place = node, node
            node += 1
        else:
            owner, place = kept[done], writers + readers + done
            done += 1
        pulls = owner < writers + readers and not keep[owner]
        stack[0] = owner
        top = 1
        while top > 0:
            top -= 1
            each = stack[top]
            if seen[each] == owner:
                continue
            seen[each] = owner
            if each < writers or (each != owner and pulls and keep[each]):
                if each >= writers and number[each] < 0:
                    number[each] = writers + readers + many
                    kept[many] = each
                    many += 1
                found = grow_stack(found, at + 1)
                found[at] = each if each < writers else number[each]
                at += 1
                continue
            stack = grow_stack(stack, top + starts[each + 1] - starts[each])
            for k in range(starts[each], starts[each + 1]):
                stack[top] = inputs[k]
                top += 1
        found[ends[place] : at].sort()  # a list is looked at in the order of memory
        ends[place + 1] = at
    return ends[: writers + readers + many + 1].copy(), found[:at].copy(), kept[:many].copy()
