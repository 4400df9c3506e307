"""What a property graph's nodes and edges carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

import pyarrow as pa

__all__ = ["DST", "EDGE", "ID", "SRC", "VERTEX", "GraphSchema", "Property", "PropertyType"]

# Columns of a stored graph beside the properties.
VERTEX: Final = "_vertex"
ID: Final = "_id"
EDGE: Final = "_edge"
SRC: Final = "_src"
DST: Final = "_dst"


class PropertyType(StrEnum):
    """The type of a property or of the users' ids; a property may be missing anywhere."""

    INT = "int"
    FLOAT = "float"
    STRING = "string"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that carries it."""
        return _ARROW[self]


_ARROW: Final = {
    PropertyType.INT: pa.int64(),
    PropertyType.FLOAT: pa.float64(),
    PropertyType.STRING: pa.string(),
    PropertyType.BOOL: pa.bool_(),
    PropertyType.DATE: pa.date32(),
    PropertyType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True, slots=True)
class Property:
    """A named value of a node or an edge."""

    name: str
    type: PropertyType


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """The properties of a graph's nodes and edges, in order, and the type of its ids.

    >>> schema = GraphSchema(PropertyType.INT, (), (Property("year", PropertyType.INT),))
    >>> schema.edge("year")
    Property(name='year', type=<PropertyType.INT: 'int'>)
    >>> schema == GraphSchema.from_json(schema.to_json())
    True
    """

    id_type: PropertyType
    nodes: tuple[Property, ...]
    edges: tuple[Property, ...]

    def node(self, name: str) -> Property | None:
        """A property of nodes."""
        return next((each for each in self.nodes if each.name == name), None)

    def edge(self, name: str) -> Property | None:
        """A property of edges."""
        return next((each for each in self.edges if each.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a manifest keeps them."""
        return {
            "id": str(self.id_type),
            "nodes": {each.name: str(each.type) for each in self.nodes},
            "edges": {each.name: str(each.type) for each in self.edges},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        nodes, edges = (
            tuple(Property(name, PropertyType(kind)) for name, kind in values[part].items())
            for part in ("nodes", "edges")
        )
        return cls(PropertyType(values["id"]), nodes, edges)
