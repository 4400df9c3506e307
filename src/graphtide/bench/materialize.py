"""View collections on Spark: matrix, distances and difference stream against the same steps by hand on Polars.

Both read one stored graph and write Parquet, on as many cores as the machine has. Every round has predicates of its
own, since a user who creates a view collection has not created it before. Spark is running and its workers have
their kernels; what that takes is a row of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.materialize_memory import peak_of_children
from graphtide.bench.materialize_polars import (
    polars_distances,
    polars_matrix,
    polars_stream,
    read_polars_position,
)
from graphtide.bench.materialize_views import EdgeView, stored_graph, views_of_time
from graphtide.graph.schema import EDGE
from graphtide.graph.stored import StoredGraph
from graphtide.pipeline.materialize import distances, write_graph_matrix, write_matrix, write_stream
from graphtide.pipeline.predicates import column_of
from graphtide.pipeline.spark import open_spark
from graphtide.views.ordering import order_views
from graphtide.views.stream import DifferenceStream

__all__ = ["comparisons", "run"]

Result = TypeVar("Result")

_STEPS = ("matrix", "distances", "stream")


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    edges: int
    views: int
    rounds: int
    more_views: tuple[int, ...]
    bar: float | None


# Spark may take twice as long as a library that is made for one machine; with little to do, starting tasks is all.
FULL = Size(edges=5_000_000, views=50, rounds=3, more_views=(50, 100, 200), bar=0.5)
QUICK = Size(edges=200_000, views=20, rounds=3, more_views=(20, 80), bar=None)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """All rows."""
    progress("Spark")
    seconds, spark = _timed(lambda: open_spark("local[2]"))
    yield Comparison("start of Spark", seconds, None, "", "s", agree=True)
    try:
        yield from comparisons(spark, QUICK if quick else FULL, progress)
    finally:
        spark.stop()


def comparisons(spark: SparkSession, size: Size, progress: Progress) -> Iterator[Comparison]:
    """The rows of one size."""
    with TemporaryDirectory(prefix="graphtide-bench-") as name:
        home = Path(name)
        progress(f"{size.edges:,} edges")
        graph = stored_graph(home / "graph", size.edges)
        rounds: list[_Round] = []
        for number in range(size.rounds + 1):
            progress(f"{size.views} views, round {number} of {size.rounds}")
            rounds.append(_round(spark, graph, views_of_time(size.views, seed=number), home / str(number)))
        warm_up, *rounds = rounds
        first = sum(warm_up.ours.values())
        yield Comparison("first view collection of a session", first, None, "", "s", warm_up.agree)
        yield from _rows(size, rounds)
        progress("predicates evaluated by Spark")
        yield _evaluated_by_spark(spark, graph, size, home, rounds)
        yield from _memory(spark, graph, size, home, progress)


@dataclass(frozen=True, slots=True)
class _Round:
    """Seconds by step, how much was made, and whether both made the same."""

    ours: dict[str, float]
    polars: dict[str, float]
    rows: int
    differences: int
    agree: bool


def _round(spark: SparkSession, graph: StoredGraph, views: Sequence[EdgeView], home: Path) -> _Round:
    """Materialise a view collection by Spark and by Polars."""
    home.mkdir()
    matrix, stream, their_matrix, their_stream = (home / name for name in ("m", "s", "polars.parquet", "polars"))
    ours: dict[str, float] = {}
    polars: dict[str, float] = {}
    dimension = [view.predicate() for view in views]
    ours["matrix"], rows = _timed(lambda: write_graph_matrix(spark, graph, [dimension], matrix))
    ours["distances"], between = _timed(lambda: distances(spark, matrix, len(views)))
    order = order_views(between)
    ours["stream"], counts = _timed(lambda: write_stream(spark, matrix, order.views, stream))
    polars["matrix"], _ = _timed(lambda: polars_matrix(graph.edges_folder, views, their_matrix))
    polars["distances"], their_between = _timed(lambda: polars_distances(their_matrix, len(views)))
    polars["stream"], _ = _timed(lambda: polars_stream(their_matrix, order.views, their_stream))
    agree = (
        _same_matrix(matrix, their_matrix)
        and np.array_equal(between, their_between)
        and _same_stream(stream, their_stream, len(views))
    )
    return _Round(ours, polars, rows, int(counts.sum()), agree)


def _rows(size: Size, rounds: Sequence[_Round]) -> Iterator[Comparison]:
    """The total, and each step of it."""
    agree = all(each.agree for each in rounds)
    task = f"{size.views} views of {size.edges:,} edges"
    yield Comparison(
        task,
        ours=median(sum(each.ours.values()) for each in rounds),
        peer=median(sum(each.polars.values()) for each in rounds),
        peer_name="polars",
        unit="s",
        agree=agree,
        bar=size.bar,
        note=f"{rounds[-1].rows:,} edges in some view, {rounds[-1].differences:,} differences in the order chosen",
    )
    for step in _STEPS:
        ours, peer = (median(each[step] for each in side) for side in _sides(rounds))
        yield Comparison(f"{task}: {step}", ours, peer, "polars", "s", agree)


def _sides(rounds: Sequence[_Round]) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    return [each.ours for each in rounds], [each.polars for each in rounds]


def _evaluated_by_spark(
    spark: SparkSession, graph: StoredGraph, size: Size, home: Path, rounds: Sequence[_Round]
) -> Comparison:
    """The matrix of the last round once more, as predicates need it that do not just compare with literals."""
    columns = [column_of(view.predicate()) for view in views_of_time(size.views, seed=size.rounds)]
    edges = spark.read.parquet(str(graph.edges_folder))
    seconds, _ = _timed(lambda: write_matrix(edges, [columns], home / "spark"))
    return Comparison(
        f"{size.views} views of {size.edges:,} edges: matrix, predicates evaluated by Spark",
        seconds,
        median(each.polars["matrix"] for each in rounds),
        "polars",
        "s",
        _same_matrix(home / "spark", home / str(size.rounds) / "polars.parquet"),
        note="with the compilation that new predicates need",
    )


def _memory(
    spark: SparkSession, graph: StoredGraph, size: Size, home: Path, progress: Progress
) -> Iterator[Comparison]:
    """What Spark's processes hold with more and more views."""
    fewest: int | None = None
    for views in size.more_views:
        progress(f"memory with {views} views")
        recounted: list[int] = []
        peak = peak_of_children(partial(_materialise, spark, graph, views, home, recounted))
        if peak is None:
            return
        note = f"{peak.java / 1e6:,.0f} MB Java, {peak.python / 1e6:,.0f} MB Python"
        name = f"memory of Spark with {views} views of {size.edges:,} edges"
        peer_name = "" if fewest is None else f"with {size.more_views[0]} views"
        yield Comparison(name, peak.bytes, fewest, peer_name, "bytes", recounted == [0], note=note)
        fewest = peak.bytes if fewest is None else fewest


def _materialise(spark: SparkSession, graph: StoredGraph, views: int, home: Path, recounted: list[int]) -> None:
    """All three steps; by how much the stream differs from what its order should cost is noted."""
    dimension = [view.predicate() for view in views_of_time(views, seed=9)]
    matrix, stream = home / f"m{views}", home / f"s{views}"
    write_graph_matrix(spark, graph, [dimension], matrix)
    order = order_views(distances(spark, matrix, views))
    counts = write_stream(spark, matrix, order.views, stream)
    recounted.append(int(counts.sum()) - order.differences)


def _same_matrix(ours: Path, theirs: Path) -> bool:
    tables = pq.read_table(ours).sort_by(EDGE), pq.read_table(theirs).sort_by(EDGE)
    columns = [[table.column(name).to_numpy() for name in (EDGE, "m0")] for table in tables]
    return all(map(np.array_equal, *columns))


def _same_stream(ours: Path, theirs: Path, positions: int) -> bool:
    stream = DifferenceStream(ours)
    return all(
        all(map(np.array_equal, stream.read(position), read_polars_position(theirs, position)))
        for position in range(positions)
    )


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    clock = time.perf_counter()
    result = work()
    return time.perf_counter() - clock, result
