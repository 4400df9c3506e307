"""The cheapest path from the padded column of zeros through all views, by dynamic programming over sets of views.

It takes 2^k * k^2 steps and 2^k * k words of memory (Held, Karp: "A Dynamic Programming Approach to Sequencing
Problems", 1962; here the path does not return).
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel

__all__ = ["cheapest_path"]

UNREACHED = np.int64(2**63 - 1)


@kernel
def cheapest_path(distances):
    """Indices 1..k in the order that is cheapest from index 0 on; `distances` is (k+1) x (k+1) with k > 0."""
    count = distances.shape[0] - 1
    everything = (1 << count) - 1
    # cost[s, v]: the cheapest path through the set s of views that ends in its member v.
    cost = np.full((1 << count, count), UNREACHED, np.int64)
    for v in range(count):
        cost[1 << v, v] = distances[0, v + 1]
    for s in range(1, 1 << count):
        for last in range(count):
            here = cost[s, last]
            if here == UNREACHED:
                continue
            for v in range(count):
                if (s >> v) & 1 == 0:
                    cost[s | 1 << v, v] = min(cost[s | 1 << v, v], here + distances[last + 1, v + 1])
    path = np.empty(count, np.int64)
    s = everything
    last = np.argmin(cost[s])
    for place in range(count - 1, 0, -1):
        path[place] = last + 1
        reached = cost[s, last]
        s ^= 1 << last
        # The step before is one that the cost is made of; comparing again saves a table of them.
        before = 0
        while (s >> before) & 1 == 0 or cost[s, before] + distances[before + 1, last + 1] != reached:
            before += 1
        last = before
    path[0] = last + 1
    return path
