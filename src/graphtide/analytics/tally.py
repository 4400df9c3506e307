"""How often each node of a graph occurs somewhere, which may be never."""

from __future__ import annotations

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col

__all__ = ["tally"]


def tally(nodes: Collection, occurrences: Collection, name: str) -> Collection:
    """(vertex, name): how often each node is in the collection `occurrences` (vertex), 0 included."""
    # Each node occurs once more to be counted at all, which is cheaper than a join with those that are missing.
    at_least_once = occurrences.concat(nodes.select(vertex="node"))
    return at_least_once.group_by("vertex").count(name).select("vertex", **{name: col(name) - 1})
