"""Dropping differences changes what an update costs, never an answer; and what is kept is part of the whole trace."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import answer, trace
from tests.oracle.test_continuous import PROGRAMS, VERTICES, histories, kept, told

from graphtide.frontier import Degree, DeterministicDrop, LiveGraph, ProbabilisticDrop, Random
from graphtide.frontier.query import KeptQuery

choices = st.one_of(
    st.builds(Random, st.sampled_from([0.0, 0.3, 0.7, 1.0])),
    st.builds(Degree, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4), st.one_of(st.none(), st.integers(3, 8))),
)
# A filter of few bits says of many steps that they may have been dropped.
policies = st.one_of(
    st.builds(DeterministicDrop, choices), st.builds(ProbabilisticDrop, choices, st.sampled_from([1, 3, 10]))
)


@pytest.mark.parametrize("name", PROGRAMS)
@given(data=st.data())
def test_dropping_changes_no_answer(name: str, data: st.DataObject) -> None:
    program, naive = PROGRAMS[name]
    policy = data.draw(policies)
    history = data.draw(histories(st.integers(0, 9), removing=True))
    registered = data.draw(st.integers(0, len(history)))
    live = LiveGraph(weight=int)
    live.add_vertices(range(VERTICES))
    query: Any = None
    before: dict[int, Any] = {}
    edges: list[Any] = []
    vertices = set(range(VERTICES))
    for k in range(len(history) + 1):
        if k == registered:
            query = live.ife(program, maintain=policy)
            assert isinstance(query, KeptQuery)
            before = told(query)
            assert before == answer(naive, vertices, edges)
        if k == len(history):
            break
        batch, after = history[k]
        batch.apply(live)
        edges, vertices = after, batch.vertices
        if query is None:
            continue
        expected = answer(naive, vertices, edges)
        assert told(query) == expected
        changes = Counter(expected.items())
        changes.subtract(before.items())
        rows = query.changes().to_pylist()
        assert {(row["vertex"], row[program.state]): row["diff"] for row in rows} == {
            c: d for c, d in changes.items() if d
        }
        whole = trace(naive, vertices, edges)
        for v, steps in kept(query).items():
            assert set(steps) <= set(whole[v])
            assert steps[-1] == whole[v][-1]
        before = expected
