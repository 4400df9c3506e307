"""Results written through Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from graphtide.errors import UsageError
from graphtide.views.run import Run

__all__ = ["save", "to_spark"]

_FORMATS: Final = ("parquet", "csv")


def to_spark(spark: SparkSession, run: Run) -> DataFrame:
    """The results on all views as a Spark DataFrame."""
    return spark.createDataFrame(run.table())


def save(spark: SparkSession, run: Run, folder: str | Path, format: str | None = None) -> None:  # noqa: A002 - Spark's word
    """Write the results into a folder: as CSV if its name ends in .csv, else as Parquet, a part per view.

    What is there already is not overwritten.
    """
    target = Path(folder).absolute()
    kind = format or ("csv" if target.suffix == ".csv" else "parquet")
    if kind not in _FORMATS:
        raise UsageError(f'results cannot be saved as "{kind}"', hint=f"use {' or '.join(_FORMATS)}")
    if target.exists():
        raise UsageError(f'"{folder}" is there already', hint="save to another folder, or remove it first")
    writer = to_spark(spark, run).write.partitionBy("view")
    if kind == "csv":
        writer.option("header", "true").csv(str(target))
    else:
        writer.parquet(str(target))
