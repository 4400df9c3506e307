"""Graphs as NetworkX has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["as_networkx"]

_Properties = dict[str, Any]


def as_networkx(
    name: str, nodes: Iterable[tuple[Any, _Properties]], edges: Iterable[tuple[Any, Any, _Properties]]
) -> Any:
    """A MultiDiGraph with the users' ids and all properties that are not missing.

    >>> graph = as_networkx("G", [("a", {"age": None}), ("b", {})], [("a", "b", {"length": 3})])
    >>> list(graph.nodes(data=True)), list(graph.edges(data=True))
    ([('a', {}), ('b', {})], [('a', 'b', {'length': 3})])
    """
    import networkx as nx  # noqa: PLC0415 - takes a moment, and few ask for it

    graph = nx.MultiDiGraph(name=name)
    graph.add_nodes_from((node, _present(properties)) for node, properties in nodes)
    graph.add_edges_from((source, target, _present(properties)) for source, target, properties in edges)
    return graph


def _present(properties: _Properties) -> _Properties:
    return {name: value for name, value in properties.items() if value is not None}
