"""Reachability for pairs that come and go, as does the graph (K-Pg, figure 1)."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def reachability(query: gt.Collection, edges: gt.Collection) -> gt.Collection:
    """The pairs (src, dst) of `query` that have a path along edges (src, dst).

    A source is explored once, however many pairs ask for it; a further pair is read off.
    """
    sources = query.select(node="src", source="src").distinct()

    def step(reached: gt.Collection) -> gt.Collection:
        return reached.join(edges, on={"node": "src"}).select(node="dst", source="source").concat(sources).distinct()

    reached = sources.iterate(step)
    return query.semijoin(reached, on={"src": "source", "dst": "node"})


def main() -> None:
    """Ask for pairs, change the graph, and see only answers that change."""
    messages = datasets.load("CollegeMsg").select(["src", "dst"])
    flow = gt.Dataflow()
    query = flow.input("query", src=int, dst=int)
    edges = flow.input("edges", src=int, dst=int)
    answers = reachability(query, edges).output("answers")

    def report(what: str) -> None:
        flow.commit()
        changes = [f"{row['diff']:+d} {row['src']}->{row['dst']}" for row in answers.changes().to_pylist()]
        print(f"{what}: {', '.join(changes) or 'nothing changes'}")

    edges.insert(messages.slice(0, 2_000))
    report("2,000 messages")
    query.insert([(9, 1), (9, 3)])
    report("two questions")
    query.insert([(9, 4)])
    report("one more from the same source")
    edges.insert(messages.slice(2_000))
    report("all messages")
    query.remove([(9, 3)])
    report("one question less")


if __name__ == "__main__":
    main()
