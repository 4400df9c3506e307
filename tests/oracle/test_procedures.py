"""Procedures answer what a search of the graph answers, after every commit."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import CatalogueError, UsageError

VERTICES = 7
vertices = st.integers(0, VERTICES - 1)
pairs = st.tuples(vertices, vertices)
changes = st.lists(st.tuples(pairs, st.booleans()), max_size=6)
KINDS = ("look_up", "one_hop", "two_hop", "shortest_path", "reaches")


class Model:
    """Edges and arguments as multisets, and answers by plain search."""

    def __init__(self) -> None:
        self.edges: Counter[tuple[int, int]] = Counter()
        self.asked: dict[str, Counter[tuple[int, ...]]] = {kind: Counter() for kind in KINDS}

    def from_(self, vertex: int) -> set[int]:
        return {dst for (src, dst), count in self.edges.items() if src == vertex and count}

    def distances(self, source: int) -> dict[int, int]:
        found, level, length = {source: 0}, {source}, 0
        while level:
            length += 1
            level = {each for vertex in level for each in self.from_(vertex)} - found.keys()
            found |= dict.fromkeys(level, length)
        return found

    def answers(self, kind: str, most: int) -> list[tuple[Any, ...]]:
        asked = [row for row, count in self.asked[kind].items() if count]
        rows: list[tuple[Any, ...]] = []
        for row in asked:
            source = row[0]
            if kind == "look_up":
                rows += [(source, f"name of {source}")] if source % 2 == 0 else []
            elif kind == "one_hop":
                rows += [(source, each) for each in self.from_(source)]
            elif kind == "two_hop":
                rows += [(source, each) for each in {b for a in self.from_(source) for b in self.from_(a)}]
            else:
                length = self.distances(source).get(row[1])
                if length is not None and kind == "reaches":
                    rows.append(row)
                elif length is not None and length <= most:
                    rows.append((*row, length))
        return sorted(rows)


@given(
    steps=st.lists(st.tuples(changes, st.lists(st.tuples(st.sampled_from(KINDS), pairs, st.booleans()), max_size=8))),
    late=st.integers(0, 2),
    most=st.integers(1, 5),
    sharing=st.sampled_from(["indexes", "nothing"]),
)
def test_procedures_answer_what_a_search_answers(
    steps: list[tuple[list[Any], list[Any]]], late: int, most: int, sharing: Literal["indexes", "nothing"]
) -> None:
    graph = gt.SharedGraph(flow=gt.Dataflow(sharing=sharing), name=str)
    graph.nodes.insert([(vertex, f"name of {vertex}") for vertex in range(0, VERTICES, 2)])
    model = Model()
    installed: dict[str, gt.Procedure] = {}
    for number, (edges, asks) in enumerate(steps):
        if number == late:
            for kind in KINDS:
                made = graph.shortest_path(most) if kind == "shortest_path" else getattr(graph, kind)()
                installed[kind] = made
        for edge, comes in edges:
            if comes or not model.edges[edge]:
                graph.edges.insert([edge])
                model.edges[edge] += 1
            else:
                graph.edges.remove([edge])
                model.edges[edge] -= 1
        for kind, pair, comes in asks if installed else ():
            row = pair if kind in {"shortest_path", "reaches"} else pair[:1]
            if comes or not model.asked[kind][row]:
                installed[kind].ask([row])
                model.asked[kind][row] += 1
            else:
                installed[kind].withdraw([row])
                model.asked[kind][row] -= 1
        graph.commit()
        for kind, procedure in installed.items():
            assert sorted(procedure.output.rows()) == model.answers(kind, most), kind


def test_a_procedure_is_dropped_with_all_that_it_kept() -> None:
    graph = gt.SharedGraph()
    graph.edges.insert([(1, 2), (2, 3)])
    graph.commit()
    indexes = len(graph.memory().operators)
    near = graph.two_hop("near")
    near.ask([(1,)])
    graph.commit()
    assert near.answers().to_pylist() == [{"src": 1, "vertex": 3}]
    with pytest.raises(CatalogueError, match='there is a procedure "near" already'):
        graph.one_hop("near")
    graph.drop("near")
    graph.commit()
    assert len(graph.memory().operators) == indexes
    with pytest.raises(CatalogueError, match='there is no procedure "near"'):
        graph.drop("near")
    with pytest.raises(UsageError, match="at most 0 edges"):
        graph.shortest_path(0)


def test_procedures_share_the_indexes_of_the_graph() -> None:
    graph = gt.SharedGraph()
    rows = [(n, (7 * n + 1) % 1000) for n in range(1000)]
    graph.edges.insert(rows)
    graph.commit()
    before = graph.memory().differences
    for kind in KINDS:
        getattr(graph, kind)()
    graph.commit()
    assert graph.memory().differences == before
    alone = gt.SharedGraph(flow=gt.Dataflow(sharing="nothing"))
    alone.edges.insert(rows)
    for kind in KINDS:
        getattr(alone, kind)()
    alone.commit()
    assert alone.memory().differences > 3 * before
