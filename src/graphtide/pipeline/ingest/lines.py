"""Lines of text to columns of fields, with Arrow's CSV reader.

Invariant: a line is a row, so every field can be traced to its line. That a quoted value does not go on in the next
line is therefore checked before the reader, which would join the two, sees them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.dialect import Dialect

__all__ = ["BLANKS", "Fields", "cut_lines", "data_lines", "split_line"]

# A line of nothing else is empty.
BLANKS: Final = " \t\r"


@dataclass(frozen=True, slots=True)
class Fields:
    """Columns of text, which line each row stands in, and the lines that have no row with the reason."""

    columns: list[pa.Array]
    lines: NDArray[np.int64]
    bad: dict[int, str]


def data_lines(lines: pa.Array, dialect: Dialect) -> NDArray[np.int64]:
    """Which lines are neither empty nor comments."""
    trimmed = pc.ascii_trim(lines, BLANKS)
    is_data = pc.greater(pc.binary_length(trimmed), 0)
    if dialect.comment is not None:
        is_data = pc.and_(is_data, pc.invert(pc.starts_with(trimmed, dialect.comment)))
    return np.flatnonzero(is_data.to_numpy(zero_copy_only=False))


def cut_lines(lines: pa.Array, numbers: NDArray[np.int64], dialect: Dialect, width: int) -> Fields:
    """Cut the lines of these numbers into `width` fields each, missing values as nulls."""
    bad: dict[int, str] = {}
    wanted = lines if len(numbers) == len(lines) else lines.take(pa.array(numbers))
    for find, reason in ((_find_broken, "the line is not UTF-8"), (_find_open, "a quote is not closed on its line")):
        is_bad = find(wanted, dialect)
        if is_bad is not None:
            bad |= dict.fromkeys(numbers[is_bad].tolist(), reason)
            wanted, numbers = wanted.filter(pa.array(~is_bad)), numbers[~is_bad]
    if not len(numbers):
        return Fields([pa.nulls(0, pa.string())] * width, numbers, bad)
    table, skipped = _read(wanted, dialect, width)
    if skipped:
        places = np.array(list(skipped))
        bad |= dict(zip(numbers[places].tolist(), skipped.values(), strict=True))
        numbers = np.delete(numbers, places)
    assert table.num_rows == len(numbers), "a line was not a row"
    return Fields([_one_array(column) for column in table.columns], numbers, bad)


def split_line(line: str, dialect: Dialect) -> list[str]:
    """The fields of one line.

    >>> split_line('1,"a, b",', Dialect(separator=",", quote='"', comment=None, has_header=False))
    ['1', 'a, b', '']
    """
    if dialect.separator is None:
        return line.split()
    quoting = csv.QUOTE_NONE if dialect.quote is None else csv.QUOTE_MINIMAL
    try:
        return next(csv.reader([line], delimiter=dialect.separator, quotechar=dialect.quote, quoting=quoting))
    except csv.Error:
        return [line]


def _read(lines: pa.Array, dialect: Dialect, width: int) -> tuple[pa.Table, dict[int, str]]:
    """The fields, and the rows that were left out for their number of fields."""
    skipped: dict[int, str] = {}

    def skip(row: Any) -> str:
        count = f"{row.actual_columns} field{'s' if row.actual_columns != 1 else ''}"
        skipped[row.number - 1] = f"{count}, expected {width}"
        return "skip"

    names = [str(i) for i in range(width)]
    text = _joined(lines, dialect)
    table = pa_csv.read_csv(
        pa.BufferReader(text),
        # One block, so that rows are counted from its start.
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=names),
        parse_options=_parse_options(dialect, skip),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=sorted({"", dialect.null}),
            check_utf8=False,
        ),
    )
    return table, skipped


def _parse_options(dialect: Dialect, skip: Any) -> pa_csv.ParseOptions:
    return pa_csv.ParseOptions(
        delimiter="\t" if dialect.separator is None else dialect.separator,
        quote_char=False if dialect.quote is None else dialect.quote,
        invalid_row_handler=skip,
    )


def _joined(lines: pa.Array, dialect: Dialect) -> pa.Buffer:
    """The lines as one text; runs of blanks become single tabs if they are what separates."""
    if dialect.separator is None:
        lines = pc.ascii_trim(lines, " \t")
        # One regular expression for all would be five times slower on files that have one kind only.
        if pc.any(pc.match_substring_regex(lines, "[ \t][ \t]")).as_py():
            lines = pc.replace_substring_regex(lines, "[ \t]+", "\t")
        else:
            lines = pc.replace_substring(lines, " ", "\t")
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(whole, "\n")[0].as_buffer()


def _find_broken(lines: pa.Array, _dialect: Dialect) -> NDArray[np.bool_] | None:
    """Which lines are not UTF-8; None if all are."""
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        return np.array([_is_broken(line) for line in lines.cast(pa.binary()).to_pylist()], np.bool_)
    return None


def _is_broken(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return False


def _find_open(lines: pa.Array, dialect: Dialect) -> NDArray[np.bool_] | None:
    """Which lines end inside a quoted value; None if none does."""
    if dialect.quote is None:
        return None
    quoted = np.flatnonzero(pc.match_substring(lines, dialect.quote).to_numpy(zero_copy_only=False))
    if not len(quoted):
        return None
    quote, separator = (rf"\x{{{ord(each):x}}}" for each in (dialect.quote, dialect.separator or "\t"))
    # A value is quoted if it starts with a quote; inside, a quote is doubled. What follows the last one is kept.
    bare = f"(?:[^{quote}{separator}][^{separator}]*)?"
    value = f"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}{bare}|{bare})"
    is_closed = pc.match_substring_regex(lines.take(pa.array(quoted)), f"(?s)^{value}(?:{separator}{value})*$")
    is_open = np.zeros(len(lines), np.bool_)
    is_open[quoted] = ~is_closed.to_numpy(zero_copy_only=False)
    return is_open if is_open.any() else None


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
