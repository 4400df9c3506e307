"""Rows to a part: values are read in the types that were declared, the types of the others are looked for.

A row with a value that its column cannot have, or without an id, is set aside with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.graph.schema import DST, ID, SRC, PropertyType
from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.coerce import coerce, numbers_of_times
from graphtide.pipeline.ingest.kinds import Kinds, kinds_of
from graphtide.pipeline.ingest.layout import Column
from graphtide.pipeline.ingest.part import LINE, Origin, Part
from graphtide.pipeline.ingest.texts import narrowed
from graphtide.pipeline.ingest.writing import write_scratch

__all__ = ["Rows", "Staging", "stage"]

_TIMES: Final = {PropertyType.DATE, PropertyType.TIMESTAMP}
_NO_ID: Final = {ID: "no id", SRC: "no source vertex", DST: "no target vertex"}


@dataclass(frozen=True, slots=True)
class Staging:
    """What all tasks that stage one table need to know."""

    folder: Path
    columns: tuple[Column, ...]
    keeps_bad: bool  # whether all bad lines are wanted, or one to show


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a source, by the names under which they are staged."""

    columns: dict[str, pa.Array]
    lines: NDArray[np.int64]  # which line of the piece each row stands in
    count: int  # lines of the piece
    bad: dict[int, str]  # lines that are no rows, and why
    texts: Callable[[list[int]], list[str]]  # lines as they are written


def stage(staging: Staging, origin: Origin, rows: Rows) -> Part:
    """Write a part."""
    given = {column: rows.columns[column.name] for column in staging.columns if column.name in rows.columns}
    values = {column: _declared(texts, column) for column, texts in given.items()}
    bad = dict(rows.bad)
    for column, texts in given.items():
        for position, reason in _misfits(texts, values[column], column):
            bad.setdefault(int(rows.lines[position]), reason)
    is_good = pa.array(~np.isin(rows.lines, np.fromiter(bad, np.int64, len(bad)))) if bad else None
    columns: dict[str, pa.Array] = {}
    kinds: dict[Column, Kinds | None] = {}
    for column, texts in values.items():
        # A row that is set aside has no say in what its columns are.
        good = texts if is_good is None else texts.filter(is_good)
        columns[column.name], kinds[column] = _inferred(good, column)
    lines = pa.array(rows.lines, pa.int32())
    table = pa.table({**columns, LINE: lines if is_good is None else lines.filter(is_good)})
    path = staging.folder / f"{origin.name}.parquet"
    if table.num_rows:
        write_scratch(path, table)
    bad_path = _write_bad(staging, origin, bad, rows.texts) if bad else None
    found = tuple(kinds.get(column) for column in staging.columns)
    return Part(origin, table.num_rows, rows.count, len(bad), found, path, bad_path)


def _declared(given: pa.Array, column: Column) -> pa.Array:
    """The values of a column in the type that was declared, if one was."""
    if column.name in _NO_ID and pa.types.is_string(given.type):
        given = pc.ascii_trim_whitespace(given)
        given = pc.if_else(pc.equal(given, ""), pa.scalar(None, pa.string()), given)
    return given if column.type is None else coerce(given, column.type)


def _inferred(values: pa.Array, column: Column) -> tuple[pa.Array, Kinds | None]:
    """The values of a column as they are kept, and the types that they could have."""
    if column.type is not None:
        return values, Kinds.INT if column.type is PropertyType.INT else Kinds(0)
    ints = narrowed(values)
    return (values if ints is None else ints), kinds_of(values)


def _misfits(given: pa.Array, values: pa.Array, column: Column) -> list[tuple[int, str]]:
    """The rows whose value could not be kept, and why."""
    if values.null_count == (0 if column.name in _NO_ID else given.null_count):
        return []
    is_missing = values.is_null()
    if column.name not in _NO_ID:
        is_missing = pc.and_(is_missing, _has_value(given))
    positions = np.flatnonzero(is_missing.to_numpy(zero_copy_only=False))
    misfits = given.take(pa.array(positions))
    # Python has no dates and times that far away.
    written = (numbers_of_times(misfits) if pa.types.is_temporal(given.type) else misfits).to_pylist()
    return [(int(i), _reason(value, column)) for i, value in zip(positions, written, strict=True)]


def _has_value(given: pa.Array) -> pa.Array:
    """Where there is something that could fit; blanks are nothing."""
    if not pa.types.is_string(given.type):
        return given.is_valid()
    return pc.fill_null(pc.not_equal(pc.ascii_trim_whitespace(given), ""), fill_value=False)


def _reason(value: object, column: Column) -> str:
    if value is None or (column.name in _NO_ID and isinstance(value, str) and not value.strip()):
        return _NO_ID[column.name]
    wanted = f"a{'n' if column.type is PropertyType.INT else ''} {column.type}"
    is_number = str(value).strip().lstrip("+-").isdecimal()
    # A number is no time; where one is shown, it is that of a time which does not fit.
    is_long = is_number and (column.type is PropertyType.INT or (column.type in _TIMES and isinstance(value, int)))
    return f'column "{column.title}": {value!r} is {"too large for" if is_long else "not"} {wanted}'


def _write_bad(staging: Staging, origin: Origin, bad: dict[int, str], texts: Callable[[list[int]], list[str]]) -> Path:
    lines = sorted(bad) if staging.keeps_bad else [min(bad)]
    path = staging.folder / f"bad-{origin.name}.parquet"
    table = pa.table({LINE: pa.array(lines, pa.int64()), "text": texts(lines), "reason": [bad[line] for line in lines]})
    write_scratch(path, table)
    return path
