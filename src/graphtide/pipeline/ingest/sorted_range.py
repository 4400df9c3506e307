"""What a task does with a sorted range of nodes: it keeps the first row of every id, and writes the rows down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from graphtide.graph.schema import ID
from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.part import LINE, PART_ROWS
from graphtide.pipeline.ingest.row_texts import row_texts
from graphtide.pipeline.ingest.writing import write_scratch

__all__ = ["FIRST_LINE", "FIRST_PART", "PART", "SortedRange", "keep_first"]

# Which part of its table a row is from; which part and line the row with the same id is from that was kept.
PART: Final = "_part"
FIRST_PART: Final = "_first_part"
FIRST_LINE: Final = "_first_line"


@dataclass(frozen=True, slots=True, order=True)
class SortedRange:
    """A file of sorted rows, and the rows that were left out: id, part, line, first part, first line, text."""

    range: int
    number: int
    rows: int = field(compare=False)
    path: Path = field(compare=False)
    duplicates: pa.Table | None = field(compare=False)


def keep_first(batches: Iterable[pa.RecordBatch], folder: Path) -> Iterator[SortedRange]:
    """Write the rows of this task's range without repeated ids; rows of ids alone are dropped without a word."""
    context = TaskContext.get()
    assert context is not None, "this runs in a task"
    number = 0
    held: list[pa.Table] = []
    duplicates: list[pa.Table] = []
    last: pa.Table | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = pa.Table.from_batches([batch])
        # With the last row that was kept in front, every row has its predecessor beside it.
        rows = rows if last is None else pa.concat_tables([last, rows])
        ids = rows.column(ID).combine_chunks()
        is_first = np.ones(len(ids), np.bool_)
        is_first[1:] = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
        if not is_first.all() and PART in rows.column_names:
            duplicates.append(_duplicates(rows, is_first))
        kept = rows.filter(pa.array(is_first))
        held.append(kept if last is None else kept.slice(1))
        last = kept.slice(kept.num_rows - 1)
        if sum(each.num_rows for each in held) >= PART_ROWS:
            yield _write(folder, context.partitionId(), number, held, duplicates)
            number, held, duplicates = number + 1, [], []
    if held:
        yield _write(folder, context.partitionId(), number, held, duplicates)


def _duplicates(rows: pa.Table, is_first: np.ndarray) -> pa.Table:
    repeated = np.flatnonzero(~is_first)
    firsts = np.maximum.accumulate(np.where(is_first, np.arange(len(is_first)), 0))[repeated]
    dropped, kept = rows.take(pa.array(repeated)), rows.take(pa.array(firsts))
    return pa.table(
        {
            ID: dropped.column(ID).cast(pa.string()),
            PART: dropped.column(PART),
            LINE: dropped.column(LINE),
            FIRST_PART: kept.column(PART),
            FIRST_LINE: kept.column(LINE),
            "text": row_texts(dropped.drop_columns([PART, LINE])),
        }
    )


def _write(folder: Path, range_: int, number: int, held: list[pa.Table], duplicates: list[pa.Table]) -> SortedRange:
    table = pa.concat_tables(held)
    path = folder / f"{range_:06}-{number:06}.parquet"
    write_scratch(path, table)
    return SortedRange(range_, number, table.num_rows, path, pa.concat_tables(duplicates) if duplicates else None)
