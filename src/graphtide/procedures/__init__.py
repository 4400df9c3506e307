"""Interactive queries: stored procedures whose arguments are a collection, over one graph that they share."""

from graphtide.procedures.procedure import Procedure
from graphtide.procedures.shared_graph import SharedGraph

__all__ = ["Procedure", "SharedGraph"]
