"""What an update costs as a graph gets denser: with and without the differences of Join.

Figure 5 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on public data. Run
it from the root of a checkout:

    python -m experiments.vldb22_figure5.run
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import graphtide as gt
from experiments.continuous_graphs import Evolving, evolving, shuffled
from experiments.continuous_plots import COLOURS, bars, panels, plain, save
from experiments.continuous_runs import (
    BATCHES,
    QUERIES,
    Ask,
    Course,
    Measured,
    distances,
    k_hop,
    paths,
    prepare,
    write,
)

HERE = Path(__file__).parent
POLICIES = (gt.Vanilla(), gt.JoinOnDemand())
KINDS = ("RPQ Q1", "K-hop", "SSSP")


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="CollegeMsg", help="or ldbc-knows")
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--degrees", type=int, nargs="+", default=[20, 100, 500, 1000], help="beside its own")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    graph = evolving(chosen.graph, chosen.data)
    if graph is None:
        return
    prepare()
    rows: list[Measured] = []
    for degree in [0, *chosen.degrees]:
        rows += measure(densified(graph, degree), chosen.queries, chosen.batches)
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows, chosen.graph)
    summarize(rows)


def densified(graph: Evolving, degree: int) -> Evolving:
    """The graph with random edges besides, so that so many lead away from a vertex on average."""
    rng = np.random.default_rng(degree)
    vertices = np.unique(graph.ends)
    ends = graph.ends
    pairs = len(vertices) * (len(vertices) - 1)
    missing = (degree * len(vertices) - len(ends)) / (pairs - len(ends))
    if missing > 0:
        # A pair that is drawn twice, or is there, is one edge: more have to be drawn than are missing.
        drawn = rng.choice(vertices, (round(-np.log1p(-missing) * pairs), 2))
        ends = np.concatenate([ends, drawn])
    denser = shuffled(graph.name, pa.table({"src": ends[:, 0], "dst": ends[:, 1]}))
    return replace(denser, name=f"{graph.name}, degree {round(len(denser.edges) / len(vertices))}")


def labelled(graph: Evolving) -> Evolving:
    """The same graph for path queries, with one label."""
    label = pa.repeat("knows", len(graph.edges))
    return replace(graph, edges=graph.edges.select(["src", "dst"]).append_column("label", label))


def measure(graph: Evolving, queries: int, batches: int) -> list[Measured]:
    """The three kinds of queries, kept in both ways."""
    known = labelled(graph)
    asked: list[tuple[Evolving, Ask]] = [
        (known, paths(known, "RPQ Q1", "knows*", queries, first="knows")),
        (graph, k_hop(graph, queries)),
        (graph, distances(graph, queries)),
    ]
    courses = {each.column: Course(each) for each in (known, graph)}
    return [
        row
        for each, ask in asked
        for policy in POLICIES
        for row in courses[each.column].run(ask, policy, batches=batches)
    ]


def draw(file: Path, rows: list[Measured], name: str) -> None:
    """Bars by degree, a panel for each kind of query, and above them the differences of a vertex."""
    kinds = [kind for kind in KINDS if any(row.query == kind for row in rows)]
    figure, grid = panels(1, len(kinds), (4.6 * len(kinds), 4.4), sharey=True)
    degrees = list(dict.fromkeys(row.graph for row in rows))
    for axes, kind in zip(grid[0], kinds, strict=True):
        for offset, policy in enumerate(type(policy).__name__ for policy in POLICIES):
            mine = {row.graph: row for row in rows if (row.query, row.policy) == (kind, policy)}
            heights = [mine[degree].mean_seconds if degree in mine else np.nan for degree in degrees]
            drawn = bars(axes, offset, len(POLICIES), heights, color=COLOURS[policy], label=policy)
            if policy == "JoinOnDemand":
                steps = [f"{mine[degree].differences / mine[degree].answers:.1f}" for degree in degrees]
                axes.bar_label(drawn, steps, fontsize=8)
        axes.set_xticks(range(len(degrees)), [degree.rpartition(" ")[2] for degree in degrees])
        axes.set_xlabel("edges out of a vertex, on average")
        axes.set_title(kind, fontsize=10, loc="left")
        plain(axes, log="y")
    grid[0, 0].set_ylabel("seconds per batch of one edge (mean)")
    figure.legend(*grid[0, -1].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    save(figure, file, f"{name} with random edges added (numbers: differences of a vertex)")


def summarize(rows: list[Measured]) -> None:
    """Print how the two compare."""
    print("\n| graph | query | Vanilla | JoinOnDemand | differences of a vertex | bytes, times fewer |")
    for key in dict.fromkeys((row.graph, row.query) for row in rows):
        mine = {row.policy: row for row in rows if (row.graph, row.query) == key}
        lean, full = mine["JoinOnDemand"], mine.get("Vanilla")
        times = ["-", "-"] if full is None else [f"{1e6 * full.mean_seconds:,.0f} us", f"{full.bytes / lean.bytes:.1f}"]
        steps = f"{lean.differences / lean.answers:.2f}"
        print(f"| {key[0]} | {key[1]} | {times[0]} | {1e6 * lean.mean_seconds:,.0f} us | {steps} | {times[1]} |")


if __name__ == "__main__":
    main()
