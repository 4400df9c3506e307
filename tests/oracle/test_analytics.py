"""Every analytic equals another algorithm on every view: one by one, many at a time, and in a grid of views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle import analytics_naive as naive
from tests.oracle.analytics_naive import Graph, Row

import graphtide as gt
from graphtide import datasets
from graphtide.analytics import AnalyticGraph, find

# In what the edges' weights come to an analytic; eighths add up exactly.
WEIGHTS: dict[str, Callable[[int], Any]] = {"int": int, "float": lambda weight: weight / 8}
NODES = st.integers(0, 5)
WEIGHTS_OF_A_PAIR = st.lists(st.integers(0, 9), max_size=2)


@dataclass(frozen=True)
class Case:
    """An analytic with arguments, and what it should give."""

    analytic: str
    oracle: Callable[[Graph], list[Row]]
    arguments: dict[str, Any]
    weights: str = "int"


def case(analytic: str, *, weights: str = "int", oracle: dict[str, Any] | None = None, **arguments: Any) -> Case:
    """A case whose oracle has the analytic's name and, unless told otherwise, takes its arguments."""
    function = getattr(naive, analytic)
    taken = arguments if oracle is None else oracle
    return Case(analytic, lambda graph: function(graph, **taken), arguments, weights)


PAIRS = [(0, 1), (0, 4), (2, 1), (3, 3), (0, 1), (5, 2)]
CASES = {
    "wcc": case("wcc"),
    "scc": case("scc"),
    "bfs": case("bfs", source=0),
    "sssp, ints": case("sssp", source=0, weight="weight"),
    "sssp, floats": case("sssp", source=1, weight="weight", weights="float"),
    "mpsp, edges": case("mpsp", pairs=PAIRS),
    "mpsp, ints": case("mpsp", pairs=PAIRS, weight="weight"),
    "mpsp, floats": case("mpsp", pairs=PAIRS, weight="weight", weights="float"),
    "mpsp, no pairs": case("mpsp", pairs=[]),
    "degrees": case("degrees"),
    "triangles": case("triangles"),
    "clustering": case("clustering"),
    "1-core": case("k_core", k=1),
    "2-core": case("k_core", k=2),
    "3-core": case("k_core", k=3),
    "pagerank": case("pagerank", iterations=4, damping=0.85, oracle={"iterations": 4, "damping": Fraction(85, 100)}),
    "pagerank, no rounds": case("pagerank", iterations=0, oracle={"iterations": 0, "damping": Fraction(1, 2)}),
    "label propagation": case("label_propagation", rounds=4),
    "label propagation, no rounds": case("label_propagation", rounds=0),
}


# -------------------------------------------------------------------------------------------- the dataflow


class Analytics:
    """All cases in one dataflow; each is a collection of what it gives."""

    def __init__(self, edges: gt.Collection, lonely: gt.Collection) -> None:
        nodes = edges.select(node="src").concat(edges.select(node="dst"), lonely).distinct()
        columns = {"int": gt.col("weight"), "float": gt.col("weight").cast(float) / 8}
        plain = edges.select("src", "dst")
        self.results: dict[str, gt.Collection] = {}
        for name, each in CASES.items():
            bound = find(each.analytic).bind(each.arguments)
            weight = gt.coalesce(columns[each.weights], gt.lit(0.0 if each.weights == "float" else 0))
            seen = edges.select("src", "dst", weight=weight) if bound.edge_properties else plain
            self.results[name] = bound.build(AnalyticGraph(nodes, seen), lambda number: number)


def agree(name: str, found: Iterable[Row], graph: Graph) -> None:
    """Compare an answer with the oracle's: ranks nearly, all else exactly."""
    chosen = CASES[name]
    scaled = Graph(graph.nodes, tuple((s, d, WEIGHTS[chosen.weights](w)) for s, d, w in graph.edges))
    rows, wanted = Counter(found), Counter(chosen.oracle(scaled))
    if chosen.analytic != "pagerank":
        assert rows == wanted, name
        return
    assert sorted(vertex for vertex, _ in rows.elements()) == sorted(graph.nodes), name
    ranks = dict(wanted.keys())
    assert all(isclose(rank, ranks[vertex], rel_tol=1e-12) for vertex, rank in rows), name


def rows_of(table: Any) -> list[Row]:
    return list(zip(*table.to_pydict().values(), strict=True))


# ------------------------------------------------------------------------------------ a graph that changes

# What an epoch says: these pairs have edges of these weights from now on, these nodes stay without any.
Pairs = dict[tuple[int, int], list[int]]
Epoch = tuple[Pairs, dict[int, bool]]


def epochs() -> st.SearchStrategy[list[Epoch]]:
    """A first graph of some size, then a few changes at a time; a graph may be emptied."""
    pairs = st.tuples(NODES, NODES)
    lonely = st.dictionaries(NODES, st.booleans(), max_size=2)
    first = st.tuples(st.dictionaries(pairs, WEIGHTS_OF_A_PAIR, max_size=14), lonely)
    later = st.tuples(st.dictionaries(pairs, WEIGHTS_OF_A_PAIR, max_size=4), lonely)
    emptied = st.just(({pair: [] for pair in product(range(6), range(6))}, dict.fromkeys(range(6), False)))
    return st.builds(lambda one, others: [one, *others], first, st.lists(later | later | later | emptied, max_size=4))


