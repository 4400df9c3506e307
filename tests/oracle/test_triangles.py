"""Triangles are counted right whichever ranks their corners have, and while these change."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import analytics_naive as naive

import graphtide as gt
from graphtide.analytics import AnalyticGraph, find
from graphtide.analytics import triangles as module

NODES = range(8)
PAIRS = list(combinations(NODES, 2))


@given(bits=st.integers(0, 2), epochs=st.lists(st.sets(st.sampled_from(PAIRS)), min_size=1, max_size=4))
def test_vertices_of_all_ranks(bits: int, epochs: list[set[tuple[int, int]]]) -> None:
    # With so few neighbours for a rank of their own, vertices have ranks up to 2, and pass them.
    with patch.multiple(module, _FEW_BITS=bits, _FEW=1 << bits):
        flow = gt.Dataflow()
        nodes, edges = flow.input("nodes", node=int), flow.input("edges", src=int, dst=int)
        built = find("triangles").bind({}).build(AnalyticGraph(nodes, edges), lambda number: number)
    output = built.output("triangles")
    nodes.insert([(node,) for node in NODES])
    before: set[tuple[int, int]] = set()
    for present in epochs:
        edges.remove(sorted(before - present))
        edges.insert(sorted(present - before))
        flow.commit()
        before = present
        graph = naive.Graph(frozenset(NODES), tuple((src, dst, 1) for src, dst in sorted(present)))
        assert sorted(output.rows()) == sorted(naive.triangles(graph))
