"""From users' ids to the numbers of vertices and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.graph.schema import ID
from graphtide.graph.stored import StoredGraph

__all__ = ["VertexIds"]


class VertexIds:
    """The ids of a graph's vertices, which ascend as the numbers do."""

    def __init__(self, graph: StoredGraph) -> None:
        self.ids: pa.Array = graph.node_columns(ID).column(0).combine_chunks()

    def number_of(self, vertex: Any) -> int | None:
        """The number of the vertex with that id, None if there is none."""
        try:
            scalar = pa.scalar(vertex, self.ids.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None
        if pa.types.is_integer(self.ids.type):
            ids = self.ids.to_numpy()
            place = int(np.searchsorted(ids, scalar.as_py()))
            return place if place < len(ids) and ids[place] == scalar.as_py() else None
        found = pc.index(self.ids, scalar).as_py()
        return None if found < 0 else found
