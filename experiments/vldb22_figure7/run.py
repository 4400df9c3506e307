"""How many queries fit into given bytes, and what an update of all of them costs.

Figure 7 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on public data. Run
it from the root of a checkout:

    python -m experiments.vldb22_figure7.run
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import graphtide as gt
from experiments.continuous_budgets import Drop, least_drop, sizes
from experiments.continuous_graphs import Evolving, evolving
from experiments.continuous_plots import COLOURS, panels, plain, save
from experiments.continuous_runs import Ask, Course, Measured, distances, k_hop, paths, prepare, read, write
from graphtide.frontier.maintenance import Maintenance

HERE = Path(__file__).parent
DROPS = (gt.DeterministicDrop, gt.ProbabilisticDrop)
BATCHES = 30
MOST = 2000  # queries
FEW = 2
TRIES = 5


def words(graph: Evolving, queries: int) -> Ask:
    """Ways up to more general words and down again."""
    return paths(graph, "RPQ Q2", "hypernym hyponym*", queries, first="hypernym")


def likes(graph: Evolving, queries: int) -> Ask:
    """What is behind the messages that somebody likes."""
    return paths(graph, "RPQ Q2", "likes replyOf*", queries, first="likes")


ASKED: dict[str, tuple[Callable[[Evolving, int], Ask], ...]] = {
    "as-caida": (distances,),
    "soc-Slashdot0902": (distances, k_hop),
    "wordnet30": (words,),
    "ego-Twitter": (k_hop,),
    "ldbc-snb-sf0.1": (likes,),
    "rmat-small": (distances, k_hop),
}
SHIPPED = ("as-caida", "soc-Slashdot0902", "wordnet30")


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=SHIPPED, choices=list(ASKED), help="others stay as recorded")
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--megabytes", type=float, default=100.0, help="that all queries may keep")
    parser.add_argument("--levels", type=int, default=4, help="numbers of queries that are tried for each policy")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv") if row.graph not in chosen.graphs]
    if chosen.graphs:
        prepare()
    for name in chosen.graphs:
        graph = evolving(name, chosen.data)
        if graph is not None:
            course = Course(graph)
            for make in ASKED[name]:
                rows += measure(course, make(graph, MOST), 1e6 * chosen.megabytes, chosen.levels, chosen.batches)
    rows.sort(key=lambda row: list(ASKED).index(row.graph))
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows, chosen.megabytes)
    summarize(rows)


def measure(course: Course, ask: Ask, budget: float, levels: int, batches: int) -> list[Measured]:
    """As many queries as fit with all differences, and then more of them, with as little dropped as fits."""
    rows: list[Measured] = []
    for policy in (gt.Vanilla(), gt.JoinOnDemand()):
        rows += as_many_as_fit(course, ask, policy, budget=budget, batches=batches)
    held = max(row.queries for row in rows)
    for drop in DROPS:
        by_probability = sizes(course, ask, drop)
        most = max(held, min(MOST, int(budget / min(by_probability.values()))))
        counts = np.geomspace(held, most, levels)
        rows += dropping(course, ask, drop, by_probability, counts=counts, budget=budget, batches=batches)
    counts = [row.queries for row in rows]
    for count in sorted({min(counts), max(counts)}):
        rows += course.run(ask.of(count), gt.Scratch(), batches=batches, patience=1.0)
    return rows


def as_many_as_fit(course: Course, ask: Ask, policy: Maintenance, *, budget: float, batches: int) -> list[Measured]:
    """A run with the most queries that fit, tried for by what those before kept after the batches."""
    best: list[Measured] = []
    held, count = 0, FEW
    for _ in range(TRIES):
        found = course.run(ask.of(count), policy, batches=batches)
        if found[0].bytes <= budget:
            best, held = found, count
        count = min(MOST, int(count * budget / found[0].bytes))
        if count <= held:
            break
    return best


def dropping(
    course: Course,
    ask: Ask,
    drop: Drop,
    by_probability: dict[float, float],
    *,
    counts: Iterable[float],
    budget: float,
    batches: int,
) -> list[Measured]:
    """Runs with more and more queries.

    What a few of them take is not what all of them take, so that fewer may be held than they promise.
    """
    rows: dict[int, Measured] = {}
    for wanted in counts:
        row = None
        count = round(wanted)
        while row is None and count > max(rows, default=0):
            row = least_drop(course, ask.of(count), drop, by_probability, budget=budget, batches=batches)
            count = int(0.96 * count)
        if row is not None:
            rows[row.queries] = row
    return list(rows.values())


def draw(file: Path, rows: list[Measured], megabytes: float) -> None:
    """Seconds by the number of queries, a panel for each graph and kind of query."""
    asked = list(dict.fromkeys((row.graph, row.query) for row in rows))
    lines = -(-len(asked) // 2)
    figure, grid = panels(lines, 2, (12, 4.4 * lines))
    for axes, (graph, query) in zip(grid.flat, asked, strict=False):
        picture(axes, [row for row in rows if (row.graph, row.query) == (graph, query)])
        axes.set_title(f"{query}, {graph}", fontsize=10, loc="left")
    for axes in grid.flat[len(asked) :]:
        axes.set_visible(False)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    save(figure, file, f"Queries that {megabytes:g} MB hold, and what an update costs (percent: chance of a drop)")


def picture(axes: Axes, rows: list[Measured]) -> None:
    """A line for each policy."""
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row for row in rows if row.policy == policy]
        counts, seconds = [row.queries for row in mine], [row.mean_seconds for row in mine]
        axes.plot(counts, seconds, marker="o", markersize=5, color=COLOURS[policy], label=policy)
        for row in mine:
            if row.choose:
                above = policy == "ProbabilisticDrop"
                axes.annotate(
                    f"{row.p:.0%}",
                    (row.queries, row.mean_seconds),
                    xytext=(0, 6 if above else -13),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=COLOURS[policy],
                )
    axes.set_xlabel("queries")
    axes.set_ylabel("seconds per batch, all queries")
    axes.set_xlim(left=0)
    plain(axes, log="y")


def summarize(rows: list[Measured]) -> None:
    """Print how many queries each policy holds."""
    print("\n| graph | query | policy | queries | of Vanilla | p | us per batch | us per batch and query | MB |")
    for row in rows:
        key = row.graph, row.query, "Vanilla"
        full = [each.queries for each in rows if (each.graph, each.query, each.policy) == key]
        times = f"{row.queries / full[0]:.1f}" if full else "-"
        print(
            f"| {row.graph} | {row.query} | {row.policy} | {row.queries} | {times} | {row.p:g} | "
            f"{1e6 * row.mean_seconds:,.0f} | {1e6 * row.mean_seconds / row.queries:,.2f} | {row.bytes / 1e6:.1f} |"
        )


if __name__ == "__main__":
    main()
