"""How many shortest-path queries fit into a given memory, and what an update costs: from scratch and maintained.

Table 1 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on a random graph of
the same size. Run it from the root of a checkout:

    python -m experiments.vldb22_table1.run
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import graphtide as gt
from experiments.continuous_graphs import evolving
from experiments.continuous_plots import COLOURS, panels, plain, save
from experiments.continuous_runs import BATCHES, Ask, Course, Measured, prepare, shortest_paths, write
from graphtide.frontier.maintenance import Maintenance

HERE = Path(__file__).parent
POLICIES = (gt.Scratch(), gt.Vanilla(), gt.JoinOnDemand())


def main() -> None:
    """Run, compare, record, draw and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="rmat")
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 2, 10, 20])
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="that all queries may keep")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    prepare()
    graph = evolving(chosen.graph)
    if graph is None:
        return
    course = Course(graph)
    ask = shortest_paths(graph, max(chosen.queries))
    asks = [ask.of(count) for count in sorted(chosen.queries)]
    rows = [
        row
        for policy in POLICIES
        for row in within(course, asks, policy, batches=chosen.batches, budget=1e9 * chosen.gigabytes)
    ]
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows, chosen.gigabytes)
    summarize(rows, chosen.queries)


def within(course: Course, asks: list[Ask], policy: Maintenance, *, batches: int, budget: float) -> Iterator[Measured]:
    """More and more queries, as long as they fit, judged by what those before kept."""
    each = 0.0
    for ask in asks:
        count = len(ask.arguments)
        if each * count > budget:
            print(f"{type(policy).__name__}: {count} queries would keep {each * count / 1e9:.1f} GB, which do not fit")
            return
        for row in course.run(ask, policy, batches=batches, patience=1.0):
            each = row.bytes / row.queries
            yield row


def draw(file: Path, rows: list[Measured], gigabytes: float) -> None:
    """Seconds and bytes by the number of queries."""
    figure, grid = panels(1, 2, (11, 4.2))
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row for row in rows if row.policy == policy]
        counts = [row.queries for row in mine]
        style = {"marker": "o", "color": COLOURS[policy], "label": policy}
        grid[0, 0].plot(counts, [row.mean_seconds for row in mine], **style)
        grid[0, 1].plot(counts, [row.bytes / 1e9 for row in mine], **style)
    grid[0, 1].axhline(gigabytes, color="black", linewidth=0.8, linestyle=":", label=f"{gigabytes:g} GB")
    for axes, label in zip(grid[0], ("seconds per batch of one edge", "gigabytes kept by the queries"), strict=True):
        plain(axes, log="xy")
        axes.set_xlabel("shortest-path queries")
        axes.set_ylabel(label)
        counts = sorted({row.queries for row in rows})
        axes.set_xticks(counts, [str(count) for count in counts])
    grid[0, 1].legend(frameon=False, fontsize=9)
    save(
        figure,
        file,
        "A dataflow follows fast and is soon out of memory; without the differences of Join there is room",
    )


def summarize(rows: list[Measured], counts: list[int]) -> None:
    """Print the table: seconds for a hundred batches."""
    print("\n| seconds for 100 batches |" + "".join(f" {count} |" for count in counts))
    for policy in dict.fromkeys(row.policy for row in rows):
        seconds = {row.queries: 100 * row.mean_seconds for row in rows if row.policy == policy}
        cells = [f"{seconds[count]:.3g}" if count in seconds else "out of memory" for count in counts]
        print(f"| {policy} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
