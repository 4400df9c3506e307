"""The files of a stored graph: rows with their numbers.

Invariant: the numbers alone decide where a file and a row group end, so equal rows make equal files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from graphtide.graph.schema import DST, EDGE, ID, SRC, VERTEX, GraphSchema, Property, PropertyType
from graphtide.pipeline.ingest.lookup import ABSENT, look_up
from graphtide.pipeline.ingest.stack import Stack
from graphtide.pipeline.ingest.tasks import run_tasks
from graphtide.pipeline.ingest.writing import FILE_ROWS, GROUP_ROWS, write_final

__all__ = ["write_edges", "write_nodes"]


def write_nodes(spark: SparkSession, rows: Stack, schema: GraphSchema, folder: Path) -> None:
    """The files of nodes, from rows in the order of their ids."""
    arrow = _schema({VERTEX: pa.int64(), ID: schema.id_type.arrow}, schema.nodes)
    types = {ID: schema.id_type, **_staged_types(schema.nodes)}

    def write(number: int) -> int:
        def groups() -> Iterator[pa.Table]:
            for start, stop in _groups(number, rows.rows):
                table = rows.read(start, stop, types)
                yield pa.Table.from_arrays([pa.array(np.arange(start, stop)), *table.columns], schema=arrow)

        return write_final(folder / _file_name(number), arrow, groups(), numbered=VERTEX)

    _write_all(spark, write, rows.rows, folder)


def write_edges(spark: SparkSession, rows: Stack, schema: GraphSchema, folder: Path, nodes_folder: Path) -> None:
    """The files of edges, from rows in the order of the source whose ends are all among the nodes."""
    arrow = _schema({EDGE: pa.int64(), SRC: pa.int64(), DST: pa.int64()}, schema.edges)
    keys = {SRC: schema.id_type, DST: schema.id_type}
    types = _staged_types(schema.edges)

    def write(number: int) -> int:
        def groups() -> Iterator[pa.Table]:
            first, last = _bounds(number, rows.rows)
            ends = rows.read(first, last, keys)
            vertices = look_up(pa.chunked_array([*ends.column(SRC).chunks, *ends.column(DST).chunks]), nodes_folder)
            assert not (vertices == ABSENT).any(), "an edge has an end that is no node"
            sources, targets = vertices[: last - first], vertices[last - first :]
            for start, stop in _groups(number, rows.rows):
                properties = rows.read(start, stop, types).columns if types else []
                own = slice(start - first, stop - first)
                numbers = (np.arange(start, stop), sources[own], targets[own])
                yield pa.Table.from_arrays([*map(pa.array, numbers), *properties], schema=arrow)

        return write_final(folder / _file_name(number), arrow, groups(), numbered=EDGE)

    _write_all(spark, write, rows.rows, folder)


def _write_all(spark: SparkSession, write: Callable[[int], int], rows: int, folder: Path) -> None:
    folder.mkdir()
    # A table without rows has a file too: it has the columns.
    written = run_tasks(spark, write, max(1, ceil(rows / FILE_ROWS)))
    assert sum(written) == rows, f"{sum(written)} rows were written, not {rows}"


def _bounds(number: int, rows: int) -> tuple[int, int]:
    """The rows of a file."""
    return number * FILE_ROWS, min(rows, (number + 1) * FILE_ROWS)


def _groups(number: int, rows: int) -> Iterator[tuple[int, int]]:
    """The rows of each row group of a file."""
    first, last = _bounds(number, rows)
    for start in range(first, last, GROUP_ROWS):
        yield start, min(last, start + GROUP_ROWS)


def _staged_types(properties: tuple[Property, ...]) -> dict[str, PropertyType]:
    return {f"p{i}": each.type for i, each in enumerate(properties)}


def _schema(numbers: dict[str, pa.DataType], properties: tuple[Property, ...]) -> pa.Schema:
    fields = [pa.field(name, type_, nullable=False) for name, type_ in numbers.items()]
    return pa.schema([*fields, *(pa.field(each.name, each.type.arrow) for each in properties)])


def _file_name(number: int) -> str:
    return f"{number:06}.parquet"
