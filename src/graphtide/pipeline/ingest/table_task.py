"""What a task does with rows of a table that has types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphtide.pipeline.ingest.files import path_of_uri
from graphtide.pipeline.ingest.part import Origin, Part
from graphtide.pipeline.ingest.row_texts import row_texts
from graphtide.pipeline.ingest.runs import pieces
from graphtide.pipeline.ingest.stage import Rows, Staging, stage

__all__ = ["TableTask", "stage_table"]


@dataclass(frozen=True, slots=True)
class TableTask:
    """Stages rows that Spark reads; `files` gives each file's number by its path."""

    staging: Staging
    fields: tuple[str | None, ...]
    files: Mapping[str, int]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Part]:
        """Write the parts of the rows."""
        for piece in pieces(batches):
            origin = Origin(self.files[path_of_uri(piece.file)], piece.start, piece.number)
            yield stage_table(self.staging, self.fields, origin, piece.table)


def stage_table(staging: Staging, fields: Sequence[str | None], origin: Origin, table: pa.Table) -> Part:
    """Write a part of some rows, which have a column for each field."""
    columns = {
        name: column.combine_chunks() for name, column in zip(fields, table.columns, strict=True) if name is not None
    }

    def texts(wanted: list[int]) -> list[str]:
        return row_texts(table.take(pa.array(wanted))).to_pylist()

    rows = Rows(columns, np.arange(table.num_rows), table.num_rows, {}, texts)
    return stage(staging, origin, rows)
