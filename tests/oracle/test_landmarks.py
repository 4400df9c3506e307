"""Distances of single pairs with landmarks equal a recomputation after every batch, and what prunes them is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import Edge, NaiveProgram, answer, trace
from tests.oracle.test_continuous import VERTICES, Batch, add, histories, told
from tests.oracle.test_dropping import policies

from graphtide.frontier import Budget, JoinOnDemand, Landmarks, LiveGraph, Query, Scratch, Vanilla
from graphtide.frontier.pair_query import PrunedQuery, SearchedQuery

vertex = st.integers(0, VERTICES - 1)
INTS = st.one_of(st.integers(0, 9), st.just(2**33))  # most states fit into four bytes
BUDGETS = st.builds(Budget, st.sampled_from([20_000, 1_000_000]))
FLOATS = st.sampled_from([0.0, 0.1, 0.25, 0.7, 1e-9, 1e9])


def hop(state: Any, _: Any) -> Any:
    return state + 1


def distances(edges: Sequence[Edge], source: int, weight: str | None, along: str = "out") -> dict[int, Any]:
    return answer(NaiveProgram(hop if weight is None else add, min, {source: 0}, along), range(VERTICES), edges)


def check_path(query: Query, edges: list[Edge], distance: Any) -> None:
    """Some choice of edges along the path has the length that the query says."""
    path = query.path()
    if distance is None:
        assert path == []
        return
    assert (path[0], path[-1]) == (query.source, query.target)  # type: ignore[attr-defined]
    lengths = {0}
    for u, v in pairwise(path):
        lengths = {add(x, w) for x in lengths for s, t, w in edges if (s, t) == (u, v)}
    assert distance in lengths


def check_region(query: PrunedQuery, edges: list[Edge], weight: str | None) -> None:
    """The steps are those of the graph within the region, and no way over an exit is shorter than the bound."""
    bits = np.unpackbits(query.steps.region, bitorder="little")
    numbers = {v: query._edges.known(v) for v in range(VERTICES)}  # a vertex that was removed has none
    inside = {v for v, number in numbers.items() if number is not None and bits[number]}
    within = [(u, v, w) for u, v, w in edges if {u, v} <= inside]
    program = NaiveProgram(hop if weight is None else add, min, {query.source: 0})
    expected = trace(program, range(VERTICES), within)
    kept = {v: query.steps.trace(number) for v, number in numbers.items() if number is not None}
    if query.steps.dropping is None:
        assert {v: steps for v, steps in kept.items() if steps} == expected
        assert query.differences == sum(map(len, expected.values()))
    for v, steps in kept.items():
        assert set(steps) <= set(expected.get(v, []))
    rest = distances(edges, query.target, weight, "in")
    bound = query.steps.anchor[0]
    for u, v, w in edges:
        if u in inside and v not in inside and u != query.target and v in rest and u in expected:
            way = program.message(expected[u][-1][1], w) + rest[v]
            assert way >= bound or way == pytest.approx(bound, rel=1e-12)


def check_index(index: Landmarks, edges: list[Edge], weight: str | None, vertices: set[int]) -> None:
    """The distances are those of the graph, and bound all others."""
    rows = index.result().to_pylist()
    found = {(row["landmark"], row["way"], row["vertex"]): row["distance"] for row in rows}
    assert found == {
        (landmark, way, v): d
        for landmark in index.at
        for way, along in (("from", "out"), ("to", "in"))
        for v, d in distances(edges, landmark, weight, along).items()
    }
    for s in vertices:
        true = distances(edges, s, weight)
        for t in vertices:
            least, most = index.bounds(s, t)
            assert (inf if least is None else least) <= true.get(t, inf) <= (inf if most is None else most)


def check(numbers: st.SearchStrategy[Any], weight: str | None, type_: type, data: st.DataObject) -> None:
    live = LiveGraph(weight=type_)
    live.add_vertices(range(VERTICES))
    ends = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=3))
    at = data.draw(st.lists(vertex, min_size=1, max_size=3, unique=True))
    stay = {end for pair in ends for end in pair} | set(at)
    history: list[tuple[Batch, list[Edge]]] = data.draw(histories(numbers, removing=True, stay=stay))
    vertices = set(range(VERTICES))
    comes = data.draw(st.integers(0, len(history)))
    goes = data.draw(st.integers(comes, len(history) + 1))
    policy = data.draw(st.one_of(st.just(JoinOnDemand()), policies))
    index_policy = data.draw(
        st.one_of(st.just(JoinOnDemand()), policies, st.just(Scratch()), st.just(Vanilla()), BUDGETS)
    )
    queries = [live.shortest_path(*pair, weight, maintain=Scratch()) for pair in ends]
    assert all(isinstance(query, SearchedQuery) for query in queries)
    index: Landmarks | None = None
    edges: list[Edge] = []
    for k in range(len(history) + 1):
        if k == comes:
            index = live.landmarks(weight=weight, at=at, maintain=index_policy)
            pruned = [live.shortest_path(*pair, weight, maintain=policy) for pair in ends]
            assert all(isinstance(query, PrunedQuery) for query in pruned)
            queries += [*pruned, live.shortest_path(*ends[0], weight, maintain=Vanilla())]
        if k == goes and index is not None:
            index.drop()
            index = None
        before = [told(query) for query in queries]
        if k < len(history):
            batch, edges = history[k]
            batch.apply(live)
            vertices = batch.vertices
        for query, old, pair in zip(queries, before, [*ends, *ends, ends[0]], strict=False):
            distance = distances(edges, pair[0], weight).get(pair[1])
            expected = {} if distance is None else {pair[1]: distance}
            assert told(query) == expected
            if k < len(history):
                changes = Counter(expected.items())
                changes.subtract(old.items())
                rows = query.changes().to_pylist()
                found = {(row["vertex"], row["distance"]): row["diff"] for row in rows}
                assert found == {change: diff for change, diff in changes.items() if diff}
            if isinstance(query, PrunedQuery | SearchedQuery):
                check_path(query, [(u, v, w if weight else 1) for u, v, w in edges], distance)
            if isinstance(query, PrunedQuery):
                check_region(query, edges, weight)
        if index is not None:
            check_index(index, edges, weight, vertices)


@pytest.mark.parametrize("weight", ["weight", None])
@given(data=st.data())
def test_pairs_are_right_with_and_without_landmarks(weight: str | None, data: st.DataObject) -> None:
    check(INTS, weight, int, data)


@given(data=st.data())
def test_weights_of_pairs_may_be_floats(data: st.DataObject) -> None:
    check(FLOATS, "weight", float, data)


def dijkstra(edges: list[Edge], source: int) -> dict[int, Any]:
    out: dict[int, list[tuple[int, Any]]] = {}
    for u, v, w in edges:
        out.setdefault(u, []).append((v, w))
    found: dict[int, Any] = {}
    queue: list[tuple[Any, int]] = [(0, source)]
    while queue:
        d, u = heappop(queue)
        if u not in found:
            found[u] = d
            for v, w in out.get(u, []):
                heappush(queue, (d + w, v))
    return found


def grid(side: int, rng: np.random.Generator, type_: type) -> list[Edge]:
    """Streets both ways: most vertices are far off the way between two of them."""
    ways = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    ways += [(side * i + j, side * i + j + side) for i in range(side - 1) for j in range(side)]
    return [(u, v, type_(w)) for a, b in ways for u, v in ((a, b), (b, a)) for w in [rng.uniform(1, 100)]]


@pytest.mark.parametrize("type_", [int, float])
@pytest.mark.parametrize("seed", range(3))
def test_regions_hold_while_streets_close_and_open(type_: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    live = LiveGraph(length=type_)
    edges = grid(14, rng, type_)
    live.apply(insert=edges)
    pairs = [tuple(map(int, rng.choice(196, 2, replace=False))) for _ in range(8)]
    whole = [live.shortest_path(*pair, "length") for pair in pairs]
    live.landmarks(4, "length")
    pruned = [live.shortest_path(*pair, "length") for pair in pairs]
    searched = [live.shortest_path(*pair, "length", maintain=Scratch()) for pair in pairs]
    assert sum(query.differences for query in pruned) < sum(query.differences for query in whole) / 2
    closed: list[Edge] = []
    for turn in range(40):
        count = 100 if turn == 20 else int(rng.integers(1, 5))
        gone = [edges[k] for k in rng.choice(len(edges), count, replace=False)]
        opened, closed = closed, gone if turn % 2 else []
        slower = [] if turn % 2 else [(u, v, type_(w + rng.uniform(-w, 50))) for u, v, w in gone]
        live.apply(insert=opened, delete=closed, update=slower)
        edges = [edge for edge in edges if edge not in gone] + (slower or []) + opened
        for query, other, third, pair in zip(pruned, searched, whole, pairs, strict=True):
            distance = dijkstra(edges, pair[0]).get(pair[1])
            expected = {} if distance is None else {pair[1]: distance}
            assert told(query) == told(other) == told(third) == expected
            assert query.changes().equals(third.changes())
            assert other.changes().equals(third.changes())


@pytest.mark.parametrize("streets", [75, 110])
@pytest.mark.parametrize("seed", range(4))
def test_regions_notice_short_cuts_that_do_not_touch_them(seed: int, streets: int) -> None:
    rng = np.random.default_rng(seed)
    size, turns = 45, 100
    live = LiveGraph(length=int)
    live.add_vertices(range(size))
    edges = [(*map(int, rng.integers(0, size, 2)), int(rng.integers(20, 100))) for _ in range(streets)]
    live.apply(insert=edges)
    pairs = [tuple(map(int, rng.choice(size, 2, replace=False))) for _ in range(12)]
    landmarks = live.landmarks(2, "length")
    queries = [live.shortest_path(*pair, "length") for pair in pairs]
    for _ in range(turns):
        chance = rng.random()
        gone = [edges.pop(int(rng.integers(len(edges)))) for _ in range(int(chance < 0.5))]
        come = [(*map(int, rng.integers(0, size, 2)), int(rng.integers(0, 100))) for _ in range(int(chance > 0.4))]
        live.apply(insert=come, delete=gone)
        edges += come
        for query, (source, target) in zip(queries, pairs, strict=True):
            distance = dijkstra(edges, source).get(target)
            assert told(query) == ({} if distance is None else {target: distance})
    # Most batches leave most regions as they are: it is their certainty that is tried here.
    assert landmarks.pairs.enclosures < turns * len(pairs) / 5
