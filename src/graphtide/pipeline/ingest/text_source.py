"""Tables in files of text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - what everyone calls it

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.dialect import Dialect
from graphtide.pipeline.ingest.files import DataFile, Head, as_spark_path, read_head
from graphtide.pipeline.ingest.guess import data_of, guess_dialect
from graphtide.pipeline.ingest.header import Title, parse_title
from graphtide.pipeline.ingest.layout import Layout, lay_out
from graphtide.pipeline.ingest.lines import split_line
from graphtide.pipeline.ingest.options import TEXT_WORDS, Format, Options, Table
from graphtide.pipeline.ingest.runs import FILE, START
from graphtide.pipeline.ingest.stage import Staging
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.tasks import run_on_rows, unreadable_as_load_error
from graphtide.pipeline.ingest.text_task import TextFile, TextTask

__all__ = ["TextSource"]


class TextSource:
    """Files of text with their columns; the rows are read by `stage`."""

    hears: ClassVar = TEXT_WORDS

    def __init__(
        self, spark: SparkSession, table: Table, files: Sequence[DataFile], format_: Format, options: Options
    ) -> None:
        self._spark = spark
        self.table = table
        self.files = files
        self._format = format_
        self._heads = [read_head(file.path) for file in files]
        self._dialect = guess_dialect(files[0].path, self._heads[0], format_, options)
        headers = [self._titles(file, head, options) for file, head in zip(files, self._heads, strict=True)]
        self.layout: Layout = lay_out(table, headers, options, [str(file) for file in files])

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Read all lines, in Spark."""
        staging = Staging(folder, self.layout.columns, keeps_bad)
        files = {
            str(file): TextFile(number, fields, _header(head, self._dialect))
            for number, (file, fields, head) in enumerate(zip(self.files, self.layout.fields, self._heads, strict=True))
        }
        lines = self._spark.read.text([as_spark_path(file.path) for file in self.files]).select(
            F.col("_metadata.file_path").alias(FILE), F.col("_metadata.file_block_start").alias(START), "value"
        )
        with unreadable_as_load_error():
            parts = run_on_rows(lines, TextTask(staging, self._dialect, files))
        names = tuple(map(str, self.files))
        staged = Staged.of(self.table, self.layout.columns, parts, names, is_text=True)
        there = {part.origin.file for part in parts}
        for number, file in enumerate(self.files):
            if number not in there:
                raise LoadError(f"{file} has no lines", hint="remove it")
        return staged

    def _titles(self, file: DataFile, head: Head, options: Options) -> Sequence[Title]:
        """What the columns of a file are called."""
        if not head.lines:
            raise LoadError(f"{file} is empty", hint="remove it")
        rows = data_of(head, self._dialect.comment)
        if not rows:
            raise LoadError(f"{file} has no rows, only comments and empty lines", hint="remove it")
        fields = split_line(rows[0], self._dialect)
        if len(fields) < len(self.table.keys):
            raise LoadError(
                f"{file}: {len(fields)} column, and edges need two: the source and the target",
                hint="say what separates the columns, for example separator=';'",
            )
        if options.titles is not None:
            if len(options.titles) != len(fields):
                raise LoadError(
                    f"{file} has {len(fields)} columns, and {len(options.titles)} are named",
                    hint="name all columns, or say what separates them",
                )
            return options.titles
        if self._dialect.has_header:
            return [parse_title(field) for field in fields]
        if options.names_columns and options.types is not None and len(options.types) == len(fields):
            return [Title(name, type_, None) for name, type_ in options.types.items()]
        names = [f"column_{i + 1}" for i in range(len(fields))]
        if self._format is Format.GRAPHALYTICS and self.table is Table.EDGES and len(names) > 2:
            names[2] = "weight"
        return [Title(name, None, None) for name in names]


def _header(head: Head, dialect: Dialect) -> tuple[int, str] | None:
    if not dialect.has_header:
        return None
    first = data_of(head, dialect.comment)[0]
    return head.starts[head.lines.index(first)], first
