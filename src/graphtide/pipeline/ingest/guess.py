"""What a text file is, from its name and its first lines, where the caller has not said it.

A guess that could as well be wrong is not made: whether the first line of a file of words names the columns is
asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.dialect import Dialect
from graphtide.pipeline.ingest.files import Head
from graphtide.pipeline.ingest.header import is_title
from graphtide.pipeline.ingest.kinds import Kinds, kinds_of
from graphtide.pipeline.ingest.lines import BLANKS, split_line
from graphtide.pipeline.ingest.options import Format, Options

__all__ = ["data_of", "guess_dialect", "guess_format"]

_COMPRESSED: Final = re.compile(r"\.(gz|bz2|zst)$", re.IGNORECASE)
_GRAPHALYTICS: Final = re.compile(r"\.[ev](\.txt|\.csv)?$", re.IGNORECASE)
_SEPARATORS: Final = (",", "\t", "|", ";")
_COMMENTS: Final = ("#", "%")
_QUOTE: Final = '"'
_QUOTED: Final = re.compile('"[^"]*"')
_LOOK_AT: Final = 100


def guess_format(file: Path, options: Options) -> Format:
    """The format that was said, or the one that the name of a file says; CSV is all that has separators."""
    if options.format is not None:
        return options.format
    name = _COMPRESSED.sub("", file.name)
    if name.lower().endswith((".parquet", ".pq")):
        return Format.PARQUET
    if _GRAPHALYTICS.search(name):
        return Format.GRAPHALYTICS
    return Format.CSV


def guess_dialect(file: Path, head: Head, format_: Format, options: Options) -> Dialect:
    """How a text file is written."""
    comment = _comment(head, format_, options)
    lines = data_of(head, comment)[:_LOOK_AT]
    first = lines[0] if lines else ""
    separator = _separator(file, lines, format_, options)
    quote = _quote(first, separator, format_, options)
    dialect = Dialect(separator, quote, comment, has_header=False, null=options.null or "")
    rows = [split_line(line, dialect) for line in lines]
    return replace(dialect, has_header=_has_header(file, rows, format_, dialect, options))


def data_of(head: Head, comment: str | None) -> list[str]:
    """The first lines without comments and empty lines."""
    return [
        line
        for line in head.lines
        if (bare := line.strip(BLANKS)) and not (comment is not None and bare.startswith(comment))
    ]


def _comment(head: Head, format_: Format, options: Options) -> str | None:
    if options.comment is not None:
        return options.comment or None
    if format_ is Format.LDBC or format_ is Format.GRAPHALYTICS:
        return None
    # A comment stands at the top if it stands anywhere; further down, # may start a value.
    first = next((line.strip(BLANKS) for line in head.lines if line.strip(BLANKS)), "")
    at_top = next((each for each in _COMMENTS if first.startswith(each)), None)
    return at_top or ("#" if format_ is Format.SNAP else None)


def _separator(file: Path, lines: Sequence[str], format_: Format, options: Options) -> str | None:
    if options.separator is not None:
        return options.separator
    if format_ is Format.SNAP or format_ is Format.GRAPHALYTICS:
        return None
    if format_ is Format.LDBC:
        return "|"
    bare = _QUOTED.sub("", lines[0]) if lines else ""
    count, separator = max((bare.count(each), -i) for i, each in enumerate(_SEPARATORS))
    is_csv = options.format is Format.CSV or _is_named(file, ".csv", ".tsv")
    if not count:
        return "," if is_csv or len(bare.split()) < 2 else None
    found = _SEPARATORS[-separator]
    # SNAP's files have tabs too, with blanks here and there instead of them.
    return None if found == "\t" and not is_csv and not _has_blanks_between_tabs(lines) else found


def _has_blanks_between_tabs(lines: Sequence[str]) -> bool:
    """Whether tabs alone separate, since blanks stand inside of values."""
    if not any(" " in line.strip() for line in lines):
        return False
    # More lines are alike in what separates them than in what does not; one of them may be a bad line.
    by_tabs, by_blanks = Counter(line.count("\t") for line in lines), Counter(len(line.split()) for line in lines)
    return max(by_tabs.values()) >= max(by_blanks.values())


def _quote(first: str, separator: str | None, format_: Format, options: Options) -> str | None:
    if options.quote is not None:
        return options.quote or None
    if separator is None or format_ is Format.LDBC:
        return None
    # LDBC's files, which are told by their bars, have quotes inside texts and none around them.
    return None if separator == "|" and _QUOTE not in first and options.format is None else _QUOTE


def _has_header(file: Path, rows: Sequence[Sequence[str]], format_: Format, dialect: Dialect, options: Options) -> bool:
    if options.header is not None:
        return options.header
    if format_ is Format.LDBC:
        return True
    # Nothing but SNAP's and Graphalytics' files is separated by blanks, and they have no headers.
    if dialect.separator is None or not rows:
        return False
    first, rest = rows[0], rows[1:]
    if options.titles is not None:
        return [field.strip() for field in first] == [title.name for title in options.titles]
    if any(map(is_title, first)):
        return True
    if len(set(first)) < len(first) or any(map(_is_value, first)):
        return False
    if any(_is_column_of_values([row[i] for row in rest if i < len(row)]) for i in range(len(first))):
        return True
    raise LoadError(
        f'{file}: cannot tell whether the first line names the columns: "{", ".join(first)}"',
        hint="say header=True or header=False",
    )


def _is_value(text: str) -> bool:
    """Whether a text is a number, a date or the like, or nothing."""
    return not text.strip() or kinds_of(pa.array([text])) != Kinds(0)


def _is_column_of_values(texts: Sequence[str]) -> bool:
    values = [text for text in texts if text.strip()]
    return bool(values) and all(map(_is_value, values))


def _is_named(file: Path, *endings: str) -> bool:
    return _COMPRESSED.sub("", file.name).lower().endswith(endings)
