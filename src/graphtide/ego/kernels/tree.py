"""The FP-tree of a chunk: its lists, entered from the root by rank, so that common prefixes are common paths.

A path from the root is a set of items, and the lists that were entered along it hold all of them; with negative edges,
all but a few (EAGr, sections 3.2.1 and 3.2.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels.chunks import has_bit
from graphtide.jit import kernel, leaf

__all__ = ["Tree", "candidates", "fp_tree", "fp_tree_with_lacks", "path_to"]


class Tree(NamedTuple):
    """Nodes by number, the root is 0."""

    rank: NDArray[Any]
    parent: NDArray[Any]
    child: NDArray[Any]  # the first, or 0
    sibling: NDArray[Any]  # the next, or 0
    depth: NDArray[Any]
    support: NDArray[Any]  # how many lists were entered along the path to here
    lacks: NDArray[Any]  # how many items of the path these lists lack in all


@kernel
def fp_tree(starts, ranks):
    """The tree of all lists; also how many nodes it has."""
    tree = _new_tree(len(ranks) + 1)
    size = 1
    for i in range(len(starts) - 1):
        node = 0
        for k in range(starts[i], starts[i + 1]):
            node, size = _step(tree, size, node, ranks[k])
            tree.support[node] += 1
    return tree, size


@kernel
def fp_tree_with_lacks(starts, ranks, held, paths, most_lacks):
    """The tree in which each list is entered along up to `paths` paths that it gains most by; its size.

    A list that lacks some items of a path, `most_lacks` at most, gains its length, less one, less two for each that it
    lacks: the edge to take away, and the negative one to put there.
    """
    tree = _new_tree(paths * len(ranks) + 1)
    size = 1
    entered = np.full(len(tree.rank), -1, np.int32)
    best = np.empty(paths, np.int64)
    gain = np.empty(paths, np.int64)
    lacks = np.empty(paths, np.int64)
    waiting = np.empty(len(tree.rank), np.int32)
    lacking = np.empty(len(tree.rank), np.int32)
    for i in range(len(starts) - 1):
        if starts[i] == starts[i + 1]:
            continue
        found = _best_paths(tree, held, i, ranks[starts[i + 1] - 1], most_lacks, best, gain, lacks, waiting, lacking)
        if found == 0:
            best[0] = lacks[0] = 0
            found = 1
        for p in range(found):
            _count_in(tree, held, i, best[p], lacks[p], entered)
            node = best[p]
            for k in range(starts[i], starts[i + 1]):
                if node == 0 or ranks[k] > tree.rank[node]:
                    node, size = _step(tree, size, node, ranks[k])
                    if entered[node] != i:
                        entered[node] = i
                        tree.support[node] += 1
                        tree.lacks[node] += lacks[p]
    return tree, size


@kernel
def _best_paths(tree, held, i, last_rank, most_lacks, best, gain, lacks, waiting, lacking):
    """The nodes that end the paths by which a list gains most, the best first, none on the way to a better one."""
    found = 0
    left = 1
    waiting[0] = lacking[0] = 0
    while left > 0:
        left -= 1
        node, lack = waiting[left], lacking[left]
        child = tree.child[node]
        while child != 0:
            if tree.rank[child] <= last_rank:
                holds = has_bit(held, tree.rank[child], i)
                below = lack if holds else lack + 1
                if below <= most_lacks:
                    waiting[left] = child
                    lacking[left] = below
                    left += 1
                    worth = tree.depth[child] - 2 * below - 1
                    if holds and worth > 0:
                        found = _keep_best(tree, child, worth, below, best, gain, lacks, found)
            child = tree.sibling[child]
    return found


@leaf
def _keep_best(tree, node, worth, lack, best, gain, lacks, found):
    """Enter a path among the best ones; how many there are."""
    for p in range(found):
        # A path that goes on to this node gives way to it, unless it gains more by ending where it does.
        above = node
        while tree.depth[above] > tree.depth[best[p]]:
            above = tree.parent[above]
        if above == best[p]:
            if worth <= gain[p]:
                return found
            for q in range(p, found - 1):
                best[q], gain[q], lacks[q] = best[q + 1], gain[q + 1], lacks[q + 1]
            found -= 1
            break
    if found == len(best):
        if gain[found - 1] >= worth:
            return found
        found -= 1
    at = found
    while at > 0 and gain[at - 1] < worth:
        best[at], gain[at], lacks[at] = best[at - 1], gain[at - 1], lacks[at - 1]
        at -= 1
    best[at], gain[at], lacks[at] = node, worth, lack
    return found + 1


@leaf
def _count_in(tree, held, i, node, lack, entered):
    """Count a list in at the nodes of a path whose items it holds."""
    while node != 0:
        if not has_bit(held, tree.rank[node], i):
            lack -= 1
        elif entered[node] != i:
            entered[node] = i
            tree.support[node] += 1
            tree.lacks[node] += lack
        node = tree.parent[node]


@leaf
def _step(tree, size, node, rank):
    """The child of a node with a rank, which is made if it is not there; and the tree's size."""
    child = tree.child[node]
    while child != 0 and tree.rank[child] != rank:
        child = tree.sibling[child]
    if child == 0:
        child = size
        size += 1
        tree.rank[child] = rank
        tree.parent[child] = node
        tree.depth[child] = tree.depth[node] + 1
        tree.sibling[child] = tree.child[node]
        tree.child[node] = child
    return child, size


@leaf
def _new_tree(room):
    return Tree(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
    )


@kernel
def candidates(tree, size):
    """The nodes whose paths may be worth a partial aggregate, but for those whose lists all go on to a child."""
    found = np.empty(size, np.int32)
    many = 0
    for node in range(1, size):
        if _worth(tree, node) <= 0:
            continue
        child = tree.child[node]
        while child != 0 and (tree.support[child] < tree.support[node] or tree.lacks[child] > tree.lacks[node]):
            child = tree.sibling[child]
        if child == 0:
            found[many] = node
            many += 1
    return found[:many]


@leaf
def _worth(tree, node):
    """Edges that a partial aggregate of the path to a node saves."""
    length, support = tree.depth[node], tree.support[node]
    return length * support - length - support - 2 * tree.lacks[node]


@leaf
def path_to(tree, node, path):
    """Write the ranks on the path to a node, rising; how many."""
    length = tree.depth[node]
    for k in range(length - 1, -1, -1):
        path[k] = tree.rank[node]
        node = tree.parent[node]
    return length
