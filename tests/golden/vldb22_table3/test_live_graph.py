"""The running example as a continuous query: distances, their changes, and the differences that are kept (table 4)."""

from __future__ import annotations

from tests.golden.vldb22_table3.test_running_example import DISTANCES, EDGES, UPDATES

import graphtide as gt
from graphtide.frontier.query import KeptQuery

# After each graph: by vertex, the iterations at which its distance became another one.
KEPT = [
    {"a": [(0, 0)], "b": [(1, 30)], "c": [(2, 40)], "d": [(1, 20)], "e": [(1, 10)]},
    {"a": [(0, 0)], "b": [(1, 30)], "c": [(2, 40)], "d": [(1, 100), (3, 50)], "e": [(1, 10)]},
    {"a": [(0, 0)], "b": [(1, 30)], "c": [(2, 120)], "d": [(1, 100)], "e": [(1, 10)]},
]
CHANGED = [
    set(),
    {("d", 20, -1), ("d", 50, 1)},
    {("c", 40, -1), ("c", 120, 1), ("d", 50, -1), ("d", 100, 1)},
]


def test_the_running_example_on_a_live_graph() -> None:
    live = gt.LiveGraph(ids=str, length=int)
    live.apply(insert=[(u, v, length) for (u, v), length in EDGES.items()])
    query = live.sssp("a", weight="length")
    assert isinstance(query, KeptQuery)
    for version, (distances, kept, changed) in enumerate(zip(DISTANCES, KEPT, CHANGED, strict=True)):
        if version > 0:
            (u, v), length = UPDATES[version - 1]
            live.apply(update=[(u, v, length)])
        rows = query.result().to_pylist()
        assert {row["vertex"]: row["distance"] for row in rows} == distances
        numbers = {row["vertex"]: number for number, row in enumerate(rows)}
        assert {vertex: query.steps.trace(number) for vertex, number in numbers.items()} == kept
        assert {tuple(row.values()) for row in query.changes().to_pylist()} == changed
    assert query.path("d") == ["a", "d"]
    assert query.path("c") == ["a", "d", "c"]
