"""Tables that have types: Parquet files, Spark's DataFrames, and what is in memory as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - what everyone calls it
from pyspark.sql import types as spark_types

from graphtide.errors import LoadError
from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.coerce import can_coerce, plain, property_type
from graphtide.pipeline.ingest.files import as_spark_path
from graphtide.pipeline.ingest.header import Title, plain_title
from graphtide.pipeline.ingest.layout import Layout, lay_out
from graphtide.pipeline.ingest.options import Options, Table
from graphtide.pipeline.ingest.part import PART_ROWS, Origin
from graphtide.pipeline.ingest.runs import FILE, START
from graphtide.pipeline.ingest.stage import Staging
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.table_task import TableTask, stage_table
from graphtide.pipeline.ingest.tasks import run_on_rows, unreadable_as_load_error

__all__ = ["ArrowSource", "FrameSource", "ParquetSource"]

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
    """A table in memory; its rows have an order."""

    def __init__(self, table: Table, rows: pa.Table, options: Options, titles: Sequence[Title] | None = None) -> None:
        self.table = table
        self._rows = pa.Table.from_arrays([plain(column) for column in rows.columns], rows.column_names)
        if titles is None:
            types = [
                (name, property_type(type_), str(type_))
                for name, type_ in zip(rows.schema.names, rows.schema.types, strict=True)
            ]
            titles = _titles(types, options, table)
        self.layout: Layout = lay_out(table, [titles], options, [table.value])

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

    def __init__(self, table: Table, frame: DataFrame, options: Options) -> None:
        self.table = table
        self._frame = frame
        self.layout: Layout = lay_out(table, [_frame_titles(frame, options, table)], options, [table.value])

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


class ParquetSource:
    """Parquet files; a file that lacks a column has no values in it."""

    def __init__(
        self, spark: SparkSession, table: Table, files: Sequence[Path], root: Path | None, options: Options
    ) -> None:
        self.table = table
        self._files = files
        _check_schemas(files)
        reader = spark.read.option("mergeSchema", len(files) > 1)
        if root is not None:
            # Folders such as year=2019 are columns, if they lie below the one that was given.
            reader = reader.option("basePath", as_spark_path(root))
        self._frame = reader.parquet(*map(as_spark_path, files))
        self.layout: Layout = lay_out(table, [_frame_titles(self._frame, options, table)], options, [str(files[0])])

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Read all rows, in Spark."""
        staging = Staging(folder, self.layout.columns, keeps_bad)
        rows = self._frame.select(
            F.col("_metadata.file_path").alias(FILE),
            F.col("_metadata.file_block_start").alias(START),
            *(_column(name).alias(str(i)) for i, name in enumerate(self._frame.columns)),
        )
        numbers = {str(file): number for number, file in enumerate(self._files)}
        with unreadable_as_load_error():
            parts = run_on_rows(rows, TableTask(staging, self.layout.fields[0], numbers))
        return Staged.of(self.table, self.layout.columns, parts, map(str, self._files), is_text=False)


def _check_schemas(files: Sequence[Path]) -> None:
    """Raise unless every file is Parquet, and a column has one type wherever it is."""
    seen: dict[str, tuple[pa.DataType, Path]] = {}
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (pa.ArrowInvalid, OSError) as error:
            raise LoadError(f"{file} cannot be read as Parquet: {error}", hint="is it whole?") from error
        for field in schema:
            type_, before = seen.setdefault(field.name, (field.type, file))
            if type_ != field.type:
                raise LoadError(
                    f'column "{field.name}" is {field.type} in {file} and {type_} in {before}', hint="write both alike"
                )


def _frame_titles(frame: DataFrame, options: Options, table: Table) -> list[Title]:
    types = [(field.name, _spark_type(field.dataType), field.dataType.simpleString()) for field in frame.schema.fields]
    return _titles(types, options, table)


def _titles(columns: Sequence[tuple[str, PropertyType | None, str]], options: Options, table: Table) -> list[Title]:
    """Columns by what the caller says of them; given are name, type, and the type as the table calls it."""
    if options.titles is not None and len(options.titles) != len(columns):
        raise LoadError(
            f"the table of {table} has {len(columns)} columns, and {len(options.titles)} are named",
            hint="name all columns, or some by columns={...}",
        )
    titles: list[Title] = []
    for i, (name, type_, written) in enumerate(columns):
        said = options.titles[i] if options.titles is not None else None
        wanted = said.type if said is not None else (options.types or {}).get(name)
        shown = name if said is None else said.name
        if type_ is None:
            raise LoadError(
                f'the column "{shown}" of {table} has the type {written}, which no property can have',
                hint="drop it, or make a string of it",
            )
        if wanted is not None and not can_coerce(type_, wanted):
            raise LoadError(
                f'the column "{shown}" of {table} is {type_} and cannot be {wanted}', hint="leave it as it is"
            )
        titles.append(plain_title(name, type_) if said is None else Title(said.name, said.type or type_, said.mark))
    return titles


def _spark_type(type_: spark_types.DataType) -> PropertyType | None:
    if isinstance(type_, spark_types.DecimalType) and type_.scale == 0:
        return PropertyType.INT
    return next((wanted for kind, wanted in _SPARK_TYPES.items() if isinstance(type_, kind)), None)


def _column(name: str) -> SparkColumn:
    """A column by a name in which any character may stand."""
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")
