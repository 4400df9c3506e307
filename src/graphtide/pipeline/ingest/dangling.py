"""Edges whose ends are not among the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from graphtide.graph.schema import DST, SRC, PropertyType
from graphtide.pipeline.ingest.lookup import ABSENT, look_up
from graphtide.pipeline.ingest.part import LINE, Part
from graphtide.pipeline.ingest.row_texts import row_texts
from graphtide.pipeline.ingest.staged import Staged, read_staged
from graphtide.pipeline.ingest.tasks import run_tasks
from graphtide.pipeline.ingest.writing import FILE_ROWS, write_scratch

__all__ = ["Dangling", "find_dangling"]


@dataclass(frozen=True, slots=True)
class Dangling:
    """The edges of one part without a node at one end: line, text, reason; and the part without them."""

    number: int
    rows: pa.Table
    rest: Part


def find_dangling(spark: SparkSession, edges: Staged, id_type: PropertyType, nodes_folder: Path) -> list[Dangling]:
    """The parts that have such edges, in order."""
    keys = dict.fromkeys(edges.table.keys, id_type)
    parts = {i: part for i, part in enumerate(edges.parts) if part.rows}
    groups = list(_groups(parts))

    def look(number: int) -> list[Dangling]:
        tables = {i: read_staged(parts[i].path, keys, with_lines=True) for i in groups[number]}
        ends = [chunk for table in tables.values() for key in (SRC, DST) for chunk in table.column(key).chunks]
        is_absent = look_up(pa.chunked_array(ends), nodes_folder) == ABSENT
        if not is_absent.any():
            return []
        found: list[Dangling] = []
        at = 0
        for i, table in tables.items():
            rows = table.num_rows
            no_source, no_target = is_absent[at : at + rows], is_absent[at + rows : at + 2 * rows]
            at += 2 * rows
            if (no_source | no_target).any():
                found.append(_without(i, parts[i], table, no_source, no_target))
        return found

    return [each for report in run_tasks(spark, look, len(groups)) for each in report]


def _groups(parts: dict[int, Part]) -> Iterator[list[int]]:
    """Parts that share one look at the nodes."""
    group: list[int] = []
    rows = 0
    for i, part in parts.items():
        if group and rows + part.rows > FILE_ROWS:
            yield group
            group, rows = [], 0
        group.append(i)
        rows += part.rows
    if group:
        yield group


def _without(number: int, part: Part, ends: pa.Table, no_source: np.ndarray, no_target: np.ndarray) -> Dangling:
    is_dangling = no_source | no_target
    whole = pq.ParquetFile(part.path).read()
    places = np.flatnonzero(is_dangling)
    sources, targets = (ends.column(key).take(pa.array(places)).to_pylist() for key in (SRC, DST))
    reasons = [
        f"there is no node {source!r}, the source of the edge"
        if no_source[place]
        else f"there is no node {target!r}, the target of the edge"
        for place, source, target in zip(places.tolist(), sources, targets, strict=True)
    ]
    dropped = whole.take(pa.array(places))
    rows = pa.table({LINE: dropped.column(LINE), "text": row_texts(dropped.drop_columns([LINE])), "reason": reasons})
    # Under another name, so that a task that runs twice finds what it found.
    path = part.path.with_name(f"rest-{part.path.name}")
    rest = whole.filter(pa.array(~is_dangling))
    write_scratch(path, rest)
    return Dangling(number, rows, replace(part, rows=rest.num_rows, path=path))
