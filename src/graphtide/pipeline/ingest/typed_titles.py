"""What is said of the columns of a table that has types: by the table, and by the caller, who wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphtide.errors import LoadError
from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.coerce import can_coerce
from graphtide.pipeline.ingest.header import Mark, Title, plain_title
from graphtide.pipeline.ingest.options import Options

__all__ = ["TypedColumn", "typed_titles"]


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column as its table has it."""

    name: str
    type: PropertyType | None  # None: no property can have it
    written: str  # the type as the table calls it
    mark: Mark | None = None


def typed_titles(columns: Sequence[TypedColumn], options: Options, place: str) -> list[Title]:
    """The columns by their names and types; `place` is what messages call the table."""
    if options.titles is not None and len(options.titles) != len(columns):
        raise LoadError(
            f"{place}: there are {len(columns)} columns, and {len(options.titles)} are named",
            hint="name all columns, or some by columns={...}",
        )
    return [
        _title(column, options, None if options.titles is None else options.titles[i], place)
        for i, column in enumerate(columns)
    ]


def _title(column: TypedColumn, options: Options, said: Title | None, place: str) -> Title:
    name = column.name if said is None else said.name
    if column.type is None:
        raise LoadError(
            f'{place}: column "{name}" has the type {column.written}, which no property can have',
            hint="drop it, or make a string of it",
        )
    wanted = (options.types or {}).get(name) if said is None else said.type
    if wanted is not None and not can_coerce(column.type, wanted):
        raise LoadError(f'{place}: column "{name}" is {column.type} and cannot be {wanted}', hint="leave it as it is")
    if said is not None:
        return Title(name, wanted or column.type, said.mark)
    return Title(name, column.type, column.mark) if column.mark else plain_title(name, column.type)
