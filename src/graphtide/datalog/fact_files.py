"""Files of facts, as Soufflé reads and writes them: a line for each fact, its values separated by tabs.

A file to be read may be packed: `edge.facts.gz` or `edge.facts.zst` stands for `edge.facts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import csv

from graphtide.datalog.kinds import Kinds
from graphtide.datalog.program import Relation
from graphtide.datalog.syntax import Access
from graphtide.errors import LoadError

__all__ = ["read_facts", "write_facts"]

_TYPES: Final = {"number": pa.int64(), "float": pa.float64(), "symbol": pa.string()}
_ESCAPES: Final = {"\\t": "\t", "\\s": " "}


def read_facts(access: Access, relation: Relation, kinds: Kinds, folder: str | Path | None) -> pa.Table | None:
    """The facts that an `.input` directive names, from the folder; None if it names no file and there is no folder."""
    options = dict(access.options)
    if folder is None and "filename" not in options:
        return None
    file = Path(folder or ".") / options.get("filename", f"{relation.name}.facts")
    file = next((each for each in (file, *_packed(file)) if each.is_file()), file)
    if not file.is_file():
        raise LoadError(f'the facts of "{relation.name}" are not there: {file}', hint="name the folder with facts=...")
    if file.stat().st_size == 0:
        return None
    delimiter = options.get("delimiter", options.get("separator", "\t"))
    delimiter = _ESCAPES.get(delimiter, delimiter)
    has_header = options.get("headers", "false") == "true"
    types = {
        name: _TYPES[next(iter(possible))]
        for place, name in enumerate(relation.columns)
        if len(possible := kinds.possible(relation.name, place)) == 1
    }
    try:
        return csv.read_csv(
            file,
            csv.ReadOptions(column_names=list(relation.columns), skip_rows=int(has_header)),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[]),
        )
    except pa.ArrowInvalid as error:
        raise LoadError(f'the facts of "{relation.name}" cannot be read from {file}: {error}') from error


def _packed(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}.{ending}") for ending in ("gz", "zst")]


def write_facts(access: Access, table: pa.Table, folder: Path) -> Path:
    """Write the facts of an `.output` directive into a folder; the file."""
    options = dict(access.options)
    file = folder / options.get("filename", f"{access.relation}.csv")
    delimiter = options.get("delimiter", "\t")
    folder.mkdir(parents=True, exist_ok=True)
    settings = csv.WriteOptions(
        include_header=False, delimiter=_ESCAPES.get(delimiter, delimiter), quoting_style="none"
    )
    csv.write_csv(table, file, settings)
    return file
