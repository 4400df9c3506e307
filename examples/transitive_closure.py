"""Transitive closure: all pairs of nodes with a path from the one to the other."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def transitive_closure(edges: gt.Collection) -> gt.Collection:
    """(src, dst), each pair once, for edges (src, dst)."""
    further = edges.rename(src="dst", dst="end")

    def step(paths: gt.Collection) -> gt.Collection:
        return paths.join(further, on="dst").select(src="src", dst="end").concat(edges).distinct()

    return edges.distinct().iterate(step)


def main() -> None:
    """Who can have heard from whom through the first messages, as they come in and are withdrawn."""
    messages = datasets.load("CollegeMsg").select(["src", "dst"])
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    closure = transitive_closure(edges).output("closure")

    edges.insert(messages.slice(0, 120))
    flow.commit()
    print(f"120 messages: {len(closure)} pairs")
    for at in (120, 121, 122):
        edges.insert(messages.slice(at, 1))
        flow.commit()
        print(f"one more: {len(closure)} pairs")
    edges.remove(messages.slice(0, 20))
    flow.commit()
    print(f"without the first 20: {len(closure)} pairs")


if __name__ == "__main__":
    main()
