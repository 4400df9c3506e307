"""Tables in Parquet files, whose tasks read their own row groups.

Arrow reads them and not Spark, which refuses times of day and the nanoseconds that pandas writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.coerce import plain, property_type
from graphtide.pipeline.ingest.files import DataFile
from graphtide.pipeline.ingest.header import Title
from graphtide.pipeline.ingest.layout import Layout, lay_out
from graphtide.pipeline.ingest.options import FILE_WORDS, Options, Table
from graphtide.pipeline.ingest.part import PART_ROWS, Origin, Part
from graphtide.pipeline.ingest.stage import Staging
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.table_task import stage_table
from graphtide.pipeline.ingest.tasks import run_tasks
from graphtide.pipeline.ingest.typed_titles import TypedColumn, typed_titles

__all__ = ["ParquetSource"]

_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class _Groups:
    """Consecutive row groups of a file that one task reads."""

    file: int
    groups: tuple[int, ...]


class ParquetSource:
    """Parquet files; folders such as year=2019 between them and the folder that was given are columns too."""

    hears: ClassVar = FILE_WORDS

    def __init__(self, spark: SparkSession, table: Table, files: Sequence[DataFile], options: Options) -> None:
        self.table = table
        self._spark = spark
        self._files = files
        footers = [_footer(file.path) for file in files]
        self._groups = [each for number, footer in enumerate(footers) for each in _grouped(number, footer.metadata)]
        headers = [_titles(file, footer.schema_arrow, options) for file, footer in zip(files, footers, strict=True)]
        self.layout: Layout = lay_out(table, headers, options, [str(file) for file in files])

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Read all row groups, in tasks of Spark's."""
        staging = Staging(folder, self.layout.columns, keeps_bad)
        files, fields, groups = self._files, self.layout.fields, self._groups

        def read(number: int) -> list[Part] | LoadError:
            own = groups[number]
            try:
                return list(_stage(staging, own, files[own.file], fields[own.file]))
            except (pa.ArrowInvalid, OSError) as error:
                # As a value, since Spark would wrap an exception into pages of its own.
                return LoadError(f"{files[own.file]} cannot be read as Parquet: {error}", hint="is it whole?")

        parts: list[Part] = []
        for report in run_tasks(self._spark, read, len(groups)):
            if isinstance(report, LoadError):
                raise report
            parts += report
        return Staged.of(self.table, self.layout.columns, parts, map(str, files), is_text=False)


def _footer(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise LoadError(f"{file} cannot be read as Parquet: {error}", hint="is it whole?") from error


def _grouped(file: int, footer: pq.FileMetaData) -> Iterator[_Groups]:
    """Row groups in lots that are worth a task."""
    lot: list[int] = []
    rows = 0
    for group in range(footer.num_row_groups):
        lot.append(group)
        rows += footer.row_group(group).num_rows
        if rows >= PART_ROWS or group + 1 == footer.num_row_groups:
            yield _Groups(file, tuple(lot))
            lot, rows = [], 0


def _titles(file: DataFile, schema: pa.Schema, options: Options) -> list[Title]:
    columns = [
        TypedColumn(name, property_type(type_), str(type_))
        for name, type_ in zip(schema.names, schema.types, strict=True)
    ]
    # The value in a folder's name is text, so its type is looked for as in a file of text.
    return [*typed_titles(columns, options, str(file)), *(Title(name, None, None) for name in _folder_values(file))]


def _folder_values(file: DataFile) -> dict[str, str | None]:
    """The columns that the folders of a file stand for, with this file's values.

    >>> _folder_values(DataFile(Path("/calls/year=2019/state=New%20York/part.parquet"), Path("/calls")))
    {'year': '2019', 'state': 'New York'}
    """
    pairs = [folder.partition("=") for folder in file.folders if "=" in folder]
    return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, _, value in pairs if name}


def _stage(staging: Staging, own: _Groups, file: DataFile, fields: Sequence[str | None]) -> Iterator[Part]:
    values = _folder_values(file).values()
    batches = pq.ParquetFile(file.path).iter_batches(batch_size=PART_ROWS, row_groups=list(own.groups))
    for number, batch in enumerate(batches):
        table = plain(pa.Table.from_batches([batch]))
        for value in values:
            table = table.append_column("", pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
        yield stage_table(staging, fields, Origin(own.file, own.groups[0], number), table)
