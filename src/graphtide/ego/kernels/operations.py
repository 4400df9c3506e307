"""Operations of a batch: which nodes they are at, and having what they need in the cache when it is their turn.

Which node comes next is known, and no branch of the one before foretells it to the processor: without a hint it would
wait for memory in each operation, for the node, for its window and for its lists, one after the other.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import IN, OUT
from graphtide.jit import inlined, kernel
from graphtide.memory import prefetch, prefetch_either

__all__ = ["READ", "TICK", "WRITE", "look_ahead", "place"]

# What an operation does; a tick only moves the clock.
WRITE = 0
READ = 1
TICK = 2

NEVER = 1 << 62

# How many operations before its own a node is asked for, and what it says is needed.
FAR = 16
NEAR = 8


@kernel
def place(kinds, who, node_of, plain_writers, reader_node, first_reader, plain_readers, nodes):
    """The nodes of operations. The first writers and readers have consecutive nodes, and are not looked up."""
    # By kind: the node of the first number, and which number is the first to be looked up. A tick is at node 0.
    first = np.array([0, first_reader, 0])
    plain = np.array([plain_writers, plain_readers, NEVER])
    for i in range(kinds.shape[0]):
        number = who[i]
        # Nothing foretells which kind comes next: it is an index, and no branch.
        which = kinds[i]
        node = number + first[which]
        if number >= plain[which]:
            node = reader_node[number] if which == READ else node_of[number]
        nodes[i] = node


@inlined
def look_ahead(i, nodes, kinds, heads, inputs, targets, contents, states, width):
    """Ask for what operations after this one will look at; of which kind they are is no branch, as in `place`."""
    if i + FAR < nodes.shape[0]:
        prefetch(heads, nodes[i + FAR])
        node = nodes[i + NEAR]
        is_write = kinds[i + NEAR] == WRITE
        prefetch(states, node * width)
        # What a reader has as inputs is asked for even if it is kept, and a reader's window is that of writer 0.
        prefetch_either(is_write, targets, heads[node, OUT], inputs, heads[node, IN])
        writer = np.int64(heads[node, IN]) * is_write
        prefetch(contents.rings, writer * (contents.most + 1))
