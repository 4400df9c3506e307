"""Conditions on the edges and vertices of a live graph, in the language of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import StatementError, UsageError
from graphtide.frontier.edges import Edges
from graphtide.frontier.kernels.adjacency import FIRST_COLUMN
from graphtide.frontier.vertices import ID as VERTEX_ID
from graphtide.frontier.vertices import Vertices
from graphtide.graph.schema import EDGE, ID, GraphSchema, Property, PropertyType
from graphtide.gvdl.evaluation import Columns, holds
from graphtide.gvdl.expressions import bind_condition
from graphtide.gvdl.parse import parse_predicate
from graphtide.gvdl.predicate import names_used
from graphtide.gvdl.scope import Scope, VertexScope
from graphtide.rows import Schema
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown
from graphtide.rows.types import Kind

__all__ = ["EdgeCondition", "VertexCondition"]

_ENDS: Final = 2
_GRAPH: Final = "live"
_TYPES: Final = {
    Kind.INT: PropertyType.INT,
    Kind.FLOAT: PropertyType.FLOAT,
    Kind.STR: PropertyType.STRING,
    Kind.BOOL: PropertyType.BOOL,
    Kind.DATE: PropertyType.DATE,
    Kind.TIMESTAMP: PropertyType.TIMESTAMP,
}


class EdgeCondition:
    """A condition on an edge, its properties and those of its ends.

    >>> edges = Edges(Schema.of(src=int, dst=int, year=int))
    >>> condition = EdgeCondition("year < 2019 and src.id <> dst.id", edges, Vertices(edges, {}))
    >>> edges.change(edges.entering([(1, 2, 2018), (1, 1, 2018)]), edges.nothing, edges.nothing)
    >>> condition.of_rows(edges.adjacency.delta.gained)
    array([ True, False])
    """

    def __init__(self, text: str, edges: Edges, vertices: Vertices) -> None:
        _check_text(text)
        self.text = text
        self._edges = edges
        self._vertices = vertices
        scope = Scope(text, _GRAPH, _schema(vertices.schema, edges.schema))
        self._predicate = bind_condition(parse_predicate(text), scope)
        self._used = names_used(self._predicate)
        if EDGE in self._used.edge:
            raise StatementError(
                f'"{text}" asks for the number of an edge, which edges of a live graph do not have',
                hint="name an edge property, or src.id or dst.id",
            )

    @property
    def asks_for_vertices(self) -> bool:
        """Whether it may change with properties of vertices."""
        return bool((self._used.src | self._used.dst) - {ID})

    def of_rows(self, rows: Codes) -> NDArray[np.bool_]:
        """For which edges it holds, in rows of kernels."""
        return self._of(rows, lambda c: rows[:, FIRST_COLUMN + c])

    def of_slots(self, rows: Codes) -> NDArray[np.bool_]:
        """For which edges it holds, in rows of ends and a slot."""
        return self._of(rows, lambda c: self._edges.adjacency.column(c)[rows[:, _ENDS]])

    def _of(self, ends: Codes, column: Callable[[int], Codes]) -> NDArray[np.bool_]:
        edges = self._edges
        own = {
            name: edges.decode_values(name, np.ascontiguousarray(column(edges.column(name))))
            for name in self._used.edge
        }
        src, dst = (
            _columns_of(self._vertices, used, np.ascontiguousarray(ends[:, side]))
            for side, used in enumerate((self._used.src, self._used.dst))
        )
        return holds(self._predicate, len(ends), own, src, dst)


class VertexCondition:
    """A condition on a vertex.

    >>> edges = Edges(Schema.of(src=str, dst=str))
    >>> cities = Vertices(edges, {"state": str})
    >>> VertexCondition("state = 'CA' or id like 'R%'", cities).of(cities.put([("Reno", "NV"), ("Elko", "NV")]))
    array([ True, False])
    """

    def __init__(self, text: str, vertices: Vertices) -> None:
        _check_text(text)
        self.text = text
        self._vertices = vertices
        scope = VertexScope(text, _GRAPH, _schema(vertices.schema, None))
        self._predicate = bind_condition(parse_predicate(text), scope)
        self._used = names_used(self._predicate).src

    @property
    def asks_for_vertices(self) -> bool:
        """Whether it may change with properties of vertices."""
        return bool(self._used - {ID})

    def of(self, vertices: Codes) -> NDArray[np.bool_]:
        """For which vertices it holds, by their numbers."""
        return holds(self._predicate, len(vertices), {}, _columns_of(self._vertices, self._used, vertices))


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise UsageError(f"{shown(text)} is not a condition", hint='give a string such as "year > 2018"')


def _schema(vertices: Schema, edges: Schema | None) -> GraphSchema:
    """A live graph's properties, as conditions know them; those of other types cannot be named."""
    names = () if edges is None else edges.names[_ENDS:]
    return GraphSchema(
        _TYPES[vertices[VERTEX_ID].kind],
        _properties(vertices, vertices.names[1:]),
        () if edges is None else _properties(edges, names),
    )


def _properties(schema: Schema, names: tuple[str, ...]) -> tuple[Property, ...]:
    return tuple(Property(name, _TYPES[schema[name].kind]) for name in names if schema[name].kind in _TYPES)


def _columns_of(vertices: Vertices, used: frozenset[str], numbers: Codes) -> Columns:
    names = {name: VERTEX_ID if name == ID else name for name in used}
    columns: dict[str, pa.Array] = {at: vertices.column(name, numbers) for at, name in names.items()}
    return columns
