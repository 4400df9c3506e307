"""From stored graphs to live ones: those that a session has opened, and the queries on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import pyarrow as pa

from graphtide.errors import CatalogueError, SchemaError, UsageError
from graphtide.frontier import LiveGraph, Query
from graphtide.frontier.maintenance import Maintenance
from graphtide.graph.schema import DST, ID, SRC
from graphtide.graph.stored import StoredGraph
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Type

__all__ = ["LiveGraphs", "open_live"]

_ENDS = ("src", "dst")
_ID = "id"  # what a live graph calls a vertex by; a property of that name is left out


class LiveGraphs(Mapping[str, LiveGraph]):
    """Live graphs by the name of the graph that each was opened from, so that statements and programs see the same."""

    def __init__(self) -> None:
        self._open: dict[str, LiveGraph] = {}
        self._statements: WeakKeyDictionary[Query, str] = WeakKeyDictionary()

    def __getitem__(self, graph: str) -> LiveGraph:
        return self._open[graph]

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    def open(self, graph: StoredGraph, properties: Sequence[str] | None, maintain: Maintenance | None) -> LiveGraph:
        """The live graph of a stored one; what `maintain` says holds for queries that come from now on."""
        live = self._open.get(graph.name)
        if live is None:
            live = self._open[graph.name] = open_live(graph, properties, maintain)
            return live
        held = live.schema.names[len(_ENDS) :]
        for name in properties or ():
            if name not in held:
                raise UsageError(
                    f'the live graph of "{graph.name}" was opened without the property "{name}"',
                    hint=f'close it first: session.close_live("{graph.name}")',
                )
        if maintain is not None:
            live.maintain = maintain
        return live

    def close(self, graph: str) -> None:
        """Let go of a live graph and of its queries."""
        live = self._open.pop(graph, None)
        if live is not None:
            for query in live.queries.values():
                query.drop()

    def check_unused(self, graph: str) -> None:
        """No query stands on a graph that is to be dropped, or loaded anew."""
        queries = self._open[graph].queries if graph in self._open else {}
        if queries:
            named = ", ".join(f'query "{name}"' for name in queries)
            raise CatalogueError(f'graph "{graph}" is in use by {named}', hint="drop those first")

    def query_names(self) -> list[str]:
        """The names of all queries."""
        return [name for live in self._open.values() for name in live.queries]

    def query(self, name: str) -> tuple[str, Query]:
        """A query by its name, and the graph that it is about."""
        found = [(graph, live.queries[name]) for graph, live in self._open.items() if name in live.queries]
        if not found:
            known = self.query_names()
            hint = did_you_mean(name, known) if known else "none has been registered yet"
            raise CatalogueError(f'there is no query "{name}"', hint=hint)
        if len(found) > 1:
            graphs = " and ".join(f'"{graph}"' for graph, _ in found)
            raise CatalogueError(
                f'there are queries "{name}" on {graphs}', hint=f'take one: session.live(...).queries["{name}"]'
            )
        return found[0]

    def note_statement(self, query: Query, statement: str) -> None:
        """Remember the statement that registered a query."""
        self._statements[query] = statement

    def statement_of(self, query: Query) -> str | None:
        """The statement that registered a query, if one did."""
        return self._statements.get(query)


def open_live(graph: StoredGraph, properties: Sequence[str] | None, maintain: Maintenance | None) -> LiveGraph:
    """A stored graph: its vertices with their properties, its edges with those asked for (all, if none are named)."""
    names = [each.name for each in graph.schema.edges] if properties is None else list(properties)
    for name in names:
        if name in _ENDS:
            raise SchemaError(
                f'edges of "{graph.name}" have a property "{name}", which is what a live graph calls an end of an edge',
                hint="name the properties that you need: properties=[...]",
            )
    edges = graph.edge_columns(SRC, DST, *names)
    of_nodes = [each.name for each in graph.schema.nodes if each.name != _ID]
    nodes = graph.node_columns(ID, *of_nodes)
    ids = nodes[ID].combine_chunks()
    types: dict[str, object] = {name: _type_of(edges[name]) for name in names}
    live = LiveGraph(
        ids=int if pa.types.is_integer(ids.type) else str,
        maintain=maintain,
        nodes={name: _type_of(nodes[name]) for name in of_nodes},
        **types,
    )
    live.set_vertices(nodes.rename_columns([_ID, *of_nodes]))
    ends = {end: ids.take(edges[column].combine_chunks()) for end, column in zip(_ENDS, (SRC, DST), strict=True)}
    live.apply(insert=pa.table({**ends, **{name: edges[name] for name in names}}))
    return live


def _type_of(column: pa.ChunkedArray) -> Type:
    """A column in which nothing is missing need not allow for it."""
    bare = Type.from_arrow(column.type)
    return bare.optional if column.null_count else bare
