"""Every example equals another algorithm after every change, one by one and many epochs at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import networkx as nx
import pytest
from examples.breadth_first import breadth_first
from examples.connected_components import connected_components, connected_components_prioritized
from examples.pagerank import pagerank
from examples.reachability import reachability
from examples.same_generation import same_generation
from examples.shortest_paths import shortest_paths
from examples.strongly_connected import strong_components, strongly_connected
from examples.topics import top_topics
from examples.transitive_closure import transitive_closure
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

import graphtide as gt
from graphtide import datasets

Row = tuple[Any, ...]
Rows = Iterable[Row]
# What an epoch says: this key of this input has these rows from now on.
Epoch = dict[tuple[str, Row], list[Row]]

NODES = st.integers(0, 5)
FEW_NODES = st.integers(0, 2)
EDGES = {"src": int, "dst": int}


@dataclass(frozen=True)
class Program:
    """A dataflow, its inputs with what their keys and rows may be, and what it should give."""

    build: Callable[..., gt.Collection]
    oracle: Callable[..., Rows]
    inputs: dict[str, tuple[dict[str, type], st.SearchStrategy[tuple[Row, list[Row]]]]]


# ----------------------------------------------------------------------------------------- inputs


def copies(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Row, list[Row]]]:
    """A row, absent, there once or twice."""
    return st.builds(lambda row, n: (row, [row] * n), st.tuples(*columns), st.integers(0, 2))


def weighted() -> st.SearchStrategy[tuple[Row, list[Row]]]:
    """An edge, absent or with one or two weights."""
    weights = st.lists(st.integers(0, 9), max_size=2)
    return st.builds(lambda edge, ws: (edge, [(*edge, w) for w in ws]), st.tuples(NODES, NODES), weights)


def epochs_of(program: Program) -> st.SearchStrategy[list[Epoch]]:
    change = st.one_of(
        st.builds(lambda change, name=name: ((name, change[0]), change[1]), changes)
        for name, (_, changes) in program.inputs.items()
    )
    first = st.lists(change, max_size=12)
    later = st.lists(change, max_size=4)
    return st.builds(lambda one, others: [dict(one), *map(dict, others)], first, st.lists(later, max_size=5))


# ---------------------------------------------------------------------------------------- oracles


def components_oracle(edges: Rows) -> Rows:
    return [(node, min(part)) for part in nx.connected_components(nx.Graph(edges)) for node in part]


def strong_parts(edges: Rows) -> Iterator[set[int]]:
    """The strongly connected components that have a cycle."""
    graph = nx.DiGraph(edges)
    for part in nx.strongly_connected_components(graph):
        if len(part) > 1 or any(graph.has_edge(node, node) for node in part):
            yield part


def strong_edges_oracle(edges: Rows) -> Rows:
    edges = set(edges)
    return [edge for part in strong_parts(edges) for edge in edges if set(edge) <= part]


def strong_labels_oracle(edges: Rows) -> Rows:
    return [(node, min(part)) for part in strong_parts(edges) for node in part]


def breadth_first_oracle(roots: Rows, edges: Rows) -> Rows:
    graph = nx.DiGraph(edges)
    sources = {node for (node,) in roots}
    graph.add_nodes_from(sources)
    return nx.multi_source_dijkstra_path_length(graph, sources, weight=lambda *_: 1).items() if sources else []


def shortest_paths_oracle(sources: Rows, edges: Rows) -> Rows:
    graph = nx.MultiDiGraph()
    graph.add_weighted_edges_from(edges)
    for source in {source for (source,) in sources}:
        graph.add_node(source)
        for node, distance in nx.single_source_dijkstra_path_length(graph, source).items():
            yield source, node, distance


def pagerank_oracle(edges: Rows) -> Rows:
    edges = list(edges)
    nodes = {node for edge in edges for node in edge}
    rank = dict.fromkeys(nodes, 1_000_000)
    for _ in range(4):
        sent = {node: rank[node] * 85 // (100 * sum(node == s for s, _ in edges) or 1) for node in nodes}
        rank = {node: 150_000 + sum(sent[s] for s, d in edges if d == node) for node in nodes}
    return rank.items()


def closure_oracle(edges: Rows) -> Rows:
    """By Warshall's algorithm."""
    pairs = set(edges)
    nodes = {node for edge in pairs for node in edge}
    for middle, start, end in product(nodes, nodes, nodes):
        if (start, middle) in pairs and (middle, end) in pairs:
            pairs.add((start, end))
    return pairs


def same_generation_oracle(parents: Rows) -> Rows:
    """Pairs at the ends of two walks of equal length from one ancestor."""
    children = defaultdict[int, set[int]](set)
    for parent, child in parents:
        children[parent].add(child)
    found: set[Row] = set()
    for ancestor in list(children):
        generation = {ancestor}
        for _ in range(36):  # a shortest pair of such walks visits no pair of nodes twice
            generation = set[int]().union(*(children[node] for node in generation))
            found |= {(a, b) for a, b in product(generation, generation) if a != b}
    return found


def reachability_oracle(query: Rows, edges: Rows) -> Rows:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(node for pair in query for node in pair)
    return [pair for pair in query if nx.has_path(graph, *pair)]


