"""Files of facts, as Soufflé reads and writes them: a line for each fact, its values separated by tabs.

A relation without columns holds `()` or nothing. A file to be read may be packed: `edge.facts.gz` or `edge.facts.zst`
stands for `edge.facts`.

Invariant: what is written reads as the same facts. A value that would not is refused, with its relation and its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute
from pyarrow import csv

from graphtide.datalog.file_format import FileFormat, file_format
from graphtide.datalog.kinds import Kinds
from graphtide.datalog.program import Relation
from graphtide.datalog.syntax import Access, Constant
from graphtide.errors import LoadError, StatementError
from graphtide.text import error_at

__all__ = ["read_facts", "write_facts"]

# Its functions are made when it is imported, so their names are not to be seen.
pc: Final[Any] = pyarrow.compute
_TYPES: Final = {"number": pa.int64(), "float": pa.float64(), "symbol": pa.string()}
_NULLARY: Final = "()"
_BLOCK: Final = 1 << 22
_ROWS_AT_ONCE: Final = 1 << 16


def read_facts(
    access: Access, relation: Relation, kinds: Kinds, text: str, folder: str | Path | None
) -> pa.Table | None:
    """The facts that an `.input` directive names, from the folder; None if it names no file and there is no folder."""
    layout = file_format(access, text)
    if folder is None and layout.filename is None:
        return None
    file = Path(folder or ".") / (layout.filename or f"{relation.name}.facts")
    file = next((each for each in (file, *_packed(file)) if each.is_file()), file)
    if not file.is_file():
        raise LoadError(f'the facts of "{relation.name}" are not there: {file}', hint="name the folder with facts=...")
    data = _unpacked(file)
    if layout.has_header:
        data = data.partition(b"\n")[2]
    if not data:
        return None
    try:
        if not relation.columns:
            return _nullary(data)
        columns = _fields(data, relation, layout)
        return pa.table(
            [_typed(each, relation.name, place, kinds) for place, each in enumerate(columns)],
            names=list(relation.columns),
        )
    except (pa.ArrowInvalid, ValueError) as error:
        raise LoadError(
            f'the facts of "{relation.name}" cannot be read from {file}: {error}',
            hint="a line holds a fact; delimiter, headers and rfc4180 of .input say how",
        ) from error


def write_facts(access: Access, relation: Relation, table: pa.Table, text: str, folder: Path) -> Path:
    """Write the facts of an `.output` directive into a folder; the file."""
    layout = file_format(access, text)
    if relation.columns:
        texts = [_texts(each) for each in table.columns]
        _check_values(access, texts, table, layout, text)
        fields = [
            _quoted(each) if layout.is_quoted and _is_symbol(old) else each
            for each, old in zip(texts, table.columns, strict=True)
        ]
        lines = _joined(fields, layout.delimiter)
    else:
        lines = pa.chunked_array([pa.array([_NULLARY] * table.num_rows, pa.large_string())])
    file = folder / (layout.filename or f"{access.relation}.csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        if layout.has_header:
            stream.write(f"{layout.delimiter.join(relation.columns)}\n")
        for start in range(0, len(lines), _ROWS_AT_ONCE):
            stream.writelines(f"{line}\n" for line in lines.slice(start, _ROWS_AT_ONCE).to_pylist())
    return file


# -- reading


def _packed(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}.{ending}") for ending in ("gz", "zst")]


def _unpacked(file: Path) -> bytes:
    with pa.input_stream(file, compression="detect") as stream:
        return stream.read()


def _nullary(data: bytes) -> pa.Table:
    found = set(data.decode().splitlines())
    if found != {_NULLARY}:
        raise ValueError(f"a relation without columns holds {_NULLARY} or nothing")
    return pa.table({"": [0]}).select([])


def _fields(data: bytes, relation: Relation, layout: FileFormat) -> Sequence[pa.ChunkedArray]:
    """The values of each column as texts."""
    names = list(relation.columns)
    # Arrow ends lines at a return alone, and drops a byte order mark; Soufflé takes both as they are.
    is_plain = data.count(b"\r") == data.count(b"\r\n") and not data.startswith(b"\xef\xbb\xbf")
    if not layout.is_quoted and not (is_plain and len(layout.delimiter.encode()) == 1):
        return _split(data.decode(), len(names), layout.delimiter)
    quoting: dict[str, Any] = {"quote_char": False}
    if layout.is_quoted:
        quoting = {"quote_char": '"', "double_quote": True, "newlines_in_values": True}
    return csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=names, block_size=_BLOCK),
        csv.ParseOptions(delimiter=layout.delimiter, ignore_empty_lines=False, **quoting),
        csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, null_values=[]),
    ).columns


def _split(text: str, width: int, delimiter: str) -> Sequence[pa.ChunkedArray]:
    lines = text.removesuffix("\n").split("\n")
    rows = [line.removesuffix("\r").split(delimiter) for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"fact {number} has {len(row)} values, and not {width}")
    return [pa.chunked_array([pa.array(column, pa.string())]) for column in zip(*rows, strict=True)]


def _typed(column: pa.ChunkedArray, relation: str, place: int, kinds: Kinds) -> pa.ChunkedArray:
    """The values of a column in the first kind that may stand there and takes them all."""
    possible = [kind for kind in _TYPES if kind in kinds.possible(relation, place)]
    for kind in possible:
        try:
            return column.cast(_TYPES[kind])
        except pa.ArrowInvalid:
            continue
    row = _first_misfit(column, _TYPES[possible[-1]])
    raise ValueError(f'"{column[row]}" in column {place + 1} of fact {row + 1} is not a {possible[-1]}')


def _first_misfit(column: pa.ChunkedArray, wanted: pa.DataType) -> int:
    """The place of the first value that cannot be cast: halved until one is left."""
    start, size = 0, len(column)
    while size > 1:
        half = size // 2
        try:
            column.slice(start, half).cast(wanted)
        except pa.ArrowInvalid:
            size = half
        else:
            start, size = start + half, size - half
    return start


# -- writing


def _is_symbol(column: pa.ChunkedArray) -> bool:
    return not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.large_string())


def _quoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _joined(['"', pc.replace_substring(column, '"', '""'), '"'], "")


def _joined(parts: Sequence[pa.ChunkedArray | str], between: str) -> pa.ChunkedArray:
    large = [pa.scalar(each, pa.large_string()) if isinstance(each, str) else each for each in (*parts, between)]
    return pc.binary_join_element_wise(*large)


def _check_values(
    access: Access, texts: Sequence[pa.ChunkedArray], table: pa.Table, layout: FileFormat, text: str
) -> None:
    """Refuse values that would be read as something else."""
    for place, column in enumerate(texts):
        is_symbol = _is_symbol(table.column(place))
        if layout.is_quoted and is_symbol:
            continue
        is_last = place == len(texts) - 1
        # Of a longer delimiter the value may bring the beginning, and be cut there.
        following = column if is_last else _joined([column, layout.delimiter[:-1]], "")
        is_cut = pc.or_(pc.match_substring(following, layout.delimiter), pc.match_substring(column, "\n"))
        if is_last:
            is_cut = pc.or_(is_cut, pc.ends_with(column, "\r"))
        row = pc.index(is_cut, True).as_py()
        if row >= 0:
            raise _unreadable(access, column[row].as_py(), place, layout, text, is_symbol=is_symbol)


def _unreadable(
    access: Access, value: str, place: int, layout: FileFormat, text: str, *, is_symbol: bool
) -> StatementError:
    shown = f"the symbol {Constant(value)}" if is_symbol else f"the value {value}"
    return error_at(
        text,
        access.span,
        f'{shown} in column {place + 1} of "{access.relation}" cannot be written: it has a line break or the '
        f"delimiter {Constant(layout.delimiter)} in it",
        hint="write rfc4180=true, which puts symbols into quotes" if is_symbol else "take another delimiter",
    )
