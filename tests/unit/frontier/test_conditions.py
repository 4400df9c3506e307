"""Conditions on the edges and vertices of a live graph."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from graphtide.errors import SchemaError, StatementError
from graphtide.frontier.conditions import EdgeCondition, VertexCondition
from graphtide.frontier.delta import Delta
from graphtide.frontier.edges import Edges
from graphtide.frontier.vertices import Vertices
from graphtide.rows import Schema


def inserted(edges: Edges, rows: list[tuple[object, ...]]) -> Delta:
    nothing = edges.leaving((), "delete")
    edges.change(edges.entering(rows), nothing, nothing)
    return edges.adjacency.delta


@pytest.fixture
def edges() -> Edges:
    return Edges(Schema.of(src=str, dst=str, miles=float | None, kind=str | None))


@pytest.fixture
def cities(edges: Edges) -> Vertices:
    return Vertices(edges, {"state": str, "people": int})


def test_an_edge_condition_reads_its_properties_and_those_of_its_ends(edges: Edges, cities: Vertices) -> None:
    cities.put([("Reno", "NV", 264), ("Napa", "CA", 79), ("Elko", None, 20)])
    rows = [("Reno", "Napa", 2.5, "bus"), ("Napa", "Reno", None, "rail"), ("Elko", "Reno", -0.5, None)]
    delta = inserted(edges, rows)
    expected = {
        "miles < 1": [2],
        "not miles < 1": [0, 1],
        "miles is null or kind is null": [1, 2],
        "src.state = 'NV' or dst.people > 200": [0, 1, 2],
        "src.state is null": [2],
        "src.id < dst.id and kind like '%us'": [],
        "dst.id = 'Reno' and miles = -1 / 2": [2],
    }
    for text, where in expected.items():
        condition = EdgeCondition(text, edges, cities)
        assert np.flatnonzero(condition.of_rows(delta.gained)).tolist() == where, text
        listed = edges.adjacency.list_all()
        again = listed[condition.of_slots(listed)]
        assert sorted(map(tuple, again[:, :2])) == sorted(map(tuple, delta.gained[where, :2])), text
        assert condition.asks_for_vertices == ("state" in text or "people" in text)


def test_vertices_keep_what_a_later_row_does_not_name(edges: Edges, cities: Vertices) -> None:
    cities.put([{"id": "Reno", "state": "NV"}])
    numbers = cities.put(pd.DataFrame({"people": [264, 20], "id": ["Reno", "Elko"]}))
    assert cities.table().to_pylist() == [
        {"id": "Reno", "state": "NV", "people": 264},
        {"id": "Elko", "state": None, "people": 20},
    ]
    assert VertexCondition("people between 20 and 100", cities).of(numbers).tolist() == [False, True]
    assert VertexCondition("state <> 'CA'", cities).of(numbers).tolist() == [True, False]
    assert edges.adjacency.vertices == 2


def test_a_vertex_that_came_with_an_edge_has_no_properties(edges: Edges, cities: Vertices) -> None:
    inserted(edges, [("Reno", "Napa", 1.0, "bus")] * 100)
    assert VertexCondition("state is null and people is null", cities).of(np.array([0, 1])).all()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("mils < 1", 'edge property "mils" does not exist', 'did you mean "miles"'),
        ("state = 'CA'", 'edge property "state" does not exist', "src.state or dst.state"),
        ("id > 3", "the number of an edge", "src.id or dst.id"),
        ("miles + 1", "is not a condition", "compare it"),
        ("miles <", "found the end of the text", ""),
    ],
)
def test_a_condition_that_does_not_fit_edges_is_refused(
    edges: Edges, cities: Vertices, text: str, message: str, hint: str
) -> None:
    with pytest.raises(StatementError, match=message) as caught:
        EdgeCondition(text, edges, cities)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("src.state = 'CA'", "does not go with a vertex"), ("miles = 1", 'node property "miles" does not exist')],
)
def test_a_condition_that_does_not_fit_vertices_is_refused(cities: Vertices, text: str, message: str) -> None:
    with pytest.raises(StatementError, match=message):
        VertexCondition(text, cities)


def test_rows_of_vertices_are_checked(edges: Edges, cities: Vertices) -> None:
    with pytest.raises(SchemaError, match='no property "stat"'):
        cities.put([{"id": "Reno", "stat": "NV"}])
    with pytest.raises(SchemaError, match="no column 'id'"):
        cities.put([{"state": "NV"}])
    with pytest.raises(SchemaError, match='cannot be called "id"'):
        Vertices(edges, {"id": int})
    with pytest.raises(SchemaError):
        cities.put([("Reno", 5, 264)])
    assert cities.table().num_rows == 0
