"""Figures 1 and 4 of EAGr, as far as the text tells them."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.ego import (
    AdaptiveMining,
    Greedy,
    Incremental,
    MinCut,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    Overlay,
    build,
    decide,
)
from graphtide.ego.windows import Last
from graphtide.frontier import LiveGraph

A, B, C, D, E, F, G = range(7)
LATEST = {C: 9, D: 3, E: 1, F: 6}
SHARED = {A, B, C}
FIGURE1 = [{C, D, E, F}, set(), SHARED, SHARED, SHARED, SHARED, SHARED]


@pytest.mark.parametrize("method", [AdaptiveMining(), NegativeMining(), OverlappingMining(), Incremental()], ids=str)
def test_figure_1_has_one_partial_aggregate_for_five_readers(method) -> None:
    neighbourhoods = Neighbourhoods.from_sets(FIGURE1, writer_count=7)
    overlay = build(neighbourhoods, method).overlay
    overlay.check_invariants(neighbourhoods)
    assert (overlay.partials, overlay.edges) == (1, 4 + 3 + 5)
    assert set(overlay.inputs_of(14).tolist()) == SHARED
    assert sum(LATEST[writer] * count for writer, count in overlay.contributions(A).items()) == 19


def test_figure_1_as_a_query_on_a_live_graph() -> None:
    """SUM at a is 19: c, d, e and f wrote 9, 3, 1 and 6 last."""
    live = LiveGraph(ids=str)
    names = "abcdefg"
    live.apply(insert=[(names[w], names[r]) for r, writers in enumerate(FIGURE1) for w in sorted(writers)])
    ego = live.ego("sum", window=Last(1), along="in")
    ego.write_many(["a", "c", "a", "c", "d", "e", "f"], [1, 7, 4, 9, 3, 1, 6])
    assert ego.read("a") == 19


@pytest.mark.parametrize("by", [MinCut(), Greedy()], ids=str)
def test_figure_4_pushes_both_nodes_that_would_rather_differ(by) -> None:
    writers, s_r, i3 = 62, 62, 63
    lists = [[] for _ in range(writers)] + [[*range(3, writers), i3], [0, 1, 2]]
    overlay = Overlay(
        writers,
        1,
        np.cumsum([0, *map(len, lists)]),
        np.array([item for each in lists for item in each], np.int32),
        np.ones(63, np.int8),
    )
    writes = [3, 3, 4, 2] + [1] * 58
    found = decide(overlay, writes, [2], by=by)
    assert found.push[[i3, s_r]].all()
    stored = sum(writes)
    assert found.cost - stored == found.cost_of_all_push - stored == 10 + 70
    assert found.cost_of_all_pull - stored == 6 + 120


def test_figure_4_without_the_reader_would_pull() -> None:
    overlay = Overlay(3, 1, np.array([0, 0, 0, 0, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int8))
    assert not decide(overlay, [3, 3, 4], [2]).push[3]
