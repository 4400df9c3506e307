"""A NetworkX graph as two tables: attributes become properties, keys of parallel edges are not kept.

Stored graphs are directed, so an edge of an undirected graph is two: whoever follows edges gets where NetworkX gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import pyarrow as pa

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.coerce import property_type

__all__ = ["edge_table", "node_table"]

_Edge = tuple[Any, Any, Mapping[Any, Any]]


def node_table(graph: Any) -> pa.Table:
    """The nodes with their attributes; the first column is the id."""
    nodes = list(graph.nodes(data=True))
    return _table({"id": _ids([node for node, _ in nodes])}, [attributes for _, attributes in nodes], "node")


def edge_table(graph: Any) -> pa.Table:
    """The edges with their attributes; the first two columns are the ends.

    An edge of an undirected graph is followed by the one the other way, unless it is a loop.
    """
    edges = list(graph.edges(data=True))
    if not graph.is_directed():
        edges = list(_both_ways(edges))
    # Sources and targets together: all are ints, or all are texts.
    ends = _ids([end for side in (0, 1) for end in (edge[side] for edge in edges)])
    return _table({"src": ends[: len(edges)], "dst": ends[len(edges) :]}, [edge[2] for edge in edges], "edge")


def _both_ways(edges: Iterable[_Edge]) -> Iterator[_Edge]:
    for src, dst, attributes in edges:
        yield src, dst, attributes
        if src != dst:
            yield dst, src, attributes


def _ids(values: Sequence[Any]) -> pa.Array:
    kinds = {type(value) for value in values}
    for kind in kinds:
        if kind is bool or not issubclass(kind, str | Integral):
            value = next(value for value in values if type(value) is kind)
            raise LoadError(
                f"the node {value!r} is a {kind.__name__}", hint="ids are ints or strings: relabel the nodes"
            )
    if all(issubclass(kind, Integral) for kind in kinds):
        return pa.array(list(map(int, values)), pa.int64())
    return pa.array(list(map(str, values)), pa.string())


def _table(keys: Mapping[str, pa.Array], rows: Sequence[Mapping[Any, Any]], what: str) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    attributes = [_attribute([row.get(name) for row in rows], f'{what} attribute "{name}"') for name in names]
    return pa.Table.from_arrays([*keys.values(), *attributes], [*keys, *map(str, names)])


def _attribute(values: list[Any], what: str) -> pa.Array:
    try:
        array = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Values of several types have nothing in common but how they are written.
        array = pa.array([None if value is None else str(value) for value in values], pa.string())
    if property_type(array.type) is None:
        raise LoadError(f"{what} is {array.type}, which no property can be", hint="remove it, or make it a string")
    return array
