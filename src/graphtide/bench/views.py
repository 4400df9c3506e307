"""View collections: by differences, from scratch, adaptively and on the lattice; igraph and Spark joins per view."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.held_memory import hold_memory
from graphtide.bench.views_graphs import QUESTIONS, load_citations, load_questions, similar_and_disjoint, windows
from graphtide.bench.views_peers import Answers, WeightedEdges, by_igraph, components_by_joins
from graphtide.dataflow.warm import warm
from graphtide.graph.schema import DST, SRC
from graphtide.pipeline.progress import SilentProgress
from graphtide.pipeline.running import order_for
from graphtide.pipeline.session import Session
from graphtide.pipeline.vertices import VertexIds
from graphtide.views.chains import StreamChain
from graphtide.views.execution import Ints
from graphtide.views.following import Strategy
from graphtide.views.run import Run

__all__ = ["run"]

_DIFFERENTIAL_BAR = 10.0
_NEAR_BAR = 1 / 1.1
_AHEAD_BAR = 1.5
_LATTICE_BAR = 1.3
_ENOUGH = 6.0  # seconds of all runs of a way, if they are short
_MOST_TIMES = 25
_SOURCE = 1  # a vertex with many interactions, early ones among them


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    edges: int
    steps: int
    months: int  # of a window that shares nothing with the next
    years: int
    thresholds: int
    quarters: int  # growing, each with so many
    limits: int  # of numbers of references
    times: int  # of each measurement; the median counts
    memory: int


FULL = Size(1_000_000, 100, 6, 9, 12, 8, 24, 3, 3 << 30)
QUICK = Size(60_000, 12, 24, 3, 4, 4, 4, 1, 256 << 20)

_COMPUTATIONS: dict[str, dict[str, Any]] = {
    "wcc": {},
    "bfs": {"source": _SOURCE},
    "sssp": {"source": _SOURCE, "weight": "weight"},
    "scc": {},
}


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """All rows; everything is loaded, materialised and read through Spark and files, as users have it."""
    size = QUICK if quick else FULL
    progress("kernels")
    warm()
    hold_memory(size.memory)
    with (
        tempfile.TemporaryDirectory() as home,
        Session(home, master="local[2]", progress=SilentProgress()) as session,
    ):
        progress("loading questions")
        first = load_questions(session, size.edges)
        days, parts = similar_and_disjoint(session, first, size.steps, size.months)
        bench = _Bench(session, size.times, progress)
        yield from _similar(bench, days)
        yield from _near(bench, parts, "disjoint")
        progress("loading citations")
        paper = load_citations(session, size.edges)
        apart, growing = windows(session, size.years, size.thresholds, size.quarters, size.limits)
        yield from _ahead(bench, apart)
        on_lattice = {"bfs": {"source": paper}, "k_core": {"k": 5}, "wcc": {}, "triangles": {}}
        yield from _lattice(bench, growing, "growing by growing", on_lattice, bar=_LATTICE_BAR)
        yield from _lattice(bench, apart, "apart by growing", {"triangles": {}}, bar=None)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Where runs are made, how often, and who is told."""

    session: Session
    times: int
    progress: Progress

    def typical(
        self, computation: str, on: str, arguments: dict[str, Any], ways: dict[str, tuple[Strategy, str]]
    ) -> dict[str, Run]:
        """For each way (strategy and order) the run of median length; they take turns, as the machine has its moods.

        Short runs are made more often: a pause of some milliseconds is a tenth of them. What ran before leaves its
        memory to the next, so another way comes first each time.
        """
        runs: dict[str, list[Run]] = {name: [] for name in ways}
        names = list(ways)
        for turn in range(_MOST_TIMES if self.times > 1 else 1):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                if turn < self.times or sum(run.report.seconds for run in runs[name]) < _ENOUGH:
                    self.progress(f"{computation} on {on}, {name}")
                    strategy, order = ways[name]
                    runs[name].append(self.session.run(computation, on, strategy=strategy, order=order, **arguments))
        return {name: sorted(made, key=lambda run: run.report.seconds)[len(made) // 2] for name, made in runs.items()}

    def all_ways(self, computation: str, on: str, arguments: dict[str, Any], order: str = "auto") -> dict[str, Run]:
        """Differential, from scratch, adaptive."""
        return self.typical(computation, on, arguments, {way: (way, order) for way in _WAYS})


def _similar(bench: _Bench, days: str) -> Iterator[Comparison]:
    """One day more at a time: by differences and from scratch, and against those who start anew for each view."""
    session = bench.session
    graph = session.graph(QUESTIONS)
    table = graph.edge_columns(SRC, DST, "weight")
    edges = WeightedEdges(*(table.column(c).combine_chunks().to_numpy() for c in range(3)))
    chain = _chain(session, days)
    for computation, arguments in _COMPUTATIONS.items():
        runs = bench.all_ways(computation, days, arguments)
        views = len(chain.order)
        yield _row(
            f"{computation}, {views} views a day apart: differential",
            runs["differential"],
            runs["scratch"],
            "scratch",
            _DIFFERENTIAL_BAR,
        )
        yield _adaptive(computation, "a day apart", runs)
        bench.progress(f"{computation} by igraph")
        number = 0 if "source" not in arguments else _number_of(session, arguments["source"])
        seconds, answers = by_igraph(_views(chain, len(edges.src)), edges, computation, number)
        ours = runs["adaptive"]
        yield Comparison(
            f"{computation}, {views} views a day apart: adaptive",
            ours.report.seconds,
            seconds,
            "igraph per view",
            "s",
            agree=_same(ours, answers),
            note="every answer of every view compared",
        )
        if computation == "wcc":
            bench.progress("wcc by joins of DataFrames")
            yield _by_joins(session, days, ours)


def _by_joins(session: Session, days: str, ours: Run) -> Comparison:
    collection = session.view_collection(days)
    last = collection.views[-1]
    until = last.removeprefix("until_").replace("_", "-")
    edges = session.spark.read.parquet(str(session.graph(QUESTIONS).edges_folder))
    chosen = edges.where(F.col("time") < F.lit(until).cast("timestamp")).select(
        F.col(SRC).alias("src"), F.col(DST).alias("dst")
    )
    seconds, count = components_by_joins(chosen)
    return Comparison(
        f"wcc, {len(collection.views)} views a day apart: adaptive",
        ours.report.seconds,
        seconds * len(collection.views),
        "joins of Spark DataFrames per view",
        "s",
        agree=count == len(set(ours.table(last).column("value").to_pylist())),
        note=f"{seconds:.3g} s for the last view, times {len(collection.views)}; GraphFrames needs a jar",
    )


_WAYS: tuple[Strategy, ...] = ("differential", "scratch", "adaptive")


def _near(bench: _Bench, name: str, what: str) -> Iterator[Comparison]:
    for computation, arguments in _COMPUTATIONS.items():
        runs = bench.all_ways(computation, name, arguments)
        yield _adaptive(computation, f"{len(runs['adaptive'].names)} views, {what}", runs)


def _adaptive(computation: str, what: str, runs: dict[str, Run]) -> Comparison:
    seconds = {way: each.report.seconds for way, each in runs.items()}
    better = "differential" if seconds["differential"] < seconds["scratch"] else "scratch"
    return _row(f"{computation}, {what}: adaptive", runs["adaptive"], runs[better], f"the better: {better}", _NEAR_BAR)


def _ahead(bench: _Bench, name: str) -> Iterator[Comparison]:
    """Windows in which views grow, and which share nothing with the next: neither way suits all of them."""
    for computation in ("wcc", "scc"):
        runs = bench.all_ways(computation, name, {}, order="given")
        for way in _WAYS[:2]:
            yield _row(
                f"{computation}, product of {len(runs[way].names)} windows: adaptive",
                runs["adaptive"],
                runs[way],
                way,
                _AHEAD_BAR,
            )


def _lattice(
    bench: _Bench, name: str, what: str, computations: dict[str, dict[str, Any]], *, bar: float | None
) -> Iterator[Comparison]:
    """A product on its lattice and along chains, and the order that is chosen for it."""
    collection = bench.session.view_collection(name)
    for computation, arguments in computations.items():
        chosen = order_for(bench.session, computation, name, arguments)
        runs = bench.typical(
            computation, name, arguments, {order: ("adaptive", order) for order in ("given", "chain", "lattice")}
        )
        chain = min(("given", "chain"), key=lambda order: runs[order].report.seconds)
        views = len(collection.views)
        yield _row(
            f"{computation}, {views} views, {what}: lattice", runs["lattice"], runs[chain], "the best chain", bar
        )
        best = min(runs, key=lambda order: runs[order].report.seconds)
        yield _row(
            f"{computation}, {what}: order {chosen}, chosen", runs[chosen], runs[best], f"the best: {best}", _NEAR_BAR
        )


def _row(name: str, ours: Run, theirs: Run, peer: str, bar: float | None) -> Comparison:
    agree = ours is theirs or ours.table().equals(theirs.table())
    note = f"{ours.report.work:,} against {theirs.report.work:,} differences of all operators"
    return Comparison(name, ours.report.seconds, theirs.report.seconds, peer, "s", agree=agree, bar=bar, note=note)


def _chain(session: Session, name: str) -> StreamChain:
    collection = session.view_collection(name)
    stored = collection.orders[collection.chosen]
    sizes = tuple(collection.sizes[v] for v in stored.views)
    return StreamChain(collection.stream_folder(collection.chosen), stored.views, sizes, stored.counts)


def _views(chain: StreamChain, edges: int) -> Iterator[Ints]:
    """The edges of each view in turn."""
    present = np.zeros(edges, np.bool_)
    for position in range(len(chain.order)):
        moved, diffs = chain.differences(position)
        present[moved] = diffs > 0
        yield np.flatnonzero(present)


def _number_of(session: Session, vertex: int) -> int:
    number = VertexIds(session.graph(QUESTIONS)).number_of(vertex)
    assert number is not None, "it asked a question"
    return number


def _same(run: Run, answers: Answers) -> bool:
    """Whether all values of all views are those of a peer, whose views come in the order of the run."""
    for step, wanted in zip(run.report.steps, answers, strict=True):
        codes = run.codes(step.view)
        found = np.full(len(wanted), np.nan)
        found[codes[0]] = codes[1]
        if not np.array_equal(found, wanted, equal_nan=True):
            return False
    return True
