"""Connected components: every node learns the least node that it is connected to."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def connected_components(edges: gt.Collection) -> gt.Collection:
    """(node, label) for edges (src, dst), taken both ways: the label is the least node of the component."""
    both_ways = symmetric(edges)
    nodes = both_ways.select(node="src", label="src").distinct()

    def step(labels: gt.Collection) -> gt.Collection:
        heard = labels.join(both_ways, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(nodes).group_by("node").min("label")

    return nodes.iterate(step)


def connected_components_prioritized(edges: gt.Collection) -> gt.Collection:
    """The same for nodes >= 0, with small labels first.

    Labels come in by their length in bits. A node that has heard of a small label does not pass on its
    own, so far fewer labels travel (CIDR13, section 3.3).
    """
    both_ways = symmetric(edges)
    nodes = both_ways.select(node="src", label="src").distinct()

    def step(labels: gt.Collection, arriving: gt.Collection) -> gt.Collection:
        heard = labels.join(both_ways, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(arriving).group_by("node").min("label")

    return nodes.iterate_prioritized(step, priority=gt.col("label").bit_length())


def symmetric(edges: gt.Collection) -> gt.Collection:
    """Each edge in both directions."""
    return edges.concat(edges.select(src="dst", dst="src"))


def main() -> None:
    """Follow the components of a week of messages while two people stop writing."""
    messages = datasets.load("CollegeMsg").slice(0, 3_000).select(["src", "dst"])
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    labels = connected_components(edges)
    components = labels.select(component="label").distinct().output("components")
    changed = labels.output("labels")

    edges.insert(messages)
    flow.commit()
    print(f"{len(changed)} people in {len(components)} components")
    for quitter in (9, 103):
        edges.remove([(s, d) for s, d in zip(*messages.to_pydict().values(), strict=True) if quitter in {s, d}])
        flow.commit()
        print(f"without {quitter}: {len(components)} components, {len(changed.changes())} differences")


if __name__ == "__main__":
    main()
