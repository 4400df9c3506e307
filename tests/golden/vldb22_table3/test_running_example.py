"""Shortest paths on three graphs: distances, and every difference that leads to them."""

from __future__ import annotations

from collections import Counter

import pytest

import graphtide as gt

EDGES = {
    ("a", "b"): 30,
    ("a", "d"): 20,
    ("a", "e"): 10,
    ("b", "c"): 10,
    ("d", "c"): 20,
    ("d", "e"): 10,
    ("c", "d"): 10,
}
UPDATES = [(("a", "d"), 100), (("b", "c"), 100)]
DISTANCES = [
    {"a": 0, "b": 30, "c": 40, "d": 20, "e": 10},
    {"a": 0, "b": 30, "c": 40, "d": 50, "e": 10},
    {"a": 0, "b": 30, "c": 120, "d": 100, "e": 10},
]

Trace = dict[tuple[int, int], Counter[tuple[str, int]]]

# Table 3 without infinite distances: (graph, iteration) to differences.
DELTA_D = {
    (0, 0): "+a0",
    (0, 1): "+b30 +d20 +e10",
    (0, 2): "+c40",
    (1, 1): "-d20 +d100",
    (1, 3): "-d100 +d50",
    (2, 2): "-c40 +c120",
    (2, 3): "-d50 +d100",
}
DELTA_J = {
    (0, 1): "+b30 +d20 +e10",
    (0, 2): "+c40 +c40 +e30",
    (0, 3): "+d50",
    (1, 1): "-d20 +d100",
    (1, 2): "-c40 +c120 -e30 +e110",
    (1, 4): "-c120 +c70 -e110 +e60",
    (2, 2): "-c40 +c130",
    (2, 3): "-d50 +d130",
    (2, 4): "-c70 +c120 -e60 +e110",
}
# Eager merging (section 4.2) after G2: what each iteration changes, whichever graph brought it.
MERGED_D = {0: "+a0", 1: "+b30 +d100 +e10", 2: "+c120"}


class Example:
    """The dataflow of figure 1b, with the differences of D and J as they pass."""

    def __init__(self) -> None:
        self.delta_d: Trace = {}
        self.delta_j: Trace = {}
        self.flow = gt.Dataflow()
        self.sources = self.flow.input("sources", node=str)
        self.edges = self.flow.input("edges", src=str, dst=str, weight=int)
        start = self.sources.select(node="node", distance=gt.lit(0))

        def step(distances: gt.Collection) -> gt.Collection:
            seen = distances.inspect(noted_in(self.delta_d))
            through = gt.col("distance") + gt.col("weight")
            joined = seen.join(self.edges, on={"node": "src"}).select(node="dst", distance=through)
            return joined.inspect(noted_in(self.delta_j)).concat(start).group_by("node").min("distance")

        self.distances = start.iterate(step).output("distances", keep=None)

    def graph(self, number: int) -> None:
        """Stage what makes this graph of the one before."""
        if number == 0:
            self.sources.insert([("a",)])
            self.edges.insert([(*edge, weight) for edge, weight in EDGES.items()])
        else:
            edge, weight = UPDATES[number - 1]
            self.edges.remove([(*edge, EDGES[edge])])
            self.edges.insert([(*edge, weight)])
        self.flow.seal()

    def distances_of(self, graph: int) -> dict[str, int]:
        table = self.distances.at(graph).to_pydict()
        return dict(zip(table["node"], table["distance"], strict=True))


def noted_in(trace: Trace):
    """An inspector that adds up what it sees, by time."""

    def note(row, time, diff) -> None:
        trace.setdefault(time, Counter())[row] += diff

    return note


def net(trace: Trace) -> Trace:
    """A trace without what adds up to zero."""
    counted = {time: Counter({row: n for row, n in rows.items() if n}) for time, rows in trace.items()}
    return {time: rows for time, rows in counted.items() if rows}


def differences(cell: str) -> Counter[tuple[str, int]]:
    counted = Counter[tuple[str, int]]()
    for sign, vertex, *digits in cell.split():
        counted[vertex, int("".join(digits))] += 1 if sign == "+" else -1
    return counted


@pytest.fixture(params=["graph by graph", "all graphs as one batch"])
def after_all_graphs(request: pytest.FixtureRequest) -> Example:
    running = Example()
    for number in range(3):
        running.graph(number)
        if request.param == "graph by graph":
            running.flow.run()
    running.flow.run()
    return running


def test_distances_of_each_graph(after_all_graphs: Example) -> None:
    assert [after_all_graphs.distances_of(graph) for graph in range(3)] == DISTANCES


def test_differences_of_the_distances(after_all_graphs: Example) -> None:
    assert net(after_all_graphs.delta_d) == {time: differences(cell) for time, cell in DELTA_D.items()}


def test_differences_of_the_join(after_all_graphs: Example) -> None:
    booked = {(graph, i - 1): differences(cell) for (graph, i), cell in DELTA_J.items()}
    assert net(after_all_graphs.delta_j) == booked


def test_differences_merged_over_the_graphs(after_all_graphs: Example) -> None:
    merged: Trace = {}
    for (_, i), rows in after_all_graphs.delta_d.items():
        merged.setdefault((0, i), Counter()).update(rows)
    assert net(merged) == {(0, i): differences(cell) for i, cell in MERGED_D.items()}
