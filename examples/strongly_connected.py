"""Strongly connected components: a fixed point around two fixed points (CIDR13, figure 8)."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def strongly_connected(edges: gt.Collection) -> gt.Collection:
    """The edges (src, dst) that lie inside a strongly connected component, each once."""
    return edges.distinct().iterate(lambda inner: trimmed_and_reversed(trimmed_and_reversed(inner)))


def strong_components(edges: gt.Collection) -> gt.Collection:
    """(node, label) for the nodes of components with a cycle: the label is the component's least node."""
    return reaching_labels(strongly_connected(edges))


def trimmed_and_reversed(edges: gt.Collection) -> gt.Collection:
    """The edges whose ends are reached by the same least node, turned around."""
    labels = reaching_labels(edges)
    with_both = edges.join(labels, on={"src": "node"}).join(labels.rename(label="label_of_dst"), on={"dst": "node"})
    return with_both.where(gt.col("label") == gt.col("label_of_dst")).select(src="dst", dst="src")


def reaching_labels(edges: gt.Collection) -> gt.Collection:
    """(node, label): the least node with an edge into it that reaches the node.

    A node without an edge into it is on no cycle: it gives no label, and its edges are trimmed at once.
    The paper's program starts from the other ends, and so would keep a lone edge (1, 2).
    """
    nodes = edges.select(node="dst", label="dst").distinct()

    def step(labels: gt.Collection) -> gt.Collection:
        heard = labels.join(edges, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(nodes).group_by("node").min("label")

    return nodes.iterate(step)


def main() -> None:
    """Who could have heard of whom, both ways, as the messages of four days come in."""
    messages = datasets.load("CollegeMsg")
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    sizes = strong_components(edges).group_by("label").count("size").output("sizes")

    for start in range(0, 1_200, 300):
        edges.insert(messages.slice(start, 300).select(["src", "dst"]))
        flow.commit()
        largest = max((size for _, size in sizes.rows()), default=0)
        print(f"{start + 300} messages: {len(sizes)} components with a cycle, the largest of {largest} people")


if __name__ == "__main__":
    main()
