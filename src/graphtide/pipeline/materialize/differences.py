"""Difference streams from the matrix, along a chain of views or on the lattice of a product, and what they would cost.

Each task turns its part of the matrix into differences, groups them by position and writes a file to each. It holds
a fixed number of differences, and one that has more writes several files to a position (Graphsurge,
section 3.2.1, step 3; docs/design/05-graphs-and-views.md on the lattice).

Invariant: what is counted is what would be written, and neither depends on how the matrix is shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from graphtide.graph.schema import EDGE
from graphtide.pipeline.kernels.differences import count_differences, decoded, emit_differences, group_by_position
from graphtide.pipeline.materialize.files import Part, read_masks, row_group_parts, written_in_one_step
from graphtide.pipeline.materialize.lattice import Lattice
from graphtide.trace.kernels.radix import is_ascending
from graphtide.views.stream import DIFF, STREAM_SCHEMA, position_name

__all__ = ["count_chain", "count_lattice", "write_lattice", "write_stream"]

Ints: TypeAlias = NDArray[np.int64]

# Differences that a task holds: 160 MB with the room to group them.
_HELD: Final = 1 << 23
# About a byte to a difference, as packed as zstd leaves them and in two thirds of the time.
_ENCODING: Final[dict[str, Any]] = {
    "column_encoding": {EDGE: "DELTA_BINARY_PACKED"},
    "use_dictionary": [DIFF],
    "compression": "none",
    "write_statistics": False,
}


def write_stream(spark: SparkSession, matrix: Path, order: Sequence[int], folder: Path) -> Ints:
    """Write the difference stream of the views in an order; how many differences each position has.

    `order` has the number of the view at each position. `folder` is read by `views.stream.DifferenceStream`.
    """
    return write_lattice(spark, matrix, [order], folder)


def write_lattice(spark: SparkSession, matrix: Path, orders: Sequence[Sequence[int]], folder: Path) -> Ints:
    """Write the differences of a product's cells, with an order for each dimension; how many each cell has.

    Positions count cells along the orders, the last dimension fastest; the result has the dimensions' shape.
    """
    lattice = Lattice.of(orders)
    for position in range(lattice.cells):
        (folder / position_name(position)).mkdir(parents=True, exist_ok=True)
    return _counts(spark, matrix, lattice, partial(_write_part, lattice=lattice, folder=folder))


def count_chain(spark: SparkSession, matrix: Path, order: Sequence[int]) -> Ints:
    """How many differences `write_stream` would write at each position."""
    return count_lattice(spark, matrix, [order])


def count_lattice(spark: SparkSession, matrix: Path, orders: Sequence[Sequence[int]]) -> Ints:
    """How many differences `write_lattice` would write at each cell."""
    lattice = Lattice.of(orders)
    return _counts(spark, matrix, lattice, partial(_count_part, lattice=lattice))


def _counts(spark: SparkSession, matrix: Path, lattice: Lattice, task: Callable[[Part], Ints]) -> Ints:
    """Run a task on each part of a matrix and add up what they count."""
    total = np.zeros(lattice.cells, np.int64)
    parts = row_group_parts(matrix, spark.sparkContext.defaultParallelism)
    if lattice.cells and parts:
        for counts in spark.sparkContext.parallelize(parts, len(parts)).map(task).collect():
            total += counts
    return total.reshape(lattice.shape)


def _count_part(part: Part, lattice: Lattice) -> Ints:
    """A task: count the differences of a part by position."""
    shape, rank = lattice.for_kernels()
    counts = np.zeros(lattice.cells, np.int64)
    for _, words in read_masks(part, lattice.cells):
        count_differences(words, shape, rank, counts)
    return counts


def _write_part(part: Part, lattice: Lattice, folder: Path) -> Ints:
    """A task: write the differences of a part by position, and count them."""
    total = np.zeros(lattice.cells, np.int64)
    for number, (codes, counts) in enumerate(_grouped(part, lattice)):
        ends = np.cumsum(counts)
        for position in np.flatnonzero(counts).tolist():
            here = codes[ends[position] - counts[position] : ends[position]]
            _write(here, folder / position_name(position) / f"part-{part.number:05d}-{number:05d}.parquet")
        total += counts
    return total


def _grouped(part: Part, lattice: Lattice) -> Iterator[tuple[Ints, Ints]]:
    """The differences of a part as codes by position, and how many each position has, in several lots."""
    shape, rank = lattice.for_kernels()
    codes, positions = np.empty(max(_HELD, lattice.cells), np.int64), np.empty(max(_HELD, lattice.cells), np.int32)
    counts = np.zeros(lattice.cells, np.int64)
    filled = 0
    for edges, words in read_masks(part, lattice.cells):
        row = 0
        while row < len(edges):
            row, filled = emit_differences(edges, words, row, shape, rank, codes, positions, filled, counts)
            if row < len(edges):
                yield group_by_position(codes, positions, filled, counts), counts.copy()
                counts[:] = filled = 0
    yield group_by_position(codes, positions, filled, counts), counts


def _write(codes: Ints, file: Path) -> None:
    """Write codes of differences, by edge."""
    # They come in the order of the matrix, which is that of the edges unless a join has mixed them.
    if not is_ascending(codes, len(codes)):
        codes = np.sort(codes)
    table = pa.table([pa.array(values) for values in decoded(codes)], schema=STREAM_SCHEMA)
    with written_in_one_step(file) as temporary:
        pq.write_table(table, temporary, **_ENCODING)
