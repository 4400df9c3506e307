"""What a graph can be loaded from: paths, or tables in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

import networkx as nx
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from graphtide.errors import LoadError, UsageError
from graphtide.pipeline.ingest.coerce import mixes_dates_and_times
from graphtide.pipeline.ingest.files import list_files
from graphtide.pipeline.ingest.guess import guess_format
from graphtide.pipeline.ingest.layout import Layout
from graphtide.pipeline.ingest.networkx_tables import edge_table, node_table
from graphtide.pipeline.ingest.options import Format, Options, Table
from graphtide.pipeline.ingest.parquet_source import ParquetSource
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.table_source import ArrowSource, FrameSource
from graphtide.pipeline.ingest.text_source import TextSource
from graphtide.rows.pandas_series import is_pandas

__all__ = ["TableSource", "describe", "open_sources"]


class TableSource(Protocol):
    """A table whose columns are known and whose rows can be read."""

    hears: ClassVar[frozenset[str]]  # the options that mean something to it

    @property
    def layout(self) -> Layout:
        """Its columns."""
        ...

    def stage(self, folder: Path, *, keeps_bad: bool) -> Staged:
        """Read its rows into a folder; all bad ones are wanted, or one to show."""
        ...


def open_sources(
    spark: SparkSession, edges: Any, nodes: Any, options: dict[Table, Options]
) -> dict[Table, TableSource]:
    """The tables of a graph; without one of nodes, the ends of its edges are its nodes."""
    if isinstance(edges, nx.Graph):
        if nodes is not None:
            raise UsageError("a NetworkX graph brings its nodes along", hint="pass it as edges alone")
        return {
            Table.NODES: ArrowSource(Table.NODES, node_table(edges), options[Table.NODES], ["id"]),
            Table.EDGES: ArrowSource(Table.EDGES, edge_table(edges), options[Table.EDGES], ["src", "dst"]),
        }
    given = {Table.EDGES: edges} if nodes is None else {Table.NODES: nodes, Table.EDGES: edges}
    return {table: _open(spark, table, data, options[table]) for table, data in given.items()}


def describe(data: Any) -> tuple[str, ...]:
    """What a table comes from, in words.

    >>> describe(["a.csv", "b.csv"]), describe(pa.table({}))
    (('a.csv', 'b.csv'), ('pyarrow Table',))
    """
    if data is None:
        return ()
    if (paths := _paths(data)) is not None:
        return tuple(map(str, paths))
    kind = type(data)
    return (f"{kind.__module__.partition('.')[0]} {kind.__name__}",)


def _open(spark: SparkSession, table: Table, data: Any, options: Options) -> TableSource:
    if (paths := _paths(data)) is not None:
        return _open_files(spark, table, paths, options)
    if isinstance(data, DataFrame):
        return FrameSource(table, data, options)
    rows = _as_arrow(data)
    if rows is None:
        raise UsageError(
            f"{'None' if data is None else type(data).__name__} is nothing that {table} can be loaded from",
            hint="pass a path, a list of paths, or a Spark, Arrow, pandas or Polars table"
            + (", or a NetworkX graph" if table is Table.EDGES else ""),
        )
    return ArrowSource(table, rows, options)


def _open_files(spark: SparkSession, table: Table, paths: Sequence[str | Path], options: Options) -> TableSource:
    files = list_files(paths)
    formats = {guess_format(file.path, options): file for file in reversed(files)}
    if Format.PARQUET not in formats:
        return TextSource(spark, table, files, guess_format(files[0].path, options), options)
    if len(formats) > 1:
        one, other = list(formats.items())[:2]
        raise LoadError(
            f"{other[1]} is {other[0]} and {one[1]} is {one[0]}",
            hint="load files of one format at a time, or say format=",
        )
    return ParquetSource(spark, table, files, options)


def _paths(data: Any) -> Sequence[str | Path] | None:
    """One path or several, None if it is something else."""
    if isinstance(data, str | Path):
        return [data]
    if not isinstance(data, list | tuple):
        return None
    several = cast("Sequence[Any]", data)
    return several if several and all(isinstance(each, str | Path) for each in several) else None


def _as_arrow(data: Any) -> pa.Table | None:
    if is_pandas(data) and hasattr(data, "columns"):
        return _of_pandas(data)
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    # Polars, and whatever else speaks Arrow.
    if isinstance(data, pa.Table) or hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    return None


def _of_pandas(data: Any) -> pa.Table:
    names = Counter(map(str, data.columns))
    if repeated := [name for name, count in names.items() if count > 1]:
        raise LoadError(f'the pandas table has two columns "{repeated[0]}"', hint="rename one of them")
    try:
        table = pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise _of_several_types(error.args[0]) from error
    except OverflowError as error:
        raise LoadError("the pandas table has an int beyond 64 bits", hint="make strings of its column") from error
    except UnicodeEncodeError as error:
        what = f"a value that is no text of Unicode: {error.object!r}"
        raise LoadError(f"the pandas table has {what}", hint="remove it") from error
    for i, (name, type_) in enumerate(zip(table.schema.names, table.schema.types, strict=True)):
        if pa.types.is_date(type_) and mixes_dates_and_times(data.iloc[:, i]):
            raise _of_several_types(f'dates and times in "{name}"')
    return table


def _of_several_types(which: str) -> LoadError:
    return LoadError(
        f"the pandas table has a column of several types: {which}", hint="make it one, for example by astype(str)"
    )
