"""Strongly connected components, reachability and closure on graphs from a published generator."""

from __future__ import annotations

import networkx as nx
import pytest
from examples.breadth_first import breadth_first
from examples.strongly_connected import strongly_connected
from examples.transitive_closure import transitive_closure

import graphtide as gt

MASK = 2**64 - 1


def finalized(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def random_edges(vertices: int, count: int) -> list[tuple[int, int]]:
    def end(edge: int, column: int) -> int:
        return finalized((31 * edge + column) * 0x9E3779B97F4A7C15 & MASK) % vertices

    return [(end(edge, 0), end(edge, 1)) for edge in range(count)]


@pytest.mark.parametrize(("vertices", "count", "inside"), [(50, 55, 12), (100, 110, 22)])
def test_edges_inside_strongly_connected_components(vertices: int, count: int, inside: int) -> None:
    graph = random_edges(vertices, count)
    part = {v: i for i, part in enumerate(nx.strongly_connected_components(nx.DiGraph(graph))) for v in part}
    assert sum(part[s] == part[d] for s, d in set(graph)) == inside

    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    result = strongly_connected(edges).output("inside")
    edges.insert(graph)
    flow.commit()
    assert len(result) == inside
    for start in range(0, count, 10):  # taken out by tens and put back, the same
        edges.remove(graph[start : start + 10])
        flow.commit()
        edges.insert(graph[start : start + 10])
        flow.commit()
        assert len(result) == inside


def test_vertices_reached_from_0() -> None:
    graph = random_edges(50, 55)
    assert len(nx.descendants(nx.DiGraph(graph), 0)) == 4

    flow = gt.Dataflow()
    roots, edges = flow.input("roots", node=int), flow.input("edges", src=int, dst=int)
    reached = breadth_first(roots, edges).output("reached")
    roots.insert([(0,)])
    edges.insert(graph)
    flow.commit()
    assert len(reached) == 5


def test_transitive_closure() -> None:
    graph = random_edges(20, 22)
    assert nx.transitive_closure(nx.DiGraph(graph)).number_of_edges() == 34

    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    closure = transitive_closure(edges).output("closure")
    for edge in graph:
        edges.insert([edge])
        flow.commit()
    assert len(closure) == 34
