"""Programs that sum equal their definition bit by bit after every batch, whatever is kept of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.frontier_naive import Edge, NaiveProgram, NaiveSum, answer, sum_trace, sums_by_round
from tests.oracle.test_budget import FIXED
from tests.oracle.test_continuous import VERTICES, Batch, histories
from tests.oracle.test_dropping import policies

from graphtide.errors import CapacityError
from graphtide.frontier import (
    Budget,
    Degree,
    DeterministicDrop,
    JoinOnDemand,
    LiveGraph,
    ProbabilisticDrop,
    Query,
    Random,
    Scratch,
    SumProgram,
    Vanilla,
    ife,
    sums,
)
from graphtide.frontier.kernels.exact_sum import MOST_PARTS, add_part, rounded
from graphtide.frontier.query import SumQuery


def dealt(rank: Any, _: Any, degree: Any) -> Any:
    return rank / degree


def damped(_: Any, total: Any) -> Any:
    return 0.15 + 0.85 * total


def personal(begin: Any, total: Any) -> Any:
    return 0.2 * begin + 0.8 * total


def times(state: Any, weight: Any) -> Any:
    return state * weight


def tenth(state: Any) -> Any:
    return state / 10


def same(state: Any) -> Any:
    return state


def heavy(state: Any, weight: Any) -> Any:
    return state if weight > 0.5 else None


def parity(total: Any) -> Any:
    return total % 2


def added(begin: Any, total: Any) -> Any:
    return begin + total


INTS = (int, st.integers(0, 3))
CHANCES = (float, st.sampled_from([0.1, 0.3, 0.7, 1e-9, 1.0]))

# A program, the same by its definition, and weights of edges.
CASES: dict[str, tuple[SumProgram, NaiveSum, Any]] = {
    "pagerank": (
        ife(dealt, aggregate="sum", initial=1.0, rounds=5, finish=damped),
        NaiveSum(dealt, damped, 1.0, 5),
        INTS,
    ),
    "personal ranks, against the edges": (
        ife(dealt, aggregate="sum", initial={0: 1.0, 3: 0.5}, rounds=4, finish=personal, along="in"),
        NaiveSum(dealt, personal, {0: 1.0, 3: 0.5}, 4, along="in"),
        INTS,
    ),
    "walks": (
        ife(times, aggregate="sum", initial={0: 1}, rounds=4, weight="weight", finish=lambda _, total: total),
        NaiveSum(lambda s, w, _: s * w, lambda _, total: total, {0: 1}, 4),
        INTS,
    ),
    "weighted sums": (
        ife(times, aggregate="sum", initial=0.3, rounds=3, weight="weight"),
        NaiveSum(lambda s, w, _: s * w, added, 0.3, 3),
        CHANCES,
    ),
    "undirected": (
        ife(tenth, aggregate="sum", initial={1: 1, 2: 7}, rounds=4, along="both"),
        NaiveSum(lambda s, _, __: s / 10, added, {1: 1, 2: 7}, 4, along="both"),
        INTS,
    ),
    "parities over heavy edges": (
        ife(heavy, aggregate="sum", initial={0: 1, 5: 1}, rounds=6, weight="weight", finish=parity),
        NaiveSum(lambda s, w, _: s if w > 0.5 else None, lambda _, total: total % 2, {0: 1, 5: 1}, 6),
        CHANCES,
    ),
    "floats on int weights": (
        ife(times, aggregate="sum", initial=0.1, rounds=2, weight="weight"),
        NaiveSum(lambda s, w, _: s * w, added, 0.1, 2),
        INTS,
    ),
}


def told(query: Query) -> dict[int, Any]:
    return {row["vertex"]: row["state"] for row in query.result().to_pylist()}


def kept(query: SumQuery) -> dict[int, list[tuple[int, Any]]]:
    numbers = {v: query._edges.known(v) for v in range(VERTICES)}  # a vertex that was removed has none
    steps = {v: query.sums.trace(number) for v, number in numbers.items() if number is not None}
    return {v: own for v, own in steps.items() if own}


def check_batch(query: Query, expected: dict[int, Any], before: dict[int, Any]) -> None:
    assert told(query) == expected
    changes = Counter(expected.items())
    changes.subtract(before.items())
    rows = query.changes().to_pylist()
    assert {(row["vertex"], row["state"]): row["diff"] for row in rows} == {c: d for c, d in changes.items() if d}


# Never computed anew, now and then, and always.
dear = st.sampled_from([1e-9, 0.5, 4, 1e9])


@pytest.mark.parametrize("name", CASES)
@share(60)
@given(data=st.data(), dearer=dear)
def test_sums_are_maintained_bit_by_bit(name: str, data: st.DataObject, dearer: float) -> None:
    with patch.object(sums, "_DEARER", dearer):
        check_sums(name, data)


def check_sums(name: str, data: st.DataObject) -> None:
    program, naive, (kind, weight) = CASES[name]
    stay = naive.initial if isinstance(naive.initial, dict) else ()
    history: list[tuple[Batch, list[Edge]]] = data.draw(histories(weight, removing=True, stay=stay))
    live = LiveGraph(weight=kind)
    live.add_vertices(range(VERTICES))
    registered = data.draw(st.integers(0, len(history) - 1))
    queries: list[SumQuery] = []
    others: list[Query] = []
    before: dict[int, Any] = {}
    edges: list[Edge] = []
    vertices = set(range(VERTICES))
    for k, (batch, after) in enumerate(history):
        if k == registered:
            policy = data.draw(policies)
            for maintain in (JoinOnDemand(), policy):
                query = live.ife(program, maintain=maintain)
                assert isinstance(query, SumQuery)
                queries.append(query)
            others = [live.ife(program, maintain=each) for each in (Scratch(), Vanilla())]
            before = sums_by_round(naive, vertices, edges)[-1]
            assert all(told(query) == before for query in (*queries, *others))
        batch.apply(live)
        edges, vertices = after, batch.vertices
        if not queries:
            continue
        expected = sums_by_round(naive, vertices, edges)[-1]
        for query in (*queries, *others):
            check_batch(query, expected, before)
        whole = sum_trace(naive, vertices, edges)
        assert kept(queries[0]) == whole
        if len(vertices) == VERTICES:  # the numbers of those that are gone have steps of vertices without edges
            assert queries[0].differences == sum(map(len, whole.values()))
        for v, steps in kept(queries[1]).items():
            assert set(steps) <= set(whole[v])
        assert {v: steps[-1] for v, steps in kept(queries[1]).items()} == {v: steps[-1] for v, steps in whole.items()}
        if len(vertices) == VERTICES:
            assert queries[1].differences == sum(map(len, kept(queries[1]).values()))
        before = expected


ends = st.tuples(st.integers(0, VERTICES - 1), st.integers(0, VERTICES - 1))


@share(150)
@given(
    edges=st.lists(ends, min_size=10, max_size=25),
    batches=st.lists(st.tuples(st.lists(ends, max_size=2), st.integers(0, 2)), min_size=3, max_size=6),
    policy=st.one_of(
        st.builds(DeterministicDrop, st.sampled_from([Random(0.4), Random(1.0), Degree(0.5)])),
        st.builds(ProbabilisticDrop, st.sampled_from([Random(0.4), Random(1.0)]), st.sampled_from([1, 3, 10])),
    ),
    data=st.data(),
)
@patch.object(sums, "_DEARER", 1e-9)
def test_small_batches_follow_states_that_come_and_go(
    edges: list[tuple[int, int]], batches: list[tuple[list[tuple[int, int]], int]], policy: Any, data: st.DataObject
) -> None:
    # A parity changes at many rounds, and often back to what it was.
    program = ife(same, aggregate="sum", initial={0: 1, 5: 1}, rounds=9, finish=parity)
    naive = NaiveSum(lambda s, _, __: s, lambda _, total: total % 2, {0: 1, 5: 1}, 9)
    live = LiveGraph()
    live.add_vertices(range(VERTICES))
    live.apply(insert=edges)
    query = live.ife(program, maintain=policy)
    assert isinstance(query, SumQuery)
    for inserted, gone in batches:
        deleted = data.draw(st.permutations(edges))[:gone]
        live.apply(insert=inserted, delete=deleted)
        for edge in deleted:
            edges.remove(edge)
        edges += inserted
        weighted = [(u, v, 1) for u, v in edges]
        assert told(query) == sums_by_round(naive, range(VERTICES), weighted)[-1]
        whole = sum_trace(naive, range(VERTICES), weighted)
        assert {v: steps[-1] for v, steps in kept(query).items()} == {v: steps[-1] for v, steps in whole.items()}
        assert all(set(steps) <= set(whole[v]) for v, steps in kept(query).items())


@share(60)
@given(data=st.data(), policy=st.one_of(st.sampled_from([JoinOnDemand(), Scratch(), Vanilla()]), policies))
def test_new_vertices_have_states_of_their_own(data: st.DataObject, policy: Any) -> None:
    program, naive, _ = CASES["pagerank"]
    live = LiveGraph()
    query = live.ife(program, maintain=policy)
    edges: list[Edge] = []
    ids: dict[int, None] = {}
    before: dict[int, Any] = {}
    for _ in range(4):
        batch = data.draw(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6))
        live.apply(insert=batch)
        edges += [(u, v, 1) for u, v in batch]
        ids.update(dict.fromkeys(end for edge in batch for end in edge))
        expected = sums_by_round(naive, ids, edges)[-1]
        check_batch(query, expected, before)
        before = expected


@pytest.mark.parametrize("name", CASES)
@share(60)
@given(data=st.data(), dearer=dear)
def test_sums_within_a_budget_that_they_share(name: str, data: st.DataObject, dearer: float) -> None:
    with patch.object(sums, "_DEARER", dearer):
        check_sums_within_a_budget(name, data)


def check_sums_within_a_budget(name: str, data: st.DataObject) -> None:
    program, naive, (kind, weight) = CASES[name]
    stay = [0, *(naive.initial if isinstance(naive.initial, dict) else ())]
    history: list[tuple[Batch, list[Edge]]] = data.draw(histories(weight, removing=True, stay=stay))
    live = LiveGraph(weight=kind)
    live.add_vertices(range(VERTICES))
    budget = Budget(FIXED + data.draw(st.integers(0, 3_000)))
    hops = NaiveProgram(lambda state, _: state + 1, min, {0: 0})
    asked: list[tuple[Any, Callable[..., dict[int, Any]]]] = [
        (program, lambda edges: sums_by_round(naive, ids, edges)[-1]),
        (ife("hop", initial={0: 0}), lambda edges: answer(hops, ids, edges)),
    ]
    ids = dict.fromkeys(range(VERTICES))
    before: dict[Query, dict[int, Any]] = {}
    oracles: dict[Query, Callable[..., dict[int, Any]]] = {}
    for each, oracle in data.draw(st.permutations(asked)):
        try:
            query = live.ife(each, maintain=budget)
        except CapacityError:
            continue
        oracles[query], before[query] = oracle, oracle([])
    for batch, after in history:
        for vertex in batch.remove:
            # Others may have brought it back since.
            ids.pop(vertex, None)
        if batch.remove:
            batch.apply(live)
            assert live.vertices == len(ids)
            for query, oracle in oracles.items():
                expected = oracle(after)
                check_batch(query, expected, before[query])
                before[query] = expected
            continue
        ids.update(dict.fromkeys(end for edge in batch.insert for end in edge[:2]))
        ends = data.draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
        passing: list[Edge] = [(u, v, data.draw(weight)) for u, v in ends]
        for insert, delete, update, edges in (
            ([*batch.insert, *passing], batch.delete, batch.update, [*after, *passing]),
            ([], passing, [], after),
        ):
            live.apply(insert=insert, delete=delete, update=update)
            ids.update(dict.fromkeys(end for edge in passing for end in edge[:2]))
            assert budget.used == sum(query.nbytes for query in oracles) <= budget.bytes
            for query, oracle in oracles.items():
                expected = oracle(edges)
                check_batch(query, expected, before[query])
                before[query] = expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300), max_size=50))
def test_a_sum_is_exact_and_rounded_once(numbers: list[float]) -> None:
    parts = np.empty(MOST_PARTS)
    count = 0
    for number in numbers:
        count = add_part(parts, count, number)
    assert rounded(parts, count) == math.fsum(numbers)


@given(
    st.lists(st.sampled_from([1.0, 2.0**53, -(2.0**53), 2.0**-60, -(2.0**-60), 0.1, -0.1, 1e308, 1e308]), max_size=80)
)
def test_a_sum_beyond_all_floats_is_no_number_or_infinite(numbers: list[float]) -> None:
    parts = np.empty(MOST_PARTS)
    count = 0
    for number in numbers:
        count = add_part(parts, count, number)
        assert count < MOST_PARTS
    try:
        assert rounded(parts, count) == math.fsum(numbers)
    except OverflowError:
        assert not math.isfinite(rounded(parts, count))
