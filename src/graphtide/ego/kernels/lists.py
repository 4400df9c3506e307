"""Lists of numbers, one after the other in one array, with an array of where each starts."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel

__all__ = ["group_pairs", "invert", "levels"]


@kernel
def group_pairs(owners, items, owner_count, item_count):
    """The lists of all owners, each in rising order and without a pair twice; where they start."""
    # Two stable passes: by item, then by owner.
    by_item = _starts(items, item_count)
    rising = np.empty(len(items), np.int64)
    for i in range(len(items)):
        rising[by_item[items[i]]] = i
        by_item[items[i]] += 1
    place = _starts(owners, owner_count)
    last = np.full(owner_count, -1, np.int64)
    sizes = np.zeros(owner_count + 1, np.int64)
    grouped = np.empty(len(items), np.int32)
    for k in range(len(items)):
        i = rising[k]
        owner, item = owners[i], items[i]
        if last[owner] != item:
            last[owner] = item
            grouped[place[owner]] = item
            place[owner] += 1
            sizes[owner + 1] += 1
    starts = np.cumsum(sizes)
    # What was found twice left gaps behind its list.
    for owner in range(owner_count):
        size = sizes[owner + 1]
        source = place[owner] - size
        for k in range(size):
            grouped[starts[owner] + k] = grouped[source + k]
    return starts, grouped[: starts[owner_count]].copy()


@kernel
def _starts(owners, count):
    """Where the list of each of `count` owners would start."""
    starts = np.zeros(count + 1, np.int64)
    for owner in owners:
        starts[owner + 1] += 1
    return np.cumsum(starts)


@kernel
def invert(starts, items, item_count):
    """For each item the lists that it is in, in rising order: where they start, and where in `items` each was."""
    place = _starts(items, item_count)
    first = place.copy()
    owners = np.empty(len(items), np.int32)
    found_at = np.empty(len(items), np.int64)
    for owner in range(len(starts) - 1):
        for k in range(starts[owner], starts[owner + 1]):
            at = place[items[k]]
            place[items[k]] += 1
            owners[at] = owner
            found_at[at] = k
    return first, owners, found_at


@kernel
def levels(starts, output_starts, outputs):
    """The longest path to each node from one without inputs, in edges; -1 in a cycle and after it."""
    count = len(starts) - 1
    level = np.full(count, -1, np.int32)
    highest = np.zeros(count, np.int32)
    missing = np.empty(count, np.int64)
    waiting = np.empty(count, np.int64)
    known = 0
    for node in range(count):
        missing[node] = starts[node + 1] - starts[node]
        if missing[node] == 0:
            waiting[known] = node
            known += 1
    done = 0
    while done < known:
        node = waiting[done]
        done += 1
        level[node] = highest[node]
        for k in range(output_starts[node], output_starts[node + 1]):
            after = outputs[k]
            highest[after] = max(highest[after], level[node] + 1)
            missing[after] -= 1
            if missing[after] == 0:
                waiting[known] = after
                known += 1
    return level
