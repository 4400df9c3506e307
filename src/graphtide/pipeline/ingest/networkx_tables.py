"""A NetworkX graph as two tables: attributes become properties, keys of parallel edges are not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import pyarrow as pa

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.coerce import property_type
from graphtide.pipeline.ingest.header import Mark, Title

__all__ = ["TitledTable", "edge_table", "node_table"]

TitledTable = tuple[pa.Table, list[Title]]


def node_table(graph: Any) -> TitledTable:
    """The nodes with their attributes."""
    nodes = list(graph.nodes(data=True))
    ids = _ids([node for node, _ in nodes])
    return _titled([(ids, "id")], [attributes for _, attributes in nodes], "node")


def edge_table(graph: Any) -> TitledTable:
    """The edges with their attributes, each once if the graph is undirected."""
    edges = list(graph.edges(data=True))
    # Sources and targets together: all are ints, or all are texts.
    ends = _ids([end for side in (0, 1) for end in (edge[side] for edge in edges)])
    keys: list[tuple[pa.Array, Mark]] = [(ends[: len(edges)], "src"), (ends[len(edges) :], "dst")]
    return _titled(keys, [edge[2] for edge in edges], "edge")


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


def _titled(keys: Sequence[tuple[pa.Array, Mark]], rows: Sequence[Mapping[Any, Any]], what: str) -> TitledTable:
    names = list(dict.fromkeys(name for row in rows for name in row))
    attributes = [_attribute([row.get(name) for row in rows], f'attribute "{name}" of a {what}') for name in names]
    titles = [Title(mark, property_type(array.type), mark) for array, mark in keys]
    titles += [Title(str(name), property_type(array.type), None) for name, array in zip(names, attributes, strict=True)]
    columns = [*(array for array, _ in keys), *attributes]
    return pa.Table.from_arrays(columns, [str(i) for i in range(len(columns))]), titles


def _attribute(values: list[Any], what: str) -> pa.Array:
    try:
        array = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Values of several types have nothing in common but how they are written.
        array = pa.array([None if value is None else str(value) for value in values], pa.string())
    if property_type(array.type) is None:
        raise LoadError(f"{what} is {array.type}, which no property can be", hint="remove it, or make it a string")
    return array
