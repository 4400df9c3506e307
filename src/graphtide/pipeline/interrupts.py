"""Ctrl-C while Spark works.

A KeyboardInterrupt in the midst of a call to Java breaks the call's connection, which Py4J tells at length, and Spark
goes on. So while Python waits for Spark the signal is only noted, and jobs are cancelled from another thread until the
call comes back with whatever error that makes. What the caller gets is a KeyboardInterrupt, and nothing else.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from types import FrameType
from typing import Final

from pyspark.sql import SparkSession

__all__ = ["interruptible"]

# A job that is submitted behind one that was cancelled has to be cancelled as well.
_CANCEL_EVERY: Final = 0.1
_CALLS_TO_SPARK: Final = {"py4j", "pyspark"}


@contextmanager
def interruptible(spark: SparkSession | None) -> Generator[None]:
    """Let Ctrl-C end the block by a KeyboardInterrupt: what Spark does is cancelled, and its errors are not told.

    Without a Spark, as one starts or stops, the block comes to its end first.
    """
    if current_thread() is not main_thread():  # signals are not for others
        yield
        return
    asked, over = Event(), Event()

    def note(_signal: int, frame: FrameType | None) -> None:
        if spark is not None and not _is_in_spark(frame):
            raise KeyboardInterrupt
        if spark is not None and not asked.is_set():
            Thread(target=_cancel, args=(spark, over), name="graphtide interrupt", daemon=True).start()
        asked.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception:
        if not asked.is_set():
            raise
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
    if asked.is_set():
        raise KeyboardInterrupt


def _is_in_spark(frame: FrameType | None) -> bool:
    """Whether the signal came while a call to Spark was under way."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _CALLS_TO_SPARK:
            return True
        frame = frame.f_back
    return False


def _cancel(spark: SparkSession, over: Event) -> None:
    while not over.is_set():
        spark.sparkContext.cancelAllJobs()
        over.wait(_CANCEL_EVERY)
