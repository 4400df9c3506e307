"""What a caller may say about the files and tables of a graph.

Every option holds for edges and nodes; with `edge_` or `node_` in front it holds for one of them and wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final, cast

from graphtide.errors import UsageError
from graphtide.graph.schema import DST, ID, SRC, PropertyType
from graphtide.pipeline.ingest.header import Title, parse_title, parse_type
from graphtide.rows.schema import did_you_mean

__all__ = [
    "FILE_WORDS",
    "TABLE_WORDS",
    "TEXT_WORDS",
    "Format",
    "Options",
    "Table",
    "check_heard",
    "check_option",
    "read_options",
]

# What can be said of every table, of files, and of files of text.
TABLE_WORDS: Final = frozenset({"columns"})
FILE_WORDS: Final = TABLE_WORDS | {"format"}
TEXT_WORDS: Final = FILE_WORDS | {"separator", "header", "quote", "comment", "null"}


class Table(StrEnum):
    """One of the two tables that a graph is loaded from."""

    NODES = "nodes"
    EDGES = "edges"

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that hold ids, by the names that they are staged under."""
        return (ID,) if self is Table.NODES else (SRC, DST)

    @property
    def key_words(self) -> frozenset[str]:
        """The options that say which columns those are."""
        return frozenset({"id"} if self is Table.NODES else {"src", "dst"})


class Format(StrEnum):
    """What files a graph can be read from."""

    CSV = "csv"
    PARQUET = "parquet"
    SNAP = "snap"
    LDBC = "ldbc"
    GRAPHALYTICS = "graphalytics"


@dataclass(frozen=True, slots=True)
class Options:
    """What was said about one table; None where nothing was, and an empty string for "none of that"."""

    format: Format | None = None
    separator: str | None = None
    header: bool | None = None
    quote: str | None = None
    comment: str | None = None
    null: str | None = None
    titles: tuple[Title, ...] | None = None  # all columns, in order
    types: Mapping[str, PropertyType] | None = None  # columns by name
    names_columns: bool = False  # whether `types` may name the columns of a file that does not
    src: str | int | None = None
    dst: str | int | None = None
    id: str | int | None = None

    def key(self, key: str) -> str | int | None:
        """Which column was said to hold an id; `key` is one of `Table.keys`."""
        return {SRC: self.src, DST: self.dst, ID: self.id}[key]


def read_options(format: str | None, given: Mapping[str, Any]) -> dict[Table, Options]:  # noqa: A002 - the caller's word
    """Check the options, and say what they are for each table.

    >>> read_options("csv", {"separator": ";", "node_separator": "|"})[Table.NODES].separator
    '|'
    """
    words = {**given} if format is None else {"format": format, **given}
    for word in words:
        check_option(word)
    result: dict[Table, Options] = {}
    for table in Table:
        prefix = f"{table[:-1]}_"
        own = {word.removeprefix(prefix): value for word, value in words.items() if word.startswith(prefix)}
        shared = {word: value for word, value in words.items() if word in _WORDS}
        # A list of columns is the list of one table's, and edges are the table that is always there.
        if table is Table.NODES and not isinstance(shared.get(_COLUMNS), Mapping):
            shared.pop(_COLUMNS, None)
        options = Options(names_columns=table is Table.EDGES or _COLUMNS in own)
        for word, value in {**shared, **own}.items():
            if value is not None:
                options = replace(options, **_read(word, value))
        result[table] = options
    return result


def check_option(word: str) -> None:
    """Raise unless something can be said of a table by this word."""
    prefix, base = _split(word)
    if base not in _WORDS:
        known = [f"{prefix}{each}" for each in _WORDS]
        raise UsageError(f'there is no option "{word}" for loading graphs', hint=did_you_mean(word, known))


def check_heard(given: Iterable[str], hears: Mapping[Table, frozenset[str]]) -> None:
    """Raise if an option was given that no table of this graph listens to; `hears` has the tables that there are."""
    for word in given:
        prefix, base = _split(word)
        tables = [table for table in hears if table.startswith(prefix.removesuffix("_"))]
        if not any(base in hears[table] | table.key_words for table in tables):
            about = "files" if tables and base in TEXT_WORDS else "a table that is not there"
            raise UsageError(f'the option "{word}" is about {about}', hint="leave it out")


_COLUMNS: Final = "columns"
_WORDS: Final = [each.name for each in fields(Options) if each.name not in {"titles", "types", "names_columns"}] + [
    _COLUMNS
]
_TABS: Final = {"tab", "\\t"}


def _split(word: str) -> tuple[str, str]:
    """Which table an option is for, if it says so, and which option it is."""
    prefix = next((each for each in ("edge_", "node_") if word.startswith(each)), "")
    return prefix, word.removeprefix(prefix)


def _read(word: str, value: Any) -> dict[str, Any]:
    """The fields of `Options` that an option gives."""
    if word == "format":
        if value not in list(Format):
            raise UsageError(
                f'there is no format "{value}"', hint=did_you_mean(str(value), [each.value for each in Format])
            )
        return {word: Format(value)}
    if word == _COLUMNS:
        return _read_columns(value)
    if word == "header":
        if not isinstance(value, bool):
            raise _misfit(word, value, "it is true or false")
        return {word: value}
    if word in {"src", "dst", "id"}:
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise _misfit(word, value, "it is the name of a column, or its place, counted from 0")
        return {word: value}
    if not isinstance(value, str):
        raise _misfit(word, value, "it is a string")
    if word == "separator" and value in _TABS:
        value = "\t"
    if word == "separator" and (len(value) != 1 or not value.isascii() or value in "\r\n"):
        raise _misfit(word, value, "it is one ASCII character, or tab")
    if word == "quote" and (len(value) > 1 or not value.isascii()):
        raise _misfit(word, value, "it is one ASCII character, or empty if nothing is quoted")
    return {word: value}


def _read_columns(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, Mapping):
        named = cast("Mapping[Any, Any]", value)
        return {"types": {str(name): parse_type(str(type_), f'column "{name}"') for name, type_ in named.items()}}
    if isinstance(value, Sequence):
        return {"titles": tuple(parse_title(str(each)) for each in cast("Sequence[Any]", value))}
    raise _misfit(
        _COLUMNS, value, 'it is a mapping such as {"year": "int"}, or a list such as ["src", "dst", "year:int"]'
    )


def _misfit(word: str, value: object, hint: str) -> UsageError:
    return UsageError(f'{value!r} is nothing that "{word}" can be', hint=hint)
