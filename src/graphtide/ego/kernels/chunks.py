"""A chunk of lists that is mined at once: its items ranked by how many of its lists they are in.

Rank 0 is the item of most lists; items of one list alone cannot be shared and have no rank. Who holds an item is also a
set of bits, one for each list of the chunk.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.jit import kernel, leaf

__all__ = ["Chunk", "has_bit", "ranked_chunk", "set_bit", "take_bit", "word_count"]

WORD = 64


class Chunk(NamedTuple):
    """Lists of ranks, and for each rank the lists that hold it."""

    owners: NDArray[Any]  # the node whose list it is
    items: NDArray[Any]  # by rank
    starts: NDArray[Any]  # of each list in the next two
    ranks: NDArray[Any]  # rising within a list
    places: NDArray[Any]  # where the edge stands among all
    held: NDArray[Any]  # bits by rank: the lists that have it, or had it and may use it again
    left: NDArray[Any]  # bits by rank: those whose edge is still there
    banned: NDArray[Any]  # bits by rank: those that subtract it, and so may not lack it once more


@kernel
def ranked_chunk(starts, inputs, signs, gone, owners, counts, may_reuse):
    """The chunk of the lists of some nodes; edges that are gone count only if they may be reused.

    `counts` is zero for all nodes, before and after.
    """
    met, items = _rank(starts, inputs, signs, gone, owners, counts)
    sizes = np.zeros(len(items) + 1, np.int64)
    for owner in owners:
        for k in range(starts[owner], starts[owner + 1]):
            rank = counts[inputs[k]]
            sizes[rank] += rank > 0 and signs[k] > 0 and (may_reuse or not gone[k])
    first = np.cumsum(sizes)
    holders = np.empty(first[-1], np.int32)
    edges = np.empty(first[-1], np.int64)
    list_starts = np.zeros(len(owners) + 1, np.int64)
    words = word_count(len(owners))
    held = np.zeros((len(items), words), np.uint64)
    left = np.zeros_like(held) if may_reuse else held
    banned = np.zeros_like(held)
    fill = first[:-1].copy()
    for i in range(len(owners)):
        for k in range(starts[owners[i]], starts[owners[i] + 1]):
            rank = counts[inputs[k]] - 1
            if rank < 0:
                continue
            if signs[k] < 0:
                set_bit(banned, rank, i)
            elif may_reuse or not gone[k]:
                holders[fill[rank]] = i
                edges[fill[rank]] = k
                fill[rank] += 1
                list_starts[i + 1] += 1
                set_bit(held, rank, i)
                if not gone[k]:
                    set_bit(left, rank, i)
    for item in met:
        counts[item] = 0
    list_starts = np.cumsum(list_starts)
    ranks = np.empty(first[-1], np.int32)
    places = np.empty(first[-1], np.int64)
    fill = list_starts[:-1].copy()
    for rank in range(len(items)):
        for k in range(first[rank], first[rank + 1]):
            at = fill[holders[k]]
            fill[holders[k]] += 1
            ranks[at] = rank
            places[at] = edges[k]
    return Chunk(owners, items, list_starts, ranks, places, held, left, banned)


@kernel
def _rank(starts, inputs, signs, gone, owners, counts):
    """All items met; those of two lists and more by rank. `counts` is left as rank + 1 or 0."""
    total = 0
    for owner in owners:
        total += starts[owner + 1] - starts[owner]
    met = np.empty(total, np.int32)
    many = 0
    for owner in owners:
        for k in range(starts[owner], starts[owner + 1]):
            if signs[k] > 0 and not gone[k]:
                item = inputs[k]
                if counts[item] == 0:
                    met[many] = item
                    many += 1
                counts[item] += 1
    most = len(owners)
    place = np.zeros(most + 2, np.int64)
    ranked = 0
    for j in range(many):
        count = counts[met[j]]
        if count > 1:
            place[most - count + 1] += 1
            ranked += 1
    place = np.cumsum(place)
    items = np.empty(ranked, np.int32)
    for j in range(many):
        count = counts[met[j]]
        counts[met[j]] = 0
        if count > 1:
            rank = place[most - count]
            place[most - count] += 1
            items[rank] = met[j]
            counts[met[j]] = rank + 1
    return met[:many], items


@leaf
def word_count(bits):
    """How many words so many bits take."""
    return (bits + WORD - 1) // WORD


@leaf
def set_bit(sets, row, i):
    """Put list `i` into the set of a row."""
    sets[row, i // WORD] |= np.uint64(1) << np.uint64(i % WORD)


@leaf
def has_bit(sets, row, i):
    """Whether list `i` is in the set of a row."""
    return (sets[row, i // WORD] >> np.uint64(i % WORD)) & np.uint64(1) != np.uint64(0)


@leaf
def take_bit(sets, row, i):
    """Take list `i` out of the set of a row."""
    sets[row, i // WORD] &= ~(np.uint64(1) << np.uint64(i % WORD))
