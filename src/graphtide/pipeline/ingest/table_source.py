"""Tables that have types: Spark's DataFrames, and what is in memory as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - what everyone calls it
from pyspark.sql import types as spark_types

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.coerce import plain, property_type
from graphtide.pipeline.ingest.header import Mark
from graphtide.pipeline.ingest.layout import Layout, lay_out
from graphtide.pipeline.ingest.options import TABLE_WORDS, Options, Table
from graphtide.pipeline.ingest.part import PART_ROWS, Origin
from graphtide.pipeline.ingest.runs import FILE, START
from graphtide.pipeline.ingest.stage import Staging
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.table_task import TableTask, stage_table
from graphtide.pipeline.ingest.tasks import run_on_rows
from graphtide.pipeline.ingest.typed_titles import TypedColumn, typed_titles

__all__ = ["ArrowSource", "FrameSource"]

_SPARK_TYPES: Final = {
    spark_types.IntegralType: PropertyType.INT,
    spark_types.FractionalType: PropertyType.FLOAT,
    spark_types.StringType: PropertyType.STRING,
    spark_types.NullType: PropertyType.STRING,
    spark_types.BooleanType: PropertyType.BOOL,
    spark_types.DateType: PropertyType.DATE,
    spark_types.TimestampType: PropertyType.TIMESTAMP,
    spark_types.TimestampNTZType: PropertyType.TIMESTAMP,
}


class ArrowSource:
    """A table in memory; its rows have an order. `marks` say what its first columns are, if not their names."""

    hears: ClassVar = TABLE_WORDS

    def __init__(self, table: Table, rows: pa.Table, options: Options, marks: Sequence[Mark] = ()) -> None:
        self.table = table
        self._rows = plain(rows)
        columns = [
            TypedColumn(name, property_type(type_), str(type_), marks[i] if i < len(marks) else None)
            for i, (name, type_) in enumerate(zip(rows.schema.names, rows.schema.types, strict=True))
        ]
        self.layout: Layout = lay_out(table, [typed_titles(columns, options, table)], options, [table.value])

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Write the rows down; they are on this machine, so this is done here."""
        staging = Staging(folder, self.layout.columns, keeps_bad)
        starts = range(0, self._rows.num_rows, PART_ROWS)
        parts = [
            stage_table(staging, self.layout.fields[0], Origin(0, start, 0), self._rows.slice(start, PART_ROWS))
            for start in starts
        ]
        return Staged.of(self.table, self.layout.columns, parts, [self.table.value], is_text=False)


class FrameSource:
    """A DataFrame of Spark's. It has no order, so its rows are taken in the order of all their columns."""

    hears: ClassVar = TABLE_WORDS

    def __init__(self, table: Table, frame: DataFrame, options: Options) -> None:
        self.table = table
        self._frame = frame
        columns = [
            TypedColumn(field.name, _spark_type(field.dataType), field.dataType.simpleString())
            for field in frame.schema.fields
        ]
        self.layout: Layout = lay_out(table, [typed_titles(columns, options, table)], options, [table.value])

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Sort the rows and write them down, in Spark."""
        staging = Staging(folder, self.layout.columns, keeps_bad)
        places = [str(i) for i in range(len(self._frame.columns))]
        ordered = self._frame.toDF(*places).orderBy(*map(_column, places))
        rows = ordered.select(
            F.lit("").alias(FILE), F.spark_partition_id().cast("long").alias(START), *map(_column, places)
        )
        parts = run_on_rows(rows, TableTask(staging, self.layout.fields[0], {"": 0}))
        return Staged.of(self.table, self.layout.columns, parts, [self.table.value], is_text=False)


def _spark_type(type_: spark_types.DataType) -> PropertyType | None:
    if isinstance(type_, spark_types.DecimalType) and type_.scale == 0:
        return PropertyType.INT
    return next((wanted for kind, wanted in _SPARK_TYPES.items() if isinstance(type_, kind)), None)


def _column(name: str) -> SparkColumn:
    """A column by a name in which any character may stand."""
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")
