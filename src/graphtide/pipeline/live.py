"""From a stored graph to a live one."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.frontier import LiveGraph
from graphtide.frontier.maintenance import Maintenance
from graphtide.graph.schema import DST, ID, SRC
from graphtide.graph.stored import StoredGraph
from graphtide.rows.types import Type

__all__ = ["open_live"]

_ENDS = ("src", "dst")


def open_live(graph: StoredGraph, properties: Sequence[str] | None, maintain: Maintenance | None) -> LiveGraph:
    """All vertices of a stored graph, and its edges with the properties that are asked for (all, if none are named)."""
    names = [each.name for each in graph.schema.edges] if properties is None else list(properties)
    for name in names:
        if name in _ENDS:
            raise SchemaError(
                f'edges of "{graph.name}" have a property "{name}", which is what a live graph calls an end of an edge',
                hint="name the properties that you need: properties=[...]",
            )
    edges = graph.edge_columns(SRC, DST, *names)
    ids = graph.node_columns(ID)[ID].combine_chunks()
    types: dict[str, object] = {name: _type_of(edges[name]) for name in names}
    live = LiveGraph(ids=int if pa.types.is_integer(ids.type) else str, maintain=maintain, **types)
    live.add_vertices(ids)
    ends = {end: ids.take(edges[column].combine_chunks()) for end, column in zip(_ENDS, (SRC, DST), strict=True)}
    live.apply(insert=pa.table({**ends, **{name: edges[name] for name in names}}))
    return live


def _type_of(column: pa.ChunkedArray) -> Type:
    """A column in which nothing is missing need not allow for it."""
    bare = Type.from_arrow(column.type)
    return bare.optional if column.null_count else bare
