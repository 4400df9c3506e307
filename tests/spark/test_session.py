"""Sessions: from files and statements to results, in a home folder that outlives them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide import datasets
from graphtide.analytics import catalogue
from graphtide.errors import CatalogueError, DataError, GraphtideError, SchemaError, StatementError, UsageError
from graphtide.views.run import Run
from graphtide.views.stored import StoredCollection

# Who calls whom, for how long, and when; the people have a state.
CALLS = [
    *[("ann", "bob", 12, 2018), ("bob", "cid", 3, 2018), ("cid", "ann", 30, 2019), ("dee", "eve", 7, 2019)],
    *[("eve", "fay", 5, 2020), ("fay", "dee", 9, 2020), ("ann", "dee", 2, 2021), ("bob", "cid", 4, 2021)],
]
PEOPLE = [("ann", "CA"), ("bob", "CA"), ("cid", "NY"), ("dee", "CA"), ("eve", "NY"), ("fay", None), ("gus", "TX")]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    del spark  # it runs; sessions take the one that does
    with gt.Session(tmp_path_factory.mktemp("home")) as made:
        caller, callee, duration, year = zip(*CALLS, strict=True)
        edges = pa.table({"src": caller, "dst": callee, "duration": duration, "year": year})
        names, states = zip(*PEOPLE, strict=True)
        made.load_graph("Calls", edges=edges, nodes=pa.table({"id": names, "state": states}))
        yield made


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*table.to_pydict().values(), strict=True), key=str)


def alone(run: Run) -> pa.Table:
    """The result on a graph or a single view."""
    (name,) = run.names
    return run.table(name)


def components(calls: list[Any]) -> list[tuple[str, str]]:
    graph = nx.Graph((a, b) for a, b, _, _ in calls)
    return sorted((who, min(part)) for part in nx.connected_components(graph) for who in part)


def test_years_of_calls(session: gt.Session) -> None:
    (made,) = session.execute("create view collection years on Calls for y in 2018..2021 [until_$y: year <= $y]")
    assert isinstance(made, StoredCollection)
    assert made.sizes == (2, 4, 6, 8)
    assert made.costs["chain"] == 8
    for strategy in ("adaptive", "differential", "scratch"):
        run = session.run("wcc", "years", strategy=strategy)
        for year in range(2018, 2022):
            assert rows(run.table(f"until_{year}")) == components([call for call in CALLS if call[3] <= year])
        assert run.table().num_rows == sum(run.table(name).num_rows for name in run.names)
        total = {}
        for _view, vertex, value, diff in rows(run.changes()):
            total[vertex, value] = total.get((vertex, value), 0) + diff
        assert sorted(key for key, count in total.items() if count) == components(CALLS)
        assert [line["view"] for line in run.report.table().to_pylist()] == list(run.names)


def test_a_graph_has_all_its_nodes_and_a_view_the_ends_of_its_edges(session: gt.Session) -> None:
    whole = alone(session.run("degrees", "Calls"))
    assert ("gus", 0, 0) in rows(whole)
    session.create_view("CA", on="Calls", where="src.state = 'CA' and dst.state = 'CA'")
    assert rows(alone(session.run("bfs", "CA", source="ann"))) == [("ann", 0), ("bob", 1), ("dee", 1)]
    session.create_view("LongCA", on="CA", where="duration > 10")
    assert rows(alone(session.run("bfs", "LongCA", source="ann"))) == [("ann", 0), ("bob", 1)]


def test_a_product_on_chain_and_lattice(session: gt.Session) -> None:
    made = session.create_view_collection(
        "grid",
        on="Calls",
        dimensions={
            "period": {f"y{y}": f"year <= {y}" for y in range(2018, 2022)},
            "length": {f"m{m}": f"duration >= {m}" for m in (9, 5, 0)},
        },
    )
    assert len(made.views) == 12
    assert made.costs["lattice"] == 8
    wanted = session.run("wcc", "grid", order="given", strategy="scratch")
    for order in ("given", "chain", "lattice", "auto"):
        run = session.run("wcc", "grid", order=order)
        assert rows(run.table()) == rows(wanted.table())
    assert {step.way for step in session.run("wcc", "grid", order="lattice").report.steps} == {"lattice"}
    weighted = session.run("sssp", "grid", order="lattice", source="ann", weight="duration")
    assert rows(weighted.table("y2021_m0")) == [
        *[("ann", 0), ("bob", 12), ("cid", 15), ("dee", 2), ("eve", 9), ("fay", 14)]
    ]


def test_a_computation_takes_the_lattice_where_it_is_cheaper_for_it(session: gt.Session) -> None:
    # Each call comes once on the lattice; along a chain all intervals of lengths have to be gone through.
    lengths = sorted(length for _, _, length, _ in CALLS)
    made = session.create_view_collection(
        "steps",
        on="Calls",
        dimensions={
            "least": {f"from{m}": f"duration >= {m}" for m in reversed(lengths)},
            "most": {f"to{m}": f"duration <= {m}" for m in lengths},
        },
    )
    assert made.chosen == "lattice"
    near = session.run("bfs", "steps", source="ann").report
    assert near.order == "lattice"
    assert near.expected["lattice"] == 3 * made.costs["lattice"]
    nested = session.run("scc", "steps").report
    assert nested.order == "chain"
    assert nested.expected["lattice"] == float("inf")
    assert nested.orders == made.costs
    assert session.run("bfs", "steps", source="ann", strategy="differential").report.order == "chain"


def test_results_are_saved_through_spark(session: gt.Session, tmp_path: Path) -> None:
    session.execute(
        f"run degrees on Calls save to '{tmp_path / 'out'}'; run degrees on Calls save to '{tmp_path / 'o.csv'}'"
    )
    stored = pq.read_table(tmp_path / "out", partitioning="hive").to_pydict()
    assert sorted(stored["vertex"]) == sorted(name for name, _ in PEOPLE)
    lines = [pcsv.read_csv(file) for file in (tmp_path / "o.csv").rglob("*.csv")]
    assert sum(table.num_rows for table in lines) == len(PEOPLE)
    with pytest.raises(UsageError, match="is there already"):
        session.run("degrees", "Calls", save_to=tmp_path / "out")


def test_a_second_session_finds_all_of_it(session: gt.Session) -> None:
    session.execute(
        "create view Short on Calls edges where duration < 5;"
        "create view collection two on Short [a: true], [b: year > 2018]"
    )
    again = gt.Session(session.home)
    assert again.graphs() == ["Calls"]
    assert "Short" in again.views()
    assert again.view_collection("two").sizes == (3, 2)
    assert rows(again.run("wcc", "two").table("b")) == rows(session.run("wcc", "two").table("b"))


def test_names_are_not_taken_twice_and_things_in_use_stay(session: gt.Session) -> None:
    session.execute(
        "create view Base on Calls edges where year > 2018; create view Top on Base edges where year > 2019"
    )
    with pytest.raises(CatalogueError, match='there is a view "Base" already'):
        session.create_view("Base", on="Calls", where="true")
    with pytest.raises(CatalogueError, match='view "Base" is in use by view "Top"'):
        session.execute("drop view Base")
    with pytest.raises(CatalogueError, match='graph "Calls" is in use by'):
        session.execute("drop graph Calls")
    assert session.execute("drop view Top; drop view Base") == ['dropped view "Top"', 'dropped view "Base"']
    assert "Base" not in session.views()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.run("wcx", "Calls"), CatalogueError, 'no computation "wcx"'),
        (lambda s: s.run("wcc", "Cals"), CatalogueError, 'no graph, view or view collection "Cals"'),
        (lambda s: s.run("bfs", "Calls", source="zoe"), UsageError, "no vertex 'zoe'"),
        (lambda s: s.run("bfs", "Calls", source=17), UsageError, "no vertex 17"),
        (lambda s: s.run("sssp", "Calls", source="ann", weight="durtion"), SchemaError, 'property "durtion" does not'),
        (lambda s: s.run("wcc", "Calls", strategy="fast"), UsageError, 'no strategy "fast"'),
        (lambda s: s.run("wcc", "Calls", order="lattice"), CatalogueError, '"Calls" has no lattice: it is one view'),
        (lambda s: s.execute("explain run wcc on Cals"), CatalogueError, 'no graph, view or view collection "Cals"'),
        (lambda s: s.load_graph("Calls", pa.table({})), CatalogueError, "load with replace=True, drop it, or name"),
        (lambda s: s.create_view("Calls", on="Calls", where="true"), CatalogueError, "hint: drop it, or name the view"),
        (lambda s: s.run("wcc", "Calls", order="random"), UsageError, 'no order "random"'),
        (lambda s: s.create_view("X", on="Calls", where="yaer > 2018"), StatementError, '"yaer" does not exist'),
        (lambda s: s.execute("describe Nobody"), CatalogueError, 'no graph, view, view collection or query "Nobody"'),
        (
            lambda s: s.execute("load graph z edges 'x.csv' with (on_bad_lines = [1])"),
            UsageError,
            "on_bad_lines cannot be",
        ),
        (lambda s: s.create_view_collection("X", on="Calls"), UsageError, "either views or dimensions"),
    ],
)
def test_mistakes(session: gt.Session, call: Any, error: type[Exception], message: str) -> None:
    before = (session.graphs(), session.views(), session.view_collections())
    with pytest.raises(error, match=message):
        call(session)
    assert (session.graphs(), session.views(), session.view_collections()) == before


def test_statements_show_and_explain(session: gt.Session) -> None:
    shown = session.execute(
        "show graphs; show computations; describe Calls; explain create view X on Calls edges where src.state = 'CA'"
    )
    assert shown[0].to_pylist()[0]["edges"] == len(CALLS)
    assert any(line["computation"].startswith("wcc") for line in shown[1].to_pylist())
    assert {"of": "node", "property": "state", "type": "string"} in shown[2].to_pylist()
    assert "source properties state" in shown[3]
    assert "X" not in session.views()


@pytest.mark.parametrize("step", ["distances", "write_stream"])
def test_a_creation_that_is_interrupted_leaves_nothing(
    session: gt.Session, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupt(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    create = {"on": "Calls", "views": {"a": "year > 2018", "b": "year > 2019"}}
    with monkeypatch.context() as patched:
        patched.setattr(f"graphtide.pipeline.collections.{step}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.create_view_collection(f"cut_{step}", **create)
    assert f"cut_{step}" not in session.view_collections()
    assert session.create_view_collection(f"cut_{step}", **create).sizes == (6, 4)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([2, -1, 2], 'the edge property "miles" is -1 somewhere\nhint: shortest paths need weights of 0 or more'),
        (
            [2.0, math.nan, 2.0],
            'the edge property "miles" is nan somewhere\nhint: shortest paths need weights of 0 or more',
        ),
        (
            [2**63 - 1, 2, 2**63 - 1],
            'a shortest path is longer than 9223372036854775807, the greatest int that the sum of "miles" can be',
        ),
    ],
)
def test_what_shortest_paths_cannot_take_is_told_by_its_name(
    session: gt.Session, weights: list[float], says: str
) -> None:
    session.load_graph("far", pa.table({"src": [1, 2, 3], "dst": [2, 3, 1], "miles": weights}), replace=True)
    for computation, given in (("sssp(source = 1, ", {"source": 1}), ("mpsp(pairs = [(1, 3)], ", {"pairs": [(1, 3)]})):
        with pytest.raises(DataError) as caught:
            session.run(computation[:4], on="far", weight="miles", **given)
        assert str(caught.value).startswith(f"{computation}weight = miles): {says}")
    session.drop_graph("far")


@pytest.mark.parametrize(
    ("statement", "place", "kind", "says"),
    [
        ("run wcc on Callz", "Callz", CatalogueError, 'did you mean "Calls"?'),
        ("run wc on Calls", "wc", CatalogueError, 'did you mean "wcc"?'),
        ("run sssp(source = 'ann', wait = year) on Calls", "wait = year", UsageError, "it is sssp("),
        ("run sssp(source = 'ann') on Calls", "sssp", UsageError, "it is sssp("),
        ("run k_core(k = 'two') on Calls", "k = 'two'", UsageError, "it is k_core("),
        ("run sssp(source = 'ann', weight = yaer) on Calls", "yaer", SchemaError, 'did you mean "year"?'),
        ("run bfs(source = 'nobody') on Calls", "run bfs(source = 'nobody') on Calls", UsageError, "name a vertex"),
        ("run wcc on Calls save to '/proc/x/y'", "run wcc on Calls save to '/proc/x/y'", UsageError, "another folder"),
        *(
            (f"load graph z edges 'x.csv' with ({word} = 5)", f"{word} = 5", UsageError, "")
            for word in ("name", "edges", "nodes", "self", "spark", "store", "haeder")
        ),
        ("load graph z edges 'x.csv' with (haeder = true)", "haeder = true", UsageError, 'did you mean "header"?'),
        ("drop graph Callz", "Callz", CatalogueError, 'did you mean "Calls"?'),
        ("drop view nope", "nope", CatalogueError, ""),
        ("drop view collection nope", "nope", CatalogueError, ""),
        ("drop query nope", "nope", CatalogueError, ""),
        ("describe nothing", "nothing", CatalogueError, ""),
    ],
)
def test_a_mistake_in_a_statement_is_shown_where_it_is(
    session: gt.Session, statement: str, place: str, kind: type[GraphtideError], says: str
) -> None:
    with pytest.raises(kind) as caught:
        session.execute(f"show graphs;\n\n  {statement};")
    first, line, carets, *_ = caught.value.message.split("\n")
    assert first.startswith(f"line 3, column {3 + statement.index(place)}: ")
    assert line == f"  {statement};"
    assert carets == " " * (2 + statement.index(place)) + "^" * len(place)
    assert says in (caught.value.hint or "")


def test_a_stored_graph_as_networkx_has_it(session: gt.Session) -> None:
    graph = session.graph("Calls").to_networkx()
    assert sorted((a, b, data["duration"], data["year"]) for a, b, data in graph.edges(data=True)) == sorted(CALLS)
    assert {who: data.get("state") for who, data in graph.nodes(data=True)} == dict(PEOPLE)


def test_an_undirected_networkx_graph_is_searched_both_ways(session: gt.Session) -> None:
    graph = nx.Graph([(1, 2), (3, 2), (3, 4), (2, 2)])
    session.load_graph("undirected", graph)
    found = alone(session.run("bfs", on="undirected", source=4))
    assert rows(found) == sorted(nx.single_source_shortest_path_length(graph, 4).items())
    session.drop_graph("undirected")


def test_a_stored_graph_goes_live(session: gt.Session) -> None:
    live = session.live("Calls")
    assert (live.vertices, live.edges) == (len(PEOPLE), len(CALLS))
    parts = live.wcc()
    assert rows(parts.result()) == sorted([*components(CALLS), ("gus", "gus")])
    near = live.sssp("ann", weight="duration")
    live.apply(delete=[("ann", "dee", 2, 2021)], update=[{"src": "ann", "dst": "bob", "duration": 1}])
    assert rows(near.result()) == [("ann", 0), ("bob", 1), ("cid", 4)]
    assert {row["component"] for row in parts.result().to_pylist()} == {"ann", "dee", "gus"}
    session.close_live("Calls")
    assert session.live("Calls", properties=[]).schema.names == ("src", "dst")
    session.close_live("Calls")


def test_results_as_a_spark_dataframe(session: gt.Session) -> None:
    run = session.run("degrees", "Calls")
    assert sorted(map(tuple, run.to_spark(session.spark).collect())) == rows(run.table())


def test_a_condition_that_tables_cannot_hold_is_evaluated_by_spark(session: gt.Session) -> None:
    made = session.create_view_collection("odd", on="Calls", views={"odd": "duration % 2 = 1", "late": "year > 2019"})
    assert made.sizes == (sum(call[2] % 2 for call in CALLS), sum(call[3] > 2019 for call in CALLS))


def test_a_user_s_computation(session: gt.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_ANALYTICS", dict(catalogue._ANALYTICS))

    @gt.analytic
    def callers_of(graph: gt.AnalyticGraph, who: gt.Vertex) -> gt.Collection:
        """Who calls a vertex."""
        return graph.edges.where(gt.col("dst") == who).select(vertex="src").distinct()

    assert rows(alone(session.run("callers_of", "Calls", who="cid"))) == [("bob",)]
    (run,) = session.execute("run callers_of(who = 'dee') on Calls")
    assert isinstance(run, Run)
    assert rows(alone(run)) == [("ann",), ("fay",)]


PROPERTIES = {
    "n": pa.array([1, None, 3, -(2**63) + 1, 2**63 - 1]),
    "x": pa.array([0.5, None, -1.5, math.inf, 2.0]),
    "kind": pa.array(["road", None, "ferry", "", "road"]),
    "is_open": pa.array([True, None, False, True, False]),
    "day": pa.array([date(2019, 1, 23), None, date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29)]),
    "at": pa.array(
        [datetime.fromisoformat(f"20{y}-01-23T04:05:06.000007") if y else None for y in (19, 0, 17, 18, 20)]
    ),
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_of_any_type_is_a_column_of_a_user_s_computation(
    session: gt.Session, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(catalogue, "_ANALYTICS", dict(catalogue._ANALYTICS))

    @gt.analytic
    def last_of(graph: gt.AnalyticGraph, what: gt.EdgeProperty) -> gt.Collection:
        """The greatest value of a property on the edges out of each vertex."""
        assert what == name
        return graph.edges.select(vertex="src", value="what").group_by("vertex").max("value")

    edges = {"src": [1, 1, 1, 2, 2], "dst": [5, 6, 7, 8, 9]}
    session.load_graph("Typed", pa.table({**edges, **PROPERTIES}), replace=True)
    given = PROPERTIES[name].to_pylist()
    wanted = [(1, max(given[0], given[2])), (2, max(given[3:]))]
    assert rows(alone(session.run("last_of", "Typed", what=name))) == wanted
    (run,) = session.execute(f"run last_of(what = {name}) on Typed")
    assert rows(alone(run)) == wanted


def test_the_least_int_is_refused_where_a_computation_reads_it(session: gt.Session) -> None:
    edges = pa.table({"src": [1, 1], "dst": [2, 3], "w": [-(2**63), 4]})
    session.load_graph("Least", edges)
    with pytest.raises(SchemaError) as caught:
        session.run("sssp", "Least", source=1, weight="w")
    assert caught.value.message == (
        f'edge property "w" is {-(2**63)} somewhere, the one int that no computation can hold'
    )
    assert caught.value.hint == "use views without such edges, or load it as a float or a string"
    session.create_view("NotLeast", on="Least", where="w > 0")
    assert rows(alone(session.run("sssp", "NotLeast", source=1, weight="w"))) == [(1, 0), (3, 4)]


# -------------------------------------------------------------------------------- a graph with reference answers


@pytest.fixture(scope="module")
def reference(session: gt.Session) -> gt.Session:
    edges = datasets.load("p2p-31")
    session.load_graph("P2P", edges=edges)
    reverse = edges.rename_columns(["dst", "src", *edges.column_names[2:]]).select(edges.column_names)
    session.load_graph("P2P-both", edges=pa.concat_tables([edges, reverse]))
    return session


@pytest.mark.parametrize(
    ("answer", "graph", "computation", "arguments"),
    [
        ("bfs", "P2P", "bfs", {"source": 6}),
        ("sssp", "P2P", "sssp", {"source": 6, "weight": "weight"}),
        ("bfs-undirected", "P2P-both", "bfs", {"source": 6}),
        ("sssp-undirected", "P2P-both", "sssp", {"source": 6, "weight": "weight"}),
        ("wcc", "P2P", "wcc", {}),
        ("cdlp", "P2P", "label_propagation", {"rounds": 10}),
        ("lcc", "P2P", "clustering", {}),
        ("pagerank-undirected", "P2P-both", "pagerank", {"iterations": 10, "damping": 0.85}),
    ],
)
def test_published_answers(reference: gt.Session, answer: str, graph: str, computation: str, arguments: Any) -> None:
    found = dict(zip(*alone(reference.run(computation, graph, **arguments)).to_pydict().values(), strict=True))
    wanted = dict(zip(*datasets.answers("p2p-31")[answer].to_pydict().values(), strict=True))
    assert found.keys() == wanted.keys()
    if answer == "wcc":
        # Components are the same if their labels are, up to a renaming.
        assert len(set(zip(found.values(), (wanted[v] for v in found), strict=True))) == len(set(wanted.values()))
    else:
        assert found == pytest.approx(wanted, rel=1e-9)
