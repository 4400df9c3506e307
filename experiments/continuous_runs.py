"""Runs of continuous queries on a graph that changes edge by edge: registered, measured, compared and recorded."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import pyarrow as pa

import graphtide as gt
from experiments.continuous_graphs import Evolving, Row
from graphtide.dataflow.warm import warm as warm_dataflows
from graphtide.frontier.maintenance import Maintenance
from graphtide.frontier.warm import warm_queries

QUERIES: Final = 10  # as in the paper
BATCHES: Final = 100
HOPS: Final = 5
ROUNDS: Final = 10
WARM: Final = 5  # batches before those that are measured
CHOICES: Final = (gt.Random(0.5), gt.Degree(0.5))
PATIENCE: Final = 2.0  # seconds after which no further batch is measured


@dataclass(frozen=True)
class Ask:
    """A kind of query: what it is called, and how one of it is registered."""

    name: str
    register: Callable[..., gt.Query]
    arguments: tuple[tuple[Any, ...], ...]  # of each query

    def of(self, count: int) -> Ask:
        """So many of its queries, from the beginning again if there are not enough."""
        return Ask(self.name, self.register, tuple(self.arguments[k % len(self.arguments)] for k in range(count)))


def shortest_paths(graph: Evolving, queries: int = QUERIES) -> Ask:
    """From a vertex to a vertex, by weight."""
    pairs = zip(graph.starts(queries).tolist(), graph.targets(queries).tolist(), strict=True)

    def register(live: gt.LiveGraph, source: int, target: int, **more: Any) -> gt.Query:
        return live.shortest_path(source, target, weight="weight", **more)

    return Ask("SPSP", register, tuple(pairs))


def distances(graph: Evolving, queries: int = QUERIES) -> Ask:
    """From a vertex to all others, by weight."""

    def register(live: gt.LiveGraph, source: int, **more: Any) -> gt.Query:
        return live.sssp(source, weight="weight", **more)

    return Ask("SSSP", register, tuple((source,) for source in graph.starts(queries).tolist()))


def k_hop(graph: Evolving, queries: int = QUERIES) -> Ask:
    """The vertices at most five edges from a vertex."""

    def register(live: gt.LiveGraph, source: int, **more: Any) -> gt.Query:
        return live.k_hop(source, HOPS, **more)

    return Ask("K-hop", register, tuple((source,) for source in graph.starts(queries).tolist()))


def paths(graph: Evolving, name: str, pattern: str, queries: int = QUERIES, *, first: str) -> Ask:
    """The ends of paths with a pattern of labels, the first of which is given."""

    def register(live: gt.LiveGraph, source: int, **more: Any) -> gt.Query:
        return live.regular_path(pattern, [source], **more)

    return Ask(name, register, tuple((source,) for source in graph.starts(queries, first).tolist()))


def components(_graph: Evolving, _queries: int = 1) -> Ask:
    """Weakly connected components."""
    return Ask("WCC", gt.LiveGraph.wcc, ((),))


def pagerank(_graph: Evolving, _queries: int = 1) -> Ask:
    """PageRank of ten rounds."""

    def register(live: gt.LiveGraph, **more: Any) -> gt.Query:
        return live.pagerank(ROUNDS, **more)

    return Ask("PageRank", register, ((),))


@dataclass(frozen=True)
class Measured:
    """A run: where, what, how it was kept, and what it took."""

    graph: str
    query: str
    queries: int
    policy: str
    choose: str  # which differences are dropped
    p: float
    deletions: float  # share of the batches
    batches: int  # of one edge, that were measured
    median_seconds: float  # of a batch, for all queries
    total_seconds: float
    differences: int
    bytes: int
    dropped: int
    recomputed: int
    spurious: int
    answers: int  # rows of them, of all queries

    @property
    def mean_seconds(self) -> float:
        """Of a batch, for all queries."""
        return self.total_seconds / self.batches


class Course:
    """A graph on which runs are made one after the other; each leaves it as it was."""

    def __init__(self, graph: Evolving) -> None:
        self.graph = graph
        self.live = graph.live()
        print(f"{graph.name}: {self.live.vertices:,} vertices, {self.live.edges:,} edges", flush=True)

    def run(
        self,
        ask: Ask,
        policy: Maintenance,
        *,
        shares: Sequence[float] = (0.0,),
        batches: int = BATCHES,
        patience: float = PATIENCE,
    ) -> list[Measured]:
        """Register, then follow the batches with each share of deletions, compare and go back; drop at the end."""
        queries = self._register(ask, policy)
        rows: list[Measured] = []
        warm = 1 if isinstance(policy, gt.Scratch) else WARM
        for share in shares:
            changes = self.graph.changes(batches + warm, share)
            before = _counts(queries)
            seconds, applied = self._follow(changes, warm, patience)
            self._compare(ask, policy, queries)
            counts = _counts(queries)
            for name in ("recomputed", "spurious"):
                counts[name] -= before[name]
            counts["answers"] = sum(query.result().num_rows for query in queries)
            rows.append(self._measured(ask, policy, share, seconds, counts))
            self._undo(changes[:applied])
        for query in queries:
            query.drop()
        return rows

    def _register(self, ask: Ask, policy: Maintenance) -> list[gt.Query]:
        return [ask.register(self.live, *each, maintain=policy) for each in ask.arguments]

    def footprint(self, ask: Ask, policy: Maintenance) -> float:
        """Bytes for each query, before any batch."""
        queries = self._register(ask, policy)
        size = sum(query.nbytes for query in queries) / len(queries)
        for query in queries:
            query.drop()
        return size

    def _follow(self, changes: Sequence[tuple[bool, Row]], warm: int, patience: float) -> tuple[list[float], int]:
        """Seconds of each batch after some to warm up, as long as there is patience for either; and how many in all."""
        seconds: list[float] = []
        began, applied = perf_counter(), 0
        is_warm = False
        while applied < len(changes) and perf_counter() - began <= patience:
            deletion, row = changes[applied]
            batch = {"delete" if deletion else "insert": [row]}
            begin = perf_counter()
            self.live.apply(**batch)
            applied += 1
            if is_warm:
                seconds.append(perf_counter() - begin)
            elif applied == warm or perf_counter() - began > patience:
                began, is_warm = perf_counter(), True
        return seconds, applied

    def _undo(self, changes: Iterable[tuple[bool, Row]]) -> None:
        net: Counter[Row] = Counter()
        for deletion, row in changes:
            net[row] += -1 if deletion else 1
        self.live.apply(
            insert=[row for row, count in net.items() if count < 0],
            delete=[row for row, count in net.items() if count > 0],
        )

    def _measured(
        self, ask: Ask, policy: Maintenance, share: float, seconds: list[float], counts: Mapping[str, int]
    ) -> Measured:
        choose = getattr(policy, "choose", None)
        row = Measured(
            self.graph.name,
            ask.name,
            len(ask.arguments),
            type(policy).__name__,
            type(choose).__name__ if choose is not None else "",
            choose.p if choose is not None else 0.0,
            share,
            len(seconds),
            round(float(np.median(seconds)), 8),
            round(sum(seconds), 6),
            *counts.values(),
        )
        print(
            f"{row.graph}, {row.query} x {row.queries}, {shown(policy)}, {share:.0%} deletions: "
            f"{1e6 * row.median_seconds:,.0f} us (median), {row.total_seconds:.3g} s for {row.batches} batches, "
            f"{row.differences:,} differences, {row.bytes / 1e6:,.2f} MB, {row.dropped:,} dropped, "
            f"{row.recomputed:,} recomputed",
            flush=True,
        )
        return row

    def _compare(self, ask: Ask, policy: Maintenance, queries: list[gt.Query]) -> None:
        """Stop unless the answers are those of queries that are computed anew."""
        if isinstance(policy, gt.Scratch):
            return
        for query, arguments in zip(queries, ask.arguments, strict=True):
            fresh = ask.register(self.live, *arguments, maintain=gt.Scratch())
            agree = _equal(query.result(), fresh.result())
            fresh.drop()
            if not agree:
                raise SystemExit(
                    f"{self.graph.name}, {ask.name}{arguments}, {shown(policy)}: not the answer of Scratch"
                )


def _counts(queries: Iterable[gt.Query]) -> dict[str, int]:
    """What the queries keep and did, in all."""
    names = ("differences", "nbytes", "dropped", "recomputed", "spurious")
    return {name: sum(int(getattr(query, name, 0)) for query in queries) for name in names}


def _equal(one: pa.Table, other: pa.Table) -> bool:
    """Whether two answers are the same; sums of floats to rounding."""
    if one.num_rows != other.num_rows:
        return False
    return all(
        np.allclose(a.to_numpy(), b.to_numpy(), rtol=1e-9, atol=1e-12) if pa.types.is_floating(a.type) else a.equals(b)
        for a, b in zip(one.columns, other.columns, strict=True)
    )


def shown(policy: Maintenance) -> str:
    """A policy in a line."""
    choose = getattr(policy, "choose", None)
    return type(policy).__name__ + (f" {type(choose).__name__}({choose.p:g})" if choose is not None else "")


def prepare() -> None:
    """Compile all kernels before anything is measured."""
    warm_queries()
    warm_dataflows()
    live = gt.LiveGraph(weight=int)
    live.apply(insert=[(n, 7 * n % 50, 1 + n % 9) for n in range(1, 200)])
    choices = gt.Random(0.5), gt.Degree(0.5)
    for policy in (
        gt.Scratch(),
        gt.Vanilla(),
        *map(gt.DeterministicDrop, choices),
        *map(gt.ProbabilisticDrop, choices),
    ):
        for register in (lambda m: live.sssp(1, weight="weight", maintain=m), lambda m: live.wcc(maintain=m)):
            query = register(policy)
            live.apply(insert=[(3, 4, 1)])
            live.apply(delete=[(3, 4, 1)])
            query.result()
            query.drop()


def write(file: Path, rows: Iterable[Measured]) -> None:
    """Record all runs."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read(file: Path) -> list[Measured]:
    """What was recorded before."""
    types: Mapping[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float}
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [
            Measured(**{field.name: types[str(field.type)](row[field.name]) for field in fields(Measured)})
            for row in csv.DictReader(stream)
        ]
