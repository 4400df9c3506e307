"""The columns of a table: which hold ids, which are properties, and which field of which file each is.

Files of one table may have different columns; a column that a file does not have is missing in its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from graphtide.errors import LoadError
from graphtide.graph.schema import DST, EDGE, ID, SRC, VERTEX, PropertyType
from graphtide.pipeline.ingest.header import Mark, Title, is_id_of_something, recognise
from graphtide.pipeline.ingest.options import Options, Table
from graphtide.rows.schema import did_you_mean

__all__ = ["Column", "Layout", "check_types_used", "lay_out"]

_RESERVED: Final = {VERTEX, ID, EDGE, SRC, DST}
_MARKS: Final[dict[str, Mark]] = {SRC: "src", DST: "dst", ID: "id"}
_WHAT: Final = {SRC: "source", DST: "target", ID: "id"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ids or a property."""

    name: str  # where it is staged: one of the table's keys, or p0, p1, ... in the order of the properties
    title: str  # what users call it
    type: PropertyType | None  # None: found from its values


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table, keys first; for each file what its fields are staged as; and all names that occur."""

    columns: tuple[Column, ...]
    fields: tuple[tuple[str | None, ...], ...]
    names: tuple[str, ...]


def lay_out(table: Table, headers: Sequence[Sequence[Title]], options: Options, places: Sequence[str]) -> Layout:
    """The columns of all files together; `places` names the files in messages."""
    columns: dict[str, Column] = {}
    properties: dict[str, Column] = {}
    fields: list[tuple[str | None, ...]] = []
    for header, place in zip(headers, places, strict=True):
        keys = _find_keys(table, header, options, place)
        own: list[str | None] = []
        seen: set[str] = set()
        for position, title in enumerate(header):
            type_ = (options.types or {}).get(title.name, title.type)
            if position in keys:
                name = keys[position]
                _check_id_type(title, type_, place)
                _merge(columns, name, Column(name, title.name, type_), place)
                own.append(name)
            elif title.mark == "ignore":
                own.append(None)
            else:
                name = title.name or f"column_{position + 1}"
                _check_property(name, seen, place)
                seen.add(name)
                staged = properties[name].name if name in properties else f"p{len(properties)}"
                _merge(properties, name, Column(staged, name, type_), place)
                own.append(staged)
        fields.append(tuple(own))
    ordered = [columns[key] for key in table.keys]
    names = dict.fromkeys(title.name for header in headers for title in header)
    return Layout((*ordered, *properties.values()), tuple(fields), tuple(names))


def check_types_used(named: Iterable[str], layouts: Iterable[Layout]) -> None:
    """Raise if a type was given for a column that is in none of the tables."""
    known = list(dict.fromkeys(name for layout in layouts for name in layout.names))
    for name in named:
        if name not in known:
            raise LoadError(
                f'a type was given for column "{name}", which does not exist', hint=did_you_mean(name, known)
            )


def _find_keys(table: Table, header: Sequence[Title], options: Options, place: str) -> dict[int, str]:
    """Which fields hold the ids."""
    if len(header) < len(table.keys):
        count = f"{len(header)} column{'' if len(header) == 1 else 's'}"
        if table is Table.NODES:
            raise LoadError(f"{place}: {count}, and nodes need one: the id", hint="add it")
        raise LoadError(
            f"{place}: {count}, and edges need two: the source and the target", hint="add the one that is not there"
        )
    found: dict[str, int] = {}
    for key in table.keys:
        position = _find_key(key, header, options, place)
        if position is not None:
            found[key] = position
    if not found:
        return dict(zip(_likely_keys(table, header), table.keys, strict=True))
    for key in table.keys:
        if key not in found:
            listed = ", ".join(f'"{title.name}"' for title in header)
            raise LoadError(
                f"{place}: cannot tell which column is the {_WHAT[key]}: there are {listed}",
                hint=f"say it, for example {key.removeprefix('_')}={header[-1].name!r}",
            )
    if len(set(found.values())) < len(found):
        title = header[next(iter(found.values()))].name
        raise LoadError(f'{place}: column "{title}" cannot be the source and the target', hint="say two columns")
    return {position: key for key, position in found.items()}


def _likely_keys(table: Table, header: Sequence[Title]) -> Sequence[int]:
    """The fields that hold the ids where no name says which is which: as many as are called ids, else the first."""
    ids = [i for i, title in enumerate(header) if title.mark is None and is_id_of_something(title.name)]
    return ids if len(ids) == len(table.keys) else range(len(table.keys))


def _find_key(key: str, header: Sequence[Title], options: Options, place: str) -> int | None:
    wanted = options.key(key)
    if wanted is not None:
        return _named(wanted, header, place)
    mark = _MARKS[key]
    marked = (i for i, title in enumerate(header) if title.mark == mark)
    named = (i for i, title in enumerate(header) if title.mark is None and recognise(title.name) == mark)
    return next(chain(marked, named), None)


def _named(wanted: str | int, header: Sequence[Title], place: str) -> int:
    names = [title.name for title in header]
    if isinstance(wanted, int):
        if not 0 <= wanted < len(header):
            raise LoadError(
                f"{place}: there is no column {wanted}", hint=f"columns are counted from 0 to {len(header) - 1}"
            )
        return wanted
    if wanted not in names:
        raise LoadError(f'{place}: there is no column "{wanted}"', hint=did_you_mean(wanted, names))
    if names.count(wanted) > 1:
        raise LoadError(
            f'{place}: column "{wanted}" stands {names.count(wanted)} times', hint="say its place, counted from 0"
        )
    return names.index(wanted)


def _check_id_type(title: Title, type_: PropertyType | None, place: str) -> None:
    if type_ not in {None, PropertyType.INT, PropertyType.STRING}:
        raise LoadError(
            f'{place}: column "{title.name}" holds ids and has the type {type_}', hint="ids are int or string"
        )


def _check_property(name: str, seen: set[str], place: str) -> None:
    if "\0" in name:
        raise LoadError(f"{place}: a property cannot be called {name!r}", hint="is the file text?")
    if name in _RESERVED:
        raise LoadError(
            f'{place}: a property cannot be called "{name}", which is a column of every stored graph',
            hint="rename it, for example with columns=[...]",
        )
    if name in seen:
        raise LoadError(f'{place}: column "{name}" stands twice', hint="name all columns, with columns=[...]")


def _merge(columns: dict[str, Column], name: str, column: Column, place: str) -> None:
    """Add a column, or make sure that it is declared as it was in an earlier file."""
    known = columns.setdefault(name, column)
    if known.type != column.type:
        declared, before = (each.type or "without a type" for each in (column, known))
        raise LoadError(
            f'{place}: column "{column.title}" is {declared}, and {before} in the files before',
            hint=f'give it one type, for example columns={{"{column.title}": "string"}}',
        )
