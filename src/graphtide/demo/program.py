"""The two computations of the demonstration; `examples/` has them in a plainer form.

Small labels come in first (CIDR13, section 3.3): a node that has heard of one does not pass on its own.
"""

from __future__ import annotations

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col

__all__ = ["components", "strong_components"]


def components(edges: Collection) -> Collection:
    """(node, label): the least node that it is connected to, whichever way edges (src, dst) go."""
    both_ways = edges.concat(edges.select(src="dst", dst="src"))
    return _reaching_labels(both_ways)


def strong_components(edges: Collection) -> Collection:
    """(node, label) for nodes on a cycle: the least node of the strongly connected component."""
    inside = edges.iterate(lambda kept: _trimmed_and_reversed(_trimmed_and_reversed(kept)))
    return _reaching_labels(inside)


def _trimmed_and_reversed(edges: Collection) -> Collection:
    """The edges whose ends are reached by the same least node, turned around."""
    labels = _reaching_labels(edges)
    with_one = edges.join(labels, on={"src": "node"})
    with_both = with_one.join(labels.rename(label="label_of_dst"), on={"dst": "node"})
    return with_both.where(col("label") == col("label_of_dst")).select(src="dst", dst="src")


def _reaching_labels(edges: Collection) -> Collection:
    """(node, label): the least node that reaches it, among those with an edge into them."""
    nodes = edges.select(node="dst", label="dst").distinct()

    def step(labels: Collection, arriving: Collection) -> Collection:
        heard = labels.join(edges, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(arriving).group_by("node").min("label")

    return nodes.iterate_prioritized(step, priority=col("label").bit_length())
