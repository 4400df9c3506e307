"""What the vertices of a live graph carry: typed columns by the number of a vertex.

Invariant: a vertex of which nothing was said has no value in any column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.frontier.edges import Edges
from graphtide.frontier.report import SharedPart
from graphtide.rows import Schema
from graphtide.rows.codes import NULL, Codes
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Type

__all__ = ["ID", "Vertices"]

ID: Final = "id"


class Vertices:
    """Properties of vertices, each of which may be missing anywhere.

    >>> cities = Vertices(Edges(Schema.of(src=str, dst=str)), {"state": str})
    >>> cities.put([("Reno", "NV"), ("Napa", "CA")])
    array([0, 1])
    >>> cities.column("state", np.array([1, 0])).to_pylist()
    ['CA', 'NV']
    """

    def __init__(self, edges: Edges, properties: Mapping[str, object]) -> None:
        if not isinstance(properties, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users say it
            raise SchemaError(f"nodes={properties!r} are no properties", hint='for example nodes={"age": int}')
        if ID in properties:
            raise SchemaError(
                f'a property of vertices cannot be called "{ID}"', hint="that is what vertices are called by"
            )
        types = {name: Type.of(kind).optional for name, kind in properties.items()}
        self.schema = Schema({ID: edges.schema["src"], **types})
        self._edges = edges
        self._columns = np.full((len(types), 0), NULL, np.int64)

    @property
    def shared(self) -> list[SharedPart]:
        """Bytes of all columns, if there are any."""
        return [SharedPart("properties of vertices", self._columns.nbytes)] if self._columns.nbytes else []

    def put(self, rows: Any) -> Codes:
        """Give vertices the properties of rows, which name their ids; the numbers of these vertices.

        Rows with fewer columns leave the others as they are. A vertex that was not there becomes one of the graph.
        """
        names = self._names_of(rows)
        codes = self._edges.encode(self.schema.select(*names), rows)
        numbers = self._edges.numbers_of(codes[0])
        self._make_room(self._edges.adjacency.vertices)
        for line, name in zip(codes[1:], names[1:], strict=True):
            self._columns[self.schema.index(name) - 1, numbers] = line
        return numbers

    def column(self, name: str, numbers: Codes) -> pa.Array:
        """A property of vertices by their numbers; their ids, if it is `id`."""
        if name == ID:
            return self._edges.ids_of(numbers)
        self._make_room(self._edges.adjacency.vertices)
        codes = self._columns[self.schema.index(name) - 1, numbers]
        return self._edges.decode(self.schema[name], codes)

    def table(self) -> pa.Table:
        """All vertices: their ids and their properties."""
        numbers = np.flatnonzero(self._edges.are_there())
        return pa.table({name: self.column(name, numbers) for name in self.schema.names})

    def forget(self, numbers: Codes) -> None:
        """Let vertices have no properties any more."""
        self._make_room(self._edges.adjacency.vertices)
        self._columns[:, numbers] = NULL

    def _make_room(self, vertices: int) -> None:
        known = self._columns.shape[1]
        if vertices > known:
            size = max(vertices, known + known // 2)
            longer = np.full((len(self._columns), size), NULL, np.int64)
            longer[:, :known] = self._columns
            self._columns = longer

    def _names_of(self, rows: Any) -> tuple[str, ...]:
        """The columns that rows have: the id, and some or all properties."""
        first: Any = rows[0] if isinstance(rows, list | tuple) and rows else rows
        named = first if isinstance(first, Mapping) else getattr(first, "column_names", getattr(first, "columns", None))
        if named is None:
            return self.schema.names
        given = [str(name) for name in named]
        for name in given:
            if name not in self.schema:
                hint = did_you_mean(name, self.schema.names) or f"vertices are {self.schema}"
                raise SchemaError(f'vertices have no property "{name}"', hint=hint)
        if ID not in given:
            raise SchemaError(f"rows of vertices have no column {ID!r}", hint=f"vertices are {self.schema}")
        return tuple(name for name in self.schema.names if name in given)
