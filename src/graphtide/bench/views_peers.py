"""The same computations on every view by libraries that know one graph at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import igraph  # pyright: ignore[reportMissingImports]
import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from graphtide.views.execution import Ints

__all__ = ["Answers", "WeightedEdges", "by_igraph", "components_by_joins"]

# The value of each vertex that has one, NaN for the others.
Answers = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class WeightedEdges:
    """The edges of a graph by their number."""

    src: Ints
    dst: Ints
    weight: Ints


@dataclass(frozen=True, slots=True)
class _Graph:
    """A view as igraph takes it: vertices that it lacks are isolated there."""

    graph: Any
    present: NDArray[np.bool_]
    weights: Ints


def by_igraph(views: Iterator[Ints], edges: WeightedEdges, computation: str, source: int) -> tuple[float, Answers]:
    """Seconds for all views, each built and computed anew, and what was found."""
    seconds = 0.0
    answers: Answers = []
    count = int(max(edges.src.max(), edges.dst.max())) + 1
    compute = _COMPUTATIONS[computation]
    for chosen in views:
        clock = time.perf_counter()
        ends = np.column_stack([edges.src[chosen], edges.dst[chosen]])
        present = np.zeros(count, np.bool_)
        present[ends.ravel()] = True
        view = _Graph(igraph.Graph(n=count, edges=ends, directed=True), present, edges.weight[chosen])
        found = compute(view, source)
        seconds += time.perf_counter() - clock
        answers.append(found)
    return seconds, answers


def _components(mode: str) -> Callable[[_Graph, int], NDArray[np.float64]]:
    def compute(view: _Graph, _source: int) -> NDArray[np.float64]:
        membership = np.array(view.graph.connected_components(mode=mode).membership)
        # A component is known by its least vertex, as ours is.
        _, first, inverse = np.unique(membership, return_index=True, return_inverse=True)
        return np.where(view.present, first[inverse].astype(float), np.nan)

    return compute


def _distances(view: _Graph, source: int, weights: Any) -> NDArray[np.float64]:
    found = np.array(view.graph.distances(source=source, weights=weights)[0], float)
    found[~np.isfinite(found)] = np.nan
    return found if view.present[source] else np.full(len(found), np.nan)


_COMPUTATIONS: dict[str, Callable[[_Graph, int], NDArray[np.float64]]] = {
    "wcc": _components("weak"),
    "scc": _components("strong"),
    "bfs": lambda view, source: _distances(view, source, None),
    "sssp": lambda view, source: _distances(view, source, view.weights.tolist()),
}


def components_by_joins(edges: DataFrame) -> tuple[float, int]:
    """Seconds for the components of one view by DataFrame joins until no label changes, and how many there are.

    As one writes it by hand where GraphFrames is not to be had: labels travel both ways, and a checkpoint
    in each round keeps the plan short.
    """
    clock = time.perf_counter()
    both = edges.select("src", "dst").union(edges.select(F.col("dst").alias("src"), F.col("src").alias("dst"))).cache()
    labels = both.select(F.col("src").alias("node")).distinct().withColumn("label", F.col("node")).localCheckpoint()
    while True:
        heard = labels.join(both, labels["node"] == both["src"]).select(F.col("dst").alias("node"), "label")
        following = labels.union(heard).groupBy("node").agg(F.min("label").alias("label")).localCheckpoint()
        moved = following.agg(F.sum("label")).collect()[0][0]
        if moved == labels.agg(F.sum("label")).collect()[0][0]:
            break
        labels = following
    count = labels.select("label").distinct().count()
    both.unpersist()
    return time.perf_counter() - clock, count
