"""Which differences to drop: any, or those of vertices with few edges.

Figure 6 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on public data. Run
it from the root of a checkout:

    python -m experiments.vldb22_figure6.run
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import graphtide as gt
from experiments.continuous_graphs import evolving
from experiments.continuous_plots import COLOURS, bars, panels, plain, save
from experiments.continuous_runs import BATCHES, QUERIES, Course, Measured, distances, k_hop, prepare, write

HERE = Path(__file__).parent
DROPS = (gt.DeterministicDrop, gt.ProbabilisticDrop)
CHOICES: tuple[Callable[[float], gt.Random | gt.Degree], ...] = (gt.Random, gt.Degree)
SHARE = 0.1  # of the differences that are dropped to count by degree
BOUNDS = (1, 3, 10, 30, 100, 300, 1000, 1 << 30)


@dataclass(frozen=True)
class Bucket:
    """Vertices of some degrees, and how often differences were computed again because theirs were dropped."""

    graph: str
    least: int
    below: int
    vertices: int
    recomputed: int

    @property
    def each(self) -> float:
        """For one vertex."""
        return self.recomputed / max(1, self.vertices)


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["as-caida", "soc-Slashdot0902"])
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--probabilities", type=float, nargs="+", default=[0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    prepare()
    rows: list[Measured] = []
    buckets: list[Bucket] = []
    for name in chosen.graphs:
        graph = evolving(name, chosen.data)
        if graph is not None:
            course = Course(graph)
            rows += sweep(course, chosen.queries, chosen.batches, chosen.probabilities)
            buckets += by_degree(course, chosen.queries, chosen.batches)
    write(chosen.output / "results.csv", rows)
    write_buckets(chosen.output / "degrees.csv", buckets)
    draw(chosen.output / "plot.png", rows, buckets)
    summarize(rows, buckets)


def sweep(course: Course, queries: int, batches: int, probabilities: list[float]) -> list[Measured]:
    """Shortest paths with more and more differences dropped; and the paper's hops, which have none that can be."""
    ask = distances(course.graph, queries)
    rows = [*course.run(ask, gt.Scratch(), batches=batches), *course.run(ask, gt.JoinOnDemand(), batches=batches)]
    for drop in DROPS:
        for choose in CHOICES:
            for p in probabilities:
                rows += course.run(ask, drop(choose(p)), batches=batches)
    for choose in CHOICES:
        rows += course.run(k_hop(course.graph, queries), gt.DeterministicDrop(choose(1.0)), batches=batches)
    return rows


def by_degree(course: Course, queries: int, batches: int) -> list[Bucket]:
    """What each degree adds when a share of the differences is dropped up to it.

    A difference is dropped or kept by a hash of its vertex and round, so that what is dropped up to a degree is
    dropped up to a higher one too, and the recomputations that come on top are due to the vertices between.
    """
    ask = distances(course.graph, queries)
    ends = course.graph.ends[: course.graph.loaded]
    _, degrees = np.unique(ends, return_counts=True)
    found: list[Bucket] = []
    before = 0
    for least, below in pairwise(BOUNDS):
        count = int(((degrees >= least) & (degrees < below)).sum())
        policy = gt.DeterministicDrop(gt.Degree(SHARE, tau_min=0, tau_max=below - 1))
        for row in course.run(ask, policy, batches=batches):
            if count:
                found.append(Bucket(course.graph.name, least, below, count, max(0, row.recomputed - before)))
            before = row.recomputed
    return found


def write_buckets(file: Path, buckets: list[Bucket]) -> None:
    """Record the counts by degree."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([field.name for field in fields(Bucket)])
        writer.writerows([getattr(bucket, field.name) for field in fields(Bucket)] for bucket in buckets)


def draw(file: Path, rows: list[Measured], buckets: list[Bucket]) -> None:
    """Seconds by what is dropped, above recomputations by degree, a column for each graph."""
    graphs = list(dict.fromkeys(row.graph for row in rows))
    figure, grid = panels(2, len(graphs), (6.4 * len(graphs), 8.4))
    for column, graph in enumerate(graphs):
        lines(grid[0, column], [row for row in rows if (row.graph, row.query) == (graph, "SSSP")])
        grid[0, column].set_title(f"{graph}: shortest paths", fontsize=10, loc="left")
        degrees(grid[1, column], [bucket for bucket in buckets if bucket.graph == graph])
        grid[1, column].set_title(f"{graph}: where differences are computed again", fontsize=10, loc="left")
    grid[0, 0].legend(frameon=False, fontsize=9)
    save(figure, file, "Dropping differences of vertices with few edges costs little; of any vertex, much")


def lines(axes: Axes, rows: list[Measured]) -> None:
    """Seconds by the number of differences that are dropped."""
    for drop in DROPS:
        for choose, style in zip(CHOICES, ("--", "-"), strict=True):
            mine = [row for row in rows if (row.policy, row.choose) == (drop.__name__, choose.__name__)]
            label = f"{drop.__name__}, {choose.__name__}"
            axes.plot(
                [row.dropped / 1000 for row in mine],
                [row.mean_seconds for row in mine],
                style,
                marker="o" if choose is gt.Degree else "s",
                markersize=4,
                color=COLOURS[drop.__name__],
                label=label,
            )
    for policy in ("Scratch", "JoinOnDemand"):
        for row in rows:
            if row.policy == policy:
                axes.axhline(row.mean_seconds, color=COLOURS[policy], linewidth=1, linestyle=":", label=policy)
    axes.set_xlabel("thousands of differences dropped, of all queries")
    axes.set_ylabel("seconds per batch of one edge (mean)")
    plain(axes, log="y")


def degrees(axes: Axes, buckets: list[Bucket]) -> None:
    """Recomputations of a vertex as bars, and how many vertices there are as a line."""
    drawn = bars(axes, 0, 1, [bucket.each for bucket in buckets], color=COLOURS["DeterministicDrop"])
    axes.bar_label(drawn, [f"{bucket.each:.2g}" for bucket in buckets], fontsize=8)
    names = [
        f"{bucket.least}+" if bucket.below == BOUNDS[-1] else f"{bucket.least}-{bucket.below - 1}" for bucket in buckets
    ]
    axes.set_xticks(range(len(buckets)), names, fontsize=8)
    axes.set_xlabel("edges of a vertex, in and out")
    axes.set_ylabel("recomputations per vertex (bars)")
    plain(axes, log="y")
    other = axes.twinx()
    other.plot(range(len(buckets)), [bucket.vertices for bucket in buckets], color="black", marker=".", linewidth=1)
    other.set_yscale("log")
    other.set_ylabel("vertices (line)")
    other.spines[["top"]].set_visible(False)


def summarize(rows: list[Measured], buckets: list[Bucket]) -> None:
    """Print what was dropped and what it cost."""
    print("\n| graph | query | policy | choose | p | dropped | us per batch | recomputed | spurious | MB |")
    for row in rows:
        print(
            f"| {row.graph} | {row.query} | {row.policy} | {row.choose} | {row.p:g} | {row.dropped:,} | "
            f"{1e6 * row.mean_seconds:,.0f} | {row.recomputed:,} | {row.spurious:,} | {row.bytes / 1e6:.2f} |"
        )
    for bucket in buckets:
        print(f"{bucket.graph}, degree {bucket.least} and more: {bucket.vertices:,} vertices, {bucket.each:.3g} each")


if __name__ == "__main__":
    main()
