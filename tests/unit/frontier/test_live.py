"""Live graphs: what they take, what they refuse, and that a batch is applied whole or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.errors import CatalogueError, CompactedError, SchemaError, StatementError, UsageError
from graphtide.frontier.kernels import fields
from graphtide.frontier.query import KeptQuery


@pytest.fixture
def roads() -> gt.LiveGraph:
    live = gt.LiveGraph(ids=str, length=float, kind=str)
    live.apply(insert=[("a", "b", 2.0, "road"), ("b", "c", 1.5, "track"), ("a", "c", 9.0, "road")])
    return live


def state(live: gt.LiveGraph, query: gt.Query) -> tuple[int, list[Any]]:
    return live.edges, query.result().to_pylist()


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        ({"delete": [("a", "x")]}, CatalogueError, r"row 0, \('a', 'x'\): there is no vertex 'x'"),
        ({"delete": [("c", "a")]}, CatalogueError, r"row 0, \('c', 'a'\): there is no such edge"),
        ({"delete": [("a", "b"), ("a", "b")]}, CatalogueError, r"row 1, .*there is no such edge"),
        ({"delete": [("a", "b", 3.0, "road")]}, CatalogueError, r"\('a', 'b', 3.0, 'road'\): there is no such edge"),
        ({"update": [("c", "b", 1.0, "road")]}, CatalogueError, "cannot update row 0"),
        ({"update": [{"src": "a", "dst": "b", "lenght": 1.0}]}, SchemaError, 'edges have no property "lenght"'),
        ({"insert": [("a", "b")]}, SchemaError, "row 0 has 2 values"),
        ({"insert": [("a", "b", 1.0, "road"), ("a", "d", -1.0, "road")]}, SchemaError, r"row 1, .*takes no -1.0"),
        ({"insert": [("a", "d", float("nan"), "road")]}, SchemaError, "takes no nan"),
        ({"update": [("a", "b", -2.0, "road")]}, SchemaError, r"cannot update row 0, .*takes no -2.0"),
        ({"delete": [("a", "b", 2.0)]}, SchemaError, "row 0 to delete has 3 values"),
    ],
)
def test_a_bad_row_leaves_everything_as_it_was(
    roads: gt.LiveGraph, batch: dict[str, Any], error: type[Exception], message: str
) -> None:
    query = roads.sssp("a", weight="length")
    before = state(roads, query)
    good: dict[str, Any] = {"insert": [("b", "a", 1.0, "road")]} if "insert" not in batch else {}
    with pytest.raises(error, match=message):
        roads.apply(**batch, **good)
    assert state(roads, query) == before
    roads.apply(delete=[("b", "c")])
    assert query.result().to_pylist()[-1] == {"vertex": "c", "distance": 9.0}


def test_parallel_edges_that_differ_are_told_apart_by_their_properties(roads: gt.LiveGraph) -> None:
    roads.apply(insert=[("a", "b", 5.0, "road")])
    with pytest.raises(CatalogueError, match="2 edges between these vertices differ"):
        roads.apply(delete=[("a", "b")])
    query = roads.sssp("a", weight="length")
    roads.apply(delete=[("a", "b", 2.0, "road")])
    assert {"vertex": "b", "distance": 5.0} in query.result().to_pylist()
    roads.apply(delete=[("a", "b")])
    assert roads.edges == 2


def test_edges_come_from_tables_of_every_make() -> None:
    rows = [(1, 2, 3), (2, 3, 4)]
    table = pa.table({"src": [1, 2], "dst": [2, 3], "w": [3, 4]})
    frames: list[Any] = [
        rows,
        np.array(rows),
        table,
        table.to_pandas(),
        [{"src": s, "dst": d, "w": w} for s, d, w in rows],
    ]
    for frame in frames:
        live = gt.LiveGraph(w=int)
        live.apply(insert=frame)
        query = live.sssp(1, weight="w")
        assert [row["distance"] for row in query.result().to_pylist()] == [0, 3, 7]
        live.apply(delete=frame)
        assert live.edges == 0
        assert query.result().to_pylist() == [{"vertex": 1, "distance": 0}]


def test_edges_and_answers_go_to_other_libraries(roads: gt.LiveGraph) -> None:
    frame = roads.to_pandas()
    assert sorted(frame.itertuples(index=False, name=None)) == [
        ("a", "b", 2.0, "road"),
        ("a", "c", 9.0, "road"),
        ("b", "c", 1.5, "track"),
    ]
    near = roads.shortest_path("a", "c", weight="length", name="<near>")
    assert near.to_pandas().to_dict("records") == near.to_polars().to_dicts() == near.result().to_pylist()
    graph = near.to_networkx()
    assert graph.nodes["c"] == {"distance": 3.5}
    assert graph.nodes["b"] == {}
    assert sorted(graph.edges(data="length")) == [("a", "b", 2.0), ("a", "c", 9.0), ("b", "c", 1.5)]
    assert "&lt;near&gt;" in near._repr_html_()
    assert "<td>3.5</td>" in near._repr_html_()
    near.drop()
    for told in (near.to_pandas, near.to_networkx):
        with pytest.raises(UsageError, match="was dropped"):
            told()


def test_edges_are_told_as_they_came() -> None:
    rows = [(1, 2, -0.5, None, True), (1, 2, None, "x", False), (2, 1, float("inf"), "", None), (3, 3, 0.0, "y", True)]
    live = gt.LiveGraph(weight=float | None, name=str | None, is_open=bool | None)
    live.apply(insert=rows)
    live.add_vertices([9])
    assert sorted((tuple(row.values()) for row in live.table().to_pylist()), key=str) == sorted(rows, key=str)
    again = gt.LiveGraph(weight=float | None, name=str | None, is_open=bool | None)
    again.apply(insert=live.table())
    live.apply(delete=again.table())
    assert (live.edges, again.edges) == (0, 4)
    assert sorted(live.to_networkx().nodes) == [1, 2, 3, 9]
    assert again.to_networkx().get_edge_data(1, 2)[0] in (
        {"weight": -0.5, "is_open": True},
        {"name": "x", "is_open": False},
    )


def test_queries_come_and_go(roads: gt.LiveGraph) -> None:
    near = roads.sssp("a", weight="length", name="near")
    with pytest.raises(CatalogueError, match='"near" already'):
        roads.wcc(name="near")
    parts, hops = roads.wcc(), roads.k_hop("a", 1)
    near.drop()
    with pytest.raises(UsageError, match='"near" was dropped'):
        near.result()
    roads.apply(insert=[("c", "z", 1.0, "road")])
    assert {row["component"] for row in parts.result().to_pylist()} == {"a"}
    assert hops.result().num_rows == 3
    assert set(roads.queries) == {parts.name, hops.name}


def test_queries_may_speak_of_vertices_that_are_not_there_yet(roads: gt.LiveGraph) -> None:
    kinds = [gt.JoinOnDemand(), gt.Scratch(), gt.Vanilla(), gt.DeterministicDrop(gt.Random(0.5))]
    parts = [roads.wcc(maintain=kind) for kind in kinds]
    ranks = roads.pagerank(2)
    roads.regular_path("road+", ["a"], label="kind")
    for n in range(100):
        roads.k_hop(f"new{n}", 1)
    for query in parts:
        assert query.result().num_rows == roads.vertices == 103
    assert ranks.result().num_rows == 103
    near = roads.sssp("a", weight="length")
    assert near.path("nowhere") == []
    assert roads.vertices == 103
    roads.apply(insert=[("c", "new99", 1.0, "road")])
    for query in parts:
        assert {row["vertex"]: row["component"] for row in query.result().to_pylist()}["new99"] == "a"


def test_a_query_registered_late_has_no_changes_yet(roads: gt.LiveGraph) -> None:
    roads.apply(insert=[("c", "d", 1.0, "road")])
    query = roads.sssp("a", weight="length")
    assert query.changes().num_rows == 0
    roads.apply(delete=[("c", "d")])
    assert query.changes().to_pylist() == [{"vertex": "d", "distance": 4.5, "diff": -1}]


@pytest.mark.parametrize(
    ("register", "error", "message"),
    [
        (lambda live: live.sssp("a", weight="lenght"), SchemaError, 'no property "lenght"'),
        (lambda live: live.sssp("a", weight="kind"), SchemaError, "not a number"),
        (lambda live: live.regular_path("raod*", ["a"], label="kind"), StatementError, 'no edge has the kind "raod"'),
        (lambda live: live.regular_path("road (", ["a"], label="kind"), StatementError, "column 7"),
        (lambda live: live.regular_path("road", ["a"]), SchemaError, 'no property "label"'),
        (lambda live: live.regular_path("road", ["a"], label="length"), SchemaError, "labels that are strings"),
        (lambda live: live.regular_path("road", [7], label="kind"), SchemaError, "7"),
        (lambda live: live.pagerank(0), UsageError, "0 rounds"),
        (lambda live: live.k_hop("a", -1), UsageError, "-1 rounds"),
        (lambda _: gt.ife("add", initial={"a": 0}), UsageError, "needs weight"),
        (lambda _: gt.ife("hop"), UsageError, "needs initial states"),
        (lambda _: gt.ife("hop", initial={"a": float("nan")}), UsageError, "cannot begin with nan"),
        (
            lambda _: gt.ife("multiply", aggregate="max", initial={"a": -1.0}, weight="length"),
            UsageError,
            "cannot begin with -1.0",
        ),
        (lambda live: live.ife(gt.ife("hop", initial={"a": 0.5})), SchemaError, "cannot begin with 0.5"),
        (lambda live: live.ife(gt.ife("hop", initial={"a": 2**41})), SchemaError, "ints of at most"),
        (lambda _: gt.ife("add", aggregate="max", initial={}, weight="length"), UsageError, "no program has"),
    ],
)
def test_a_bad_query_is_refused(roads: gt.LiveGraph, register: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        register(roads)
    assert roads.queries == {}


def test_a_graph_with_bad_weights_refuses_a_query_that_cannot_take_them(roads: gt.LiveGraph) -> None:
    roads.apply(insert=[("c", "a", -1.0, "road")])
    with pytest.raises(SchemaError, match=r"takes no length of -1\.0"):
        roads.sssp("a", weight="length")


POLICIES = [
    gt.JoinOnDemand(),
    gt.Scratch(),
    gt.Vanilla(),
    gt.DeterministicDrop(gt.Degree(0.5)),
    gt.ProbabilisticDrop(gt.Random(1.0)),
]


@pytest.mark.parametrize("maintain", POLICIES)
def test_vertices_that_a_batch_brings_are_among_its_changes(roads: gt.LiveGraph, maintain: Any) -> None:
    parts = roads.wcc(maintain=maintain)
    anywhere = roads.regular_path("road*", label="kind", maintain=maintain)
    roads.apply(insert=[("c", "d", 1.0, "track"), ("x", "x", 1.0, "road")])
    assert sorted(map(tuple, (row.values() for row in parts.changes().to_pylist()))) == [("d", "a", 1), ("x", "x", 1)]
    assert sorted(map(tuple, (row.values() for row in anywhere.changes().to_pylist()))) == [("d", 0, 1), ("x", 0, 1)]


@pytest.mark.parametrize("maintain", POLICIES)
def test_a_query_tells_its_changes_until_the_next_batch(roads: gt.LiveGraph, maintain: Any) -> None:
    near = roads.sssp("a", weight="length", maintain=maintain)
    roads.apply(insert=[("c", "d", 1.0, "track")])
    later = roads.sssp("b", weight="length", maintain=maintain)
    assert near.changes().to_pylist() == [{"vertex": "d", "distance": 4.5, "diff": 1}]
    assert later.changes().num_rows == 0
    roads.apply(delete=[("c", "d")])
    assert [each.changes().num_rows for each in (near, later)] == [1, 1]


@pytest.mark.parametrize("maintain", POLICIES)
def test_paths_are_there_under_every_policy(maintain: Any) -> None:
    live = gt.LiveGraph(ids=str, maintain=maintain, length=float, kind=str)
    live.apply(insert=[("a", "b", 2.0, "road"), ("b", "c", 1.5, "track"), ("c", "a", 1.0, "road")])
    near = live.sssp("a", weight="length")
    round_trip = live.regular_path("road track (road | ^track)+", ["a"], label="kind")
    assert near.path("c") == ["a", "b", "c"]
    assert round_trip.path("a") == ["a", "b", "c", "a"]
    assert round_trip.path("b") == ["a", "b", "c", "b"]
    assert round_trip.path("c") == round_trip.path("nowhere") == []
    with pytest.raises(UsageError, match="needs an end"):
        round_trip.path()


def test_a_pattern_may_outlive_the_last_edge_with_its_label(roads: gt.LiveGraph) -> None:
    query = roads.regular_path("track", label="kind")
    roads.apply(delete=[("b", "c")])
    assert query.result().num_rows == 0
    roads.apply(insert=[("c", "a", 1.0, "track"), ("a", "c", 1.0, "path")])
    assert query.result().to_pylist() == [{"vertex": "a", "length": 1}]
    assert roads.regular_path("path track", label="kind").result().num_rows == 1


def test_what_is_dropped_of_a_path_query_goes_by_the_degrees_of_the_product() -> None:
    live = gt.LiveGraph(label=str)
    # Every vertex has many edges, and few with a label that the pattern names.
    live.apply(insert=[(n, n + 1, "a") for n in range(20)] + [(n, m, "b") for n in range(20) for m in range(10)])
    drop = gt.DeterministicDrop(gt.Degree(0.5))
    few, wide = live.regular_path("a+", [0], maintain=drop), live.k_hop(0, 3, maintain=drop)
    assert isinstance(few, KeptQuery)
    assert isinstance(wide, KeptQuery)
    assert few.steps.row[fields.HIGH_DEGREE] <= 3
    assert wide.steps.row[fields.HIGH_DEGREE] > 10


def test_long_paths_have_more_rounds_than_two_bytes_count() -> None:
    live = gt.LiveGraph()
    length = 40_000
    live.apply(insert=np.column_stack([np.arange(30_000), np.arange(30_000) + 1]))
    early = live.sssp(0)
    live.apply(insert=np.column_stack([np.arange(30_000, length), np.arange(30_000, length) + 1]))
    late = live.sssp(0)
    for query in (early, late):
        answer = query.result()
        assert answer.num_rows == length + 1
        assert answer["distance"].to_pylist()[-1] == length
    live.apply(delete=[(20_000, 20_001)])
    assert early.result().num_rows == late.result().num_rows == 20_001


def test_a_batch_tells_the_changes_of_every_query(roads: gt.LiveGraph) -> None:
    near, parts = roads.sssp("a", weight="length", name="near"), roads.wcc(name="parts")
    applied = roads.apply(delete=[("b", "c")], insert=[("c", "d", 1.0, "road")])
    assert set(applied) == {"near", "parts"}
    assert applied["near"].equals(near.changes())
    assert applied["parts"].equals(parts.changes())
    with pytest.raises(CatalogueError, match='no query "nera"'):
        applied["nera"]
    roads.apply()
    with pytest.raises(CompactedError, match="changes of batch 2 are gone"):
        applied["near"]


@pytest.mark.parametrize("maintain", [gt.Scratch(), gt.Vanilla(), gt.JoinOnDemand()])
def test_weights_that_add_up_too_high_are_refused(maintain: Any) -> None:
    live = gt.LiveGraph(length=int)
    live.apply(insert=[(1, 2, 2**40)])
    query = live.sssp(1, weight="length", maintain=maintain)
    with pytest.raises(SchemaError, match=r"takes no 1099511627777"):
        live.apply(insert=[(2, 3, 2**40 + 1)])
    live.apply(insert=[(2, 3, 2**40)])
    assert query.result()["distance"].to_pylist() == [0, 2**40, 2**41]


@pytest.mark.parametrize("drop", [gt.DeterministicDrop, gt.ProbabilisticDrop])
def test_dropped_differences_are_counted_and_paths_are_still_there(drop: Any) -> None:
    live = gt.LiveGraph(length=int)
    # The longer the way, the shorter: every vertex on it has many steps.
    live.apply(insert=[(0, n, 10 * n) for n in range(1, 20)] + [(n, n + 1, 1) for n in range(1, 20)])
    whole, few = live.sssp(0, weight="length"), live.sssp(0, weight="length", maintain=drop(gt.Random(1.0)))
    assert isinstance(few, KeptQuery)
    assert few.differences + few.dropped == whole.differences
    assert few.differences == few.result().num_rows
    assert few.path(20) == whole.path(20)
    live.apply(delete=[(18, 19)])
    assert few.result().equals(whole.result())
    assert few.recomputed > 0
    assert few.spurious <= few.recomputed


@pytest.mark.parametrize(
    "make", [lambda: gt.Random(1.5), lambda: gt.Degree(-1), lambda: gt.ProbabilisticDrop(gt.Random(1), 0)]
)
def test_a_bad_policy_is_refused(make: Any) -> None:
    with pytest.raises(UsageError):
        make()


def test_vanilla_queries_answer_for_their_own_operators(roads: gt.LiveGraph) -> None:
    one = roads.sssp("a", weight="length", maintain=gt.Vanilla())
    differences, nbytes = one.differences, one.nbytes
    another = roads.sssp("a", weight="length", maintain=gt.Vanilla())
    assert one.differences == differences
    assert one.nbytes <= nbytes  # what the run needed is let go of
    assert another.differences == one.differences > roads.sssp("a", weight="length").differences


def test_a_hub_is_looked_at_once_for_a_change_that_does_not_matter_to_it() -> None:
    live = gt.LiveGraph(length=int)
    leaves = range(2, 3_000)
    live.apply(insert=[(0, 1, 1), *((0, leaf, 5) for leaf in leaves), *((leaf, 1, 5) for leaf in leaves)])
    query = live.sssp(0, weight="length")
    assert isinstance(query, KeptQuery)
    for change in ({"delete": [(7, 1)]}, {"insert": [(0, 9, 3)]}, {"update": [(0, 11, 50)]}, {"delete": [(0, 12)]}):
        before = query.family.looks
        live.apply(**change)
        assert query.family.looks - before <= 10
    assert query.family.scans <= 4
    before = query.family.looks
    live.apply(delete=[(0, 1)])  # what the hub itself is reached by
    assert query.family.looks - before > 2_000


@pytest.mark.parametrize("drop", [gt.DeterministicDrop(gt.Random(1.0)), gt.ProbabilisticDrop(gt.Random(1.0), 2)])
def test_loops_and_a_full_pool_do_no_harm_to_what_is_dropped(drop: Any) -> None:
    rng = np.random.default_rng(3)
    live = gt.LiveGraph(length=int)
    rows = [
        (int(u), int(v), int(w))
        for u, v, w in np.column_stack([rng.integers(0, 40, (300, 2)), rng.integers(0, 50, 300)])
    ]
    live.apply(insert=rows[:150] + [(v, v, 0) for v in range(40) for _ in range(3)])
    query, fresh = live.sssp(0, weight="length", maintain=drop), live.sssp(0, weight="length", maintain=gt.Scratch())
    for k in range(150):
        live.apply(insert=[rows[150 + k]], delete=[rows[k]])
        assert query.result().equals(fresh.result())


def everything_of(live: gt.LiveGraph, maintain: Any) -> list[gt.Query]:
    """A query of every kind."""
    return [
        live.sssp("a", weight="length", maintain=maintain),
        live.shortest_path("a", "c", weight="length", maintain=maintain),
        live.k_hop("a", 2, maintain=maintain),
        live.wcc(maintain=maintain),
        live.regular_path("road+ track?", ["a"], label="kind", maintain=maintain),
        live.regular_path("road+", label="kind", maintain=maintain),
        live.ife(gt.ife("narrowest", aggregate="max", initial={"a": 9.0}, weight="length"), maintain=maintain),
        live.pagerank(2),
    ]


def test_the_bytes_of_queries_and_of_what_they_share_are_all_bytes(roads: gt.LiveGraph) -> None:
    queries = [query for maintain in POLICIES for query in everything_of(roads, maintain)]
    for step in range(3):
        table = roads.memory()
        assert sum(table["bytes"].to_pylist()) == roads.nbytes
        reports = [query.report for query in queries]
        named = [row for row in table.to_pylist() if row["name"] is not None]
        assert [row["name"] for row in named] == list(roads.queries) == [report.name for report in reports]
        for report, row in zip(reports, named, strict=True):
            assert {**row, "policy": report.policy} == {each: getattr(report, each) for each in row}
        roads.apply(insert=[("c", f"d{step}", 1.0, "road"), (f"d{step}", "a", 0.5, "track")])
    unnamed = [row["kind"] for row in roads.memory().to_pylist() if row["name"] is None]
    assert {"edges", "ids", "scratch memory of length", "dataflow", "product with road+"} <= set(unnamed)
    before = roads.nbytes
    for query in queries:
        query.drop()
    assert roads.memory()["kind"].to_pylist() == ["edges", "ids"]
    assert sum(roads.memory()["bytes"].to_pylist()) == roads.nbytes < before


def test_a_report_says_what_a_query_keeps(roads: gt.LiveGraph) -> None:
    kinds = ["shortest paths", "shortest path", "k hop", "components", "path", "path", "program", "pagerank"]
    reports = [query.report for query in everything_of(roads, gt.JoinOnDemand())]
    assert [report.kind for report in reports] == kinds
    assert [report.product > 0 for report in reports] == [kind == "path" for kind in kinds]
    assert all(report.differences > 0 and report.bytes > 0 for report in reports)
    assert "besides" in str(reports[4])
    policy = gt.DeterministicDrop(gt.Random(1.0))
    near = roads.sssp("a", weight="length", maintain=policy, name="near")
    roads.apply(update=[{"src": "b", "dst": "c", "length": 20.0}])
    report = near.report
    assert report.policy is policy
    assert (report.dropped, report.spurious) == (1, 0)
    assert report.differences == 3
    assert repr(near) == f"<Query near: {report}>"
    assert "1 dropped" in repr(near)
    near.drop()
    assert repr(near) == "<Query near: dropped>"
    with pytest.raises(UsageError, match="was dropped"):
        _ = near.report


def test_memory_is_told_by_query_and_in_all(roads: gt.LiveGraph) -> None:
    roads.sssp("a").drop()  # The first query makes the labels that all share.
    before = roads.nbytes
    query = roads.sssp("a", weight="length")
    assert isinstance(query, KeptQuery)
    assert query.differences == 4
    assert roads.nbytes == before + query.nbytes + query.family.nbytes
    scratch = roads.sssp("a", weight="length", maintain=gt.Scratch())
    assert scratch.differences == 0
    assert scratch.nbytes == 8 * roads.vertices


@pytest.mark.parametrize("maintain", [gt.JoinOnDemand(), gt.Scratch()])
@pytest.mark.parametrize("most", [2**31 - 3, 2**31 - 2, 2**31 - 1, 2**31, 2**40])
def test_first_answers_are_right_whatever_states_they_need(most: int, maintain: Any) -> None:
    live = gt.LiveGraph(length=int)
    live.apply(insert=[(most, most - 1, 1), (-most, -most + 1, 1), (5, 6, most - 10), (6, 7, 10), (8, 9, 1)])
    components = {row["vertex"]: row["component"] for row in live.wcc(maintain=maintain).result().to_pylist()}
    both = {most: most - 1, most - 1: most - 1, -most: -most, -most + 1: -most}
    assert components == {**both, 5: 5, 6: 5, 7: 5, 8: 8, 9: 8}
    distances = live.sssp(5, weight="length", maintain=maintain).result().to_pylist()
    assert {row["vertex"]: row["distance"] for row in distances} == {5: 0, 6: most - 10, 7: most}
    hops = live.ife(gt.ife("hop", initial={5: most - 2}), maintain=maintain).result().to_pylist()
    assert {row["vertex"]: row["state"] for row in hops} == {5: most - 2, 6: most - 1, 7: most}


@pytest.mark.parametrize("count", [1, 16, 17, 200])
def test_tuples_are_read_like_tables_however_many_they_are(count: int) -> None:
    rows = [(n, 7 * n % 50, -0.0 if n % 3 == 0 else n / 4, n % 5) for n in range(count)]
    columns = {
        name: list(column)
        for name, column in zip(("src", "dst", "cost", "lanes"), zip(*rows, strict=True), strict=True)
    }
    few, many = gt.LiveGraph(cost=float, lanes=int), gt.LiveGraph(cost=float, lanes=int)
    distances = []
    for live, given in ((few, rows), (many, columns)):
        live.apply(insert=[(0, 1, 0.0, 0)])
        live.apply(insert=given)
        query = live.sssp(0, weight="cost")
        # Zero has one sign, whoever wrote it.
        live.apply(update=[(u, v, cost + 1, lanes) for u, v, cost, lanes in rows[1:3]])
        live.apply(delete=[(u, v, abs(cost), lanes) for u, v, cost, lanes in rows[3:]])
        distances.append(query.result())
    assert few.table().equals(many.table())
    assert distances[0].equals(distances[1])
    assert few.edges == 1 + min(3, count)


@pytest.mark.parametrize(
    "row", [(1, 2, 2**63), (1, 2, -(2**63)), (2**70, 2, 1), (1, 2, True), (1, 2, 1.5), (1, 2), (1, None, 3)]
)
def test_a_tuple_that_does_not_fit_is_told_like_a_table_that_does_not(row: tuple[Any, ...]) -> None:
    live = gt.LiveGraph(length=int)
    for rows in ([row], [(1, 2, 3), row], [(1, 2, 3)] * 70 + [row]):
        with pytest.raises(SchemaError, match=f"row {len(rows) - 1}"):
            live.apply(insert=rows)
    assert live.edges == 0


@pytest.mark.parametrize("there", [0.0, -0.0])
@pytest.mark.parametrize("named", [0.0, -0.0])
def test_zero_has_one_sign(there: float, named: float) -> None:
    live = gt.LiveGraph(length=float)
    live.apply(insert=[(1, 2, there), (1, 2, 5.0)])
    live.apply(delete=[(1, 2, named)])
    assert live.table().column("length").to_pylist() == [5.0]
    live.apply(update=[(1, 2, named)])
    assert str(live.table().column("length").to_pylist()) == "[0.0]"
