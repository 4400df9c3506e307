"""The shortest path of one pair, from scratch: goal-directed, and pruned by landmarks (docs/design/07).

Vertices are gone on from in the order of their *keys*: the length of the best way to them, and what landmarks say is
left at the least. Without landmarks this is Dijkstra's algorithm. A vertex that is reached by a better way later, which
only rounding can cause, is gone on from again.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.bounds import lower, shrunk, upper
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.queue import longer, put, take_least
from graphtide.frontier.kernels.rooms import NOWHERE
from graphtide.jit import kernel, leaf

__all__ = ["search", "way_to", "widened"]

_FEWEST = 256


@leaf
def widened(length, slack, room, nothing):
    """A bound above a distance: a share of it more, and `room`, so that it is above 0, too."""
    return length if length == nothing else length + type(length)(slack * length) + room


@kernel
def search(
    kind, start, size, other, weights, near, s, t, margins, reached, left, parent, stamp, tick, visited, nothing
):  # fmt: skip
    """The distance from `s` to `t`, and how many vertices were gone on from; they are in `visited`, once each.

    `reached`, `left` (what landmarks say is left) and `parent` are by vertex and count where `stamp` is `tick` or more;
    it becomes `tick + 1` where a vertex was gone on from. `margins` are a slack, room and the slip: with room, the
    search goes on to all vertices whose keys are under the widened distance.
    """
    slack, room, slip = margins
    keys = np.empty(_FEWEST, reached.dtype)
    items = np.empty(_FEWEST, np.int32)
    found = nothing
    limit = nothing  # no key of this or more is of use
    most = widened(upper(near, s, t, slip, nothing), slack, room, nothing)  # nor any above this
    done = 0
    reached[s] = reached.dtype.type(0)
    if s == t:
        found = reached[s]
        limit = widened(found, slack, room, nothing)
    left[s] = lower(near, s, t, slip, nothing)
    parent[s] = NOWHERE
    stamp[s] = tick
    count = 0
    if left[s] != nothing:
        put(keys, items, count, left[s], s)
        count = 1
    while count > 0:
        u = np.int64(items[0])
        key = keys[0]
        if shrunk(key, slip, nothing) >= limit:
            break
        take_least(keys, items, count)
        count -= 1
        if key != reached[u] + left[u]:
            continue
        if stamp[u] == tick:
            stamp[u] = tick + 1
            visited[done] = u
            done += 1
        if u == t:
            # What goes on from here does not come back shorter.
            continue
        for slot in range(start[2 * u], start[2 * u] + size[2 * u]):
            v = np.int64(other[slot])
            length = message(kind, reached[u], weight_of(weights, slot))
            if stamp[v] < tick:
                stamp[v] = tick
                reached[v] = nothing
                left[v] = lower(near, v, t, slip, nothing)
            if length >= reached[v] or left[v] == nothing:
                continue
            least = shrunk(length + left[v], slip, nothing)
            if least >= limit or least > most:
                continue
            reached[v] = length
            parent[v] = u
            if count == keys.shape[0]:
                keys, items = longer(keys), longer(items)
            put(keys, items, count, length + left[v], v)
            count += 1
            if v == t:
                found = length
                limit = widened(found, slack, room, nothing)
    return found, done


@kernel
def way_to(parent, t):
    """The vertices of the way that a search found to `t`, last one first."""
    count = 0
    v = np.int64(t)
    while v != NOWHERE:
        count += 1
        v = np.int64(parent[v])
    way = np.empty(count, np.int64)
    v = np.int64(t)
    for k in range(count):
        way[k] = v
        v = np.int64(parent[v])
    return way
