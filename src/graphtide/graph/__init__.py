"""Property graphs at rest: schema, manifest, and the folder that holds them."""

from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.graph.source import Source
from graphtide.graph.store import Draft, Store
from graphtide.graph.stored import StoredGraph

__all__ = ["Draft", "GraphSchema", "Property", "PropertyType", "Source", "Store", "StoredGraph"]
