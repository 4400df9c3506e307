"""Distances of ints near the end of 64 bits: those that fit are found, whatever longer ways there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle import analytics_naive as naive
from tests.oracle.analytics_naive import Graph, Row

import graphtide as gt
from graphtide.analytics import AnalyticGraph, find
from graphtide.errors import DataError

GREATEST = 2**63 - 1
# Pieces that add up to the greatest int, to one more, and to far beyond.
WEIGHTS = st.sampled_from([0, 1, 2, 2**62 - 1, 2**62, GREATEST // 3, GREATEST - 2, GREATEST - 1, GREATEST])
NODES = st.integers(0, 4)
Edges = dict[tuple[int, int], int]
PAIRS = [(0, 3), (0, 4), (1, 3), (2, 2)]
CASES: dict[str, tuple[dict[str, Any], Callable[[Graph], list[Row]]]] = {
    "sssp": ({"source": 0, "weight": "miles"}, lambda graph: naive.sssp(graph, 0, "weight")),
    "mpsp": ({"pairs": PAIRS, "weight": "miles"}, lambda graph: naive.mpsp(graph, PAIRS, "weight")),
}


def changes() -> st.SearchStrategy[list[Edges]]:
    """Edges that come or get another weight, a batch at a time."""
    pairs = st.tuples(NODES, NODES)
    return st.lists(st.dictionaries(pairs, WEIGHTS, min_size=1, max_size=6), min_size=1, max_size=4)


class Ways:
    """An analytic on weighted edges among five nodes."""

    def __init__(self, name: str) -> None:
        arguments, self._oracle = CASES[name]
        self.flow = gt.Dataflow()
        nodes = self.flow.input("nodes", node=int)
        nodes.insert([(node,) for node in range(5)])
        self._input = self.flow.input("edges", src=int, dst=int, weight=int)
        bound = find(name).bind(arguments)
        self.output = bound.build(AnalyticGraph(nodes, self._input), lambda number: number).output("out")
        self.flow.commit()
        self.edges: Edges = {}

    def change(self, edges: Edges) -> None:
        """Stage a batch."""
        self._input.remove([(*pair, self.edges[pair]) for pair in edges if pair in self.edges])
        self._input.insert([(*pair, weight) for pair, weight in edges.items()])

    def wanted(self, edges: Edges) -> list[Row]:
        """By ints without an end."""
        return self._oracle(Graph(frozenset(range(5)), tuple((*pair, weight) for pair, weight in edges.items())))


@pytest.mark.parametrize("name", CASES)
@share(50)
@given(batches=changes())
def test_a_distance_that_fits_is_found_and_one_that_does_not_is_told(name: str, batches: list[Edges]) -> None:
    ways = Ways(name)
    for batch in batches:
        wanted = ways.wanted(ways.edges | batch)
        ways.change(batch)
        if max((row[-1] for row in wanted), default=0) <= GREATEST:
            ways.flow.commit()
            ways.edges |= batch
            assert sorted(ways.output.rows()) == sorted(wanted)
            continue
        with pytest.raises(DataError, match=f"a shortest path is longer than {GREATEST}") as caught:
            ways.flow.commit()
        assert '"miles"' in str(caught.value)
        ways.flow.rollback()
        assert sorted(ways.output.rows()) == sorted(ways.wanted(ways.edges))


@pytest.mark.parametrize("name", CASES)
def test_too_long_a_way_of_few_edges_does_not_count_against_a_short_one_of_many(name: str) -> None:
    ways = Ways(name)
    batch = {(0, 1): GREATEST, (1, 3): GREATEST, (0, 2): 1, (2, 4): 1, (4, 3): GREATEST - 2}
    ways.change(batch)
    ways.flow.commit()
    assert sorted(ways.output.rows()) == sorted(ways.wanted(batch))
    assert max(row[-1] for row in ways.output.rows()) == GREATEST
