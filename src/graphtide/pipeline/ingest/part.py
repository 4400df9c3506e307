"""A piece of a table at rest: some consecutive rows, read but not yet numbered.

Invariant: the parts of a table, sorted, hold its rows in the order of the source, and a part's column holds its
values as they were written: as text, as ints where that says the same, or in the type that was declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graphtide.pipeline.ingest.kinds import Kinds

__all__ = ["LINE", "PART_BYTES", "PART_ROWS", "Origin", "Part"]

# What a task holds in memory at once, and what it takes to be worth a file of its own.
PART_ROWS: Final = 1 << 18
PART_BYTES: Final = 1 << 26
# The column of a part that says which of its lines a row stands in.
LINE: Final = "_line"


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Where a piece of a table comes from; origins sort as their pieces lie in the source."""

    file: int
    start: int  # where in the file Spark's block of it starts
    number: int  # which piece of that block it is

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.file:06}-{self.start:020}-{self.number:06}"


@dataclass(frozen=True, slots=True)
class Part:
    """What is in a piece of a table, and where it lies."""

    origin: Origin
    rows: int
    lines: int  # rows, empty lines, comments and what could not be read
    bad: int  # lines that could not be read
    kinds: tuple[Kinds | None, ...]  # of each column of the table
    path: Path
    bad_path: Path | None
