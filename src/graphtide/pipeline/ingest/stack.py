"""Staged files on top of each other, read by the numbers of their rows.

Invariant: what is read depends on the rows and their numbers alone, not on where one file ends and the next begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Self

import pyarrow as pa

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.staged import read_staged

__all__ = ["Stack"]


@dataclass(frozen=True, slots=True)
class Stack:
    """Files in order, and how many rows there are up to the end of each."""

    files: tuple[Path, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, files: Iterable[tuple[Path, int]]) -> Self:
        """A stack of files, each with its number of rows; those without any are left out."""
        kept = [(file, rows) for file, rows in files if rows]
        return cls(tuple(file for file, _ in kept), tuple(accumulate(rows for _, rows in kept)))

    @property
    def rows(self) -> int:
        """How many there are in all."""
        return self.ends[-1] if self.ends else 0

    def read(self, start: int, stop: int, types: dict[str, PropertyType]) -> pa.Table:
        """Columns of the rows with these numbers, in their final types."""
        pieces = [pa.schema([(name, type_.arrow) for name, type_ in types.items()]).empty_table()]
        at = bisect_right(self.ends, start)
        while start < stop:
            begin = self.ends[at - 1] if at else 0
            end = min(stop, self.ends[at])
            pieces.append(read_staged(self.files[at], types).slice(start - begin, end - start))
            start, at = end, at + 1
        return pa.concat_tables(pieces)
