"""What analytics keep, counted in differences: bounds that hold whatever the graph looks like."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

import graphtide as gt
from graphtide.analytics import AnalyticGraph, find


def kept(edges: Iterable[tuple[int, int]], name: str, **arguments: Any) -> int:
    """How many differences are kept for an analytic on a graph."""
    flow = gt.Dataflow()
    rows = list(edges)
    nodes, inputs = flow.input("nodes", node=int), flow.input("edges", src=int, dst=int)
    output = find(name).bind(arguments).build(AnalyticGraph(nodes, inputs), lambda number: number).output("out")
    nodes.insert(sorted({(end,) for edge in rows for end in edge}))
    inputs.insert(rows)
    flow.commit()
    assert len(output)
    return flow.memory().differences


@pytest.mark.parametrize("hub", [0, 1_000, 2_000])
@pytest.mark.parametrize("name", ["triangles", "clustering"])
def test_a_hub_does_not_make_pairs_of_all_its_neighbours(name: str, hub: int) -> None:
    leaves = [leaf for leaf in range(2_001) if leaf != hub]
    wheel = [(hub, leaf) for leaf in leaves] + list(pairwise(leaves))
    assert kept(wheel, name) < 20 * len(wheel)


def test_a_search_ends_where_all_targets_are_found() -> None:
    path = [(n, n + 1) for n in range(500)]
    near = kept(path, "mpsp", pairs=[(0, 3), (0, 5)])
    far = kept(path, "mpsp", pairs=[(0, 3), (0, 500)])
    # The far target is found in 495 steps more, and each leaves something behind in the loop.
    assert near + 495 <= far


def test_a_target_that_is_not_there_is_not_searched_for() -> None:
    path = [(n, n + 1) for n in range(500)]
    # The pair itself is kept.
    assert kept(path, "mpsp", pairs=[(0, 5), (0, 1_000)]) <= kept(path, "mpsp", pairs=[(0, 5)]) + 1
