"""Shortest paths of single pairs from scratch, with and without landmarks that are maintained.

Figure 9 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022). Run it from the root
of a checkout:

    python -m experiments.vldb22_figure9.run
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from experiments.continuous_graphs import evolving
from graphtide import datasets
from graphtide.frontier.pair_query import PrunedQuery, SearchedQuery
from graphtide.frontier.warm import warm_queries

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
WAYS = ("by rounds", "search", "landmarks", "regions")
COLOURS = dict(zip(WAYS, ("#7a8794", "#c2571a", "#1f6f8b", "#5b2a86"), strict=True))


@dataclass(frozen=True)
class Graph:
    """Edges with weights."""

    name: str
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    weight: NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What one way took on one graph."""

    graph: str
    vertices: int
    edges: int
    way: str
    queries: int
    batches: int
    seconds: float  # of all batches
    visited: int  # vertices that searches went on from
    index_bytes: int
    differences: int  # kept by the queries themselves


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--graphs", nargs="*", default=["road-malta-osm", "as-caida"], help="that come with the package"
    )
    parser.add_argument("--scale", type=int, default=17, help="of the R-MAT graph: its vertices, in bits")
    parser.add_argument("--side", type=int, default=150, help="of the town: its streets each way")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--landmarks", type=int, default=10)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    warm_queries()
    graphs = [rmat(chosen.scale), streets(chosen.side), *map(shipped, chosen.graphs)]
    rows = [row for graph in graphs for row in measure(graph, chosen.queries, chosen.batches, chosen.landmarks)]
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)
    summarize(rows)


def rmat(scale: int) -> Graph:
    """A power-law graph with weights from 1 to 10."""
    table = datasets.rmat(scale=scale, edge_factor=8, seed=22)
    return Graph(f"R-MAT {scale}", *ends(table), seeded_weights(table.num_rows))


def streets(side: int) -> Graph:
    """A town of blocks, with lengths in metres."""
    _, table = datasets.grid_roads(side, side, seed=22)
    return Graph(f"streets {side} x {side}", *ends(table), table.column("length").to_numpy())


def shipped(name: str) -> Graph:
    """A real graph: roads with their lengths in metres, autonomous systems with weights from 1 to 10."""
    graph = evolving(name)
    assert graph is not None, "it comes with the package"
    return Graph(name, *ends(graph.edges), graph.edges.column("weight").to_numpy())


def ends(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both ends of all edges."""
    return table.column("src").to_numpy().astype(np.int64), table.column("dst").to_numpy().astype(np.int64)


def seeded_weights(count: int) -> NDArray[np.int64]:
    """Weights drawn at random, the same in every run."""
    return np.random.default_rng(22).integers(1, 11, count)


def measure(graph: Graph, queries: int, batches: int, landmarks: int) -> list[Measured]:
    """All ways on a graph: the same pairs, the same edges inserted one by one, the same answers."""
    rng = np.random.default_rng(9)
    order = rng.permutation(len(graph.src))
    coming, first = order[:batches], order[batches:]
    vertices = np.unique(np.concatenate([graph.src[first], graph.dst[first]]))
    pairs = [(int(s), int(t)) for s, t in rng.choice(vertices, (queries, 2))]
    rows: list[Measured] = []
    expected: list[list[int | float | None]] | None = None
    for way in WAYS:
        live = gt.LiveGraph(weight=float if graph.weight.dtype.kind == "f" else int)
        live.apply(insert={"src": graph.src[first], "dst": graph.dst[first], "weight": graph.weight[first]})
        index = live.landmarks(landmarks, "weight") if way in {"landmarks", "regions"} else None
        answers = [register(live, way, pair) for pair in pairs]
        searches = next((query.pairs for query in answers if isinstance(query, SearchedQuery | PrunedQuery)), None)
        before = 0 if searches is None else searches.visited
        seconds, found = 0.0, [distances(answers, pairs)]
        for edge in coming:
            row = (graph.src[edge].item(), graph.dst[edge].item(), graph.weight[edge].item())
            begin = perf_counter()
            live.apply(insert=[row])
            seconds += perf_counter() - begin
            found.append(distances(answers, pairs))
        if expected is not None and found != expected:
            raise SystemExit(f"the answers of {way} on {graph.name} differ")
        expected = found
        rows.append(
            Measured(
                graph.name,
                live.vertices,
                live.edges,
                way,
                queries,
                batches,
                round(seconds, 4),
                0 if searches is None else searches.visited - before,
                0 if index is None else index.nbytes,
                sum(answer.differences for answer in answers),
            )
        )
        print(f"{graph.name}: {way}, {seconds:.2f} s")
    return rows


def register(live: gt.LiveGraph, way: str, pair: tuple[int, int]) -> gt.Query:
    """A query for a pair: by rounds over the whole graph (the paper's SCRATCH), by search, or kept to a region."""
    if way == "by rounds":
        return live.sssp(pair[0], "weight", maintain=gt.Scratch())
    return live.shortest_path(*pair, "weight", maintain=gt.JoinOnDemand() if way == "regions" else gt.Scratch())


def distances(answers: list[gt.Query], pairs: list[tuple[int, int]]) -> list[int | float | None]:
    """What the queries answer, outside of what is timed."""
    found: list[int | float | None] = []
    for answer, (_, target) in zip(answers, pairs, strict=True):
        table = answer.result()
        place = np.flatnonzero(table.column("vertex").to_numpy() == target)
        found.append(table.column("distance")[int(place[0])].as_py() if len(place) else None)
    return found


def write(file: Path, rows: list[Measured]) -> None:
    """Record what was measured."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [each.name for each in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def draw(file: Path, rows: list[Measured]) -> None:
    """Bars for each way, by graph."""
    graphs = list(dict.fromkeys(row.graph for row in rows))
    figure, axes = plt.subplots(figsize=(2.4 * len(graphs) + 2.5, 4), layout="constrained")
    for offset, way in enumerate(WAYS):
        heights = [row.seconds for row in rows if row.way == way]
        bars = axes.bar(np.arange(len(graphs)) + 0.2 * (offset - 1.5), heights, 0.2, color=COLOURS[way], label=way)
        axes.bar_label(bars, [f"{height:.2g}" for height in heights], fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel("seconds")
    axes.set_xticks(range(len(graphs)), graphs)
    axes.set_title(f"{rows[0].queries} pairs, {rows[0].batches} insertions of one edge", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def summarize(rows: list[Measured]) -> None:
    """Print how the ways compare."""
    for graph in dict.fromkeys(row.graph for row in rows):
        seconds = {row.way: row.seconds for row in rows if row.graph == graph}
        less = {way: 100 * (1 - seconds["landmarks"] / seconds[way]) for way in ("by rounds", "search")}
        print(
            f"{graph}: with landmarks {less['by rounds']:.0f} % less than by rounds, {less['search']:.0f} % less than "
            f"by a search without; regions are {seconds['landmarks'] / seconds['regions']:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
