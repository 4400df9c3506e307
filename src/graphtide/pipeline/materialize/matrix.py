"""The edge boolean matrix: which views each edge is in, packed into words (Graphsurge, section 3.2.1, step 1).

    <folder>/part-<partition>.parquet    _edge: int64, m0, m1, ...: int64

View j is bit j % 64 of word m(j // 64). The views of a product are its cells, the last dimension fastest; Spark
evaluates the predicates of the dimensions alone, and a kernel derives the cells.

Invariant: every edge that is in some view has one row, every other edge none.

Ways from 50 predicates on 5 million edges to the file, in seconds of processor time, of which scanning takes 1.2:

    words by a Spark expression, through Arrow to pyarrow's writer    5.2
    words by a Spark expression, Spark's own writer                   5.4
    the first in Spark's usual batches of 10,000 rows                 6.8
    words from a struct of booleans                                   8.0
    columns of booleans through Arrow, before any packing            12.0
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from graphtide.graph.schema import EDGE
from graphtide.pipeline.kernels.cells import product_cells
from graphtide.pipeline.materialize.files import matrix_schema, words_of, written_in_one_step

__all__ = ["write_matrix"]

_WORD = 64
_BATCH_ROWS = 1 << 16
# Rows of a row group, which is the least that a task reads: so many, or fewer if that is more bytes.
_GROUP_ROWS = 1 << 18
_GROUP_BYTES = 32 << 20

Words = NDArray[np.uint64]


def write_matrix(edges: DataFrame, dimensions: Sequence[Sequence[Column]], folder: Path) -> int:
    """Write the matrix of a plain collection, or of a product of dimensions; how many edges are in some view.

    `edges` has a column `_edge`; the columns of `dimensions` are boolean and never null over it. The folder is made
    if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes = tuple(map(len, dimensions))
    if not all(sizes):
        return 0
    write = partial(_write_partition, sizes=sizes, folder=folder)
    with _settings(edges.sparkSession):
        counts = _packed(edges, dimensions).mapInArrow(write, "edges bigint").collect()
    return sum(row.edges for row in counts)


def _packed(edges: DataFrame, dimensions: Sequence[Sequence[Column]]) -> DataFrame:
    """The edges with the words of each dimension, one dimension after the other."""
    # The words are made from names in a text, since every operation on a `Column` is a call into the virtual
    # machine. Each name occurs once, so that Spark's optimizer puts the predicate in its place.
    named: list[Column] = []
    words: list[Column] = []
    for d, predicates in enumerate(dimensions):
        names = [f"_{d}_{j}" for j in range(len(predicates))]
        named += [predicate.alias(name) for predicate, name in zip(predicates, names, strict=True)]
        words += [
            F.expr(_word(names[start : start + _WORD])).alias(f"_{d}w{start}") for start in range(0, len(names), _WORD)
        ]
    return edges.select(EDGE, *named).select(EDGE, *words)


def _word(names: Sequence[str]) -> str:
    """Bits as one number, in a balanced tree: Spark's planner recurses into expressions.

    >>> _word(["a", "b", "c"])
    '((if(a, 1L, 0L) | if(b, 2L, 0L)) | if(c, 4L, 0L))'
    """
    terms = [f"if({name}, {_signed(1 << bit)}L, 0L)" for bit, name in enumerate(names)]
    while len(terms) > 1:
        pairs = [f"({left} | {right})" for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
    return terms[0]


def _signed(word: int) -> int:
    return word - (word >> (_WORD - 1) << _WORD)


@contextmanager
def _settings(spark: SparkSession) -> Generator[None]:
    """Settings of this one job, whose plan is made when it starts."""
    wanted = {
        # Spark fuses a stage into one method, which with hundreds of predicates exceeds what Java allows; the
        # projection alone is split into many.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(_BATCH_ROWS),
    }
    before = {name: str(spark.conf.get(name)) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _write_partition(
    batches: Iterator[pa.RecordBatch], sizes: tuple[int, ...], folder: Path
) -> Iterator[pa.RecordBatch]:
    """A task: write the rows of one partition; how many they are."""
    context = TaskContext.get()
    assert context is not None, "this runs in a task"
    views = prod(sizes)
    schema = matrix_schema(views)
    # Numbers of edges mostly ascend; the masks of neighbours differ, but there are few of them in all.
    options: dict[str, Any] = {"column_encoding": {EDGE: "DELTA_BINARY_PACKED"}, "use_dictionary": schema.names[1:]}
    edges = 0
    with (
        written_in_one_step(folder / f"part-{context.partitionId():05d}.parquet") as file,
        pq.ParquetWriter(file, schema, compression="zstd", **options) as writer,
    ):
        for group in _row_groups((_rows(batch, sizes, schema) for batch in batches), _rows_of_a_group(views)):
            writer.write_table(group, row_group_size=len(group))
            edges += len(group)
    yield pa.RecordBatch.from_arrays([pa.array([edges])], ["edges"])


def _rows(batch: pa.RecordBatch, sizes: tuple[int, ...], schema: pa.Schema) -> pa.RecordBatch:
    """The rows of the matrix for a batch of edges with the words of each dimension."""
    edges, *lines = (column.to_numpy() for column in batch.columns)
    words: Words = np.array(lines).view(np.uint64)
    bounds = accumulate(map(words_of, sizes), initial=0)
    parts = [words[start:end] for start, end in pairwise(bounds)]
    # An edge is in some cell if it is in some view of every dimension.
    kept = np.flatnonzero(np.logical_and.reduce([part.any(axis=0) for part in parts]))
    cells, size = parts[-1][:, kept], sizes[-1]
    for part, more in zip(parts[-2::-1], sizes[-2::-1], strict=True):
        cells, size = product_cells(np.ascontiguousarray(part[:, kept]), more, cells, size), more * size
    return pa.RecordBatch.from_arrays([pa.array(edges[kept]), *map(pa.array, cells.view(np.int64))], schema=schema)


def _row_groups(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """The rows in tables of at least so many, except for the last."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        if sum(map(len, gathered)) >= rows:
            yield pa.Table.from_batches(gathered)
            gathered = []
    if any(map(len, gathered)):
        yield pa.Table.from_batches(gathered)


def _rows_of_a_group(views: int) -> int:
    return min(_GROUP_ROWS, _GROUP_BYTES // (8 * (1 + words_of(views))))
