"""A table whose rows have been read: its parts, its types, and where each row came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.coerce import coerce
from graphtide.pipeline.ingest.kinds import Kinds, settled
from graphtide.pipeline.ingest.layout import Column
from graphtide.pipeline.ingest.options import Table
from graphtide.pipeline.ingest.part import LINE, Part

__all__ = ["Place", "Staged", "read_staged"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: lines of text are counted from 1, rows of tables from 0.

    >>> print(Place("edges.csv", "line", 17))
    edges.csv, line 17
    """

    file: str
    unit: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.number}"


@dataclass(frozen=True, slots=True)
class Staged:
    """The parts of a table in the order of its source."""

    table: Table
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    files: tuple[str, ...]  # by the numbers that parts have for them
    is_text: bool
    first_lines: tuple[int, ...]  # what number each part's first line has in its file

    @classmethod
    def of(
        cls, table: Table, columns: tuple[Column, ...], parts: Iterable[Part], files: Iterable[str], *, is_text: bool
    ) -> Self:
        """A table from its parts in any order."""
        ordered = sorted(parts, key=lambda part: part.origin)
        # Lines are counted from 1, rows from 0.
        counted: dict[int, int] = {}
        first_lines: list[int] = []
        for part in ordered:
            first_lines.append(counted.get(part.origin.file, int(is_text)))
            counted[part.origin.file] = first_lines[-1] + part.lines
        return cls(table, columns, tuple(ordered), tuple(files), is_text, tuple(first_lines))

    @property
    def rows(self) -> int:
        """How many rows could be read."""
        return sum(part.rows for part in self.parts)

    @property
    def bad(self) -> int:
        """How many could not."""
        return sum(part.bad for part in self.parts)

    @property
    def properties(self) -> tuple[Column, ...]:
        """The columns that are not ids."""
        return tuple(column for column in self.columns if column.name not in self.table.keys)

    def has_int_ids(self) -> bool:
        """Whether every id is an int; a table without rows has nothing against it."""
        places = [i for i, column in enumerate(self.columns) if column.name in self.table.keys]
        found = [part.kinds[i] for part in self.parts if part.rows for i in places]
        return all(kinds is None or kinds & Kinds.INT for kinds in found)

    def types(self) -> dict[str, PropertyType]:
        """The type of each property, by the name that it is staged under."""
        keys = len(self.table.keys)
        return {
            column.name: column.type or settled([part.kinds[i] for part in self.parts])
            for i, column in enumerate(self.columns)
            if i >= keys
        }

    def place(self, part: int, line: int) -> Place:
        """Where the row came from that stands in this line of a part."""
        file = self.files[self.parts[part].origin.file]
        return Place(file, "line" if self.is_text else "row", self.first_lines[part] + line)


def read_staged(file: Path, types: dict[str, PropertyType], *, with_lines: bool = False) -> pa.Table:
    """Columns of a staged file in their final types; a column that the file does not have is missing everywhere."""
    staged = pq.ParquetFile(file)
    there = set(staged.schema_arrow.names)
    wanted = [LINE] if with_lines or not there & set(types) else []
    table = staged.read(columns=[*wanted, *(name for name in types if name in there)])
    columns = {
        name: coerce(_array(table.column(name)), type_) if name in there else pa.nulls(table.num_rows, type_.arrow)
        for name, type_ in types.items()
    }
    return pa.table({**columns, LINE: table.column(LINE)} if with_lines else columns)


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
