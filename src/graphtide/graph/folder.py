"""Folders to write into, or what keeps them from being one."""

from __future__ import annotations

from pathlib import Path

from graphtide.errors import CatalogueError

__all__ = ["make_folder", "unwritable"]


def make_folder(folder: Path) -> None:
    """Let there be a folder, with all that it is in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> CatalogueError:
    """The error that nothing can be written into a folder, by what the system says."""
    return CatalogueError(
        f"cannot write into {folder}: {(error.strerror or str(error)).lower()}",
        hint="use a home folder that can be made here, and written to",
    )
