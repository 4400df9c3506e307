"""Queries within a budget answer as those without one do, and keep at most its bytes, after every batch."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import answer, trace
from tests.oracle.test_continuous import PROGRAMS, VERTICES, Batch, histories, kept, told

from graphtide.errors import CapacityError
from graphtide.frontier import Budget, LiveGraph, housekeeping
from graphtide.frontier.query import KeptQuery
from graphtide.frontier.thin_steps import ThinSteps

# What a query keeps however little it answers: its row, and where free places are.
FIXED = 1_390


def check_query(query: KeptQuery, expected: dict[int, Any], before: dict[int, Any], whole: dict[int, Any]) -> None:
    assert told(query) == expected
    changes = Counter(expected.items())
    changes.subtract(before.items())
    rows = query.changes().to_pylist()
    assert {(row["vertex"], row[query.column]): row["diff"] for row in rows} == {c: d for c, d in changes.items() if d}
    if query.steps.is_aside:
        assert query.differences == 0
        return
    for v, steps in kept(query).items():
        assert set(steps) <= set(whole[v])
        assert steps[-1] == whole[v][-1]


def run(names: list[str], history: list[tuple[Batch, list[Any]]], registered: list[int], budget: Budget) -> None:
    live = LiveGraph(weight=int)
    live.add_vertices(range(VERTICES))
    queries: dict[int, KeptQuery] = {}
    edges: list[Any] = []
    vertices = set(range(VERTICES))
    for k in range(len(history) + 1):
        for at, name in enumerate(names):
            if registered[at] == k:
                used = budget.used
                try:
                    query = live.ife(PROGRAMS[name][0], maintain=budget)
                except CapacityError:
                    assert budget.used <= used
                else:
                    assert isinstance(query, KeptQuery)
                    assert told(query) == answer(PROGRAMS[name][1], vertices, edges)
                    queries[at] = query
                assert budget.used <= budget.bytes
        if k == len(history):
            break
        before = {at: told(query) for at, query in queries.items()}
        batch, edges = history[k]
        batch.apply(live)
        vertices = batch.vertices
        assert budget.used <= budget.bytes
        assert budget.used == sum(query.nbytes for query in queries.values())
        for at, query in queries.items():
            naive = PROGRAMS[names[at]][1]
            whole = trace(naive, vertices, edges)
            check_query(query, answer(naive, vertices, edges), before[at], whole)


@pytest.mark.parametrize("name", PROGRAMS)
@given(data=st.data())
def test_one_query_within_a_budget(name: str, data: st.DataObject) -> None:
    history = data.draw(histories(st.integers(0, 9), removing=True))
    budget = Budget(FIXED + data.draw(st.integers(50, 300)))
    run([name], history, [data.draw(st.integers(0, len(history)))], budget)


@given(data=st.data())
def test_queries_that_share_a_budget(data: st.DataObject) -> None:
    history = data.draw(histories(st.integers(0, 9), removing=True))
    names = data.draw(st.lists(st.sampled_from(list(PROGRAMS)), min_size=2, max_size=4))
    registered = [data.draw(st.integers(0, len(history))) for _ in names]
    budget = Budget(len(names) * FIXED + data.draw(st.integers(70 * len(names), 220 * len(names))))
    run(names, history, registered, budget)


@given(data=st.data())
def test_queries_that_are_computed_anew_all_the_time(data: st.DataObject) -> None:
    history = data.draw(histories(st.integers(0, 9), removing=True))
    names = data.draw(st.lists(st.sampled_from(list(PROGRAMS)), min_size=1, max_size=3))
    budget = Budget(len(names) * FIXED + data.draw(st.integers(70 * len(names), 220 * len(names))))
    always = property(lambda steps: not steps.is_aside)
    with patch.object(ThinSteps, "pays_to_renew", always), patch.object(housekeeping, "_BETWEEN", 1):
        run(names, history, [0] * len(names), budget)


@pytest.mark.parametrize("name", ["distances", "undirected distances", "widest paths", "components"])
@pytest.mark.parametrize("size", [1_700, 1_900, 2_100, 2_500, 4_000])
def test_a_longer_history_with_vertices_that_come(name: str, size: int) -> None:
    program, naive = PROGRAMS[name]
    rng = np.random.default_rng(size)
    live = LiveGraph(weight=int)
    budget = Budget(size)
    live.add_vertices([0, 1])
    query = live.ife(program, maintain=budget)
    assert isinstance(query, KeptQuery)
    edges: list[Any] = []
    vertices = {0, 1}
    before = told(query)
    for k in range(40):
        most = 4 + k
        gone = [
            tuple(edges.pop(int(rng.integers(len(edges))))) for _ in range(len(edges) * (7 if k % 10 == 9 else 1) // 8)
        ]
        rows = np.column_stack([rng.integers(0, most, (12, 2)), rng.integers(0, 40, 12)])
        if k >= 25:
            rows[:, 2] *= 10**9  # states take more than four bytes from here on
        coming = [(int(u), int(v), int(w)) for u, v, w in rows]
        live.apply(insert=coming, delete=gone)
        edges += coming
        vertices |= {v for row in coming for v in row[:2]}
        expected = answer(naive, vertices, edges)
        assert told(query) == expected
        assert budget.used == query.nbytes <= size
        changes = Counter(expected.items())
        changes.subtract(before.items())
        rows = query.changes().to_pylist()
        assert {(row["vertex"], row[query.column]): row["diff"] for row in rows} == {
            c: d for c, d in changes.items() if d
        }
        before = expected
