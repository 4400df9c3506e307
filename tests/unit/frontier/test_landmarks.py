"""Landmarks: what they take and refuse, how they show, and that queries for pairs come and go with and without them."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.errors import CatalogueError, GraphtideError, SchemaError, UsageError
from graphtide.frontier.pair_query import PrunedQuery, SearchedQuery
from graphtide.frontier.query import KeptQuery, VanillaQuery


@pytest.fixture
def roads() -> gt.LiveGraph:
    live = gt.LiveGraph(ids=str, length=float, lanes=int, kind=str)
    live.apply(
        insert=[
            ("a", "b", 2.0, 1, "road"),
            ("b", "c", 1.5, 2, "track"),
            ("a", "c", 9.0, 2, "road"),
            ("c", "d", 1.0, 1, "road"),
            ("x", "y", 1.0, 1, "road"),
        ]
    )
    return live


def bytes_besides_ids(live: gt.LiveGraph) -> dict[str, int]:
    """By kind; a look-up of ids that are strings may remember how they are written."""
    rows = live.memory().to_pylist()
    return {row["kind"]: row["bytes"] for row in rows if row["kind"] != "ids"}


def test_landmarks_are_one_entry_among_the_queries(roads: gt.LiveGraph) -> None:
    before = roads.nbytes
    parts = bytes_besides_ids(roads)
    index = roads.landmarks(2, "length")
    assert set(roads.queries) == {"landmarks on length"}
    assert index.at == ["c", "a"]  # by degree, and then in the order in which they came
    assert index.differences == sum(part.differences for part in index.parts)
    assert roads.nbytes >= before + index.nbytes > before
    assert index.report.kind == "landmarks"
    assert index.report.policy == gt.JoinOnDemand()
    assert repr(index).startswith("<Landmarks landmarks on length: 2 on length, ")
    assert {"landmark": "c", "way": "to", "vertex": "a", "distance": 3.5} in index.result().to_pylist()
    applied = roads.apply(delete=[("b", "c")])
    assert {"landmark": "c", "way": "to", "vertex": "a", "distance": 9.0, "diff": 1} in applied[index.name].to_pylist()
    index.drop()
    assert roads.queries == {}
    assert bytes_besides_ids(roads) == parts  # nothing is left of it
    with pytest.raises(UsageError, match="was dropped"):
        index.bounds("a", "b")


def test_bounds_tell_what_is_known_without_a_search(roads: gt.LiveGraph) -> None:
    index = roads.landmarks(at=["c"], weight="length")
    assert index.bounds("a", "c") == (pytest.approx(3.5), pytest.approx(3.5))
    assert index.bounds("a", "d") == (0, pytest.approx(4.5))  # d does not reach c
    assert index.bounds("d", "a") == (None, None)  # c reaches d and not a
    assert index.bounds("x", "y") == (0, None)  # c knows nothing of them
    with pytest.raises(CatalogueError, match="there is no vertex 'z'"):
        index.bounds("a", "z")


@pytest.mark.parametrize(
    ("register", "error", "message"),
    [
        (lambda live: live.landmarks(1, "lenght"), SchemaError, 'no property "lenght"'),
        (lambda live: live.landmarks(1, "kind"), SchemaError, "not a number"),
        (lambda live: live.landmarks(0, "length"), UsageError, "no 0 landmarks"),
        (lambda live: live.landmarks(at=[]), UsageError, "no vertices are given"),
        (lambda live: live.landmarks(at=["a", "z"], weight="length"), CatalogueError, "no vertex 'z' to be a landmark"),
        (lambda _: gt.LiveGraph().landmarks(), UsageError, "0 vertices have no 10 landmarks"),
    ],
)
def test_bad_landmarks_are_refused(roads: gt.LiveGraph, register: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        register(roads)
    assert roads.queries == {}


def test_a_weight_has_one_index(roads: gt.LiveGraph) -> None:
    roads.landmarks(1, "length")
    with pytest.raises(CatalogueError, match='landmarks on "length" already'):
        roads.landmarks(2, "length")
    roads.landmarks(1, "lanes")
    roads.landmarks(1)
    with pytest.raises(CatalogueError, match="landmarks on numbers of edges already"):
        roads.landmarks(1)


def test_landmarks_prune_queries_on_their_own_weight(roads: gt.LiveGraph) -> None:
    early = roads.shortest_path("a", "d", "length")
    roads.landmarks(2, "length")
    late, other = roads.shortest_path("a", "d", "length"), roads.shortest_path("a", "d", "lanes")
    assert [isinstance(query, PrunedQuery) for query in (early, late, other)] == [False, True, False]
    assert isinstance(other, KeptQuery)
    flowing = roads.shortest_path("a", "d", "length", maintain=gt.Vanilla())
    assert isinstance(flowing, VanillaQuery)
    for query in (early, late, flowing):
        assert query.result().to_pylist() == [{"vertex": "d", "distance": 4.5}]
    assert other.result().to_pylist() == [{"vertex": "d", "distance": 3}]


def test_all_bytes_of_landmarks_and_pairs_are_told(roads: gt.LiveGraph) -> None:
    roads.landmarks(2, "length", maintain=gt.DeterministicDrop(gt.Random(1.0)))
    kept = roads.shortest_path("a", "d", "length")
    fresh = roads.shortest_path("a", "d", "length", maintain=gt.Scratch())
    assert [query.report.kind for query in (kept, fresh)] == ["shortest path"] * 2
    table = roads.memory()
    assert sum(table["bytes"].to_pylist()) == roads.nbytes
    assert "searches of length" in table["kind"].to_pylist()
    for query in roads.queries.values():
        assert query.nbytes == query.report.bytes
        query.drop()
    assert set(roads.memory()["kind"].to_pylist()) == {"edges", "ids"}


def test_within_a_budget_pairs_are_not_pruned(roads: gt.LiveGraph) -> None:
    roads.landmarks(2, "length", maintain=gt.Budget("1MB"))
    query = roads.shortest_path("a", "d", "length", maintain=gt.Budget("1MB"))
    pruned = roads.shortest_path("a", "d", "length")
    assert [isinstance(each, PrunedQuery) for each in (query, pruned)] == [False, True]
    for change in ({"delete": [("b", "c")]}, {"insert": [("a", "d", 3.0, 1, "road")]}):
        roads.apply(**change)
        assert query.result().equals(pruned.result())
        assert query.changes().equals(pruned.changes())


def test_landmarks_without_room_leave_nothing(roads: gt.LiveGraph) -> None:
    one = roads.sssp("c", "length", maintain=gt.Budget("1MB"))
    room = one.nbytes
    one.drop()
    with pytest.raises(GraphtideError, match="budget"):
        roads.landmarks(3, "length", maintain=gt.Budget(room))
    assert roads.queries == {}
    assert set(roads.memory()["kind"].to_pylist()) == {"edges", "ids"}


def test_networkx_has_the_distances_of_every_landmark(roads: gt.LiveGraph) -> None:
    graph = roads.landmarks(at=["b"], weight="lanes").to_networkx()
    assert graph.nodes["d"] == {"distance from b": 3}
    assert graph.nodes["a"] == {"distance to b": 1}


def test_states_in_a_region_become_as_long_as_those_of_others() -> None:
    live = gt.LiveGraph(length=int)
    live.apply(insert=[(0, 1, 1), (1, 2, 1), (2, 3, 1)])
    live.landmarks(1, "length")
    query = live.shortest_path(0, 3, "length")
    assert isinstance(query, PrunedQuery)
    far = 2**35
    for length in (far, 5, far + 1):
        live.apply(update=[(1, 2, length)])
        assert query.result().to_pylist() == [{"vertex": 3, "distance": length + 2}]
        assert query.path() == [0, 1, 2, 3]
    late = live.shortest_path(0, 1, "length")
    live.apply(update=[(0, 1, 7)])
    assert late.result().to_pylist() == [{"vertex": 1, "distance": 7}]


def test_weights_that_a_distance_could_not_be_told_with_are_refused(roads: gt.LiveGraph) -> None:
    index = roads.landmarks(1, "length")
    for bad in (float("inf"), 1e300, -1.0):
        with pytest.raises(SchemaError, match="takes no"):
            roads.apply(insert=[("a", "d", bad, 1, "road")])
    index.drop()
    roads.apply(insert=[("a", "d", float("inf"), 1, "road")])
    with pytest.raises(SchemaError, match="takes no length of inf"):
        roads.landmarks(1, "length")
    assert roads.queries == {}


@pytest.mark.parametrize("maintain", [gt.Scratch(), gt.JoinOnDemand()])
def test_pairs_have_a_path_to_their_target_alone(roads: gt.LiveGraph, maintain: Any) -> None:
    roads.landmarks(2, "length")
    query = roads.shortest_path("a", "d", "length", maintain=maintain)
    assert query.path() == query.path("d") == ["a", "b", "c", "d"]
    with pytest.raises(UsageError, match="has a path to 'd' alone, not to 'c'"):
        query.path("c")
    assert query.changes().num_rows == 0
    roads.apply(delete=[("c", "d")])
    assert query.path() == []
    assert query.changes().to_pylist() == [{"vertex": "d", "distance": 4.5, "diff": -1}]
    query.drop()
    with pytest.raises(UsageError, match="was dropped"):
        query.result()


def test_pairs_outlive_the_landmarks(roads: gt.LiveGraph) -> None:
    index = roads.landmarks(2, "length")
    kept = roads.shortest_path("a", "d", "length")
    fresh = roads.shortest_path("a", "d", "length", maintain=gt.Scratch())
    assert isinstance(kept, PrunedQuery)
    assert isinstance(fresh, SearchedQuery)
    index.drop()
    for change in ({"update": [("b", "c", 0.5, 2, "track")]}, {"insert": [("a", "d", 1.0, 1, "road")]}):
        roads.apply(**change)
        assert kept.result().equals(fresh.result())
    assert kept.path() == fresh.path() == ["a", "d"]
    roads.landmarks(1, "length")
    roads.apply(delete=[("a", "d")])
    assert kept.result().to_pylist() == fresh.result().to_pylist() == [{"vertex": "d", "distance": 3.5}]
    kept.drop()
    fresh.drop()
    assert set(roads.queries) == {"landmarks on length"}


def test_a_region_notices_that_a_vertex_with_an_exit_came_nearer() -> None:
    live = gt.LiveGraph(ids=str, length=int)
    live.apply(insert=[("s", "b", 5), ("b", "t", 5), ("s", "a", 8), ("a", "v", 4), ("v", "t", 0)])
    live.add_vertices(["nowhere"])
    live.landmarks(at=["nowhere"], weight="length")  # it says nothing: the region is a ball
    query = live.shortest_path("s", "t", "length")
    assert isinstance(query, PrunedQuery)
    assert query.members == 4  # all but v
    live.apply(update=[("s", "a", 3)])
    assert query.result().to_pylist() == [{"vertex": "t", "distance": 7}]
    assert query.path() == ["s", "a", "v", "t"]


def test_a_pair_may_be_of_vertices_that_are_not_there_yet(roads: gt.LiveGraph) -> None:
    roads.landmarks(2, "length")
    query = roads.shortest_path("new", "newer", "length")
    same = roads.shortest_path("new", "new", "length")
    assert query.result().num_rows == 0
    assert same.result().to_pylist() == [{"vertex": "new", "distance": 0.0}]
    roads.apply(insert=[("new", "newest", 1.0, 1, "road"), ("newest", "newer", 1.0, 1, "road")])
    assert query.result().to_pylist() == [{"vertex": "newer", "distance": 2.0}]
    assert query.path() == ["new", "newest", "newer"]
    assert same.path() == ["new"]


def test_long_ways_in_a_region_have_more_rounds_than_two_bytes_count() -> None:
    live = gt.LiveGraph()
    length = 33_000
    live.apply(insert=[(n, n + 1) for n in range(length)])
    live.landmarks(1)
    query = live.shortest_path(0, length)
    near = live.shortest_path(0, 10)
    live.apply(insert=[(0, 16_500)])
    assert query.result().to_pylist() == [{"vertex": length, "distance": 16_501}]
    live.apply(delete=[(0, 16_500)])
    assert query.result().to_pylist() == [{"vertex": length, "distance": length}]
    assert near.result().to_pylist() == [{"vertex": 10, "distance": 10}]
