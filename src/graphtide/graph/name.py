"""Names under which graphs are stored: they are names of folders too."""

from __future__ import annotations

import re
from typing import Final

from graphtide.errors import CatalogueError

__all__ = ["LONGEST_NAME", "check_name"]

# File systems stop at 255 bytes; what is left over is for the names of temporary files.
LONGEST_NAME: Final = 200
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


def check_name(name: str, what: str = "graph") -> None:
    """Raise unless `name` can be stored on any file system.

    >>> check_name("Calls_2019-v2")
    >>> check_name("../Calls")
    Traceback (most recent call last):
    graphtide.errors.CatalogueError: "../Calls" cannot be the name of a graph
    hint: names consist of the letters a to z, digits, _ and -
    """
    if len(name) > LONGEST_NAME:
        raise CatalogueError(
            f"a name of {len(name)} characters is too long for a {what}: {name[:40]}...",
            hint=f"names have at most {LONGEST_NAME} characters",
        )
    if _NAME.fullmatch(name) is None:
        raise CatalogueError(
            f'"{name}" cannot be the name of a {what}', hint="names consist of the letters a to z, digits, _ and -"
        )
