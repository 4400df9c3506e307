"""Results written through Spark."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from graphtide.errors import UsageError
from graphtide.views.run import Run

__all__ = ["save"]


def save(spark: SparkSession, run: Run, folder: str | Path) -> None:
    """Write the results into a folder: as CSV if its name ends in .csv, else as Parquet, a part per view.

    What is there already is not overwritten.
    """
    target = Path(folder).absolute()
    if target.exists():
        raise UsageError(f'"{folder}" is there already', hint="save to another folder, or remove it first")
    writer = run.to_spark(spark).write.partitionBy("view")
    if target.suffix == ".csv":
        writer.option("header", "true").csv(str(target))
    else:
        writer.parquet(str(target))
