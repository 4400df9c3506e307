"""The rows of the matrix, made from the words of each dimension and written by a task into one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.graph.schema import EDGE
from graphtide.pipeline.kernels.cells import product_cells
from graphtide.pipeline.materialize.files import matrix_schema, words_of, written_in_one_step

__all__ = ["write_rows"]

# Rows of a row group, which is the least that a task reads: so many, or fewer if that is more bytes.
_GROUP_ROWS: Final = 1 << 18
_GROUP_BYTES: Final = 32 << 20


def write_rows(
    batches: Iterable[tuple[NDArray[np.int64], NDArray[np.uint64]]], sizes: tuple[int, ...], file: Path
) -> int:
    """Write the rows of the edges that are in some view of every dimension; how many they are.

    Batches have numbers of edges, and a line for each word of each dimension; `sizes` are the dimensions' views.
    """
    schema = matrix_schema(prod(sizes))
    # Numbers of edges mostly ascend; masks of neighbours differ, but there are few of them in all.
    encoding: dict[str, Any] = {
        "column_encoding": {EDGE: "DELTA_BINARY_PACKED"},
        "use_dictionary": schema.names[1:],
        "compression": "zstd",
    }
    written = 0
    with written_in_one_step(file) as temporary, pq.ParquetWriter(temporary, schema, **encoding) as writer:
        for group in _row_groups((_rows(edges, words, sizes, schema) for edges, words in batches), len(schema)):
            writer.write_table(group, row_group_size=len(group))
            written += len(group)
    return written


def _rows(
    edges: NDArray[np.int64], words: NDArray[np.uint64], sizes: tuple[int, ...], schema: pa.Schema
) -> pa.RecordBatch:
    """The rows of those edges that are in some cell."""
    bounds = accumulate(map(words_of, sizes), initial=0)
    parts = [words[start:end] for start, end in pairwise(bounds)]
    # That takes some view of every dimension.
    kept = np.flatnonzero(np.logical_and.reduce([part.any(axis=0) for part in parts]))
    cells, size = parts[-1][:, kept], sizes[-1]
    for part, more in zip(parts[-2::-1], sizes[-2::-1], strict=True):
        cells, size = product_cells(part[:, kept], more, cells, size), more * size
    return pa.RecordBatch.from_arrays([pa.array(edges[kept]), *map(pa.array, cells.view(np.int64))], schema=schema)


def _row_groups(batches: Iterator[pa.RecordBatch], columns: int) -> Iterator[pa.Table]:
    """The rows in tables that are as long as a row group shall be, except for the last."""
    least = min(_GROUP_ROWS, _GROUP_BYTES // (8 * columns))
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        if sum(map(len, gathered)) >= least:
            yield pa.Table.from_batches(gathered)
            gathered = []
    if any(map(len, gathered)):
        yield pa.Table.from_batches(gathered)
