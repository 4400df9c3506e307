"""Nodes in the order of their ids, each id once.

Spark divides the ids into ranges and sorts each, ints as numbers and text by code points; the rows of a range go to
files of their own. A vertex's number is how many rows lie before it, in the ranges before and in its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from graphtide.graph.schema import ID, PropertyType
from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.part import LINE, PART_ROWS
from graphtide.pipeline.ingest.sorted_range import PART, keep_first
from graphtide.pipeline.ingest.stack import Stack
from graphtide.pipeline.ingest.staged import Staged, read_staged
from graphtide.pipeline.ingest.tasks import numbers, run_on_rows, run_tasks
from graphtide.pipeline.ingest.writing import write_scratch

__all__ = ["SortedNodes", "sort_ends", "sort_nodes"]

_DDL: Final = {
    PropertyType.INT: "bigint",
    PropertyType.FLOAT: "double",
    PropertyType.STRING: "string",
    PropertyType.BOOL: "boolean",
    PropertyType.DATE: "date",
    PropertyType.TIMESTAMP: "timestamp",
}
_RANGE_ROWS: Final = 1 << 21
_MOST_HELD: Final = 1 << 23


@dataclass(frozen=True, slots=True)
class SortedNodes:
    """Rows of nodes by number, and those that were left out because an earlier row has their id."""

    stack: Stack
    duplicates: pa.Table | None  # see `SortedRange`


def sort_nodes(spark: SparkSession, nodes: Staged, id_type: PropertyType, folder: Path) -> SortedNodes:
    """The rows of a table of nodes; of those with one id, the first."""
    types = {ID: id_type, **nodes.types()}
    files = [(number, part.path) for number, part in enumerate(nodes.parts) if part.rows]

    def read(task: int) -> pa.Table:
        number, file = files[task]
        table = read_staged(file, types, with_lines=True)
        return table.append_column(PART, pa.repeat(pa.scalar(number, pa.int32()), table.num_rows))

    columns = {**{name: _DDL[type_] for name, type_ in types.items()}, LINE: "int", PART: "int"}
    return _sort(_rows(spark, read, len(files), columns), [ID, PART, LINE], nodes.rows, folder)


def sort_ends(spark: SparkSession, edges: Staged, id_type: PropertyType, folder: Path) -> SortedNodes:
    """The ends of all edges, as nodes without properties."""
    types = dict.fromkeys(edges.table.keys, id_type)
    files = [part.path for part in edges.parts if part.rows]
    # As few groups as keep all cores busy: an id that is in many parts is then sorted a few times only.
    count = min(len(files), spark.sparkContext.defaultParallelism)
    groups = [files[i::count] for i in range(count)]
    ends = folder / "ends"
    ends.mkdir()

    def gather(group: int) -> list[tuple[Path, int]]:
        return [_write(ends / f"{group}-{i}.parquet", ids) for i, ids in enumerate(_distinct(groups[group], types))]

    # Written down, since Spark reads what it sorts into ranges twice.
    found = [each for report in run_tasks(spark, gather, len(groups)) for each in report]
    rows = sum(count for _, count in found)

    def read(task: int) -> pa.Table:
        return read_staged(found[task][0], {ID: id_type})

    return _sort(_rows(spark, read, len(found), {ID: _DDL[id_type]}), [ID], rows, folder)


def _distinct(files: list[Path], types: dict[str, PropertyType]) -> Iterator[pa.Array]:
    """The ids in some files, each once unless there are too many to hold."""
    held: list[pa.Array] = []
    for i, file in enumerate(files):
        held += [chunk for column in read_staged(file, types).columns for chunk in column.chunks]
        if sum(map(len, held)) >= _MOST_HELD or i + 1 == len(files):
            held = [pc.unique(pa.chunked_array(held))]
            if len(held[0]) >= _MOST_HELD // 2 or i + 1 == len(files):
                yield held[0]
                held = []


def _write(file: Path, ids: pa.Array) -> tuple[Path, int]:
    write_scratch(file, pa.table({ID: ids}))
    return file, len(ids)


def _rows(spark: SparkSession, read: Callable[[int], pa.Table], count: int, columns: dict[str, str]) -> DataFrame:
    """What is read by each of `count` tasks, as rows of Spark's."""

    def on_numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(number).combine_chunks().to_batches(max_chunksize=PART_ROWS)

    ddl = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    return numbers(spark, count).mapInArrow(on_numbers, ddl)


def _sort(frame: DataFrame, order: list[str], rows: int, folder: Path) -> SortedNodes:
    if not rows:
        return SortedNodes(Stack.of([]), None)
    ranges = frame.repartitionByRange(ceil(rows / _RANGE_ROWS), ID).sortWithinPartitions(*order)
    found = sorted(run_on_rows(ranges, lambda batches: keep_first(batches, folder)))
    tables = [each.duplicates for each in found if each.duplicates is not None]
    duplicates = pa.concat_tables(tables) if tables else None
    return SortedNodes(Stack.of((each.path, each.rows) for each in found), duplicates)
