"""Breadth-first search: in how few steps each node can be reached."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def breadth_first(roots: gt.Collection, edges: gt.Collection) -> gt.Collection:
    """(node, distance) for roots (node) and edges (src, dst), for the nodes that can be reached."""
    start = roots.select(node="node", distance=gt.lit(0))

    def step(reached: gt.Collection) -> gt.Collection:
        next_ones = reached.join(edges, on={"node": "src"}).select(node="dst", distance=gt.col("distance") + 1)
        return next_ones.concat(start).group_by("node").min("distance")

    return start.iterate(step)


def main() -> None:
    """How many flights away airports are from Malta, and what happens when Istanbul closes."""
    flights = datasets.load("air-routes").select(["src", "dst"])
    flow = gt.Dataflow()
    roots = flow.input("roots", node=str)
    edges = flow.input("edges", src=str, dst=str)
    distances = breadth_first(roots, edges)
    at_distance = distances.group_by("distance").count("airports").output("at distance")
    changed = distances.output("distances")

    roots.insert([("MLA",)])
    edges.insert(flights)
    flow.commit()
    print("flights from Malta:", dict(at_distance.rows()))
    closed = [(s, d) for s, d in zip(*flights.to_pydict().values(), strict=True) if "IST" in {s, d}]
    for what, change in (("Istanbul closes", edges.remove), ("Istanbul opens", edges.insert)):
        change(closed)
        flow.commit()
        print(f"{what}: {len(changed.changes())} differences, now {dict(at_distance.rows())}")


if __name__ == "__main__":
    main()
