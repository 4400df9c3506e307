"""Real graphs that come with the package, as Arrow tables.

A graph is a Parquet file of edges, `<name>.parquet`, and perhaps `<name>.nodes.parquet`, `<name>.answers.parquet` and
`<name>.changes.parquet` beside it, or a selection from another one. The README beside them says where each is from.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphtide.errors import UsageError

__all__ = ["answers", "changes", "check_name", "data_folder", "load", "names", "nodes", "read_parquet"]

_SUFFIX: Final = ".parquet"
_PARTS: Final = ("nodes", "answers", "changes")


@dataclass(frozen=True, slots=True)
class _Selection:
    """The edges of a graph that have one value in a column, without the column."""

    graph: str
    column: str
    value: str

    def of(self, edges: pa.Table) -> pa.Table:
        return edges.filter(pc.field(self.column) == self.value).drop_columns(self.column)


_SELECTIONS: Final = {"higgs-mentions": _Selection("higgs-twitter", "kind", "MT")}


def names() -> list[str]:
    """What `load` can be asked for, sorted; `overview` says more.

    >>> "air-routes" in names()
    True
    """
    stems = (file.name.removesuffix(_SUFFIX) for file in data_folder().iterdir() if file.name.endswith(_SUFFIX))
    return sorted({stem for stem in stems if stem.rpartition(".")[2] not in _PARTS} | set(_SELECTIONS))


def load(name: str) -> pa.Table:
    """The edges of a graph: `src`, `dst` and their properties.

    >>> load("higgs-twitter").column_names
    ['src', 'dst', 'time', 'kind']
    """
    check_name(name)
    selection = _SELECTIONS.get(name)
    if selection is not None:
        return selection.of(load(selection.graph))
    return read_parquet(data_folder() / f"{name}{_SUFFIX}")


def nodes(name: str) -> pa.Table | None:
    """The nodes of a graph: `id` and their properties; None if it has no more nodes than the ends of its edges.

    >>> nodes("air-routes").select(["id", "city", "country"]).slice(0, 1).to_pylist()
    [{'id': 'AAA', 'city': 'Anaa', 'country': 'PF'}]
    """
    return _part(name, "nodes")


def answers(name: str) -> dict[str, pa.Table]:
    """Reference answers by the name of the computation, as tables (vertex, value) in the order of vertices.

    `describe` says what was computed.

    >>> answers("p2p-31")["bfs"].slice(0, 1).to_pylist()
    [{'vertex': 1, 'value': 5}]
    """
    table = _part(name, "answers")
    if table is None:
        return {}
    return {
        computed: table.select(["vertex", computed]).rename_columns(["vertex", "value"]).drop_null()
        for computed in table.column_names[1:]
    }


def changes(name: str) -> pa.Table | None:
    """Differences that lead to the graph: the columns of its edges, and `diff`; None if there are none.

    A dataflow that has `load(name)` goes back to the graph before them by `edges.change(rows, -diff)`, and forth again
    by `edges.change(rows, diff)`.

    >>> changes("p2p-31").column_names
    ['src', 'dst', 'weight', 'diff']
    """
    return _part(name, "changes")


def check_name(name: str) -> None:
    """Refuse a name that no graph has."""
    if name in names():
        return
    close = get_close_matches(name.lower(), {each.lower() for each in names()}, n=1)
    meant = [each for each in names() if each.lower() in close]
    hint = f'did you mean "{meant[0]}"?' if meant else f"there are {', '.join(names())}"
    raise UsageError(f'there is no data set "{name}"', hint=hint)


def data_folder() -> Traversable:
    """Where the files are."""
    return files("graphtide") / "data"


def read_parquet(file: Traversable) -> pa.Table:
    """A file, whole.

    By its path: of a file that Python has opened, threads of Arrow hold something when the interpreter ends, and a
    program that ends soon after is aborted.
    """
    with as_file(file) as path:
        return pq.ParquetFile(path).read()


def _part(name: str, part: str) -> pa.Table | None:
    check_name(name)
    file = data_folder() / f"{name}.{part}{_SUFFIX}"
    return read_parquet(file) if file.is_file() else None
