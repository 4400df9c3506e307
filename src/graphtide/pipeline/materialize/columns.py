"""The edge boolean matrix of predicates that Spark evaluates: any that it can, over edges in any DataFrame.

Ways from 50 predicates on 5 million edges to the file, in seconds of processor time, of which scanning takes 1.2:

    words by a Spark expression, through Arrow to pyarrow's writer    5.2
    words by a Spark expression, Spark's own writer                   5.4
    the first in Spark's usual batches of 10,000 rows                 6.8
    words from a struct of booleans                                   8.0
    columns of booleans through Arrow, before any packing            12.0

The first job with other predicates takes 2 to 10 more, for Spark compiles them to Java anew.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from graphtide.graph.schema import EDGE
from graphtide.pipeline.materialize.files import WORD
from graphtide.pipeline.materialize.rows import write_rows

__all__ = ["write_matrix"]

_BATCH_ROWS: Final = 1 << 16


def write_matrix(edges: DataFrame, dimensions: Sequence[Sequence[Column]], folder: Path) -> int:
    """Write the matrix of a plain collection, or of a product of dimensions; how many edges are in some view.

    `edges` has a column `_edge`; the columns of `dimensions` are boolean and never null over it. The folder is made
    if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes = tuple(map(len, dimensions))
    if not all(sizes):
        return 0
    task = partial(_write_partition, sizes=sizes, folder=folder)
    with _settings(edges.sparkSession):
        counts = _packed(edges, dimensions).mapInArrow(task, "edges bigint").collect()
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
            F.expr(_word(names[start : start + WORD])).alias(f"_{d}w{start}") for start in range(0, len(names), WORD)
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
    return word - (word >> (WORD - 1) << WORD)


@contextmanager
def _settings(spark: SparkSession) -> Generator[None]:
    """Settings of one job, whose plan is made when it starts.

    What the session's other threads plan meanwhile has them too, which costs it time and nothing else.
    """
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
    columns = ([column.to_numpy() for column in batch.columns] for batch in batches)
    rows = ((edges, np.array(words).view(np.uint64)) for edges, *words in columns)
    written = write_rows(rows, sizes, folder / f"part-{context.partitionId():05d}.parquet")
    yield pa.RecordBatch.from_arrays([pa.array([written])], ["edges"])
