"""Runs in the hands of other libraries: Spark and NetworkX."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.errors import CatalogueError, UsageError

# A road is there from a year on; gus lives at no road.
ROADS = [("ann", "bob", 3, 2018), ("bob", "cid", 4, 2019), ("ann", "cid", 9, 2018), ("ann", "bob", 2, 2020)]
PEOPLE = {"ann": "CA", "bob": "NY", "cid": None, "gus": "TX"}
YEARS = (2018, 2019, 2020)


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    del spark  # it runs; sessions take the one that does
    with gt.Session(tmp_path_factory.mktemp("home")) as made:
        src, dst, length, year = zip(*ROADS, strict=True)
        edges = pa.table({"src": src, "dst": dst, "length": length, "year": year})
        nodes = pa.table({"id": list(PEOPLE), "state": list(PEOPLE.values())})
        made.load_graph("Roads", edges=edges, nodes=nodes)
        made.create_view_collection("years", on="Roads", views={f"y{y}": f"year <= {y}" for y in YEARS})
        yield made


def roads(until: int) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_edges_from((a, b, {"length": length, "year": year}) for a, b, length, year in ROADS if year <= until)
    graph.add_nodes_from((who, {"state": state}) for who, state in PEOPLE.items() if who in graph and state)
    return graph


def plain(graph: nx.MultiDiGraph) -> tuple[object, object]:
    return dict(graph.nodes(data=True)), sorted(graph.edges(data=True), key=str)


def test_a_run_knows_the_spark_of_its_session(session: gt.Session) -> None:
    run = session.run("wcc", "years")
    found = sorted(map(tuple, run.to_spark().collect()))
    assert found == sorted(zip(*run.table().to_pydict().values(), strict=True))
    assert found == sorted(map(tuple, run.to_spark(session.spark).collect()))


def test_spark_has_the_rows_behind_a_view_without_any(session: gt.Session) -> None:
    views = {"early": "year < 2019", "none": "year < 0", "all": "true"}
    session.create_view_collection("gap", on="Roads", views=views)
    for order in ("given", "auto"):
        run = session.run("wcc", "gap", order=order)
        assert sorted(map(tuple, run.to_spark().collect())) == sorted(
            zip(*run.table().to_pydict().values(), strict=True)
        )


@pytest.mark.parametrize("order", ["given", "chain"])
def test_a_view_has_its_edges_and_what_was_found(session: gt.Session, order: str) -> None:
    run = session.run("sssp", "years", order=order, source="ann", weight="length")
    for year in YEARS:
        wanted = roads(year)
        for vertex, length in nx.single_source_dijkstra_path_length(wanted, "ann", weight="length").items():
            wanted.nodes[vertex]["value"] = length
        assert plain(run.to_networkx(f"y{year}")) == plain(wanted)


def test_all_views_together_have_what_was_found_by_their_names(session: gt.Session) -> None:
    wanted = roads(2020)
    for year in YEARS:
        for vertex, length in nx.single_source_dijkstra_path_length(roads(year), "bob", weight="length").items():
            wanted.nodes[vertex][f"y{year}"] = length
    graph = session.run("sssp", "years", source="bob", weight="length").to_networkx()
    assert plain(graph) == plain(wanted)
    # Nothing can be reached from cid, and bob reaches nobody at first.
    assert "y2018" not in graph.nodes["cid"]
    degrees = session.run("degrees", "years").to_networkx()
    assert degrees.nodes["bob"]["y2019"] == {"out_degree": 1, "in_degree": 1}


def test_cells_beyond_a_word_have_their_edges(session: gt.Session) -> None:
    steps = range(1, 10)
    session.create_view_collection(
        "cells",
        on="Roads",
        dimensions={
            "shortest": {f"from{n}": f"length >= {n}" for n in steps},
            "longest": {f"to{n}": f"length <= {n}" for n in steps},
        },
    )
    run = session.run("degrees", "cells")
    for least, most in [(1, 9), (9, 9), (8, 2), (2, 3), (9, 1)]:
        lengths = [data["length"] for *_, data in run.to_networkx(f"from{least}_to{most}").edges(data=True)]
        assert sorted(lengths) == sorted(length for _, _, length, _ in ROADS if least <= length <= most)


def test_a_graph_has_all_its_nodes_and_a_view_the_ends_of_its_edges(session: gt.Session) -> None:
    whole = session.run("degrees", "Roads").to_networkx()
    assert whole.nodes["gus"] == {"state": "TX", "out_degree": 0, "in_degree": 0}
    session.create_view("Short", on="Roads", where="length < 4")
    short = session.run("wcc", "Short").to_networkx()
    assert dict(short.nodes(data="value")) == {"ann": "ann", "bob": "ann"}
    assert short.number_of_edges() == 2


def test_what_no_node_can_carry_is_refused(session: gt.Session) -> None:
    run = session.run("mpsp", "years", pairs=[("ann", "bob"), ("ann", "cid")])
    with pytest.raises(UsageError, match='several rows for a vertex on "y2018"') as caught:
        run.to_networkx("y2018")
    assert caught.value.hint == "take them from table()"
    with pytest.raises(CatalogueError, match='has no view "y2022"'):
        run.to_networkx("y2022")


def test_what_a_run_was_made_from_may_be_gone(session: gt.Session) -> None:
    edges = pa.table({"src": [1], "dst": [2]})
    session.load_graph("Brief", edges=edges)
    session.create_view_collection("briefly", on="Brief", views={"a": "true"})
    whole, views = session.run("wcc", "Brief"), session.run("wcc", "briefly")
    session.execute("drop view collection briefly")
    with pytest.raises(CatalogueError, match='"briefly" was dropped'):
        views.to_networkx()
    session.drop_graph("Brief")
    with pytest.raises(CatalogueError, match='graph "Brief" was dropped'):
        whole.to_networkx()
    assert whole.table("Brief").num_rows == 2
