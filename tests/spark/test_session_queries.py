"""Queries that stay answered, by GVDL and by programs, on the live graphs of a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

import graphtide as gt
from graphtide.cli.answers import print_answer, print_json
from graphtide.cli.shell import GvdlCompleter
from graphtide.errors import CatalogueError, StatementError, UsageError

ROADS = [(1, 2, 30, "road"), (2, 3, 10, "road"), (1, 3, 50, "ferry"), (3, 4, 5, "road")]


@pytest.fixture
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    del spark  # it runs; sessions take the one that does
    with gt.Session(tmp_path_factory.mktemp("home")) as made:
        src, dst, length, kind = zip(*ROADS, strict=True)
        made.load_graph("Roads", edges=pa.table({"src": src, "dst": dst, "length": length, "kind": kind}))
        yield made


def asked(session: gt.Session, question: str, name: str = "q") -> gt.Query:
    (query,) = session.execute(f"register query {name} as {question};")
    assert isinstance(query, gt.Query)
    return query


def test_every_question_is_answered_and_stays_so(session: gt.Session) -> None:
    route = asked(session, "shortest path from 1 to 3 on Roads weight length", "route")
    near = asked(session, "shortest paths from 1 on Roads", "near")
    hops = asked(session, "1 hop from 1 on Roads", "hops")
    ways = asked(session, "path 'road+' from 1 on Roads label kind", "ways")
    anywhere = asked(session, "path 'ferry ^road' on Roads label kind", "anywhere")
    parts = asked(session, "components on Roads", "parts")
    ranks = asked(session, "pagerank(rounds = 3, damping = 0.5) on Roads", "ranks")
    live = session.live("Roads")
    assert list(live.queries) == list(session.queries())
    assert session.query("route") is route
    assert route.path() == [1, 2, 3]
    live.apply(delete=[(2, 3)], insert=[(5, 6, 1, "road")])
    assert route.result().to_pylist() == [{"vertex": 3, "distance": 50}]
    assert near.result()["distance"].to_pylist() == [0, 1, 1, 2]
    assert sorted(hops.result()["vertex"].to_pylist()) == [1, 2, 3]
    assert ways.result()["vertex"].to_pylist() == [2]
    assert anywhere.result().num_rows == 0
    assert set(parts.result()["component"].to_pylist()) == {1, 5}
    assert ranks.result().num_rows == 6


def test_queries_are_shown_described_explained_and_dropped(
    session: gt.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty,) = session.execute("show queries")
    assert isinstance(empty, pa.Table)
    statement = "register query near as shortest paths from 1 on Roads weight length"
    before, near, after = session.execute(f"explain {statement}; {statement}; explain {statement}")
    assert "reads graph Roads into memory: 4 vertices, 4 edges" in str(before)
    assert "1 queries" in str(after)
    assert isinstance(near, gt.Query)
    shown, described = session.execute("show queries; describe near")
    assert isinstance(shown, pa.Table)
    assert isinstance(described, pa.Table)
    assert shown.schema == empty.schema
    (row,) = shown.to_pylist()
    assert (row["query"], row["graph"], row["kind"]) == ("near", "Roads", "shortest paths")
    assert row["bytes"] == near.report.bytes
    (row,) = described.to_pylist()
    assert (row["statement"], row["rows"], row["differences"]) == (statement, 4, near.report.differences)
    console = Console(width=120, record=True)
    print_answer(console, near)
    assert "registered query near: shortest paths by JoinOnDemand()" in console.export_text()
    print_json(near)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["rows"][1] == {"vertex": 2, "distance": 30}
    assert {"near", "register query", "show queries"} <= set(GvdlCompleter(session).words())
    assert session.execute("drop query near") == ['dropped query "near"']
    assert list(session.queries()) == []


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("register query near as components on Roads", CatalogueError, 'there is a query "near" already'),
        ("register query Roads as components on Roads", CatalogueError, 'there is a graph "Roads" already'),
        (
            "drop query naer",
            CatalogueError,
            'there is no query "naer"\n  drop query naer\n             ^^^^\nhint: did you mean "near"',
        ),
        ("describe naer", CatalogueError, 'there is no graph, view, view collection or query "naer"'),
        ("drop graph Roads", CatalogueError, 'graph "Roads" is in use by query "near"'),
        (
            "register query x as path 'raod+' on Roads label kind",
            StatementError,
            'line 1, column 26: no edge has the kind "raod"',
        ),
        ("register query x as pagerank(rounds = 0) on Roads", UsageError, "no PageRank has 0 rounds"),
    ],
)
def test_mistakes_change_nothing(session: gt.Session, text: str, error: type[Exception], message: str) -> None:
    near = asked(session, "shortest paths from 1 on Roads", "near")
    with pytest.raises(error) as caught:
        session.execute(text)
    assert message in str(caught.value)
    assert list(session.queries()) == ["near"]
    assert near.result().num_rows == 4


def test_a_live_graph_has_the_properties_of_its_nodes(session: gt.Session) -> None:
    nodes = pa.table({"id": ["Reno", "Elko", "Napa"], "state": ["NV", None, "CA"], "people": [264, 20, 79]})
    edges = pa.table({"src": ["Reno"], "dst": ["Napa"], "miles": [2.5]})
    session.load_graph("Cities", nodes=nodes, edges=edges)
    live = session.live("Cities")
    live.set_vertices([{"id": "Elko", "state": "NV"}, {"id": "Ely", "state": "NV"}])
    found = {row["id"]: (row["state"], row["people"]) for row in live.vertex_table().to_pylist()}
    assert found == {"Reno": ("NV", 264), "Elko": ("NV", 20), "Napa": ("CA", 79), "Ely": ("NV", None)}
    assert dict(live.to_networkx().nodes(data=True))["Ely"] == {"state": "NV"}
    assert "properties of vertices" in live.memory()["kind"].to_pylist()


def test_a_session_opens_a_live_graph_once(session: gt.Session) -> None:
    live = session.live("Roads", properties=["length"], maintain=gt.Scratch())
    assert session.live("Roads") is session.live("Roads", properties=[]) is live
    with pytest.raises(UsageError, match='opened without the property "kind"'):
        session.live("Roads", properties=["kind"])
    with pytest.raises(StatementError, match='opened without the property "kind"'):
        session.execute("register query q as path 'road' on Roads label kind")
    assert asked(session, "components on Roads", "a").report.policy == gt.Scratch()
    session.live("Roads", maintain=gt.Vanilla())
    assert asked(session, "components on Roads", "b").report.policy == gt.Vanilla()
    edges: Any = pa.table({"src": [1], "dst": [2]})
    with pytest.raises(CatalogueError, match="in use by"):
        session.load_graph("Roads", edges=edges, replace=True)
    session.close_live("Roads")
    session.load_graph("Roads", edges=edges, replace=True)
    assert session.live("Roads").edges == 1
    session.execute("drop graph Roads")
    assert len(session.live_graphs) == 0


def test_a_name_on_two_graphs_is_not_guessed(session: gt.Session) -> None:
    session.load_graph("Rails", edges=pa.table({"src": [1], "dst": [2]}))
    for graph in ("Roads", "Rails"):
        session.live(graph).wcc(name="parts")
    with pytest.raises(CatalogueError, match='there are queries "parts" on "Roads" and "Rails"'):
        session.execute("drop query parts")
