"""The graphs of a home folder, by name.

Invariant: what `graph` returns is complete. A load writes into a fresh folder and publishes it by replacing the
manifest; a load that fails or is killed leaves the graph that was there, and its leftovers go with the next load
of that name. So does the version that a load replaces: whoever still reads it may read on until then.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from graphtide.errors import CatalogueError
from graphtide.graph.lock import exclusive
from graphtide.graph.manifest import MANIFEST, read_manifest, sync_folder, write_manifest
from graphtide.graph.name import check_name
from graphtide.graph.schema import GraphSchema
from graphtide.graph.source import Source
from graphtide.graph.stored import GraphFolders, StoredGraph
from graphtide.rows.schema import did_you_mean

__all__ = ["Draft", "Store"]


class Store:
    """The graphs under `home/graphs`; the folder is made by the first load.

    >>> Store("no-such-home").names()
    []
    """

    def __init__(self, home: str | Path) -> None:
        self.home = Path(home).absolute()
        self._graphs = self.home / "graphs"

    def __repr__(self) -> str:
        return f"Store({str(self.home)!r})"

    def names(self) -> list[str]:
        """The graphs there are, sorted."""
        return sorted(manifest.parent.name for manifest in self._graphs.glob(f"[!.]*/{MANIFEST}"))

    def graph(self, name: str) -> StoredGraph:
        """The graph of that name, as it is now."""
        self.check_there(name)
        return read_manifest(self._graphs / name)

    def check_there(self, name: str) -> None:
        """Raise unless there is a graph of that name, whether it can be read or not."""
        check_name(name)
        if not (self._graphs / name / MANIFEST).is_file():
            names = self.names()
            hint = did_you_mean(name, names) if names else "no graph has been loaded yet"
            raise CatalogueError(f'there is no graph "{name}"', hint=hint)

    def drop(self, name: str) -> None:
        """Remove a graph and all that belongs to it, even if its manifest cannot be read."""
        self.check_there(name)
        with self._locked(name):
            # Without its manifest it is no graph any more, whatever happens to the rest.
            (self._graphs / name / MANIFEST).unlink(missing_ok=True)
            sync_folder(self._graphs / name)
            shutil.rmtree(self._graphs / name)

    @contextmanager
    def writing(self, name: str, *, replace: bool = False) -> Generator[Draft, None, None]:
        """A fresh folder to write a graph into; it counts when its `publish` has been called, and is gone otherwise."""
        check_name(name)
        folder = self._graphs / name
        self._check_free(name, replace=replace)
        with self._locked(name):
            # Asked again: another process may have published between the two lines above.
            self._check_free(name, replace=replace)
            folder.mkdir(parents=True, exist_ok=True)
            _sweep(folder)
            draft = Draft(name, folder / secrets.token_hex(8))
            draft.folder.mkdir()
            try:
                yield draft
            finally:
                if not draft.is_published:
                    shutil.rmtree(draft.folder, ignore_errors=True)
                    with suppress(OSError):
                        folder.rmdir()  # which it does only if there is no graph in it either

    def _check_free(self, name: str, *, replace: bool) -> None:
        if not replace and (self._graphs / name / MANIFEST).is_file():
            raise CatalogueError(
                f'there is a graph "{name}" already', hint="take another name, or load with replace=True"
            )

    def _locked(self, name: str) -> AbstractContextManager[None]:
        return exclusive(self._graphs / ".locks" / name, f'graph "{name}"')


@dataclass(slots=True)
class Draft(GraphFolders):
    """A graph that is being written: fill `nodes_folder` and `edges_folder`, then publish."""

    name: str
    folder: Path
    is_published: bool = field(default=False, init=False)

    @property
    def scratch_folder(self) -> Path:
        """Where anything may be written that is not part of the graph: `publish` removes it."""
        return self.folder / "scratch"

    def publish(
        self, schema: GraphSchema, *, node_count: int, edge_count: int, quarantined: int = 0, source: Source
    ) -> StoredGraph:
        """Let the name stand for what has been written."""
        assert not self.is_published, "a draft is published once"
        shutil.rmtree(self.scratch_folder, ignore_errors=True)
        for folder in (self.nodes_folder, self.edges_folder, self.quarantine_folder, self.folder, self.folder.parent):
            if folder.is_dir():
                sync_folder(folder)
        graph = StoredGraph(self.name, self.folder, schema, node_count, edge_count, quarantined, source)
        write_manifest(graph)
        self.is_published = True
        return graph


def _sweep(folder: Path) -> None:
    """Remove what no manifest names; what cannot be read is left alone, since it may name anything."""
    current: Path | None = None
    if (folder / MANIFEST).is_file():
        try:
            current = read_manifest(folder).folder
        except CatalogueError:
            return
    for each in folder.iterdir():
        if each.is_dir() and each != current:
            shutil.rmtree(each)
        elif each.name.startswith(f".{MANIFEST}."):
            each.unlink()
