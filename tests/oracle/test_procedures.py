"""Procedures answer what a search of the graph answers, after every commit."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import CatalogueError, NegativeMultiplicityError, SchemaError, UsageError

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


staged_changes = st.lists(st.tuples(st.sampled_from(["nodes", "edges", "one_hop", "reaches"]), pairs, st.booleans()))


@given(commits=st.lists(staged_changes), mends=st.booleans(), sharing=st.sampled_from(["indexes", "nothing"]))
def test_what_is_not_there_cannot_be_removed_and_a_refused_commit_changes_nothing(
    commits: list[list[Any]], mends: bool, sharing: Literal["indexes", "nothing"]
) -> None:
    graph = gt.SharedGraph(flow=gt.Dataflow(sharing=sharing), name=str)
    hop, reaches = graph.one_hop(), graph.reaches()
    nodes = graph.nodes.output("all nodes")
    ways = {
        "nodes": (graph.nodes.insert, graph.nodes.remove),
        "edges": (graph.edges.insert, graph.edges.remove),
        "one_hop": (hop.ask, hop.withdraw),
        "reaches": (reaches.ask, reaches.withdraw),
    }
    held: Counter[tuple[str, Any]] = Counter()
    for staged in commits:
        after = held.copy()
        for kind, pair, comes in staged:
            row = pair[:1] if kind == "one_hop" else (pair[0], "a") if kind == "nodes" else pair
            ways[kind][0 if comes else 1]([row])
            after[kind, row] += 1 if comes else -1
        missing = [(kind, row) for (kind, row), count in after.items() if count < 0]
        if missing:
            before = sorted(nodes.rows()), sorted(hop.output.rows()), sorted(reaches.output.rows())
            with pytest.raises(NegativeMultiplicityError) as caught:
                graph.commit()
            assert any(str(row) in caught.value.message and kind in caught.value.message for kind, row in missing)
            assert before == (sorted(nodes.rows()), sorted(hop.output.rows()), sorted(reaches.output.rows()))
            if mends:
                for kind, row in missing:
                    ways[kind][0]([row] * -after[kind, row])
                    after[kind, row] = 0
            else:
                graph.rollback()
                after = held
        graph.commit()
        held = after
        model = Model()
        model.edges += Counter({row: count for (kind, row), count in held.items() if kind == "edges"})
        for kind in ("one_hop", "reaches"):
            model.asked[kind] += Counter({row: count for (of, row), count in held.items() if of == kind})
        assert Counter(nodes.rows()) == +Counter({row: n for (kind, row), n in held.items() if kind == "nodes"})
        assert sorted(hop.output.rows()) == model.answers("one_hop", 4)
        assert sorted(reaches.output.rows()) == model.answers("reaches", 4)


def test_a_question_that_is_withdrawn_before_it_is_asked_is_refused_with_its_name() -> None:
    graph = gt.SharedGraph()
    reaches = graph.reaches()
    reaches.withdraw([(1, 2)])
    with pytest.raises(NegativeMultiplicityError, match=r'cannot take \(1, 2\) away from "reaches.asked": 1 to go, 0'):
        graph.commit()
    graph.rollback()
    graph.edges.insert([(1, 2)])
    reaches.ask([(1, 2)])
    graph.commit()
    assert reaches.output.rows() == [(1, 2)]


def test_a_dropped_procedure_is_gone_and_cannot_be_used() -> None:
    graph = gt.SharedGraph()
    near = graph.one_hop("near")
    near.drop()
    assert "near" not in graph.procedures
    for use in (
        lambda: near.ask([(1,)]),
        lambda: near.withdraw([(1,)]),
        near.answers,
        near.changes,
        near.to_pandas,
        lambda: near.on_change(print),
        lambda: near.output,
        near.drop,
    ):
        with pytest.raises(CatalogueError, match='the procedure "near" was dropped'):
            use()
    again = graph.one_hop("near")
    graph.edges.insert([(1, 2)])
    again.ask([(1,)])
    graph.commit()
    assert again.output.rows() == [(1, 2)]


def test_a_procedure_that_cannot_be_made_leaves_its_name_free() -> None:
    graph = gt.SharedGraph()
    with pytest.raises(SchemaError, match="dst"):
        graph.install("own", {"src": int}, lambda asked: asked.select("dst"))
    made = graph.install("own", {"src": int}, lambda asked: asked.semijoin(graph.edges, on="src"))
    assert graph.procedures == {"own": made}


def test_what_makes_no_procedure_is_refused_and_leaves_its_name_free() -> None:
    with pytest.raises(SchemaError, match='nodes have an "id" already'):
        gt.SharedGraph(id=int)
    graph = gt.SharedGraph()
    wrong: Any
    for wrong in (1.5, "x", None):
        with pytest.raises(UsageError, match=f"no length of {wrong!r} edges"):
            graph.shortest_path(most=wrong)
    nothing: Any = lambda _asked: None  # noqa: E731
    with pytest.raises(UsageError, match='the body of "mine" gives None'):
        graph.install("mine", {"a": int}, nothing)
    assert graph.install("mine", {"a": int}, lambda asked: asked).name == "mine"
