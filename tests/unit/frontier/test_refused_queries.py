"""A query that is refused leaves nothing behind, and what is wrong with it is told in the user's terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphtide as gt
from graphtide.errors import GraphtideError

free: Any = gt  # of types: what is wrong is wrong on purpose
REFUSED: dict[str, Callable[[Any], Any]] = {
    "a target of another type": lambda live: live.shortest_path(1, "x", name="a"),
    "a source of another type": lambda live: live.regular_path("a", [77, "x"]),
    "one string as sources": lambda live: live.regular_path("a", "Reno"),
    "no sources": lambda live: live.regular_path("a", 3),
    "no pattern": lambda live: live.regular_path(None),
    "no room": lambda live: live.regular_path("a+", [77], maintain=free.Budget(1)),
    "a division by 0": lambda live: live.ife(free.ife(lambda s, w: s + 1 // w, initial={1: 0, 77: 0}, weight="weight")),
    "no way along edges": lambda live: live.ife(free.ife("hop", initial={77: 0}, along="x")),
    "no whole number of hops": lambda live: live.k_hop(1, 1.5),
    "no number of rounds": lambda live: live.pagerank("x"),
    "no damping": lambda live: live.pagerank(3, "x"),
    "no landmarks": lambda live: live.landmarks("x"),
    "no places of landmarks": lambda live: live.landmarks(at=3),
    "no initial state": lambda live: live.ife(free.ife("hop", initial={1: "x"})),
    "no policy": lambda live: live.sssp(1, maintain="Scratch"),
    "no name": lambda live: live.sssp(1, name=["x"]),
    "no choice of differences": lambda live: live.sssp(1, maintain=free.DeterministicDrop(None)),
    "no probability": lambda live: live.sssp(1, maintain=free.DeterministicDrop(free.Random("x"))),
    "no bits": lambda _live: free.ProbabilisticDrop(free.Random(0.5), bits="x"),
    "no policy of a graph": lambda _live: free.LiveGraph(maintain="x"),
    "no properties of nodes": lambda _live: free.LiveGraph(nodes=3),
    "no callback": lambda live: live.ego("sum").on_change("x"),
    "neither with nor without": lambda live: live.ego("sum", with_ego={1: 2}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_query_that_is_refused_leaves_nothing_behind(case: str) -> None:
    live = gt.LiveGraph(weight=int, label=str)
    live.apply(insert=[(1, 2, 0, "a")])
    kinds = live.memory()["kind"].to_pylist()
    with pytest.raises(GraphtideError):
        REFUSED[case](live)
    assert live.vertices == 2
    assert not live.queries
    assert [kind for kind in live.memory()["kind"].to_pylist() if "ego" not in kind] == kinds
    assert live.shortest_path(1, 2, name="a").result().num_rows == 1
