"""Progress of long work: over Spark's stages while Spark works, and over views while an analytic runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final, Protocol

from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

__all__ = ["Progress", "ShownProgress", "SilentProgress", "suited_progress"]

_LOOK_EVERY: Final = 0.25


class Progress(Protocol):
    """Who is told how far things are."""

    def spark(self, what: str, spark: SparkSession) -> Any:
        """While the block runs, follow the tasks of Spark's active stages."""
        ...

    def views(self, what: str, total: int) -> Any:
        """While the block runs, count views: gives a function to call after each."""
        ...


class SilentProgress:
    """Tells nobody."""

    @contextmanager
    def spark(self, what: str, spark: SparkSession) -> Generator[None]:
        """Nothing is shown."""
        del what, spark
        yield

    @contextmanager
    def views(self, what: str, total: int) -> Generator[Callable[[], None]]:
        """Nothing is counted."""
        del what, total
        yield lambda: None


class ShownProgress:
    """A bar in the terminal or notebook, gone when the work is done."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console

    @contextmanager
    def spark(self, what: str, spark: SparkSession) -> Generator[None]:
        """The tasks of the active stages, looked up a few times a second."""
        with self._bars() as bars:
            task = bars.add_task(what, total=None)
            over = Event()

            def follow() -> None:
                while not over.wait(_LOOK_EVERY):
                    done, total = _tasks(spark)
                    bars.update(task, completed=done, total=total or None)

            thread = Thread(target=follow, name="graphtide progress", daemon=True)
            thread.start()
            try:
                yield
            finally:
                over.set()
                thread.join()

    @contextmanager
    def views(self, what: str, total: int) -> Generator[Callable[[], None]]:
        """One step per view."""
        with self._bars() as bars:
            task = bars.add_task(what, total=total)
            yield lambda: bars.advance(task)

    def _bars(self) -> Bars:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        return Bars(*columns, console=self._console, transient=True)


def suited_progress() -> Progress:
    """Bars where a person watches, else silence."""
    return ShownProgress() if sys.stderr.isatty() or "ipykernel" in sys.modules else SilentProgress()


def _tasks(spark: SparkSession) -> tuple[int, int]:
    """Tasks of the active stages: done, and in all."""
    tracker = spark.sparkContext.statusTracker()
    stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number)) is not None]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
