"""Programs whose messages users write: the same laws as for ours, under every policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.frontier_naive import NaiveProgram, answer, trace
from tests.oracle.test_continuous import VERTICES, Batch, Edge, check, histories, kept, told
from tests.oracle.test_dropping import policies

from graphtide.frontier import LiveGraph, Program, ife
from graphtide.frontier.query import KeptQuery


def longer(state: Any, weight: Any) -> Any:
    return state + weight


def narrowest(state: Any, weight: Any) -> Any:
    return min(state, weight)


def product(state: Any, weight: Any) -> Any:
    return state * weight


def light(state: Any, weight: Any) -> Any:
    return state if weight < 5 else None


def saturating(state: Any, weight: Any) -> Any:
    return min(state + weight // 2, 7)


def twice(state: Any, weight: Any) -> Any:
    return 2 * state + weight


def fading(state: Any, weight: Any) -> Any:
    left = state / 2 - weight
    return left if left >= 0 else None


def heavy_edges(state: Any, weight: Any) -> Any:
    return state + 1 if weight > 0.5 else state


def faded(state: Any) -> Any:
    return state * 0.5


Weights = tuple[type, st.SearchStrategy[Any]]
INTS: Weights = (int, st.integers(0, 9))
CHANCES: Weights = (float, st.sampled_from([0.0, 0.25, 0.5, 1.0]))

# A function, its aggregate, where it begins, along which edges, until which round, and weights of edges.
CASES: dict[str, tuple[Callable[..., Any], Any, Any, Any, int | None, Weights]] = {
    "distances": (longer, "min", {0: 0}, "out", None, INTS),
    "undirected distances": (longer, "min", {0: 0, 3: 2}, "both", 5, INTS),
    "longest walks of 4 edges": (longer, "max", {0: 0}, "out", 4, INTS),
    "widest paths": (narrowest, "max", {0: 100}, "out", None, INTS),
    "widest paths backwards": (narrowest, "max", {0: 6, 1: 4}, "in", None, INTS),
    "reliable paths": (product, "max", {0: 1.0}, "out", None, CHANCES),
    "least id over light edges": (light, "min", None, "both", None, INTS),
    "light edges from two": (light, "min", {0: 1, 1: 0}, "out", None, INTS),
    "plateaus": (saturating, "min", {0: 0, 1: 5}, "out", None, INTS),
    "doubling": (twice, "min", {0: 1}, "out", 6, INTS),
    "float states on int weights": (fading, "max", {0: 64.0}, "out", None, INTS),
    "int states on float weights": (heavy_edges, "min", {0: 0}, "out", None, CHANCES),
    "no weights": (faded, "max", {0: 1, 2: 8}, "out", None, INTS),
}
UNWEIGHTED = {"no weights"}


def programs(name: str) -> tuple[Program, NaiveProgram]:
    function, aggregate, initial, along, rounds, _ = CASES[name]
    weight = None if name in UNWEIGHTED else "weight"
    naive = (lambda state, _: function(state)) if name in UNWEIGHTED else function
    program = ife(function, aggregate=aggregate, initial=initial, weight=weight, along=along, rounds=rounds)
    return program, NaiveProgram(naive, min if aggregate == "min" else max, initial, along, rounds)


@pytest.mark.parametrize("name", CASES)
@share(40)
@given(data=st.data())
def test_a_users_program_is_maintained_difference_by_difference(name: str, data: st.DataObject) -> None:
    kind, weight = CASES[name][-1]
    check(*programs(name), data.draw(histories(weight)), kind)


@pytest.mark.parametrize("name", CASES)
@share(60)
@given(data=st.data())
def test_dropping_changes_no_answer_of_a_users_program(name: str, data: st.DataObject) -> None:
    kind, weight = CASES[name][-1]
    program, naive = programs(name)
    history: list[tuple[Batch, list[Edge]]] = data.draw(histories(weight))
    live = LiveGraph(weight=kind)
    live.add_vertices(range(VERTICES))
    query = live.ife(program, maintain=data.draw(policies))
    assert isinstance(query, KeptQuery)
    before = told(query)
    for batch, edges in history:
        live.apply(insert=batch.insert, delete=batch.delete, update=batch.update)
        expected = answer(naive, range(VERTICES), edges)
        assert told(query) == expected
        changes = Counter(expected.items())
        changes.subtract(before.items())
        rows = query.changes().to_pylist()
        assert {(row["vertex"], row["state"]): row["diff"] for row in rows} == {c: d for c, d in changes.items() if d}
        whole = trace(naive, range(VERTICES), edges)
        for v, steps in kept(query).items():
            assert set(steps) <= set(whole[v])
            assert steps[-1] == whole[v][-1]
        before = expected


def test_functions_and_names_live_side_by_side() -> None:
    live = LiveGraph(weight=int)
    live.apply(insert=[(n, (3 * n + 1) % 20, n % 7) for n in range(60)])
    queries = [live.ife(ife(message, initial={0: 0}, weight="weight")) for message in ("add", longer, "add", longer)]
    live.apply(delete=[(5, 16, 5)], insert=[(0, 16, 1)])
    assert all(query.result().equals(queries[0].result()) for query in queries)
    queries[1].drop()
    live.apply(insert=[(0, 16, 0)])
    assert queries[3].result().equals(queries[0].result())
