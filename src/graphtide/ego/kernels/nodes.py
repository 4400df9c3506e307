"""The nodes of a plan: what each has as inputs, and which nodes that push have it as theirs.

A node is a row of `heads`. Its inputs lie in one pool and its targets in another, each list with room to grow. An entry
is the other node, times four, plus marks: an input may push, so that what it stands for is known (*kept*), a target
may be a reader, behind which there is nothing (*last*), and either may be subtracted (*negative*). So a walk need not
look at a node to know whether to go on.

Invariant: v is a target of u if and only if v pushes and u is an input of v, with the same sign. An input is marked as
kept if and only if it pushes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = [
    "EDGES",
    "FLAGS",
    "FRAME",
    "FREE",
    "HEAD",
    "IN",
    "KEPT",
    "LAST",
    "NEGATIVE",
    "OUT",
    "PUSH",
    "READER",
    "ROOM",
    "SIZE",
    "USERS",
    "WRITER",
    "append",
    "attach",
    "build",
    "detach",
    "downstream",
    "entry_of",
    "grow_stack",
    "mark_kept",
    "take_away",
]

# Columns of a head. A list has three: where it starts, how long it is, how long it may get where it is.
IN = 0  # of a writer, its number: it has no inputs
OUT = 3
SIZE = 1
ROOM = 2
FLAGS = 6
USERS = 7  # how many nodes have this one as an input; of a reader, which is none, how often it was read
HEAD = 8

# Where both pools end, and then how many inputs all nodes have.
EDGES = 2

# Words of the stack of a walk for each node that it is in.
FRAME = 4

# Flags.
PUSH = 1
WRITER = 2
READER = 4
FREE = 8

# Marks of an entry: of any, of a target, of an input.
NEGATIVE = 1
LAST = 2
KEPT = 2


@leaf
def entry_of(heads, side, node, negative):
    """A node as it stands in lists of that side."""
    wanted = PUSH if side == IN else READER
    return (node << 2) | (LAST if heads[node, FLAGS] & wanted else 0) | (NEGATIVE if negative else 0)


@leaf
def grow_stack(stack: Any, needed: int) -> Any:
    """A stack with room for so many elements, and the same content."""
    if needed <= stack.shape[0]:
        return stack
    grown = np.empty(max(needed, 2 * stack.shape[0]), stack.dtype)
    grown[: stack.shape[0]] = stack
    return grown


@kernel
def build(starts, inputs, signs, push, heads, in_pool, out_pool):
    """Lay out the lists of an overlay whose nodes have flags; how much of each pool is used."""
    nodes = starts.shape[0] - 1
    at = 0
    for v in range(nodes):
        size = starts[v + 1] - starts[v]
        if heads[v, FLAGS] & WRITER == 0:
            heads[v, IN] = at
        heads[v, IN + SIZE] = size
        heads[v, IN + ROOM] = size
        for k in range(starts[v], starts[v + 1]):
            in_pool[at] = entry_of(heads, IN, np.int64(inputs[k]), signs[k] < 0)
            heads[inputs[k], USERS] += 1
            if push[v]:
                heads[inputs[k], OUT + ROOM] += 1
            at += 1
    end = 0
    for v in range(nodes):
        heads[v, OUT] = end
        end += heads[v, OUT + ROOM]
    for v in range(nodes):
        if push[v]:
            for k in range(starts[v], starts[v + 1]):
                u = inputs[k]
                out_pool[heads[u, OUT] + heads[u, OUT + SIZE]] = entry_of(heads, OUT, v, signs[k] < 0)
                heads[u, OUT + SIZE] += 1
    return at, end


@kernel
def append(heads, pool, ends, side, node, entry) -> Any:
    """Append an entry to a list; the pool, which is another one if it was full."""
    size = heads[node, side + SIZE]
    which = 0 if side == IN else 1
    if size == heads[node, side + ROOM]:
        room = max(4, size + size // 2)
        if ends[which] + room > pool.shape[0]:
            pool = _packed(heads, pool, ends, which, side, room)
        start = heads[node, side]
        end = ends[which]
        for k in range(size):
            pool[end + k] = pool[start + k]
        heads[node, side] = end
        heads[node, side + ROOM] = room
        ends[which] = end + room
    pool[heads[node, side] + size] = entry
    heads[node, side + SIZE] = size + 1
    return pool


@kernel
def _packed(heads, pool, ends, which, side, room):
    """A pool with all lists and at least as much room again, without what lists have left behind."""
    used = 0
    for v in range(heads.shape[0]):
        if side == OUT or heads[v, FLAGS] & WRITER == 0:
            used += heads[v, side + SIZE]
    grown = np.empty(used + used // 2 + 2 * room + 16, pool.dtype)
    at = 0
    for v in range(heads.shape[0]):
        if side == OUT or heads[v, FLAGS] & WRITER == 0:
            start = heads[v, side]
            size = heads[v, side + SIZE]
            for k in range(size):
                grown[at + k] = pool[start + k]
            heads[v, side] = at
            heads[v, side + ROOM] = size
            at += size
    ends[which] = at
    return grown


@leaf
def take_away(heads, pool, side, node, other):
    """Remove the entry of a node from a list, if it is there: the entry, or -1. What came last is in its place."""
    start = heads[node, side]
    size = heads[node, side + SIZE]
    for k in range(size):
        entry = np.int64(pool[start + k])
        if entry >> 2 == other:
            pool[start + k] = pool[start + size - 1]
            heads[node, side + SIZE] = size - 1
            return entry
    return np.int64(-1)


@kernel
def attach(heads, in_pool, out_pool, ends, node):
    """Let a node push: it becomes a target of its inputs, which push."""
    heads[node, FLAGS] |= PUSH
    for k in range(heads[node, IN + SIZE]):
        entry = np.int64(in_pool[heads[node, IN] + k])
        mark = entry_of(heads, OUT, node, entry & NEGATIVE)
        out_pool = append(heads, out_pool, ends, OUT, entry >> 2, mark)
    return out_pool


@kernel
def detach(heads, in_pool, out_pool, node):
    """Let a node that has no targets pull."""
    heads[node, FLAGS] &= ~PUSH
    for k in range(heads[node, IN + SIZE]):
        take_away(heads, out_pool, OUT, np.int64(in_pool[heads[node, IN] + k]) >> 2, node)


@kernel
def mark_kept(heads, in_pool, count):
    """Mark all inputs anew, after other nodes push."""
    for v in range(count):
        if heads[v, FLAGS] & (WRITER | FREE) == 0:
            for k in range(heads[v, IN], heads[v, IN] + heads[v, IN + SIZE]):
                entry = np.int64(in_pool[k])
                in_pool[k] = entry_of(heads, IN, entry >> 2, entry & NEGATIVE)


@kernel
def downstream(heads, out_pool, nodes):
    """The readers that are kept and stand behind some of the nodes, each once."""
    seen = np.zeros(heads.shape[0], np.bool_)
    found = np.empty(16, np.int64)
    count = 0
    stack = np.empty(64, np.int64)
    for first in nodes:
        stack[0] = first
        top = 1
        while top > 0:
            top -= 1
            u = stack[top]
            if seen[u]:
                continue
            seen[u] = True
            if heads[u, FLAGS] & READER:
                found = grow_stack(found, count + 1)
                found[count] = u
                count += 1
            stack = grow_stack(stack, top + heads[u, OUT + SIZE])
            for k in range(heads[u, OUT], heads[u, OUT] + heads[u, OUT + SIZE]):
                stack[top] = np.int64(out_pool[k]) >> 2
                top += 1
    return found[:count].copy()
