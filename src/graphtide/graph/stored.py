"""A graph at rest, as readers see it.

Invariant: the folders named here hold rows in the order of their numbers, across the files in the order of
their names; `docs/design/05-graphs-and-views.md` has the layout.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.errors import SchemaError
from graphtide.graph.as_networkx import as_networkx
from graphtide.graph.schema import DST, EDGE, ID, SRC, VERTEX, GraphSchema
from graphtide.graph.source import Source
from graphtide.rows.schema import did_you_mean
from graphtide.rows.tabular import html_table

__all__ = ["GraphFolders", "StoredGraph"]

_SHOWN: Final = 5  # names of properties in a short description


class GraphFolders:
    """Where the parts of a graph lie, in a folder of its version."""

    __slots__ = ()
    folder: Path

    @property
    def nodes_folder(self) -> Path:
        """Parquet files of `_vertex`, `_id` and the properties of nodes."""
        return self.folder / "nodes"

    @property
    def edges_folder(self) -> Path:
        """Parquet files of `_edge`, `_src`, `_dst` and the properties of edges."""
        return self.folder / "edges"

    @property
    def quarantine_folder(self) -> Path:
        """Parquet files of what was set aside; there is none if nothing was."""
        return self.folder / "quarantine"


@dataclass(frozen=True, slots=True)
class StoredGraph(GraphFolders):
    """One version of a graph; a later load of its name does not change what this one reads."""

    name: str
    folder: Path
    schema: GraphSchema
    node_count: int
    edge_count: int
    quarantined: int
    source: Source

    def node_columns(self, *names: str) -> pa.Table:
        """The named columns of all nodes, row i for vertex i."""
        known = [VERTEX, ID, *(each.name for each in self.schema.nodes)]
        self._check("node", names, known)
        return _read(self.nodes_folder, names)

    def edge_columns(self, *names: str) -> pa.Table:
        """The named columns of all edges, row i for edge i."""
        known = [EDGE, SRC, DST, *(each.name for each in self.schema.edges)]
        self._check("edge", names, known)
        return _read(self.edges_folder, names)

    def to_networkx(self) -> Any:
        """The graph as a NetworkX MultiDiGraph, with the users' ids and all properties that are not missing."""
        nodes = self.node_columns(ID, *(each.name for each in self.schema.nodes)).to_pylist()
        edges = self.edge_columns(SRC, DST, *(each.name for each in self.schema.edges)).to_pylist()
        ids = [node.pop(ID) for node in nodes]
        ends = ((ids[edge.pop(SRC)], ids[edge.pop(DST)], edge) for edge in edges)
        return as_networkx(self.name, zip(ids, nodes, strict=True), ends)

    def quarantine(self) -> pa.Table:
        """What was set aside when the graph was loaded: table, file, line, text, reason."""
        columns = ("table", "file", "line", "text", "reason")
        if not self.quarantined:
            types = (pa.string(), pa.string(), pa.int64(), pa.string(), pa.string())
            return pa.schema(list(zip(columns, types, strict=True))).empty_table()
        return _read(self.quarantine_folder, columns)

    def properties_table(self) -> pa.Table:
        """The id and the properties of nodes and edges, with their types."""
        rows = [("node", "id", str(self.schema.id_type))]
        rows += [("node", each.name, str(each.type)) for each in self.schema.nodes]
        rows += [("edge", each.name, str(each.type)) for each in self.schema.edges]
        of, properties, types = zip(*rows, strict=True)
        return pa.table({"of": of, "property": properties, "type": types})

    def __repr__(self) -> str:
        aside = f", {self.quarantined:,} lines set aside" if self.quarantined else ""
        parts = (("nodes", self.schema.nodes), ("edges", self.schema.edges))
        carried = "".join(f"; {what} with {_listed(each.name for each in of)}" for what, of in parts if of)
        return f"<{self.name}: {self.node_count:,} nodes, {self.edge_count:,} edges{aside}{carried}>"

    def _repr_html_(self) -> str:
        return html_table(self.properties_table(), repr(self).strip("<>"))

    def _check(self, part: str, names: Iterable[str], known: list[str]) -> None:
        for name in names:
            if name not in known:
                raise SchemaError(
                    f'{part} property "{name}" does not exist in graph "{self.name}"', hint=did_you_mean(name, known)
                )


def _listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are.

    >>> _listed(["a", "b", "c", "d", "e", "f", "g", "h"])
    'a, b, c, d, e and 3 more'
    """
    first, rest = (known := list(names))[:_SHOWN], known[_SHOWN:]
    return ", ".join(first) + (f" and {len(rest)} more" if rest else "")


def _read(folder: Path, names: Iterable[str]) -> pa.Table:
    columns = list(names)
    # Not `pq.read_table`: it takes a folder called "a=1" above the file for one more column.
    files = (pq.ParquetFile(file) for file in sorted(folder.glob("[!.]*.parquet")))
    # A name also selects columns whose names go on with a dot, which the second selection drops.
    return pa.concat_tables([file.read(columns=columns).select(columns) for file in files])
