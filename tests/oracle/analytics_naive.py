"""What each analytic should give, by NetworkX or by the letter of its definition, in exact numbers.

A graph is a set of nodes and a list of edges (src, dst, weight). An answer is a set of rows, as a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Graph:
    nodes: frozenset[int]
    edges: tuple[tuple[int, int, Any], ...]

    def directed(self) -> nx.MultiDiGraph:
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_weighted_edges_from(self.edges)
        return graph

    def simple(self) -> nx.Graph:
        graph = nx.Graph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((s, d) for s, d, _ in self.edges if s != d)
        return graph


def wcc(graph: Graph) -> list[Row]:
    return least_of(nx.weakly_connected_components(graph.directed()))


def scc(graph: Graph) -> list[Row]:
    return least_of(nx.strongly_connected_components(graph.directed()))


def least_of(parts: Iterable[set[int]]) -> list[Row]:
    return [(node, min(part)) for part in parts for node in part]


def bfs(graph: Graph, source: int) -> list[Row]:
    if source not in graph.nodes:
        return []
    return list(nx.single_source_shortest_path_length(graph.directed(), source).items())


def sssp(graph: Graph, source: int, weight: str) -> list[Row]:
    if source not in graph.nodes:
        return []
    return list(nx.single_source_dijkstra_path_length(graph.directed(), source, weight=weight).items())


def mpsp(graph: Graph, pairs: list[tuple[int, int]], weight: str | None = None) -> list[Row]:
    directed = graph.directed()
    return [
        (source, target, nx.shortest_path_length(directed, source, target, weight=weight))
        for source, target in set(pairs)
        if {source, target} <= graph.nodes and nx.has_path(directed, source, target)
    ]


def degrees(graph: Graph) -> list[Row]:
    directed = graph.directed()
    return [(node, directed.out_degree(node), directed.in_degree(node)) for node in graph.nodes]


def triangles(graph: Graph) -> list[Row]:
    return list(nx.triangles(graph.simple()).items())


def clustering(graph: Graph) -> list[Row]:
    return [(node, float(share)) for node, share in nx.clustering(graph.simple()).items()]


def k_core(graph: Graph, k: int) -> list[Row]:
    return list(nx.k_core(graph.simple(), k).degree)


def pagerank(graph: Graph, iterations: int, damping: Fraction) -> list[Row]:
    """LDBC Graphalytics, PR."""
    count = len(graph.nodes)
    if count == 0:
        return []
    out_degrees = Counter(s for s, _, _ in graph.edges)
    ranks = dict.fromkeys(graph.nodes, Fraction(1, count))
    for _ in range(iterations):
        lost = sum(ranks[node] for node in graph.nodes if not out_degrees[node])
        following = dict.fromkeys(graph.nodes, (1 - damping + damping * lost) / count)
        for s, d, _ in graph.edges:
            following[d] += damping * ranks[s] / out_degrees[s]
        ranks = following
    return list(ranks.items())


def label_propagation(graph: Graph, rounds: int) -> list[Row]:
    """LDBC Graphalytics, CDLP."""
    labels = {node: node for node in graph.nodes}
    for _ in range(rounds):
        votes: dict[int, Counter[int]] = {node: Counter() for node in graph.nodes}
        for s, d, _ in graph.edges:
            votes[d][labels[s]] += 1
            votes[s][labels[d]] += 1
        labels = {
            node: min((-n, label) for label, n in heard.items())[1] if heard else labels[node]
            for node, heard in votes.items()
        }
    return list(labels.items())
