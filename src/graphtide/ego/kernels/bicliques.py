"""Bicliques of a chunk: items, and lists that hold them all, or all but a few (EAGr, sections 3.2.1 to 3.2.4).

A biclique of L items and S lists saves, for each list and item, an edge if it is there, none if it was taken away
before, and costs one more if the list lacks the item: a negative edge. Its partial aggregate costs L + S edges.
"""

from __future__ import annotations

import numpy as np

from graphtide.bits import lowest, popcount
from graphtide.ego.kernels.chunks import has_bit
from graphtide.jit import kernel

# A list may lack one item of so many. If it lacked more, what is left of it would be worth more to later bicliques.
RARITY = 6

__all__ = ["close", "exact_members", "near_members", "trim"]


@kernel
def exact_members(chunk, path, length, members):
    """Write the lists that hold all items of a path; the edges that the biclique saves."""
    words = len(members)
    for w in range(words):
        members[w] = chunk.held[path[0], w]
    for k in range(1, length):
        for w in range(words):
            members[w] &= chunk.held[path[k], w]
    saved = 0
    for k in range(length):
        for w in range(words):
            saved += popcount(members[w] & chunk.left[path[k], w])
    count = 0
    for w in range(words):
        count += popcount(members[w])
    return saved - length - count


@kernel
def near_members(chunk, path, length, members, most_lacks, last_reader, subtracts, holds):
    """Write the lists that gain by the biclique of a path, each lacking `most_lacks` at most; the edges it saves.

    Only readers may lack items: a partial aggregate might be part of what it would subtract. Those that subtract
    something new already may not: it might be the same. `holds` is scratch, a number for each list.
    """
    lists = len(chunk.owners)
    holds[:lists] = 0
    for w in range(len(members)):
        members[w] = np.uint64(0)
    for k in range(length):
        for w in range(len(members)):
            word = chunk.held[path[k], w]
            while word != np.uint64(0):
                holds[64 * w + lowest(word)] += 1
                word &= word - np.uint64(1)
            word = chunk.banned[path[k], w]
            while word != np.uint64(0):
                holds[64 * w + lowest(word)] = -length  # it never comes to hold enough
                word &= word - np.uint64(1)
    saved = -length
    for i in range(lists):
        lacks = length - holds[i]
        gain = length - 2 * lacks - 1
        owner = chunk.owners[i]
        may_lack = owner < last_reader and not subtracts[owner]
        if gain > 0 and (lacks == 0 or (may_lack and lacks <= most_lacks and lacks * RARITY <= length)):
            members[i // 64] |= np.uint64(1) << np.uint64(i % 64)
            saved += gain
    return saved


@kernel
def close(chunk, path, length, members):
    """Add the items that all members hold and that two of them still have an edge to; how many items there are.

    `path` is rising, and has room for all items of the chunk. What is added stands behind.
    """
    first = 0
    while members[first] == np.uint64(0):
        first += 1
    i = 64 * first + lowest(members[first])
    longer = length
    at = 0
    for k in range(chunk.starts[i], chunk.starts[i + 1]):
        rank = chunk.ranks[k]
        while at < length and path[at] < rank:
            at += 1
        if at < length and path[at] == rank:
            continue
        edges = 0
        all_hold = True
        for w in range(len(members)):
            all_hold &= members[w] & ~chunk.held[rank, w] == np.uint64(0)
            edges += popcount(members[w] & chunk.left[rank, w])
        if all_hold and edges > 1:
            path[longer] = rank
            longer += 1
    return longer


@kernel
def trim(chunk, path, length, members):
    """Leave out items, then lists, that save nothing; the items that are left, and the edges that are saved then."""
    kept = 0
    for k in range(length):
        value = -1
        for w in range(len(members)):
            value += popcount(members[w] & chunk.left[path[k], w]) - popcount(members[w] & ~chunk.held[path[k], w])
        if value > 0:
            path[kept] = path[k]
            kept += 1
    saved = -kept
    for w in range(len(members)):
        word = members[w]
        while word != np.uint64(0):
            i = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            value = -1
            for k in range(kept):
                value += has_bit(chunk.left, path[k], i) - (not has_bit(chunk.held, path[k], i))
            if value > 0:
                saved += value
            else:
                members[w] &= ~(np.uint64(1) << np.uint64(i % 64))
    return kept, saved
