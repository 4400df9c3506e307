"""Results written through Spark, into a folder that is there in full or not at all."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from os.path import exists
from pathlib import Path
from typing import Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from graphtide.errors import PlatformError, UsageError
from graphtide.views.run import Run

__all__ = ["new_folder", "write_run"]

_ELSEWHERE: Final = "save to another folder"
# What Spark escapes in the names of folders that stand for values.
_ESCAPED: Final = re.compile(r"""[\x01-\x1f"#%'*/:=?\\\x7f{[\]^]""")


@contextmanager
def new_folder(folder: str | Path) -> Generator[Path]:
    """A folder to write into, which takes its name when the block has ended, and is gone if the block fails.

    What is there already is not overwritten, and what cannot be written is told before the block begins.
    """
    target = Path(folder).absolute()
    _check_free(target, folder)
    draft = target.with_name(f".{target.name}.{uuid4().hex[:8]}")
    parents = [parent for parent in target.parents if not exists(parent)]  # noqa: PTH110 - as in `_check_free`
    try:
        draft.mkdir(parents=True)
    except ValueError:
        raise UsageError(f"cannot write to {str(folder)!r}: no path has a NUL in it", hint=_ELSEWHERE) from None
    except OSError as error:
        _remove(draft, parents)
        raise UsageError(f'cannot write to "{folder}": {error.strerror}', hint=_ELSEWHERE) from None
    try:
        yield draft
        _check_free(target, folder)
        draft.rename(target)
    except BaseException:
        _remove(draft, parents)
        raise


def write_run(spark: SparkSession, run: Run, folder: Path, *, as_csv: bool) -> None:
    """Write the results into an empty folder, as CSV or else as Parquet: a part per view, also if it has no rows."""
    table = run.table()
    writer = run.to_spark(spark).write.partitionBy("view").mode("append")
    try:
        if as_csv:
            writer.option("header", "true").csv(str(folder))
        else:
            writer.parquet(str(folder))
    except (Py4JJavaError, PySparkException) as error:
        reason = error.java_exception if isinstance(error, Py4JJavaError) else error
        raise PlatformError(
            f"Spark cannot write the results of {run.analytic}: {str(reason).partition(chr(10))[0]}",
            hint="see that there is room, and that all workers of Spark can write there",
        ) from error
    found = set(table.column("view").unique().to_pylist())
    nothing = table.drop_columns(["view"]).slice(0, 0)
    for name in run.names:
        if name not in found:
            _write_empty(nothing, folder / f"view={_ESCAPED.sub(_escape, name)}", as_csv=as_csv)


def _write_empty(table: pa.Table, folder: Path, *, as_csv: bool) -> None:
    folder.mkdir()
    if as_csv:
        # As Spark writes it: readers drop the lines that are the header of the first file, and no other ones.
        with (folder / "part-00000.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(table.column_names)
    else:
        pq.write_table(table, folder / "part-00000.parquet")


def _escape(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def _check_free(target: Path, called: str | Path) -> None:
    # What can be no path is not there; making the folder says why it cannot be.
    if exists(target):  # noqa: PTH110 - `Path.exists` raises if a name is too long
        raise UsageError(f'"{called}" is there already', hint="save to another folder, or remove it first")


def _remove(draft: Path, parents: list[Path]) -> None:
    """Remove a draft, and the folders that were made for it unless something else is in them."""
    shutil.rmtree(draft, ignore_errors=True)
    for parent in parents:
        try:
            parent.rmdir()
        except OSError:
            return
