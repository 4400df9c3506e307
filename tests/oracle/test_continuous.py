"""Continuous queries equal a recomputation after every batch: answers, changes and every difference that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import Edge, NaiveProgram, answer, trace

from graphtide.frontier import LiveGraph, Program, Query, Scratch, Vanilla, ife
from graphtide.frontier.query import KeptQuery

VERTICES = 9

vertex = st.integers(0, VERTICES - 1)


def add(state: Any, weight: Any) -> Any:
    return state + weight


PROGRAMS: dict[str, tuple[Program, NaiveProgram]] = {
    "distances": (
        ife("add", initial={0: 0}, weight="weight"),
        NaiveProgram(add, min, {0: 0}),
    ),
    "distances to": (
        ife("add", initial={0: 0, 1: 3}, weight="weight", along="in"),
        NaiveProgram(add, min, {0: 0, 1: 3}, along="in"),
    ),
    "distances of at most 3 edges": (
        ife("add", initial={0: 0}, weight="weight", rounds=3),
        NaiveProgram(add, min, {0: 0}, rounds=3),
    ),
    "undirected distances": (
        ife("add", initial={0: 0}, weight="weight", along="both"),
        NaiveProgram(add, min, {0: 0}, along="both"),
    ),
    "hops": (
        ife("hop", initial={0: 0}, rounds=4),
        NaiveProgram(lambda state, _: state + 1, min, {0: 0}, rounds=4),
    ),
    "components": (
        Program("copy", initial=None, along="both"),
        NaiveProgram(lambda state, _: state, min, None, along="both"),
    ),
    "least that reaches": (
        Program("copy", initial=None),
        NaiveProgram(lambda state, _: state, min, None),
    ),
    "widest paths": (
        ife("narrowest", aggregate="max", initial={0: 100}, weight="weight"),
        NaiveProgram(min, max, {0: 100}),
    ),
}


@dataclass
class Batch:
    insert: list[Edge] = field(default_factory=list)
    delete: list[Edge] = field(default_factory=list)
    update: list[Edge] = field(default_factory=list)
    remove: list[int] = field(default_factory=list)  # vertices, with all edges at them; then there is nothing else
    vertices: set[int] = field(default_factory=lambda: set(range(VERTICES)))  # that are there after it

    def apply(self, live: LiveGraph) -> None:
        if self.remove:
            live.remove_vertices(self.remove)
        else:
            live.apply(insert=self.insert, delete=self.delete, update=self.update)


@st.composite
def histories(
    draw: st.DrawFn, weight: st.SearchStrategy[Any], *, removing: bool = False, stay: Iterable[int] = (0, 1)
) -> list[tuple[Batch, list[Edge]]]:
    """Batches, each with the edges that are there after it; a batch may change a large part of the graph.

    If they are `removing`, some remove vertices, but for those that `stay` because queries begin there; others bring
    these back.
    """
    edges: list[Edge] = []
    vertices = set(range(VERTICES))
    history: list[tuple[Batch, list[Edge]]] = []
    for _ in range(draw(st.integers(1, 8 if removing else 5))):
        batch = Batch()
        leaving = sorted(vertices - set(stay))
        if removing and leaving and draw(st.integers(0, 2)) == 0:
            batch.remove = draw(st.lists(st.sampled_from(leaving), min_size=1, unique=True))
            vertices -= set(batch.remove)
            batch.vertices = set(vertices)
            edges = [edge for edge in edges if not {*edge[:2]} & set(batch.remove)]
            history.append((batch, list(edges)))
            continue
        if edges:
            share = draw(st.sampled_from([0, 1, len(edges) // 4, len(edges)]))
            chosen = draw(st.lists(st.sampled_from(range(len(edges))), max_size=share, unique=True))
            pairs = Counter((u, v) for u, v, _ in edges)
            for at in chosen:
                u, v, w = edges[at]
                if pairs[u, v] == 1 and draw(st.booleans()):
                    batch.update.append((u, v, draw(weight)))
                else:
                    batch.delete.append((u, v, w))
        batch.insert = draw(st.lists(st.tuples(vertex, vertex, weight), max_size=12))
        for gone in batch.delete:
            edges.remove(gone)
        renewed = {(u, v): w for u, v, w in batch.update}
        edges = [(u, v, renewed.get((u, v), w)) for u, v, w in edges] + batch.insert
        vertices |= {end for edge in batch.insert for end in edge[:2]}
        batch.vertices = set(vertices)
        history.append((batch, list(edges)))
    return history


def told(query: Query) -> dict[int, Any]:
    rows = query.result().to_pylist()
    return {row["vertex"]: row[query.column] for row in rows}


def kept(query: KeptQuery) -> dict[int, list[tuple[int, Any]]]:
    sign = query.program.sign
    numbers = {v: query._edges.known(v) for v in range(VERTICES)}  # a vertex that was removed has none
    steps = {v: query.steps.trace(number) for v, number in numbers.items() if number is not None}
    return {each: [(r, sign * state) for r, state in own] for each, own in steps.items() if own}


def check_path(path: list[int], naive: NaiveProgram, edges: list[Edge], end: int, state: Any) -> None:
    """Some choice of edges along the path makes the state that the vertex has."""
    assert path[-1] == end
    states = {path[0] if naive.initial is None else naive.initial[path[0]]}
    for u, v in pairwise(path):
        forth = [w for s, t, w in edges if (s, t) == (u, v) and naive.along in {"out", "both"}]
        back = [w for s, t, w in edges if (t, s) == (u, v) and naive.along in {"in", "both"}]
        states = {naive.message(each, w) for each in states for w in forth + back} - {None}
    assert state in states


def check(program: Program, naive: NaiveProgram, history: list[tuple[Batch, list[Edge]]], type_: type) -> None:
    live = LiveGraph(weight=type_)
    live.apply(insert=[(v, v, type_(1)) for v in range(VERTICES)])  # all vertices are known
    live.apply(delete=[(v, v) for v in range(VERTICES)])
    query = live.ife(program)
    others = [live.ife(program, maintain=Scratch()), live.ife(program, maintain=Vanilla())]
    assert isinstance(query, KeptQuery)
    before = answer(naive, range(VERTICES), [])
    edges: list[Edge] = []
    for batch, edges in history:
        batch.apply(live)
        assert live.vertices == len(batch.vertices)
        expected = answer(naive, batch.vertices, edges)
        assert told(query) == expected
        for other in others:
            assert told(other) == expected
        changes = Counter((v, s) for v, s in expected.items())
        changes.subtract((v, s) for v, s in before.items())
        expected_changes = {change: diff for change, diff in changes.items() if diff}
        for each in (query, *others):
            rows = each.changes().to_pylist()
            assert {(row["vertex"], row[program.state]): row["diff"] for row in rows} == expected_changes
        expected_trace = trace(naive, batch.vertices, edges)
        assert kept(query) == expected_trace
        assert query.steps.differences == sum(map(len, expected_trace.values()))
        before = expected
        for v, state in expected.items():
            check_path(query.path(v), naive, edges, v, state)
    late = live.ife(program)
    assert isinstance(late, KeptQuery)
    assert told(live.ife(program, maintain=Vanilla())) == told(late)
    for other in others:
        other.drop()
    assert kept(late) == kept(query)
    assert live.edges == len(edges)


@pytest.mark.parametrize("name", PROGRAMS)
@given(data=st.data())
def test_vertices_go_and_come_back_as_others(name: str, data: st.DataObject) -> None:
    history = data.draw(histories(st.integers(0, 9), removing=True))
    check(*PROGRAMS[name], history, int)


@pytest.mark.parametrize("name", PROGRAMS)
@given(data=st.data())
def test_a_program_is_maintained_difference_by_difference(name: str, data: st.DataObject) -> None:
    history = data.draw(histories(st.integers(0, 9)))
    check(*PROGRAMS[name], history, int)


@given(data=st.data())
def test_weights_may_be_floats(data: st.DataObject) -> None:
    history = data.draw(histories(st.sampled_from([0.0, 0.1, 0.25, 0.7, 1e-9, 1e9])))
    check(*PROGRAMS["distances"], history, float)


@given(data=st.data())
def test_reliable_paths_multiply(data: st.DataObject) -> None:
    history = data.draw(histories(st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    program = ife("multiply", aggregate="max", initial={0: 1.0}, weight="weight")
    check(program, NaiveProgram(lambda state, weight: state * weight, max, {0: 1.0}), history, float)
