"""One iteration of mining: chunk after chunk, bicliques are found and replaced by partial aggregates.

Edges are not moved while it goes on: it is noted which are gone, and which come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.bits import lowest, popcount
from graphtide.ego.kernels.bicliques import close, exact_members, near_members, trim
from graphtide.ego.kernels.chunks import has_bit, ranked_chunk, take_bit, word_count
from graphtide.ego.kernels.tree import candidates, fp_tree, fp_tree_with_lacks, path_to
from graphtide.jit import kernel

__all__ = ["Edits", "mine", "rebuilt"]


class Edits(NamedTuple):
    """What an iteration does to an overlay. Only the first `counts[...]` of each array count."""

    gone: NDArray[Any]  # of each edge
    owners: NDArray[Any]  # of edges that come: the node whose input it is,
    items: NDArray[Any]  # the input,
    signs: NDArray[Any]  # and its sign
    starts: NDArray[Any]  # of the new partial aggregates' inputs
    inputs: NDArray[Any]
    altered: NDArray[Any]  # of each node: whether its inputs are others already
    subtracts: NDArray[Any]  # of each node: whether an input that comes is negative
    counts: NDArray[Any]  # edges that come, new partial aggregates, bicliques
    saved: NDArray[Any]  # edges, by the number of lists of the biclique


COMING, PARTIALS, BICLIQUES = range(3)
# Trees of a chunk, each of what the ones before have left. More of them find little that the next iteration does not.
PASSES = 4


@kernel
def mine(starts, inputs, signs, order, chunk_size, step, last_reader, may_reuse, paths, most_lacks):
    """Mine chunks of the lists in an order, `step` lists from one chunk's beginning to the next one's."""
    nodes, edges = len(starts) - 1, len(inputs)
    # A biclique saves edges: half of those there are suffice for new inputs, since each serves two lists at least.
    edits = Edits(
        np.zeros(edges, np.bool_),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int8),
        np.zeros(edges // 4 + 2, np.int64),
        np.empty(edges // 2 + 1, np.int32),
        np.zeros(nodes, np.bool_),
        np.zeros(nodes, np.bool_),
        np.zeros(3, np.int64),
        np.zeros(chunk_size + 1, np.int64),
    )
    counts = np.zeros(nodes, np.int32)
    for begin in range(0, len(order), step):
        owners = order[begin : begin + chunk_size]
        if len(owners) < 2:
            break
        taken = -1
        for _ in range(PASSES):
            if taken == edits.counts[BICLIQUES]:
                break
            taken = edits.counts[BICLIQUES]
            chunk = ranked_chunk(starts, inputs, signs, edits.gone, owners, counts, may_reuse)
            if len(chunk.items) < 2:
                break
            if most_lacks > 0:
                tree, size = fp_tree_with_lacks(chunk.starts, chunk.ranks, chunk.held, paths, most_lacks)
            else:
                tree, size = fp_tree(chunk.starts, chunk.ranks)
            _mine_chunk(chunk, tree, candidates(tree, size), starts, last_reader, most_lacks, edits)
    return edits


@kernel
def _mine_chunk(chunk, tree, nodes, starts, last_reader, most_lacks, edits):
    """Take the best candidate, again and again. What it saves falls as others are taken, so it is asked anew."""
    path = np.empty(len(chunk.items), np.int32)
    members = np.empty(word_count(len(chunk.owners)), np.uint64)
    holds = np.empty(len(chunk.owners), np.int64)
    worth = np.empty(len(nodes), np.int64)
    for c in range(len(nodes)):
        length = path_to(tree, nodes[c], path)
        worth[c] = _members(chunk, path, length, members, most_lacks, last_reader, edits.subtracts, holds)
    queue = np.argsort(-worth, kind="mergesort")
    for q in range(len(queue)):
        while True:
            c = queue[q]
            if worth[c] <= 0:
                return
            length = path_to(tree, nodes[c], path)
            worth[c] = _members(chunk, path, length, members, most_lacks, last_reader, edits.subtracts, holds)
            at = q
            while at + 1 < len(queue) and worth[queue[at + 1]] > worth[c]:
                queue[at] = queue[at + 1]
                at += 1
            queue[at] = c
            if at == q:
                break
        if worth[c] > 0:
            length = close(chunk, path, length, members)
            length, saved = trim(chunk, path, length, members)
            if saved > 0:
                path[:length].sort()
                _take(chunk, path, length, members, saved, starts, last_reader, edits)


@kernel
def _members(chunk, path, length, members, most_lacks, last_reader, subtracts, holds):
    """The lists of a path's biclique, and the edges it saves."""
    if most_lacks > 0:
        return near_members(chunk, path, length, members, most_lacks, last_reader, subtracts, holds)
    return exact_members(chunk, path, length, members)


