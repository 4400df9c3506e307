"""What a session gives shows itself in a short line, and in notebooks as a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import graphtide as gt


def test_short_lines_and_tables(spark: SparkSession, tmp_path: Path) -> None:
    del spark  # it runs; sessions take the one that does
    session = gt.Session(tmp_path / "home")
    assert repr(session) == f"<Session {tmp_path}/home: 0 graphs, 0 views, 0 view collections>"
    assert "0 graphs" in session._repr_html_()
    many = {f"p{i}": [i] for i in range(7)}
    nodes = pa.table({"id": ["a", "<b>"], "state": ["CA", "NY"]})
    graph = session.load_graph("G", pa.table({"src": ["a"], "dst": ["<b>"], **many}), nodes)
    assert repr(graph) == "<G: 2 nodes, 1 edges; nodes with state; edges with p0, p1, p2, p3, p4 and 2 more>"
    assert "<td>p6</td><td>int</td>" in graph._repr_html_()
    view = session.create_view("V", on="G", where="src.state = 'CA' and p1 > 0 or dst.id = 'a'")
    assert repr(view) == "<V: view of G by p1, src.state, dst.id>"
    assert repr(session.create_view("All", on="G", where="true")) == "<All: view of G>"
    made = session.create_view_collection("C", on="G", views={"one": "true", "none": "p0 > 0"})
    assert "<td>one</td><td>1</td><td>" in made._repr_html_()
    assert repr(session) == f"<Session {tmp_path}/home: 1 graph, 2 views, 1 view collection>"
    assert "<td>view collection</td><td>C</td>" in session._repr_html_()
