"""Vertices that are removed: what goes with them, what stays, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.ego import AllPush, NegativeMining
from graphtide.errors import CatalogueError, SchemaError


@pytest.fixture
def roads() -> gt.LiveGraph:
    live = gt.LiveGraph(ids=str, nodes={"state": str}, length=float, kind=str)
    live.apply(
        insert=[("a", "b", 2.0, "road"), ("b", "c", 1.5, "track"), ("a", "c", 9.0, "road"), ("b", "b", 1.0, "x")]
    )
    live.set_vertices([("a", "CA"), ("b", "NV")])
    return live


def everything(live: gt.LiveGraph) -> tuple[Any, ...]:
    rows = sorted((tuple(row.values()) for row in live.table().to_pylist()), key=str)
    return live.vertices, live.batches, rows, live.vertex_table().to_pylist()


def test_edges_and_properties_go_with_a_vertex(roads: gt.LiveGraph) -> None:
    near = roads.sssp("a", weight="length", name="near")
    changes = roads.remove_vertices(["b"])
    assert (roads.vertices, roads.edges) == (2, 1)
    assert sorted(roads.to_networkx().nodes) == ["a", "c"]
    assert roads.vertex_table().to_pylist() == [{"id": "a", "state": "CA"}, {"id": "c", "state": None}]
    assert near.result().to_pylist() == [{"vertex": "a", "distance": 0.0}, {"vertex": "c", "distance": 9.0}]
    assert {"vertex": "b", "distance": 2.0, "diff": -1} in changes["near"].to_pylist()
    with pytest.raises(CatalogueError, match="there is no vertex 'b'"):
        roads.apply(delete=[("a", "b")])
    assert near.path("b") == []
    roads.apply(insert=[("c", "b", 1.0, "road")])
    assert roads.vertex_table().to_pylist()[1] == {"id": "b", "state": None}
    assert near.path("b") == ["a", "c", "b"]


def test_an_unknown_vertex_is_named_and_nothing_is_removed(roads: gt.LiveGraph) -> None:
    before = everything(roads)
    with pytest.raises(CatalogueError, match="cannot remove vertex 'x': there is no such vertex"):
        roads.remove_vertices(["a", "x"])
    roads.remove_vertices(["a", "a"])
    with pytest.raises(CatalogueError, match="cannot remove vertex 'a'"):
        roads.remove_vertices(["a"])
    assert everything(roads)[0] == before[0] - 1


@pytest.mark.parametrize(
    ("register", "vertex"),
    [
        (lambda live: live.sssp("a", weight="length", name="q"), "a"),
        (lambda live: live.k_hop("a", 2, name="q"), "a"),
        (lambda live: live.shortest_path("b", "a", weight="length", name="q"), "a"),
        (lambda live: live.shortest_path("a", "b", maintain=gt.Scratch(), name="q"), "a"),
        (lambda live: live.shortest_path("a", "b", maintain=gt.Vanilla(), name="q"), "b"),
        (lambda live: live.landmarks(at=["c", "a"], name="q"), "a"),
        (lambda live: live.regular_path("road+", ["b", "a"], label="kind", name="q"), "a"),
        (lambda live: live.ife(gt.ife("add", initial={"a": 1, "b": 0}, weight="length"), name="q"), "a"),
    ],
)
def test_a_vertex_at_which_a_query_begins_or_ends_stays(roads: gt.LiveGraph, register: Any, vertex: str) -> None:
    query = register(roads)
    before = everything(roads), query.result().to_pylist()
    with pytest.raises(CatalogueError, match=f"cannot remove vertex '{vertex}': query \"q\" begins or ends there") as e:
        roads.remove_vertices([vertex])
    assert "drop the query first" in str(e.value.hint)
    assert (everything(roads), query.result().to_pylist()) == before
    query.drop()
    roads.remove_vertices([vertex])
    assert roads.vertices == 2


def test_a_batch_that_is_refused_brings_nobody_back(roads: gt.LiveGraph) -> None:
    parts, _ = roads.wcc(), roads.sssp("a", weight="length")
    roads.remove_vertices(["b"])
    before = everything(roads)
    for batch in (
        {"insert": [("x", "b", -1.0, "road")]},
        {"insert": [("x", "b", 1.0, "road")], "delete": [("c", "a")]},
    ):
        with pytest.raises((SchemaError, CatalogueError)):
            roads.apply(**batch)
        assert everything(roads) == before
    roads.add_vertices(["x", "y"])
    assert roads.vertices == 4
    assert sorted(row["vertex"] for row in parts.result().to_pylist()) == ["a", "c", "x", "y"]
    assert parts.changes()["vertex"].to_pylist() == ["x", "y"]


@pytest.mark.parametrize("maintain", [gt.JoinOnDemand(), gt.Scratch(), gt.Vanilla(), gt.Budget("1MB")])
def test_vertices_that_pass_through_leave_no_room_behind(maintain: Any) -> None:
    live = gt.LiveGraph(maintain=maintain)
    live.apply(insert=[(0, 1), (1, 2)])
    parts, near, ranks = live.wcc(), live.k_hop(0, 3), live.pagerank(2)
    ego = live.ego("sum", window=gt.Last(2))
    sizes = []
    for turn in range(1, 31):
        ids = range(100 * turn, 100 * turn + 50)
        live.apply(insert=[(2, vertex) for vertex in ids])
        ego.write_many(list(ids), [1] * len(ids))
        assert live.vertices == 53
        assert parts.result().num_rows == near.result().num_rows == ranks.result().num_rows == 53
        live.remove_vertices(list(ids))
        sizes.append(live.nbytes)
    assert live.vertices == parts.result().num_rows == 3
    assert ego.table()["vertex"].to_pylist() == [0, 1, 2]
    # A dataflow keeps as much as its traces need, which are merged now and then.
    assert max(sizes[10:]) <= 2 * max(sizes[:10])


# -- ego aggregates


def test_a_vertex_that_comes_back_has_written_nothing() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 3), (2, 3), (3, 1)])
    last, timed = live.ego("sum", window=gt.Last(2)), live.ego("count", window=gt.Within(10))
    last.write_many([1, 1, 2], [4, 5, 7])
    timed.write_many([1, 1, 2], ["x", "y", "z"], [1, 2, 3])
    live.remove_vertices([1])
    assert (last.read(3), timed.read(3)) == (7, 1)
    for call in (last.read, timed.read, lambda vertex: last.write(vertex, 1)):
        with pytest.raises(CatalogueError, match="there is no such vertex"):
            call(1)
    live.apply(insert=[(1, 3)])
    assert (last.read(3), timed.read(3)) == (7, 1)
    last.write(1, 1)
    timed.write(1, "w", at=9)
    assert (last.read(3), timed.read(3)) == (8, 2)
    timed.advance(12)  # what the one before wrote expires
    assert timed.read(3) == 2
    timed.advance(13)
    assert timed.read(3) == 1
    last.adapt()
    last.rebuild()
    assert last.read(3) == 8


def test_readers_by_id_are_those_that_were_there() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 3), (2, 4)])
    ego = live.ego("count", readers=[3, 4], neighbours=[1, 2])
    ego.write_many([1, 2], [1, 1])
    live.remove_vertices([1, 4])
    assert ego.table().to_pylist() == [{"vertex": 3, "value": 0}]
    live.apply(insert=[(1, 3), (2, 4), (2, 3)])
    ego.write(1, 1)
    assert ego.table().to_pylist() == [{"vertex": 3, "value": 1}]


def test_those_who_watch_hear_of_the_neighbours_of_a_removed_vertex_not_of_itself() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 3), (2, 3), (2, 1)])
    ego = live.ego("sum", with_ego=True)
    told: list[Any] = []
    ego.on_change(lambda changes: told.extend(changes.to_pylist()))
    ego.write_many([1, 2], [4, 5])
    told.clear()
    live.remove_vertices([1])
    assert told == [{"vertex": 3, "before": 9, "after": 5}]


def test_what_is_subtracted_of_a_shared_aggregate_goes_with_its_writer() -> None:
    live = gt.LiveGraph()
    # Neighbourhoods alike but for one vertex: partial aggregates of all, less one.
    live.apply(insert=[(w, 100 + r) for r in range(12) for w in range(12) if w != r])
    ego = live.ego("sum", overlay=NegativeMining(), decide=AllPush())
    assert ego.explain().partials > 0
    ego.write_many(list(range(12)), [10**n for n in range(12)])
    live.remove_vertices([3, 7])
    ego.plan.check_invariants()
    whole = sum(10**n for n in range(12) if n not in {3, 7})
    assert [ego.read(100 + r) for r in range(12)] == [whole - (0 if r in {3, 7} else 10**r) for r in range(12)]
