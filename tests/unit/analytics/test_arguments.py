"""Arguments that are of the right kind and still make no sense."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.analytics import AnalyticGraph, find
from graphtide.errors import UsageError


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("k_core", {"k": 0}, "there is no 0-core to look for"),
        ("label_propagation", {"rounds": -1}, "there are no -1 rounds"),
        ("pagerank", {"iterations": -1}, "there is no PageRank of -1 iterations with a damping of 0.85"),
        ("pagerank", {"damping": 1.5}, "there is no PageRank of 10 iterations with a damping of 1.5"),
        ("pagerank", {"damping": float("nan")}, "there is no PageRank of 10 iterations with a damping of nan"),
    ],
)
def test_an_argument_beyond_its_range_is_refused(name: str, arguments: dict[str, Any], message: str) -> None:
    flow = gt.Dataflow()
    graph = AnalyticGraph(flow.input("nodes", node=int), flow.input("edges", src=int, dst=int))
    with pytest.raises(UsageError) as caught:
        find(name).bind(arguments).build(graph, lambda number: number)
    assert caught.value.message == message
