"""Runs of computations over view collections in several ways: measured, compared and recorded."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import graphtide as gt
from graphtide.bench.held_memory import hold_memory
from graphtide.dataflow.warm import warm

# As in the paper: diff-only, scratch, adaptive.
STRATEGIES = ("differential", "scratch", "adaptive")
COMPUTATIONS = ("wcc", "bfs", "sssp", "scc", "pagerank", "mpsp")
PAIRS = 10
TIMES = 3
SHORT = 3.0  # seconds
COLOURS = {
    "differential": "#4c72b0",
    "scratch": "#c44e52",
    "adaptive": "#55a868",
    "given": "#8c8c8c",
    "chain": "#4c72b0",
    "lattice": "#55a868",
}


@dataclass(frozen=True)
class Measured:
    """A run: where, what, which way, and what it took."""

    graph: str
    collection: str
    views: int
    computation: str
    order: str
    strategy: str
    seconds: float
    edge_differences: int
    work: int  # differences of all operators
    anew: int  # views that ran from scratch


@dataclass(frozen=True)
class Laboratory:
    """A session whose runs are measured."""

    session: gt.Session

    def run(
        self,
        graph: str,
        collection: str,
        computation: str,
        arguments: Mapping[str, Any],
        *,
        ways: Iterable[tuple[str, str]],
        as_called: str | None = None,
    ) -> Iterator[Measured]:
        """Run a computation for each pair of an order and a strategy; stop if two answers differ.

        What takes little time is done three times over, the ways taking turns, and the median counts.
        """
        ways = list(ways)
        runs = [self._runs(collection, computation, arguments, ways)]
        while len(runs) < TIMES and sum(run.report.seconds for run in runs[0]) < SHORT:
            runs.append(self._runs(collection, computation, arguments, ways))
        for (_, strategy), *made in zip(ways, *runs, strict=True):
            report = sorted((run.report for run in made), key=lambda each: each.seconds)[len(made) // 2]
            measured = Measured(
                graph,
                as_called or collection,
                len(report.steps),
                computation,
                report.order,
                strategy,
                round(report.seconds, 4),
                sum(step.differences_in for step in report.steps),
                report.work,
                sum(step.way == "scratch" for step in report.steps),
            )
            print(
                f"{measured.collection}, {computation}, {measured.order}, {strategy}: {measured.seconds:.3g} s, "
                f"{measured.work:,} differences, {measured.anew} of {measured.views} views anew",
                flush=True,
            )
            yield measured

    def _runs(
        self, collection: str, computation: str, arguments: Mapping[str, Any], ways: Iterable[tuple[str, str]]
    ) -> list[gt.Run]:
        runs: list[gt.Run] = []
        first: pa.Table | None = None
        for order, strategy in ways:
            runs.append(self.session.run(computation, collection, strategy=strategy, order=order, **arguments))
            table = runs[-1].table()
            table = table.sort_by([(name, "ascending") for name in table.column_names])
            if first is not None and not _equal(first, table):
                raise SystemExit(f"{computation} on {collection}: {strategy} along {order} gives another answer")
            first = table
        return runs


def _equal(one: pa.Table, other: pa.Table) -> bool:
    """Whether two results are the same; sums of floats to rounding."""
    if one.num_rows != other.num_rows:
        return False
    return all(
        np.allclose(a.to_numpy(), b.to_numpy(), rtol=1e-9, atol=1e-15) if pa.types.is_floating(a.type) else a.equals(b)
        for a, b in zip(one.columns, other.columns, strict=True)
    )


def arguments_on(edges: pa.Table) -> dict[str, dict[str, Any]]:
    """What each of the paper's computations is asked on a graph: it searches from the vertices with most edges."""
    sources, counts = np.unique(edges.column("src").to_numpy(), return_counts=True)
    busiest = sources[np.argsort(-counts, kind="stable")[: 2 * PAIRS]].tolist()
    return {
        "wcc": {},
        "bfs": {"source": busiest[0]},
        "sssp": {"source": busiest[0], "weight": "weight"},
        "scc": {},
        "pagerank": {"iterations": 5},
        "mpsp": {"pairs": list(zip(busiest[:PAIRS], busiest[PAIRS:], strict=True)), "weight": "weight"},
    }


@contextmanager
def laboratory() -> Iterator[Laboratory]:
    """A session in a home folder that is gone afterwards, with all kernels compiled."""
    warm()
    hold_memory(3 << 30)
    with TemporaryDirectory() as home, gt.Session(home) as session:
        yield Laboratory(session)


def write(file: Path, rows: Iterable[Measured]) -> None:
    """Record all runs."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read(file: Path) -> list[Measured]:
    """What was recorded before."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [
            Measured(
                row["graph"],
                row["collection"],
                int(row["views"]),
                row["computation"],
                row["order"],
                row["strategy"],
                float(row["seconds"]),
                int(row["edge_differences"]),
                int(row["work"]),
                int(row["anew"]),
            )
            for row in csv.DictReader(stream)
        ]
