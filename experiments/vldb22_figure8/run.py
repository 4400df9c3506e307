"""Components and PageRank in less memory than all their differences take: how much is dropped, and what it costs.

Figure 8 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on public data. Run
it from the root of a checkout:

    python -m experiments.vldb22_figure8.run
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import graphtide as gt
from experiments.continuous_budgets import least_drop, sizes
from experiments.continuous_graphs import evolving
from experiments.continuous_plots import COLOURS, bars, panels, plain, save
from experiments.continuous_runs import BATCHES, Ask, Course, Measured, components, pagerank, prepare, write

HERE = Path(__file__).parent
DROPS = (gt.DeterministicDrop, gt.ProbabilisticDrop)
POLICIES = ("Scratch", "JoinOnDemand", "DeterministicDrop", "ProbabilisticDrop")


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["as-caida", "soc-Slashdot0902"])
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--share", type=float, default=0.7, help="of the bytes of all differences that is given")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    prepare()
    rows: list[Measured] = []
    for name in chosen.graphs:
        graph = evolving(name, chosen.data)
        if graph is not None:
            course = Course(graph)
            for make in (components, pagerank):
                rows += measure(course, make(graph), chosen.share, chosen.batches)
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows, chosen.share)
    summarize(rows)


def measure(course: Course, ask: Ask, share: float, batches: int) -> list[Measured]:
    """With all differences, and with as little dropped as fits into a share of their bytes."""
    whole = list(course.run(ask, gt.JoinOnDemand(), batches=batches))
    rows = [*course.run(ask, gt.Scratch(), batches=batches), *whole]
    for drop in DROPS:
        by_probability = sizes(course, ask, drop)
        row = least_drop(course, ask, drop, by_probability, budget=share * whole[0].bytes, batches=batches)
        if row is None:
            print(f"{course.graph.name}, {ask.name}, {drop.__name__}: does not fit, however much is dropped")
        else:
            rows.append(row)
    return rows


def draw(file: Path, rows: list[Measured], share: float) -> None:
    """Seconds and bytes as bars, with the probabilities above them."""
    asked = list(dict.fromkeys((row.graph, row.query) for row in rows))
    figure, grid = panels(1, 2, (12, 4.6))
    for offset, policy in enumerate(POLICIES):
        mine = {(row.graph, row.query): row for row in rows if row.policy == policy}
        found = [mine.get(place) for place in asked]
        seconds = [row.mean_seconds if row else np.nan for row in found]
        style = {"color": COLOURS[policy], "label": policy}
        drawn = bars(grid[0, 0], offset, len(POLICIES), seconds, **style)
        if policy in {drop.__name__ for drop in DROPS}:
            grid[0, 0].bar_label(drawn, [f"{row.p:.0%}" if row else "" for row in found], fontsize=8)
        bars(grid[0, 1], offset, len(POLICIES), [row.bytes / 1e6 if row else np.nan for row in found], **style)
    for axes, label in zip(grid[0], ("seconds per batch of one edge (mean)", "megabytes"), strict=True):
        axes.set_xticks(range(len(asked)), [f"{query}\n{graph}" for graph, query in asked], fontsize=9)
        axes.set_ylabel(label)
        plain(axes, log="y")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    title = f"In {share:.0%} of the memory of all differences (percent: the share of them that may be dropped)"
    save(figure, file, title)


def summarize(rows: list[Measured]) -> None:
    """Print what was dropped and what it cost."""
    print("\n| graph | query | policy | p | dropped | us per batch | recomputed | MB |")
    for row in rows:
        print(
            f"| {row.graph} | {row.query} | {row.policy} | {row.p:g} | {row.dropped:,} | "
            f"{1e6 * row.mean_seconds:,.0f} | {row.recomputed:,} | {row.bytes / 1e6:.2f} |"
        )


if __name__ == "__main__":
    main()
