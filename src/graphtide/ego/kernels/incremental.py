"""Building an overlay one node at a time, each covered by what is there already (IOB: EAGr, section 3.2.5).

The reverse index says for each writer which nodes aggregate it: a list of partial aggregates and one of readers, the
newest first, of which `look` are looked at. The forward index are the inputs of each node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.jit import kernel, leaf

__all__ = ["Growing", "cover_nodes", "expanded_sets", "grown", "new_growing"]

NODES, SET_END, INPUT_END, INDEX_END = range(4)
NONE = -1
PARTIAL_LIST, READER_LIST = range(2)
FEWEST_PARTS = 3


class Growing(NamedTuple):
    """An overlay that is built, with room for more; all arrays by node, but for pools and the reverse index."""

    set_start: NDArray[Any]  # the writers that a node aggregates
    set_size: NDArray[Any]
    sets: NDArray[Any]
    input_start: NDArray[Any]
    input_size: NDArray[Any]
    inputs: NDArray[Any]
    head: NDArray[Any]  # of both lists of each writer
    after: NDArray[Any]
    entry: NDArray[Any]
    ends: NDArray[Any]  # how much of it is taken


class Search(NamedTuple):
    """Scratch of one cover: by writer, by node, and what was picked."""

    wanted: NDArray[Any]  # whether a writer is still to be covered
    stamp: NDArray[Any]  # of which search the overlap of a node is
    overlap: NDArray[Any]  # how many wanted writers a node aggregates
    bucket: NDArray[Any]  # first node of each overlap
    below: NDArray[Any]  # the next node in the same bucket
    touched: NDArray[Any]
    picked: NDArray[Any]  # the node of each pick
    part_start: NDArray[Any]  # the inputs of that node that are taken; none if it is taken whole
    parts: NDArray[Any]


@kernel
def new_growing(writers, starts, inputs, set_starts, sets, room):
    """All nodes of an overlay with the sets they aggregate, and room for as much again, `room` times."""
    nodes, edges = len(starts) - 1, len(sets)
    most_nodes = nodes + edges // 2 + 1
    pool = edges + room * edges + 1
    growing = Growing(
        np.zeros(most_nodes, np.int64),
        np.zeros(most_nodes, np.int32),
        np.empty(pool, np.int32),
        np.zeros(most_nodes, np.int64),
        np.zeros(most_nodes, np.int32),
        np.empty(len(inputs) + room * edges + 1, np.int32),
        np.full((2, writers), NONE, np.int64),
        np.empty(pool, np.int64),
        np.empty(pool, np.int32),
        np.zeros(4, np.int64),
    )
    growing.sets[:edges] = sets
    growing.inputs[: len(inputs)] = inputs
    for node in range(nodes):
        growing.set_start[node] = set_starts[node]
        growing.set_size[node] = set_starts[node + 1] - set_starts[node]
        growing.input_start[node] = starts[node]
        growing.input_size[node] = starts[node + 1] - starts[node]
    growing.ends[NODES] = nodes
    growing.ends[SET_END] = edges
    growing.ends[INPUT_END] = len(inputs)
    return growing


@kernel
def cover_nodes(growing, order, last_reader, look):
    """Cover each node of an order anew, by nodes that come before it or are partial aggregates; how many got better.

    All partial aggregates are known from the beginning, readers when their turn has come.
    """
    writers = growing.head.shape[1]
    most_nodes = len(growing.set_start)
    longest = 0
    for node in range(most_nodes):
        longest = max(longest, growing.set_size[node])
    search = Search(
        np.zeros(writers, np.bool_),
        np.full(most_nodes, NONE, np.int64),
        np.zeros(most_nodes, np.int32),
        np.full(longest + 1, NONE, np.int32),
        np.empty(most_nodes, np.int32),
        np.empty(most_nodes, np.int32),
        np.empty(longest + 1, np.int32),
        np.zeros(longest + 2, np.int64),
        np.empty(longest + 1, np.int32),
    )
    for node in order:
        if node >= last_reader:
            _enter_index(growing, PARTIAL_LIST, node)
    better = 0
    for turn in range(len(order)):
        node = order[turn]
        picks, saved = _search(growing, search, node, turn, last_reader, look)
        if saved > 0:
            better += 1
            _restructure(growing, search, node, picks)
        for k in range(growing.set_start[node], growing.set_start[node] + growing.set_size[node]):
            search.wanted[growing.sets[k]] = False
        if node < last_reader:
            _enter_index(growing, READER_LIST, node)
    return better


@kernel
def _search(growing, search, node, turn, last_reader, look):
    """Pick the nodes, or inputs of nodes, that cover most of what a node aggregates; and the edges that saves.

    What is not covered is still wanted.
    """
    begin = growing.set_start[node]
    end = begin + growing.set_size[node]
    touched = 0
    for k in range(begin, end):
        writer = growing.sets[k]
        search.wanted[writer] = True
        touched = _add_overlap(growing, search, writer, 1, node, turn, look, touched)
    highest = _fill_buckets(search, touched)
    # What aggregates as much as a partial aggregate might be made of it. Nothing is made of readers.
    limit = end - begin + (node < last_reader)
    picks = 0
    rest = end - begin
    cost = 0
    search.part_start[0] = 0
    while highest > 1:
        found = search.bucket[highest]
        if found == NONE:
            highest -= 1
            continue
        search.bucket[highest] = search.below[found]
        overlap = search.overlap[found]
        if overlap < highest:
            if overlap > 1:
                _file(search.bucket, search.below, overlap, found)
            continue
        parts, covered, pick_cost = _parts(growing, search, found, picks, turn, limit, last_reader)
        if covered - pick_cost > 0:
            search.picked[picks] = found
            picks += 1
            search.part_start[picks] = search.part_start[picks - 1] + parts
            rest -= covered
            cost += pick_cost
            _cover(growing, search, picks - 1, node, turn, look)
    return picks, growing.input_size[node] - cost - rest


@kernel
def _parts(growing, search, found, picks, turn, limit, last_reader):
    """Write the inputs of a node that are wholly wanted; how many of them, of writers, and of edges that it takes.

    A partial aggregate that is wanted as it is takes one edge and has no parts. A new one takes an edge more, and three
    parts to be worth it. Only nodes of less than `limit` writers are taken.
    """
    start = growing.input_start[found]
    count = growing.input_size[found]
    size = growing.set_size[found]
    if found >= last_reader and search.overlap[found] == size:
        return 0, size if size < limit else 0, 1
    writers = growing.head.shape[1]
    at = search.part_start[picks]
    covered = 0
    parts = 0
    for k in range(start, start + count):
        item = growing.inputs[k]
        size = 1
        if item < writers:
            is_wanted = search.wanted[item]
        else:
            size = growing.set_size[item]
            is_wanted = search.stamp[item] == turn and search.overlap[item] == size and size < limit
        if is_wanted:
            search.parts[at + parts] = item
            parts += 1
            covered += size
    return parts, covered if parts >= FEWEST_PARTS and _has_room(growing, parts, covered) else 0, 2


@leaf
def _has_room(growing, parts, covered):
    """Whether a partial aggregate can be made of so many inputs and writers, and as many again."""
    return (
        growing.ends[NODES] < len(growing.set_start)
        and growing.ends[SET_END] + 4 * covered <= len(growing.sets)
        and growing.ends[INDEX_END] + 4 * covered <= len(growing.entry)
        and growing.ends[INPUT_END] + 4 * parts <= len(growing.inputs)
    )


@kernel
def _cover(growing, search, pick, node, turn, look):
    """Want what a pick covers no more."""
    first, last = search.part_start[pick], search.part_start[pick + 1]
    if first == last:
        _cover_set(growing, search, search.picked[pick], node, turn, look)
    for p in range(first, last):
        item = search.parts[p]
        if item < growing.head.shape[1]:
            search.wanted[item] = False
            _add_overlap(growing, search, item, -1, node, turn, look, 0)
        else:
            _cover_set(growing, search, item, node, turn, look)


@kernel
def _cover_set(growing, search, covering, node, turn, look):
    start = growing.set_start[covering]
    for k in range(start, start + growing.set_size[covering]):
        search.wanted[growing.sets[k]] = False
        _add_overlap(growing, search, growing.sets[k], -1, node, turn, look, 0)


@kernel
def _add_overlap(growing, search, writer, change, node, turn, look, touched):
    """Count a writer in, or out, for the newest nodes that aggregate it; how many nodes were touched."""
    for which in range(2):
        at = growing.head[which, writer]
        left = look
        while at != NONE and left > 0:
            found = growing.entry[at]
            if found != node:
                if search.stamp[found] != turn:
                    search.stamp[found] = turn
                    search.overlap[found] = 0
                    search.touched[touched] = found
                    touched += 1
                search.overlap[found] += change
            at = growing.after[at]
            left -= 1
    return touched


@kernel
def _fill_buckets(search, touched):
    """Sort the nodes that were touched by their overlaps; the highest."""
    highest = 0
    for t in range(touched):
        highest = max(highest, search.overlap[search.touched[t]])
    search.bucket[: highest + 1] = NONE
    # The newest come first in their bucket.
    for t in range(touched - 1, -1, -1):
        found = search.touched[t]
        if search.overlap[found] > 1:
            _file(search.bucket, search.below, search.overlap[found], found)
    return highest


@leaf
def _file(bucket, below, overlap, found):
    """Put a node into the bucket of its overlap."""
    below[found] = bucket[overlap]
    bucket[overlap] = found


@kernel
def _restructure(growing, search, node, picks):
    """Make the picks and what is still wanted the inputs of a node."""
    at = growing.input_start[node]
    for pick in range(picks):
        first, last = search.part_start[pick], search.part_start[pick + 1]
        item = search.picked[pick]
        if first < last:
            item = _split_off(growing, item, search.parts[first:last])
        growing.inputs[at] = item
        at += 1
    for k in range(growing.set_start[node], growing.set_start[node] + growing.set_size[node]):
        writer = growing.sets[k]
        if search.wanted[writer]:
            growing.inputs[at] = writer
            at += 1
    growing.input_size[node] = at - growing.input_start[node]


@kernel
def _split_off(growing, source, parts):
    """Make a partial aggregate of some inputs of a node, and an input of the node in their place; its number."""
    made = growing.ends[NODES]
    growing.ends[NODES] += 1
    start = growing.ends[INPUT_END]
    growing.ends[INPUT_END] += len(parts)
    growing.input_start[made] = start
    growing.input_size[made] = len(parts)
    begin = end = growing.ends[SET_END]
    for p in range(len(parts)):
        growing.inputs[start + p] = parts[p]
        if parts[p] < growing.head.shape[1]:
            growing.sets[end] = parts[p]
            end += 1
        else:
            first, size = growing.set_start[parts[p]], growing.set_size[parts[p]]
            growing.sets[end : end + size] = growing.sets[first : first + size]
            end += size
    growing.ends[SET_END] = end
    growing.set_start[made] = begin
    growing.set_size[made] = end - begin
    _enter_index(growing, PARTIAL_LIST, made)
    # Both lists are in the order of the source's inputs.
    kept = first = growing.input_start[source]
    p = 0
    for k in range(first, first + growing.input_size[source]):
        if p < len(parts) and growing.inputs[k] == parts[p]:
            p += 1
        else:
            growing.inputs[kept] = growing.inputs[k]
            kept += 1
    growing.inputs[kept] = made
    growing.input_size[source] = kept + 1 - first
    return made


@kernel
def _enter_index(growing, which, node):
    """Put a node at the head of a list of each of its writers."""
    at = growing.ends[INDEX_END]
    for k in range(growing.set_start[node], growing.set_start[node] + growing.set_size[node]):
        writer = growing.sets[k]
        growing.entry[at] = node
        growing.after[at] = growing.head[which, writer]
        growing.head[which, writer] = at
        at += 1
    growing.ends[INDEX_END] = at


@kernel
def grown(growing):
    """The starts, inputs and signs of an overlay that has been built."""
    nodes = growing.ends[NODES]
    starts = np.zeros(nodes + 1, np.int64)
    for node in range(nodes):
        starts[node + 1] = starts[node] + growing.input_size[node]
    inputs = np.empty(starts[nodes], np.int32)
    for node in range(nodes):
        first = growing.input_start[node]
        inputs[starts[node] : starts[node + 1]] = growing.inputs[first : first + growing.input_size[node]]
    return starts, inputs, np.ones(len(inputs), np.int8)


@kernel
def expanded_sets(starts, inputs, writers, by_level):
    """The writers that each node aggregates, without any twice; nodes of lower levels come first in `by_level`."""
    nodes = len(starts) - 1
    sizes = np.zeros(nodes + 1, np.int64)
    for node in by_level:
        for k in range(starts[node], starts[node + 1]):
            sizes[node + 1] += 1 if inputs[k] < writers else sizes[inputs[k] + 1]
    set_starts = np.cumsum(sizes)
    sets = np.empty(set_starts[nodes], np.int32)
    for node in by_level:
        at = set_starts[node]
        for k in range(starts[node], starts[node + 1]):
            item = inputs[k]
            if item < writers:
                sets[at] = item
                at += 1
            else:
                size = sizes[item + 1]
                sets[at : at + size] = sets[set_starts[item] : set_starts[item] + size]
                at += size
    return set_starts, sets
