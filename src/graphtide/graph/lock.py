"""One writer at a time for what has a name.

The operating system lets go of the lock when its process ends, however it ends, so there are no stale locks;
the file itself stays, because removing it would let two processes lock two files of one name.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from graphtide.errors import CatalogueError
from graphtide.graph.folder import make_folder, unwritable

__all__ = ["exclusive"]


@contextmanager
def exclusive(file: Path, what: str) -> Generator[None, None, None]:
    """Hold the lock of a file, or say who does; `what` is what is being written, such as `graph "Calls"`."""
    make_folder(file.parent)
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise unwritable(file.parent, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 100, 0).decode(errors="replace").strip() or "another process"
            raise CatalogueError(f"{what} is being written by {holder}", hint="try again when it has ended") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {os.uname().nodename}".encode(), 0)
        yield
    finally:
        os.close(descriptor)
