"""Reference answers that come with a graph: each equal to a recomputation by another program."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from graphtide import datasets

SOURCE = 6


def weighted(graph: nx.Graph) -> nx.Graph:
    graph.add_weighted_edges_from(zip(*(column.to_pylist() for column in datasets.load("p2p-31").columns), strict=True))
    return graph


@pytest.fixture(scope="module")
def directed() -> nx.DiGraph:
    return weighted(nx.DiGraph())


@pytest.fixture(scope="module")
def undirected() -> nx.Graph:
    """No edge has one that goes back, so no weight is lost."""
    return weighted(nx.Graph())


@pytest.fixture(scope="module")
def arcs() -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Ends of the edges taken both ways, from 0, and the number of vertices, which are 1, 2, 3, ..."""
    edges = datasets.load("p2p-31")
    src, dst = edges["src"].to_numpy() - 1, edges["dst"].to_numpy() - 1
    return np.concatenate([src, dst]), np.concatenate([dst, src]), datasets.describe("p2p-31").node_count


def assert_is(name: str, expected: dict[int, float], relative_error: float = 0) -> None:
    """Compare as arrays: so large a dict in a failing assertion would be shown for minutes."""
    vertices, values = (column.to_numpy() for column in datasets.answers("p2p-31")[name].columns)
    assert vertices.tolist() == sorted(expected)
    np.testing.assert_allclose(values, [expected[vertex] for vertex in vertices.tolist()], relative_error)


def test_answers_are_of_the_vertices_in_their_order() -> None:
    for table in datasets.answers("p2p-31").values():
        assert table.column_names == ["vertex", "value"]
        assert table.schema.field("value").type in {pa.int64(), pa.float64()}
        assert (np.diff(table["vertex"].to_numpy()) > 0).all()


def test_bfs(directed: nx.DiGraph, undirected: nx.Graph) -> None:
    assert_is("bfs", nx.single_source_shortest_path_length(directed, SOURCE))
    assert_is("bfs-undirected", nx.single_source_shortest_path_length(undirected, SOURCE))


def test_sssp(directed: nx.DiGraph, undirected: nx.Graph) -> None:
    assert_is("sssp", nx.single_source_dijkstra_path_length(directed, SOURCE))
    assert_is("sssp-undirected", nx.single_source_dijkstra_path_length(undirected, SOURCE))


def test_wcc(directed: nx.DiGraph) -> None:
    least: dict[int, int] = {}
    for component in nx.weakly_connected_components(directed):
        least |= dict.fromkeys(component, min(component))
    assert_is("wcc", least)


def test_lcc(undirected: nx.Graph) -> None:
    assert_is("lcc", nx.clustering(undirected), relative_error=1e-14)


def test_pagerank(arcs: tuple[NDArray[np.int64], NDArray[np.int64], int]) -> None:
    src, dst, n = arcs
    share = 1 / np.bincount(src, minlength=n)
    rank = np.full(n, 1 / n)
    for _ in range(10):
        rank = 0.15 / n + 0.85 * np.bincount(dst, (rank * share)[src], n)
    assert_is("pagerank-undirected", dict(enumerate(rank.tolist(), start=1)), relative_error=1e-12)


def test_cdlp(arcs: tuple[NDArray[np.int64], NDArray[np.int64], int]) -> None:
    src, dst, n = arcs
    neighbours = [[] for _ in range(n)]
    for one, other in zip(src.tolist(), dst.tolist(), strict=True):
        neighbours[one].append(other)
    labels = list(range(1, n + 1))
    for _ in range(10):
        heard = (Counter([labels[other] for other in others]) for others in neighbours)
        labels = [min(votes, key=lambda label: (-votes[label], label)) for votes in heard]
    assert_is("cdlp", dict(enumerate(labels, start=1)))


def test_changes_lead_to_the_graph_from_one_of_its_size() -> None:
    edges = Counter(zip(*(column.to_pylist() for column in datasets.load("p2p-31").columns), strict=True))
    *ends, diffs = (column.to_pylist() for column in datasets.changes("p2p-31").columns)
    before = Counter(edges)
    for row, diff in zip(zip(*ends, strict=True), diffs, strict=True):
        before[row] -= diff
    assert set(before.values()) == {0, 1}
    before_ends, after_ends = ({row[:2] for row in rows if rows[row]} for rows in (before, edges))
    assert len(before_ends) == len(after_ends) == before.total() == 147_892
    assert len(after_ends - before_ends) == len(before_ends - after_ends) == 10_000
    reweighted = [row for row in edges if row[:2] in before_ends and not before[row]]
    assert len(reweighted) == 10_000


def test_a_graph_without_answers_has_none() -> None:
    assert datasets.answers("CollegeMsg") == {}
    assert datasets.changes("CollegeMsg") is None
    assert datasets.nodes("CollegeMsg") is None
