"""What procedures compute from the collection of their arguments (K-Pg, sections 2.2 and 6.2).

A search goes on along edges or against them: each way is a key by which the edges are indexed already.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, lit
from graphtide.dataflow.loop import Loop

__all__ = ["is_reached", "neighbours", "shortest_within"]


class Way(NamedTuple):
    """The end of an edge that a search stands at, and the one that it goes to."""

    at: str
    to: str


ALONG: Final = Way("src", "dst")
AGAINST: Final = Way("dst", "src")


def neighbours(asked: Collection, edges: Collection, hops: int) -> Collection:
    """(src, vertex): the vertices at the end of so many edges from each source."""
    return _spread(_roots(asked, "src"), edges, ALONG, hops)[-1].rename(root="src")


def shortest_within(asked: Collection, edges: Collection, most: int) -> Collection:
    """(src, dst, length): the fewest edges from one to the other, if so many are enough.

    Half of the edges are gone along from the source and half backwards from the destination, so that a search sees the
    square root of what it would from one end.
    """
    onwards = _with_lengths(_spread(_roots(asked, "src"), edges, ALONG, most - most // 2))
    backwards = _with_lengths(_spread(_roots(asked, "dst"), edges, AGAINST, most // 2))
    started = asked.join(onwards, on={"src": "root"})
    paths = started.join(backwards.rename(root="dst", length="rest"), on=["dst", "vertex"])
    return paths.select("src", "dst", length=col("length") + col("rest")).group_by("src", "dst").min("length")


def is_reached(asked: Collection, edges: Collection) -> Collection:
    """(src, dst): the pairs for which there is a path.

    Both ends are searched from, a step in each round. A search goes on only for a pair that has not met, and whose
    searches have both found something new: if one of them has seen all there is, there is no path.
    """
    with asked.flow.loop(name="is_reached") as loop:
        onwards, backwards = _Search(loop, asked, "src"), _Search(loop, asked, "dst")
        started = asked.join(onwards.reached, on={"src": "root"})
        met = started.semijoin(backwards.reached, on={"dst": "root", "vertex": "vertex"}).select("src", "dst")
        going = asked.semijoin(onwards.fresh, on={"src": "root"}).semijoin(backwards.fresh, on={"dst": "root"})
        searching = going.antijoin(met, on=["src", "dst"])
        onwards.go_on(searching.select(root="src"), edges, ALONG)
        backwards.go_on(searching.select(root="dst"), edges, AGAINST)
        return loop.leave(met.distinct())


class _Search:
    """(root, vertex): what is reached, and what of it the last round has found."""

    def __init__(self, loop: Loop, asked: Collection, end: str) -> None:
        roots = _roots(asked, end)
        self.reached = loop.variable(roots)
        self.fresh = loop.variable(roots)

    def go_on(self, searching: Collection, edges: Collection, way: Way) -> None:
        """Say what is reached in the next round, for the roots that are searched from."""
        further = _step(self.fresh.semijoin(searching, on="root"), edges, way)
        found = further.antijoin(self.reached, on=["root", "vertex"])
        self.fresh.becomes(found)
        self.reached.becomes(self.reached.concat(found))


def _roots(asked: Collection, end: str) -> Collection:
    """(root, vertex): each search where it begins."""
    return asked.select(root=end, vertex=end).distinct()


def _step(reached: Collection, edges: Collection, way: Way) -> Collection:
    """(root, vertex): what is one edge further."""
    return reached.join(edges, on={"vertex": way.at}).select("root", vertex=way.to).distinct()


def _spread(reached: Collection, edges: Collection, way: Way, hops: int) -> list[Collection]:
    """(root, vertex) after 0 to so many edges."""
    levels = [reached]
    for _ in range(hops):
        levels.append(_step(levels[-1], edges, way))
    return levels


def _with_lengths(levels: list[Collection]) -> Collection:
    first, *others = [level.with_columns(length=lit(length)) for length, level in enumerate(levels)]
    return first.concat(*others)
