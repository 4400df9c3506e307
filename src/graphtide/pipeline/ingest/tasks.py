"""Work that Spark schedules and Python does: tasks on numbers or on rows, which report back to the driver."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from graphtide.errors import LoadError
from graphtide.pipeline.ingest.files import path_of_uri

__all__ = ["numbers", "run_on_rows", "run_tasks", "unreadable_as_load_error"]

T = TypeVar("T")
_REPORT: Final = "report"


def numbers(spark: SparkSession, count: int) -> DataFrame:
    """The numbers from 0 to `count`, a task for each."""
    return spark.range(0, count, 1, count)


def run_tasks(spark: SparkSession, work: Callable[[int], T], count: int) -> list[T]:
    """What `work` gives for each number below `count`, in order."""

    def on_numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, T]]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield number, work(number)

    done = dict(run_on_rows(numbers(spark, count), on_numbers)) if count else {}
    return [done[number] for number in range(count)]


def run_on_rows(frame: DataFrame, work: Callable[[Iterable[pa.RecordBatch]], Iterator[T]]) -> list[T]:
    """What `work` gives for the partitions of a frame, in no order."""

    def reporting(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for report in work(batches):
            yield pa.RecordBatch.from_pydict({_REPORT: pa.array([pickle.dumps(report)], pa.binary())})

    return [pickle.loads(row[0]) for row in frame.mapInArrow(reporting, f"{_REPORT} binary").collect()]


@contextmanager
def unreadable_as_load_error() -> Generator[None, None, None]:
    """Say that a file cannot be read, where Spark says it with a page of Java."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        reason = _read_failure(error)
        if reason is None:
            raise
        raise LoadError(reason, hint="is the file whole, and named after its compression?") from error


def _read_failure(error: Any) -> str | None:
    """What Spark says about a file that it could not read, None if the error is another one."""
    text = str(error)
    file = re.search(r"while reading file (\S+?)\.?\s", text)
    if file is None:
        return None
    causes = re.findall(r"Caused by: \S*?(?:Exception|Error): (.*)", text)
    return f"{path_of_uri(file[1])} cannot be read{f': {causes[-1]}' if causes else ''}"
