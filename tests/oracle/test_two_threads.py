"""Queries that are divided among two threads answer as one of them would alone."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import Edge, NaiveProgram, answer, trace
from tests.oracle.test_continuous import VERTICES, Batch, add, histories, kept, told
from tests.oracle.test_dropping import policies

from graphtide.frontier import JoinOnDemand, LiveGraph, family, ife
from graphtide.frontier.query import KeptQuery

maintenance = st.just(JoinOnDemand()) | policies


def naive(source: int) -> NaiveProgram:
    return NaiveProgram(add, min, {source: 0})


@given(history=histories(st.integers(0, 9)), policy=maintenance, great=st.booleans(), data=st.data())
def test_queries_in_two_threads(
    history: list[tuple[Batch, list[Edge]]], policy: Any, great: bool, data: st.DataObject
) -> None:
    # States that need eight bytes make both threads stop in the middle of a batch.
    factor = 2**32 if great else 1
    live = LiveGraph(weight=int)
    live.add_vertices(range(VERTICES))
    with patch.object(family, "_MANY", 2):
        sources = data.draw(st.lists(st.integers(0, VERTICES - 1), min_size=1, max_size=7))
        queries: list[tuple[int, KeptQuery]] = []
        before: dict[int, dict[int, Any]] = {}
        edges: list[Edge] = []
        for batch, after in history:
            for source in [sources.pop() for _ in range(data.draw(st.integers(0, len(sources))))]:
                query = live.ife(ife("add", initial={source: 0}, weight="weight"), maintain=policy)
                assert isinstance(query, KeptQuery)
                queries.append((source, query))
            if queries and data.draw(st.booleans()):
                queries.pop(data.draw(st.integers(0, len(queries) - 1)))[1].drop()
            before = {source: answer(naive(source), range(VERTICES), edges) for source in range(VERTICES)}
            live.apply(
                **{
                    word: [(u, v, factor * w) for u, v, w in rows]
                    for word, rows in (("insert", batch.insert), ("delete", batch.delete), ("update", batch.update))
                }
            )
            edges = [(u, v, factor * w) for u, v, w in after]
            for source, query in queries:
                expected = answer(naive(source), range(VERTICES), edges)
                assert told(query) == expected
                changes = Counter(expected.items())
                changes.subtract(before[source].items())
                rows = query.changes().to_pylist()
                found = {(row["vertex"], row["state"]): row["diff"] for row in rows}
                assert found == {change: diff for change, diff in changes.items() if diff}
                if policy == JoinOnDemand():
                    assert kept(query) == trace(naive(source), range(VERTICES), edges)