class Course:
    """All analytics on a graph that changes, next to the graph as plain rows."""

    def __init__(self) -> None:
        self.flow = gt.Dataflow()
        self.edges = self.flow.input("edges", src=int, dst=int, weight=int)
        self.lonely = self.flow.input("lonely", node=int)
        made = Analytics(self.edges, self.lonely)
        self.outputs = {name: result.output(name, keep=None) for name, result in made.results.items()}
        self.pairs: Pairs = {}
        self.kept: dict[int, bool] = {}
        self.graphs: list[Graph] = []

    def seal(self, epoch: Epoch) -> None:
        """Change the graph, and note what it now is."""
        pairs, kept = epoch
        for pair, weights in pairs.items():
            self.edges.remove([(*pair, weight) for weight in self.pairs.get(pair, [])])
            self.edges.insert([(*pair, weight) for weight in weights])
        self.lonely.remove([(node,) for node in kept if self.kept.get(node)])
        self.lonely.insert([(node,) for node, stays in kept.items() if stays])
        self.pairs |= pairs
        self.kept |= kept
        self.flow.seal()
        edges = tuple((*pair, weight) for pair, weights in self.pairs.items() for weight in weights)
        ends = {end for s, d, _ in edges for end in (s, d)}
        self.graphs.append(Graph(frozenset(ends | {node for node, stays in self.kept.items() if stays}), edges))

    def run(self) -> None:
        """Run what is sealed, and compare the answers on each graph that is new."""
        first = self.flow.epoch
        self.flow.run()
        for epoch in range(first, len(self.graphs)):
            for name, output in self.outputs.items():
                agree(name, rows_of(output.at(epoch)), self.graphs[epoch])


@share(50)
@given(epochs())
def test_analytics_follow_every_change(history: list[Epoch]) -> None:
    course = Course()
    for epoch in history:
        course.seal(epoch)
        course.run()


@share(50)
@given(epochs())
def test_analytics_tell_views_of_one_batch_apart(history: list[Epoch]) -> None:
    course = Course()
    for epoch in history:
        course.seal(epoch)
    course.run()


def test_a_cycle_closes_and_opens() -> None:
    cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 0)]
    course = Course()
    for weights in ([3], []):
        for pair in cycle:
            course.seal(({pair: weights}, {}))
            course.run()


def test_a_window_slides_over_real_messages() -> None:
    messages = rows_of(datasets.load("CollegeMsg").select(["src", "dst"]).slice(2_000, 1_100))
    # Who writes and is written to most gets the least number, so that the sources of the cases are in the middle of it.
    busiest = Counter(who for message in messages for who in message).most_common()
    number = {who: n for n, (who, _) in enumerate(busiest)}
    course = Course()
    width, step = 400, 100
    for start in range(0, len(messages) - width + 1, step):
        window = Counter((number[s], number[d]) for s, d in messages[start : start + width])
        pairs = {pair: [(sum(pair) + n) % 10 for n in range(window[pair])] for pair in window.keys() | course.pairs}
        course.seal((pairs, {}))
    course.run()


# --------------------------------------------------------------------------------------------------- a grid


@dataclass(frozen=True)
class Grid:
    """Edges and lonely nodes, each in the cells (i, j) of which the one sequence has i and the other j."""

    edges: list[tuple[tuple[int, int, int], list[bool], list[bool]]]
    lonely: list[tuple[int, list[bool], list[bool]]]


ACROSS = 3
DOWN = 2


def grids() -> st.SearchStrategy[Grid]:
    down, across = (st.lists(st.booleans(), min_size=n, max_size=n) for n in (DOWN, ACROSS))
    edges = st.tuples(st.tuples(NODES, NODES, st.integers(0, 9)), down, across)
    return st.builds(Grid, st.lists(edges, max_size=16), st.lists(st.tuples(NODES, down, across), max_size=2))


def steps(present: list[bool]) -> list[int]:
    """How a sequence changes from one place to the next."""
    return [int(now) - int(before) for before, now in zip([False, *present], present, strict=False)]


@share(30)
@given(grids())
def test_analytics_are_right_in_every_cell_of_a_grid(grid: Grid) -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int, weight=int, at=int)
    lonely = flow.input("lonely", node=int, at=int)
    with flow.dimension("across") as across:
        inside = [across.enter(each, at=gt.col("at")).drop("at") for each in (edges, lonely)]
        results = Analytics(*inside).results
        outputs = {name: across.leave(result, at="_at").output(name) for name, result in results.items()}
    found = {name: [Counter[Row]() for _ in range(ACROSS)] for name in outputs}
    for i in range(DOWN):
        for each, rows in ((edges, grid.edges), (lonely, [((node,), a, b) for node, a, b in grid.lonely])):
            for row, a, b in rows:
                change = [steps(a)[i] * step for step in steps(b)]
                each.change([(*row, j) for j in range(ACROSS)], change)
        flow.commit()
        for name, output in outputs.items():
            for *row, at, _epoch, diff in rows_of(output.changes()):
                for j in range(at, ACROSS):
                    found[name][j][tuple(row)] += diff
        for j in range(ACROSS):
            there = tuple(row for row, a, b in grid.edges if a[i] and b[j])
            kept = {node for node, a, b in grid.lonely if a[i] and b[j]}
            graph = Graph(frozenset(kept | {end for s, d, _ in there for end in (s, d)}), there)
            for name, cells in found.items():
                assert not -cells[j], name
                agree(name, cells[j].elements(), graph)


@pytest.mark.parametrize("name", sorted({each.analytic for each in CASES.values()}))
def test_an_oracle_tells_graphs_apart(name: str) -> None:
    """An oracle that gave the same for all graphs would let everything pass."""
    few = Graph(frozenset({0, 1, 2, 3}), ((0, 1, 2),))
    many = Graph(frozenset({0, 1, 2, 3}), ((0, 1, 1), (1, 2, 1), (2, 0, 1), (0, 3, 1), (3, 1, 1), (2, 3, 1)))
    answers = [
        [sorted(each.oracle(graph)) for each in CASES.values() if each.analytic == name] for graph in (few, many)
    ]
    assert answers[0] != answers[1]
