"""Ego aggregates by their definition: all writes are kept, and every read looks at all of them."""

from __future__ import annotations

import math
from collections import Counter


class Writes:
    """All that was ever written, by vertex, and the latest time that was seen."""

    def __init__(self, last=None, within=None):
        self.last, self.within = last, within
        self.log = {}
        self.clock = -math.inf

    def write(self, vertex, value, at=None):
        self.log.setdefault(vertex, []).append((at, value))
        self.advance(at)

    def advance(self, time):
        if time is not None:
            self.clock = max(self.clock, time)

    def forget(self, vertices):
        for vertex in vertices:
            self.log.pop(vertex, None)

    def window(self, vertex):
        entries = self.log.get(vertex, [])
        if self.last is not None:
            return [value for _, value in entries[-self.last :]]
        return [value for at, value in entries if self.clock < at + self.within]

    def values(self, vertices):
        return [value for vertex in vertices for value in self.window(vertex)]


def aggregate(name, values, k=None):
    """What a built-in aggregate gives, in Python."""
    if name == "count":
        return len(values)
    if name == "sum":
        return math.fsum(values) if any(isinstance(value, float) for value in values) else sum(values)
    if name == "avg":
        whole = all(isinstance(value, int) for value in values)
        return (float(sum(values)) if whole else math.fsum(values)) / len(values) if values else None
    if name == "min":
        return min(values, default=None)
    if name == "max":
        return max(values, default=None)
    counts = Counter(values)
    if name == "distinct":
        return len(counts)
    assert name == "top"
    return sorted(counts, key=lambda value: (-counts[value], value))[:k]


def neighbourhood(edges, vertex, hops, along, *, with_ego=False):
    """The vertices at most so many hops away, by pairs (source, target)."""
    pairs = set(edges if along != "in" else ()) | {(b, a) for a, b in edges if along != "out"}
    found, reached = set(), {vertex}
    for _ in range(hops):
        reached = {target for source, target in pairs if source in reached}
        found |= reached
    found.discard(vertex)
    return found | {vertex} if with_ego else found
