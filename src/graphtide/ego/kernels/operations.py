"""Operations of a batch: which nodes they are at, and having what they need in the cache when it is their turn.

Which node comes next is known, and no branch of the one before foretells it to the processor: without a hint it would
wait for memory in each operation, for the node, for its window and for its lists, one after the other.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, OUT, PUSH
from graphtide.jit import inlined, kernel
from graphtide.memory import prefetch

__all__ = ["READ", "TICK", "WRITE", "look_ahead", "place"]

# What an operation does; a tick only moves the clock.
WRITE = 0
READ = 1
TICK = 2

# How many operations before its own a node is asked for, and what it says is needed.
FAR = 16
NEAR = 8


@kernel
def place(kinds, who, node_of, plain_writers, reader_node, first_reader, plain_readers, nodes):
    """The nodes of operations. The first writers and readers have consecutive nodes, and are not looked up."""
    for i in range(kinds.shape[0]):
        number = who[i]
        if kinds[i] == READ:
            nodes[i] = first_reader + number if number < plain_readers else reader_node[number]
        elif kinds[i] == WRITE:
            nodes[i] = number if number < plain_writers else node_of[number]
        else:
            nodes[i] = 0


@inlined
def look_ahead(i, nodes, kinds, heads, inputs, targets, ring, written, most, states, width):
    """Ask for what operations after this one will look at."""
    if i + FAR < nodes.shape[0]:
        prefetch(heads, nodes[i + FAR])
        if kinds[i + NEAR] == WRITE:
            node = nodes[i + NEAR]
            prefetch(targets, heads[node, OUT])
            prefetch(states, node * width)
            writer = np.int64(heads[node, IN])
            prefetch(written, writer)
            prefetch(ring, writer * most)
        else:
            node = nodes[i + NEAR]
            if heads[node, FLAGS] & PUSH:
                prefetch(states, node * width)
            else:
                prefetch(inputs, heads[node, IN])
