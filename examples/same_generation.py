"""Same generation: who is equally far down from a common ancestor, the classic of recursive queries."""

from __future__ import annotations

import graphtide as gt
from graphtide import datasets


def same_generation(parents: gt.Collection) -> gt.Collection:
    """(a, b), both ways and each pair once, for parents (parent, child)."""
    one = parents.select(parent="parent", a="child")
    other = parents.select(parent="parent", b="child")
    siblings = one.join(other, on="parent", where=gt.col("a") != gt.col("b")).select("a", "b").distinct()

    def step(pairs: gt.Collection) -> gt.Collection:
        children_of_a = pairs.select(parent="a", b="b").join(one, on="parent").select("a", parent="b")
        children_of_both = children_of_a.select("parent", "a").join(other, on="parent").select("a", "b")
        return children_of_both.where(gt.col("a") != gt.col("b")).concat(siblings).distinct()

    return siblings.iterate(step)


def main() -> None:
    """Students by who wrote to them first: those who joined the talk in the same step from the same person."""
    brought_in: dict[int, int] = {}
    for row in datasets.load("CollegeMsg").slice(0, 400).to_pylist():
        brought_in.setdefault(row["dst"], row["src"])
    family = [(parent, child) for child, parent in brought_in.items()]
    flow = gt.Dataflow()
    parents = flow.input("parents", parent=int, child=int)
    pairs = same_generation(parents).output("pairs")

    parents.insert(family)
    flow.commit()
    print(f"{len(family)} students brought in: {len(pairs)} pairs of one generation")
    for parent, child in family[:3]:
        parents.remove([(parent, child)])
        flow.commit()
        print(f"{child} not by {parent}: {len(pairs)} pairs")


if __name__ == "__main__":
    main()
