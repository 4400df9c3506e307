"""The parts of the bench of continuous queries that need no peer: their answers agree."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.bench import memory
from graphtide.bench.continuous_many import many_queries
from graphtide.bench.continuous_pathway import beside_pathway
from graphtide.bench.continuous_updates import FirstAnswers, Workload, first_answers, updates
from graphtide.bench.core_fixpoints import Course, Peer
from graphtide.bench.core_graphs import ChangingGraph, least_labels, levels, random_graph


def quiet(_: str) -> None:
    """Say nothing."""


def naive_distances(load: Workload) -> np.ndarray:
    """By relaxing all edges until nothing changes."""
    distances = np.full(load.vertices, np.inf)
    distances[load.source] = 0
    src, dst, weight = load.edges[: load.loaded].T
    for _ in range(load.vertices):
        np.minimum.at(distances, dst, distances[src] + weight)
    return distances


def test_first_answers_and_updates() -> None:
    load = Workload.of(7)
    peer = FirstAnswers("nobody", {"shortest paths": 1.0, "components": 1.0}, naive_distances(load))
    rows = list(first_answers(load, peer, quiet))
    assert [row.name for row in rows] == ["shortest paths: first answer", "components: first answer"]
    rows += list(updates(load, 10, 0.5, None, quiet))
    assert len(rows) == 2 + 2 * 3
    assert all(row.agree for row in rows)


def test_many_queries() -> None:
    (row,) = many_queries(400, 4, 6, quiet)
    assert row.agree
    assert row.peer_name == "one query alone"


def test_beside_a_peer() -> None:
    def answering(answer: np.ndarray) -> Course:
        return Course(1.0, np.ones(1), answer, answer)

    def components(graph: ChangingGraph) -> Course:
        return answering(least_labels(graph.edges_at_last))

    def shortest_paths(graph: ChangingGraph) -> Course:
        return answering(levels(graph.edges_at_last, graph.root))

    graph = random_graph(60, 90, 20)
    rows = list(beside_pathway(graph, Peer("nobody", components, shortest_paths), quiet))
    assert len(rows) == 2
    assert all(row.agree for row in rows)


def test_memory_by_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_QUICK_EDGES", 2_000)
    rows = list(memory.run(True, quiet))
    assert all(row.agree for row in rows)
    assert rows[0].name == "shortest paths: differences kept"
    assert rows[0].holds
