"""The file that makes a folder a graph: written last and replaced atomically, so that it is old or new, never half.

It names the one version folder that counts; every other folder beside it is what an earlier or a killed
load left behind.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from graphtide.errors import CatalogueError
from graphtide.graph.schema import GraphSchema
from graphtide.graph.source import Source
from graphtide.graph.stored import StoredGraph

__all__ = ["MANIFEST", "read_manifest", "replace_file", "sync_folder", "write_manifest"]

MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1


def read_manifest(folder: Path) -> StoredGraph:
    """The graph in a folder that has a manifest."""
    try:
        values = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        _check_format(folder.name, values)
        graph = StoredGraph(
            name=folder.name,
            folder=folder / str(values["version"]),
            schema=GraphSchema.from_json(values["schema"]),
            node_count=int(values["nodes"]),
            edge_count=int(values["edges"]),
            quarantined=int(values["quarantined"]),
            source=Source.from_json(values["source"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise CatalogueError(
            f'the manifest of graph "{folder.name}" cannot be read: {reason}',
            hint="load the graph again with replace=True, or drop it",
        ) from error
    if not graph.folder.is_dir():
        raise CatalogueError(
            f'the data of graph "{folder.name}" is gone: {graph.folder} does not exist',
            hint="load the graph again with replace=True, or drop it",
        )
    return graph


def write_manifest(graph: StoredGraph) -> None:
    """Let a graph be the one that its name stands for."""
    values: dict[str, Any] = {
        "format": _FORMAT,
        "version": graph.folder.name,
        "schema": graph.schema.to_json(),
        "nodes": graph.node_count,
        "edges": graph.edge_count,
        "quarantined": graph.quarantined,
        "source": graph.source.to_json(),
    }
    replace_file(graph.folder.parent / MANIFEST, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def replace_file(file: Path, text: str) -> None:
    """Give a file new content so that readers, and whoever starts after a power cut, see the old one or the new one."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as beside:
        beside.write(text)
        beside.flush()
        os.fsync(beside.fileno())
    # A temporary file is its owner's alone; a manifest is as readable as its folder.
    Path(beside.name).chmod(0o644)
    Path(beside.name).replace(file)
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_format(name: str, values: dict[str, Any]) -> None:
    found = values["format"]
    if not isinstance(found, int):
        raise TypeError(f"its format is {found!r}, not a number")
    if found > _FORMAT:
        raise CatalogueError(
            f'graph "{name}" was stored in format {found}, this version reads up to {_FORMAT}',
            hint="use the version of Graphtide that stored it, or a later one",
        )