def topics_oracle(mentions: Rows, topics: Rows) -> Rows:
    for part in strong_parts(mentions):
        counts = Counter(topic for who, topic in topics if who in part)
        ranked = sorted(((count, topic) for topic, count in counts.items()), reverse=True)
        for count, topic in ranked[:1]:
            yield min(part), len(part), topic, count


GRAPH = {"edges": (EDGES, copies(NODES, NODES))}
PROGRAMS = {
    "connected components": Program(connected_components, components_oracle, GRAPH),
    "prioritized components": Program(connected_components_prioritized, components_oracle, GRAPH),
    "strongly connected": Program(strongly_connected, strong_edges_oracle, GRAPH),
    "strong components": Program(strong_components, strong_labels_oracle, GRAPH),
    "breadth first": Program(breadth_first, breadth_first_oracle, {"roots": ({"node": int}, copies(NODES)), **GRAPH}),
    "shortest paths": Program(
        shortest_paths,
        shortest_paths_oracle,
        {"sources": ({"source": int}, copies(NODES)), "edges": ({**EDGES, "weight": int}, weighted())},
    ),
    "pagerank": Program(lambda edges: pagerank(edges, rounds=4), pagerank_oracle, GRAPH),
    "transitive closure": Program(transitive_closure, closure_oracle, GRAPH),
    "same generation": Program(
        same_generation, same_generation_oracle, {"parents": ({"parent": int, "child": int}, copies(NODES, NODES))}
    ),
    "reachability": Program(reachability, reachability_oracle, {"query": (EDGES, copies(NODES, NODES)), **GRAPH}),
    "topics": Program(
        top_topics,
        topics_oracle,
        {
            "mentions": (EDGES, copies(FEW_NODES, FEW_NODES)),
            "topics": ({"who": int, "topic": str}, copies(FEW_NODES, st.sampled_from("ab"))),
        },
    ),
}


# ------------------------------------------------------------------------------------------ tests


class Run:
    """A program as it runs, next to its inputs as plain rows."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.flow = gt.Dataflow()
        self.inputs = {name: self.flow.input(name, **columns) for name, (columns, _) in program.inputs.items()}
        self.output = program.build(*self.inputs.values()).output("result", keep=None)
        self.rows: Epoch = {}
        self.wanted: list[Counter[Row]] = []
        self.changed = Counter[Row]()

    def seal(self, epoch: Epoch) -> None:
        """Change the inputs, and note what the result should now be."""
        for (name, key), rows in epoch.items():
            self.inputs[name].remove(self.rows.get((name, key), []))
            self.inputs[name].insert(rows)
        self.rows |= epoch
        self.flow.seal()
        self.wanted.append(self.recomputed())

    def recomputed(self) -> Counter[Row]:
        now: dict[str, list[Row]] = {name: [] for name in self.inputs}
        for (name, _), rows in self.rows.items():
            now[name] += rows
        return Counter(self.program.oracle(*now.values()))

    def run(self) -> None:
        """Run what is sealed, if anything is, and compare all epochs so far, as tables and as changes."""
        if self.flow.epoch == self.flow.sealed:
            return
        self.flow.run()
        for epoch, wanted in enumerate(self.wanted):
            assert Counter(rows_of(self.output.at(epoch))) == wanted, f"epoch {epoch}"
        for *row, _epoch, diff in rows_of(self.output.changes()):
            self.changed[tuple(row)] += diff
        assert +self.changed == self.wanted[-1]
        assert not -self.changed


def rows_of(table: Any) -> list[Row]:
    return list(zip(*table.to_pydict().values(), strict=True))


def edge_by_edge(*edges: Row) -> list[Epoch]:
    """A path, cycle or the like, built and taken down again."""
    there = [{("edges", edge): [edge]} for edge in edges]
    return there + [{("edges", edge): []} for edge in edges]


@pytest.mark.parametrize("name", PROGRAMS)
@share(40)
@given(data=st.data())
def test_a_program_follows_every_change(name: str, data: st.DataObject) -> None:
    run = Run(PROGRAMS[name])
    for epoch in data.draw(epochs_of(run.program), label="epochs"):
        run.seal(epoch)
        run.run()


@pytest.mark.parametrize("name", PROGRAMS)
@share(40)
@given(data=st.data())
def test_a_program_tells_epochs_of_one_batch_apart(name: str, data: st.DataObject) -> None:
    run = Run(PROGRAMS[name])
    for epoch in data.draw(epochs_of(run.program), label="epochs"):
        run.seal(epoch)
        if data.draw(st.booleans(), label="run"):
            run.run()
    run.run()


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.inputs is GRAPH])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_cycle_closes_and_opens(name: str, at_once: bool) -> None:
    run = Run(PROGRAMS[name])
    for epoch in edge_by_edge((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 0)):
        run.seal(epoch)
        if not at_once:
            run.run()
    run.run()


@pytest.mark.parametrize("name", ["connected components", "prioritized components", "strong components"])
def test_a_window_slides_over_real_messages(name: str) -> None:
    messages = rows_of(datasets.load("CollegeMsg").select(["src", "dst"]))
    run = Run(PROGRAMS[name])
    width, step = 600, 60
    for start in range(0, 3_000, step):
        window = Counter(messages[start : start + width])
        before = Counter(messages[max(0, start - step) : start + width - step])
        run.seal({("edges", edge): [edge] * window[edge] for edge in window.keys() | before.keys()})
        if start % (4 * step) == 0:
            run.run()
    run.run()
