"""What a run was made from, kept for who wants its views as graphs or its rows in Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.errors import CatalogueError
from graphtide.graph.as_networkx import as_networkx
from graphtide.graph.schema import DST, ID, SRC
from graphtide.graph.stored import StoredGraph
from graphtide.views.execution import Ints

__all__ = ["Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The graph that a run's views are of, the numbers of their edges, and a Spark."""

    graph: StoredGraph
    edges_of: Callable[[int | None], Ints]  # of a view by its number; of all views together without one
    spark: Callable[[], Any]
    is_whole: bool = False  # whether vertices without edges count too

    def networkx(self, name: str, view: int | None, found: Mapping[Any, Mapping[str, Any]]) -> Any:
        """A view, or all views together, as a NetworkX graph; `found` has more attributes for some of its nodes."""
        self._check_there()
        numbers = self.edges_of(view)
        edges = self.graph.edge_columns(SRC, DST, *_names(self.graph.schema.edges)).take(pa.array(numbers))
        ends = np.concatenate([edges.column(name).to_numpy() for name in (SRC, DST)])
        vertices = np.arange(self.graph.node_count) if self.is_whole else np.unique(ends)
        nodes = self.graph.node_columns(ID, *_names(self.graph.schema.nodes)).take(pa.array(vertices)).to_pylist()
        id_of = {vertex: node.pop(ID) for vertex, node in zip(vertices.tolist(), nodes, strict=True)}
        rows = edges.to_pylist()
        return as_networkx(
            name,
            ((id_, {**node, **found.get(id_, {})}) for id_, node in zip(id_of.values(), nodes, strict=True)),
            ((id_of[edge.pop(SRC)], id_of[edge.pop(DST)], edge) for edge in rows),
        )

    def _check_there(self) -> None:
        if not self.graph.folder.is_dir():
            raise CatalogueError(
                f'graph "{self.graph.name}" was dropped, or loaded again twice, since this run',
                hint="run again, or take the results as a table",
            )


def _names(properties: Iterable[Any]) -> list[str]:
    return [each.name for each in properties]