@kernel
def _take(chunk, path, length, members, saved, starts, last_reader, edits):
    """Replace a biclique by a partial aggregate: one of its own lists if that is what it aggregates, else a new one."""
    host = -1
    lists = 0
    for w in range(len(members)):
        lists += popcount(members[w])
        word = members[w]
        while word != np.uint64(0) and host < 0:
            owner = chunk.owners[64 * w + lowest(word)]
            word &= word - np.uint64(1)
            if owner >= last_reader and not edits.altered[owner] and starts[owner + 1] - starts[owner] == length:
                host = owner
    counts = edits.counts
    partial = host
    if host < 0:
        partial = len(starts) - 1 + counts[PARTIALS]
        at = edits.starts[counts[PARTIALS]]
        for k in range(length):
            edits.inputs[at + k] = chunk.items[path[k]]
        counts[PARTIALS] += 1
        edits.starts[counts[PARTIALS]] = at + length
    else:
        edits.altered[host] = True
    for w in range(len(members)):
        word = members[w]
        while word != np.uint64(0):
            i = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            if chunk.owners[i] != host:
                _serve(chunk, path, length, i, edits)
                _come(chunk.owners[i], partial, 1, edits)
                edits.altered[chunk.owners[i]] = True
            else:
                for k in range(length):
                    take_bit(chunk.held, path[k], i)
                    take_bit(chunk.left, path[k], i)
    counts[BICLIQUES] += 1
    edits.saved[lists] += saved


@kernel
def _serve(chunk, path, length, i, edits):
    """Take the edges of a path away from a list, and subtract what it lacks."""
    k = chunk.starts[i]
    for p in range(length):
        rank = path[p]
        if has_bit(chunk.held, rank, i):
            while chunk.ranks[k] < rank:
                k += 1
            edits.gone[chunk.places[k]] = True
            take_bit(chunk.left, rank, i)
        else:
            _come(chunk.owners[i], chunk.items[rank], -1, edits)
            edits.subtracts[chunk.owners[i]] = True


@kernel
def _come(owner, item, sign, edits):
    at = edits.counts[COMING]
    edits.owners[at] = owner
    edits.items[at] = item
    edits.signs[at] = sign
    edits.counts[COMING] = at + 1


@kernel
def rebuilt(starts, inputs, signs, edits):
    """The starts, inputs and signs of all nodes after the edits."""
    nodes = len(starts) - 1
    coming, partials = edits.counts[COMING], edits.counts[PARTIALS]
    sizes = np.zeros(nodes + partials + 1, np.int64)
    for node in range(nodes):
        for k in range(starts[node], starts[node + 1]):
            sizes[node + 1] += not edits.gone[k]
    for k in range(coming):
        sizes[edits.owners[k] + 1] += 1
    for p in range(partials):
        sizes[nodes + p + 1] = edits.starts[p + 1] - edits.starts[p]
    after = np.cumsum(sizes)
    new_inputs = np.empty(after[-1], np.int32)
    new_signs = np.ones(after[-1], np.int8)
    place = after[:-1].copy()
    for node in range(nodes):
        for k in range(starts[node], starts[node + 1]):
            if not edits.gone[k]:
                new_inputs[place[node]] = inputs[k]
                new_signs[place[node]] = signs[k]
                place[node] += 1
    for k in range(coming):
        at = place[edits.owners[k]]
        place[edits.owners[k]] += 1
        new_inputs[at] = edits.items[k]
        new_signs[at] = edits.signs[k]
    for k in range(edits.starts[partials]):
        new_inputs[after[nodes] + k] = edits.inputs[k]
    return after, new_inputs, new_signs
