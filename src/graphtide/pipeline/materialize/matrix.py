"""The edge boolean matrix of a graph: which views each edge is in, packed into words (Graphsurge, section 3.2.1).

    <folder>/part-<number>.parquet    _edge: int64, m0, m1, ...: int64

View j is bit j % 64 of word m(j // 64). The views of a product are its cells, the last dimension fastest; only the
predicates of the dimensions are evaluated, and a kernel derives the cells.

Invariant: every edge that is in some view has one row, every other edge none.

Predicates that compare properties with literals are looked up in decision tables by tasks that read the stored graph
themselves. What Spark itself evaluates takes five times as long, after some seconds of compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from graphtide.graph.schema import DST, EDGE, ID, SRC, PropertyType
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.predicate import EdgeNumber, EdgeProperty, EndId, EndProperty, Predicate, Side
from graphtide.pipeline.materialize.columns import write_matrix
from graphtide.pipeline.materialize.conditions import ColumnRead
from graphtide.pipeline.materialize.files import Part, read_columns, row_group_parts
from graphtide.pipeline.materialize.rows import write_rows
from graphtide.pipeline.materialize.tables import DecisionTables, RankedColumn, Ranks
from graphtide.pipeline.predicates import column_of, edges_with_ends

__all__ = ["write_graph_matrix"]

_BATCH_ROWS: Final = 1 << 16
# Every task holds the ranks of all vertices, for each of their properties that is read.
_MOST_VERTEX_BYTES: Final = 256 << 20


def write_graph_matrix(
    spark: SparkSession, graph: StoredGraph, dimensions: Sequence[Sequence[Predicate]], folder: Path
) -> int:
    """Write the matrix of a plain collection, or of a product of dimensions; how many edges are in some view."""
    sizes = tuple(map(len, dimensions))
    tables = DecisionTables.of(dimensions)
    if tables is None or 4 * graph.node_count * len(_of_vertices(tables)) > _MOST_VERTEX_BYTES:
        edges, nodes = (spark.read.parquet(str(each)) for each in (graph.edges_folder, graph.nodes_folder))
        with_ends = edges_with_ends(edges, nodes, [each for predicates in dimensions for each in predicates])
        return write_matrix(with_ends, [[column_of(each) for each in predicates] for predicates in dimensions], folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = row_group_parts(graph.edges_folder, spark.sparkContext.defaultParallelism)
    if not (all(sizes) and parts):
        return 0
    task = partial(_write_part, tables=tables, sizes=sizes, nodes=graph.nodes_folder, folder=folder)
    return sum(spark.sparkContext.parallelize(parts, len(parts)).map(task).collect())


def _write_part(part: Part, tables: DecisionTables, sizes: tuple[int, ...], nodes: Path, folder: Path) -> int:
    """A task: write the rows of a part of the edges; how many they are."""
    of_vertices = {each: _vertex_ranks(nodes, each) for each in _of_vertices(tables)}

    def ranks(column: RankedColumn, batch: pa.RecordBatch) -> Ranks:
        values = batch.column(_edge_column(column.column))
        return of_vertices[column][values.to_numpy()] if column in of_vertices else column.ranks(values)

    names = sorted({EDGE, *(_edge_column(each.column) for each in tables.columns)})
    texts = [_edge_column(each.column) for each in tables.columns if _is_text(each) and each not in of_vertices]
    batches = (
        (batch.column(EDGE).to_numpy(), tables.words([ranks(column, batch) for column in tables.columns]))
        for batch in read_columns(part, names, _BATCH_ROWS, dictionaries=texts)
    )
    return write_rows(batches, sizes, folder / f"part-{part.number:05d}.parquet")


def _of_vertices(tables: DecisionTables) -> list[RankedColumn]:
    return [each for each in tables.columns if isinstance(each.column, EndProperty | EndId)]


def _vertex_ranks(nodes: Path, column: RankedColumn) -> Ranks:
    """The ranks of all vertices, by their numbers."""
    name = column.column.name if isinstance(column.column, EndProperty) else ID
    texts = [name] if _is_text(column) else []
    parts = row_group_parts(nodes, 1)
    batches = (batch for part in parts for batch in read_columns(part, [name], _BATCH_ROWS, dictionaries=texts))
    return np.concatenate([np.empty(0, np.int32), *(column.ranks(batch.column(name)) for batch in batches)])


def _edge_column(column: ColumnRead) -> str:
    """Where the stored edges have a value, or the vertex that has it."""
    match column:
        case EdgeProperty(name):
            return name
        case EdgeNumber():
            return EDGE
        case EndProperty(side) | EndId(side):
            return SRC if side is Side.SRC else DST


def _is_text(column: RankedColumn) -> bool:
    return column.column.type is PropertyType.STRING
