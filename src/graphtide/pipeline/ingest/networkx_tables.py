"""A NetworkX graph as two tables: attributes become properties, keys of parallel edges are not kept.

Stored graphs are directed, so an edge of an undirected graph is two: whoever follows edges gets where NetworkX gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from numbers import Integral
from typing import Any, Final

import pyarrow as pa

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.coerce import mixes_dates_and_times, property_type

__all__ = ["edge_table", "node_table"]

_NO_TEXT: Final = "no text of Unicode"
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
        for value in values:
            if not -(2**63) <= value < 2**63:
                raise LoadError(f"the node {value} is too large for an int", hint="relabel it, for example as a string")
        return pa.array(list(map(int, values)), pa.int64())
    for value in values:
        if not _is_unicode(str(value)):
            raise LoadError(f"the node {value!r} is {_NO_TEXT}", hint="relabel it")
    return pa.array(list(map(str, values)), pa.string())


def _table(keys: Mapping[str, pa.Array], rows: Sequence[Mapping[Any, Any]], what: str) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if not _is_unicode(str(name)):
            raise LoadError(f"{what} attribute {name!r} has a name that is {_NO_TEXT}", hint="rename it")
    attributes = [_attribute([row.get(name) for row in rows], f'{what} attribute "{name}"') for name in names]
    return pa.Table.from_arrays([*keys.values(), *attributes], [*keys, *map(str, names)])


def _attribute(values: list[Any], what: str) -> pa.Array:
    values = _of_one_kind(values)
    try:
        array = _array(values)
    except UnicodeEncodeError:
        raise LoadError(f"{what} has a value that is {_NO_TEXT}", hint="remove it") from None
    if property_type(array.type) is None:
        raise LoadError(f"{what} is {array.type}, which no property can be", hint="remove it, or make it a string")
    return array


def _array(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # Values of several types have nothing in common but how they are written.
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def _of_one_kind(values: list[Any]) -> list[Any]:
    """Dates that stand among times as the times that they begin at; Arrow would cut the times to dates."""
    if not mixes_dates_and_times(values) or not all(value is None or isinstance(value, date) for value in values):
        return values
    return [datetime.combine(value, time()) if type(value) is date else value for value in values]


def _is_unicode(text: str) -> bool:
    """Whether a text can be written; half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
