"""The neighbours of vertices, one or two hops away, by the lists of edges at both ends (see `adjacency`)."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["count_edges", "edges_of", "neighbourhoods", "reached"]


@leaf
def _put(found, count, vertex):
    if count == found.shape[0]:
        grown = np.empty(2 * count, np.int64)
        grown[:count] = found
        found = grown
    found[count] = vertex
    return found


@leaf
def _visit(v, first, last, start, size, other, kept, seen, stamp, found, count):
    """Add the neighbours of a vertex that were not found yet."""
    for side in range(first, last + 1):
        begin = start[2 * v + side]
        for slot in range(begin, begin + size[2 * v + side]):
            u = other[slot]
            if seen[u] != stamp and (kept.shape[0] == 0 or kept[slot]):
                seen[u] = stamp
                found = _put(found, count, u)
                count += 1
    return found, count


@kernel
def neighbourhoods(vertices, hops, first, last, with_ego, start, size, other, kept, writes, seen, stamp):
    """The neighbours of vertices, in rising order, and where those of each start.

    Lists 2 v + first to 2 v + last are gone along. Of `kept`, unless it is empty, only the slots that it marks; of
    `writes`, unless it is empty, only the vertices. `seen` is scratch by vertex, with less than `stamp` in it.
    """
    starts = np.zeros(vertices.shape[0] + 1, np.int64)
    found = np.empty(64, np.int64)
    count = 0
    for i in range(vertices.shape[0]):
        ego = vertices[i]
        seen[ego] = stamp + i
        begin = count
        found, count = _visit(ego, first, last, start, size, other, kept, seen, stamp + i, found, count)
        if hops == 2:
            for k in range(begin, count):
                found, count = _visit(found[k], first, last, start, size, other, kept, seen, stamp + i, found, count)
        if with_ego:
            found = _put(found, count, ego)
            count += 1
        if writes.shape[0] > 0:
            end = count
            count = begin
            for k in range(begin, end):
                if writes[found[k]]:
                    found[count] = found[k]
                    count += 1
        found[begin:count].sort()
        starts[i + 1] = count
    return starts, found[:count].copy()


@kernel
def count_edges(vertices, others, first, last, start, size, other):
    """How many edges lists 2 v + first to 2 v + last of a vertex have to the other one, by the shorter list of both."""
    counts = np.zeros(vertices.shape[0], np.int64)
    for i in range(vertices.shape[0]):
        for side in range(first, last + 1):
            at, wanted = 2 * vertices[i] + side, others[i]
            if size[2 * others[i] + 1 - side] < size[at]:
                at, wanted = 2 * others[i] + 1 - side, vertices[i]
            for slot in range(start[at], start[at] + size[at]):
                counts[i] += other[slot] == wanted
    return counts


@kernel
def reached(vertices, first, last, start, size, other, seen, stamp):
    """Vertices and all that lists 2 v + first to 2 v + last of these lead to, each once."""
    found = np.empty(64, np.int64)
    count = 0
    for v in vertices:
        if seen[v] != stamp:
            seen[v] = stamp
            found = _put(found, count, v)
            count += 1
    everywhere = np.empty(0, np.bool_)
    for k in range(count):
        found, count = _visit(found[k], first, last, start, size, other, everywhere, seen, stamp, found, count)
    return found[:count].copy()


@kernel
def edges_of(vertices, first, last, start, size, other):
    """Rows (source, target, slot) of all edges in lists 2 v + first to 2 v + last."""
    count = 0
    for v in vertices:
        for side in range(first, last + 1):
            count += size[2 * v + side]
    rows = np.empty((count, 3), np.int64)
    count = 0
    for v in vertices:
        for side in range(first, last + 1):
            for slot in range(start[2 * v + side], start[2 * v + side] + size[2 * v + side]):
                rows[count, side] = v
                rows[count, 1 - side] = other[slot]
                rows[count, 2] = slot
                count += 1
    return rows
