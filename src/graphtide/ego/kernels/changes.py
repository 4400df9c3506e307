"""Changing an overlay in place: a reader gains or loses a writer (EAGr, section 3.3).

A writer that is gained becomes an input of its own, or is no longer subtracted. One that is lost is no input any more;
if it comes by way of a partial aggregate, it is subtracted where the aggregate can do that, and otherwise that partial
aggregate is *unfolded*: the reader has its inputs in its place. Then a reader that can be made up of fewer inputs by
partial aggregates that are there gets these. Partial aggregates that nobody uses are released.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import (
    EDGES,
    FLAGS,
    FREE,
    IN,
    NEGATIVE,
    OUT,
    PUSH,
    READER,
    SIZE,
    USERS,
    WRITER,
    append,
    entry_of,
    grow_stack,
    take_away,
)
from graphtide.jit import kernel, leaf

__all__ = ["change_inputs", "cover_inputs", "differences", "levels", "push_order", "writers_of"]


@kernel
def push_order(heads, targets, count):
    """The nodes that push and are no writers, inputs before what stands on them."""
    missing = np.zeros(count, np.int64)
    order = np.empty(count, np.int64)
    found = 0
    size = 0
    for v in range(count):
        if heads[v, FLAGS] & PUSH:
            size += 1
            if heads[v, FLAGS] & WRITER == 0:
                missing[v] = heads[v, IN + SIZE]
            if missing[v] == 0:
                order[found] = v
                found += 1
    at = 0
    while at < found:
        u = order[at]
        for k in range(heads[u, OUT], heads[u, OUT] + heads[u, OUT + SIZE]):
            v = np.int64(targets[k]) >> 2
            missing[v] -= 1
            if missing[v] == 0:
                order[found] = v
                found += 1
        at += 1
    kept = 0
    for k in range(found):
        if heads[order[k], FLAGS] & WRITER == 0:
            order[kept] = order[k]
            kept += 1
    return order[:kept].copy()


@kernel
def levels(heads, inputs, count):
    """The longest path to each node from one without inputs, in edges."""
    found = np.full(count, -1, np.int64)
    stack = np.empty(64, np.int64)
    for first in range(count):
        stack[0] = first
        top = 1
        while top > 0:
            v = stack[top - 1]
            if found[v] >= 0:
                top -= 1
                continue
            level = 0
            waits = False
            if heads[v, FLAGS] & WRITER == 0:
                stack = grow_stack(stack, top + heads[v, IN + SIZE])
                for k in range(heads[v, IN], heads[v, IN] + heads[v, IN + SIZE]):
                    u = np.int64(inputs[k]) >> 2
                    if found[u] < 0:
                        stack[top] = u
                        top += 1
                        waits = True
                    level = max(level, found[u] + 1)
            if not waits:
                found[v] = level
                top -= 1
    return found


@kernel
def _expand(heads, inputs, node, counts, found, stack):
    """Add up the paths from each writer to a node, in `counts` by node; the writers that were met, and how many."""
    met = 0
    stack[0] = node << 1
    top = 1
    while top > 0:
        top -= 1
        v = stack[top] >> 1
        flipped = stack[top] & 1
        size = heads[v, IN + SIZE]
        stack = grow_stack(stack, top + size)
        for k in range(heads[v, IN], heads[v, IN] + size):
            entry = np.int64(inputs[k])
            negative = flipped ^ (entry & NEGATIVE)
            u = entry >> 2
            if heads[u, FLAGS] & WRITER:
                if counts[u] == 0:
                    found = grow_stack(found, met + 1)
                    found[met] = u
                    met += 1
                counts[u] += -1 if negative else 1
            else:
                stack[top] = (u << 1) | negative
                top += 1
    return found, met, stack


@kernel
def writers_of(nodes, heads, inputs, count):
    """The writers that nodes stand for, by number, in rising order; where those of each start."""
    counts = np.zeros(count, np.int64)
    found = np.empty(64, np.int64)
    stack = np.empty(64, np.int64)
    out = np.empty(64, np.int64)
    starts = np.zeros(nodes.shape[0] + 1, np.int64)
    for i in range(nodes.shape[0]):
        found, met, stack = _expand(heads, inputs, nodes[i], counts, found, stack)
        at = starts[i]
        out = grow_stack(out, at + met)
        for k in range(met):
            if counts[found[k]] != 0:
                out[at] = heads[found[k], IN]
                at += 1
            counts[found[k]] = 0
        out[starts[i] : at].sort()
        starts[i + 1] = at
    return starts, out[: starts[nodes.shape[0]]].copy()


@kernel
def differences(nodes, starts, writers, heads, inputs, node_of, count):
    """Rows (reader, writer, 1 or -1): what readers are to have more, or less, than the overlay says.

    Their writers are given by number, those of reader k from `starts[k]` on.
    """
    counts = np.zeros(count, np.int64)
    found = np.empty(64, np.int64)
    stack = np.empty(64, np.int64)
    rows = np.empty((64, 3), np.int64)
    size = 0
    for i in range(nodes.shape[0]):
        found, met, stack = _expand(heads, inputs, nodes[i], counts, found, stack)
        needed = size + met + starts[i + 1] - starts[i]
        if needed > rows.shape[0]:
            grown = np.empty((max(needed, 2 * rows.shape[0]), 3), np.int64)
            grown[:size] = rows[:size]
            rows = grown
        for k in range(starts[i], starts[i + 1]):
            u = node_of[writers[k]]
            if counts[u] == 0:
                rows[size, 0] = nodes[i]
                rows[size, 1] = u
                rows[size, 2] = 1
                size += 1
            else:
                counts[u] = 0
        for k in range(met):
            if counts[found[k]] != 0:
                counts[found[k]] = 0
                rows[size, 0] = nodes[i]
                rows[size, 1] = found[k]
                rows[size, 2] = -1
                size += 1
    return rows[:size].copy()


@kernel
def _add_input(heads, inputs, targets, ends, node, other, negative):
    inputs = append(heads, inputs, ends, IN, node, entry_of(heads, IN, other, negative))
    heads[other, USERS] += 1
    ends[EDGES] += 1
    if heads[node, FLAGS] & PUSH:
        targets = append(heads, targets, ends, OUT, other, entry_of(heads, OUT, node, negative))
    return inputs, targets


@kernel
def _drop_input(heads, inputs, targets, ends, node, other, gone, released):
    """Remove an input, and all that is of no use without it: how many nodes are in `gone` then."""
    take_away(heads, inputs, IN, node, other)
    ends[EDGES] -= 1
    if heads[node, FLAGS] & PUSH:
        take_away(heads, targets, OUT, other, node)
    heads[other, USERS] -= 1
    first = released
    if heads[other, USERS] == 0 and heads[other, FLAGS] & (WRITER | READER) == 0:
        gone = grow_stack(gone, released + 1)
        gone[released] = other
        released += 1
    while first < released:
        v = gone[first]
        first += 1
        for k in range(heads[v, IN], heads[v, IN] + heads[v, IN + SIZE]):
            u = np.int64(inputs[k]) >> 2
            if heads[v, FLAGS] & PUSH:
                take_away(heads, targets, OUT, u, v)
            heads[u, USERS] -= 1
            if heads[u, USERS] == 0 and heads[u, FLAGS] & (WRITER | READER) == 0:
                gone = grow_stack(gone, released + 1)
                gone[released] = u
                released += 1
        ends[EDGES] -= heads[v, IN + SIZE]
        heads[v, IN + SIZE] = 0
        heads[v, FLAGS] = FREE
    return gone, released


@leaf
def _sign_of(heads, inputs, node, other):
    """1 or -1 if a node has another one as an input, 0 if not."""
    for k in range(heads[node, IN], heads[node, IN] + heads[node, IN + SIZE]):
        entry = np.int64(inputs[k])
        if entry >> 2 == other:
            return -1 if entry & NEGATIVE else 1
    return 0


@kernel
def _reaches(heads, inputs, node, writer, stack):
    stack[0] = node
    top = 1
    while top > 0:
        top -= 1
        v = stack[top]
        stack = grow_stack(stack, top + heads[v, IN + SIZE])
        for k in range(heads[v, IN], heads[v, IN] + heads[v, IN + SIZE]):
            entry = np.int64(inputs[k])
            if entry >> 2 == writer:
                return True
            if heads[entry >> 2, FLAGS] & WRITER == 0:
                stack[top] = entry >> 2
                top += 1
    return False


@kernel
def _unfold(heads, inputs, targets, ends, node, writer, gone, released):
    """Put the inputs of partial aggregates in their place until none of those left has the writer; then drop that."""
    stack = np.empty(64, np.int64)
    k = 0
    while k < heads[node, IN + SIZE]:
        entry = np.int64(inputs[heads[node, IN] + k])
        if heads[entry >> 2, FLAGS] & WRITER or not _reaches(heads, inputs, entry >> 2, writer, stack):
            k += 1
            continue
        partial = entry >> 2
        # Added before the partial aggregate is dropped, which may release it.
        for j in range(heads[partial, IN + SIZE]):
            other = np.int64(inputs[heads[partial, IN] + j]) >> 2
            if _sign_of(heads, inputs, node, other) == 0:
                inputs, targets = _add_input(heads, inputs, targets, ends, node, other, False)
        gone, released = _drop_input(heads, inputs, targets, ends, node, partial, gone, released)
        # What came last stands here now, and is looked at next.
    gone, released = _drop_input(heads, inputs, targets, ends, node, writer, gone, released)
    return inputs, targets, gone, released


@kernel
def _make_direct(heads, inputs, targets, ends, node, writer, gone, released):
    """Let a reader have its writers as inputs, but for one that it loses."""
    counts = np.zeros(heads.shape[0], np.int64)
    found, met, _ = _expand(heads, inputs, node, counts, np.empty(64, np.int64), np.empty(64, np.int64))
    while heads[node, IN + SIZE] > 0:
        other = np.int64(inputs[heads[node, IN]]) >> 2
        gone, released = _drop_input(heads, inputs, targets, ends, node, other, gone, released)
    for k in range(met):
        if counts[found[k]] != 0 and found[k] != writer:
            inputs, targets = _add_input(heads, inputs, targets, ends, node, found[k], False)
        counts[found[k]] = 0
    return inputs, targets, gone, released


@kernel
def change_inputs(rows, subtracts, overlapping, heads, inputs, targets, ends):
    """Let readers gain and lose writers, as rows say; both pools, and the nodes that were released."""
    gone = np.empty(16, np.int64)
    released = 0
    for i in range(rows.shape[0]):
        node = rows[i, 0]
        writer = rows[i, 1]
        sign = _sign_of(heads, inputs, node, writer)
        if rows[i, 2] > 0:
            if sign == 0:
                inputs, targets = _add_input(heads, inputs, targets, ends, node, writer, False)
            else:
                gone, released = _drop_input(heads, inputs, targets, ends, node, writer, gone, released)
        elif sign > 0 and not overlapping:
            # It comes by no other way.
            gone, released = _drop_input(heads, inputs, targets, ends, node, writer, gone, released)
        elif not subtracts:
            inputs, targets, gone, released = _unfold(heads, inputs, targets, ends, node, writer, gone, released)
        elif sign == 0:
            inputs, targets = _add_input(heads, inputs, targets, ends, node, writer, True)
        else:
            # It is subtracted already, because it comes by way of several: rare, and not worth more.
            inputs, targets, gone, released = _make_direct(heads, inputs, targets, ends, node, writer, gone, released)
    return inputs, targets, gone[:released].copy()


@kernel
def cover_inputs(readers, starts, covers, heads, inputs, targets, ends):
    """Let readers have other inputs that stand for the same, those of reader k from `starts[k]` on, none subtracted.

    Both pools, and the nodes that were released. Inputs are added to all readers before any is dropped, so that none
    is released that another reader is about to use.
    """
    gone = np.empty(16, np.int64)
    released = 0
    wanted_by = np.full(heads.shape[0], -1, np.int64)
    stays = np.zeros(readers.shape[0], np.bool_)
    for i in range(readers.shape[0]):
        node = readers[i]
        for k in range(starts[i], starts[i + 1]):
            # What is subtracted cannot be added as well: rare, and not worth more.
            stays[i] |= _sign_of(heads, inputs, node, covers[k]) < 0
        if stays[i]:
            continue
        for k in range(heads[node, IN], heads[node, IN] + heads[node, IN + SIZE]):
            wanted_by[np.int64(inputs[k]) >> 2] = i
        for k in range(starts[i], starts[i + 1]):
            if wanted_by[covers[k]] != i:
                inputs, targets = _add_input(heads, inputs, targets, ends, node, covers[k], False)
    for i in range(readers.shape[0]):
        if stays[i]:
            continue
        node = readers[i]
        mark = readers.shape[0] + i
        for k in range(starts[i], starts[i + 1]):
            wanted_by[covers[k]] = mark
        k = 0
        while k < heads[node, IN + SIZE]:
            other = np.int64(inputs[heads[node, IN] + k]) >> 2
            if wanted_by[other] == mark:
                k += 1
            else:
                # What came last stands here then, and is looked at next.
                gone, released = _drop_input(heads, inputs, targets, ends, node, other, gone, released)
    return inputs, targets, gone[:released].copy()
