"""Shortest paths from several sources, by Bellman and Ford's rule."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def shortest_paths(sources: gt.Collection, edges: gt.Collection) -> gt.Collection:
    """(source, node, distance) for sources (source) and edges (src, dst, weight >= 0)."""
    start = sources.select(source="source", node="source", distance=gt.lit(0))

    def step(reached: gt.Collection) -> gt.Collection:
        longer = gt.col("distance") + gt.col("weight")
        next_ones = reached.join(edges, on={"node": "src"}).select(source="source", node="dst", distance=longer)
        return next_ones.concat(start).group_by("source", "node").min("distance")

    return start.iterate(step)


def main() -> None:
    """Miles to fly between two small airports while two routes come and go, and a third source asks."""
    flow = gt.Dataflow()
    sources = flow.input("sources", source=str)
    edges = flow.input("edges", src=str, dst=str, weight=int)
    distances = shortest_paths(sources, edges)
    to_malta = distances.where(gt.col("node") == "MLA").output("to Malta")
    changed = distances.output("distances")

    sources.insert([("AAA",), ("ZVK",)])
    edges.insert(datasets.load("air-routes").rename_columns(["src", "dst", "weight"]))
    flow.commit()
    print("miles to Malta:", {source: miles for source, _, miles in to_malta.rows()})

    def report(what: str) -> None:
        flow.commit()
        miles = {source: miles for source, _, miles in to_malta.rows()}
        print(f"{what}: {miles}, {len(changed.changes())} differences")

    edges.insert([("BKK", "MLA", 5_300)])
    report("a flight from Bangkok to Malta")
    edges.remove([("BKK", "MLA", 5_300)])
    edges.insert([("BKK", "MLA", 7_000)])
    report("which takes a detour")
    sources.insert([("NAN",)])
    report("and someone asks for Fiji")


if __name__ == "__main__":
    main()
