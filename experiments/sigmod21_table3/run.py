"""Products of windows: by differences, from scratch and adaptively; and along a chain or on the lattice.

Table 3 of "Graphsurge" (SIGMOD 2021) on public data, and what the paper has not: a product run with a coordinate
of time for each of its dimensions. Run it from the root of a checkout:

    python -m experiments.sigmod21_table3.run
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from experiments.view_runs import COLOURS, STRATEGIES, Laboratory, Measured, laboratory, write
from graphtide.bench.views_graphs import load_citations, windows
from graphtide.pipeline.running import order_for

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
GRAPH = "cit-HepPh"
COMPUTATIONS: dict[str, dict[str, Any]] = {
    "wcc": {},
    "scc": {},
    "pagerank": {"iterations": 5},
    "k_core": {"k": 5},
    "triangles": {},
    "label_propagation": {},
}
ORDERS = ("given", "chain", "lattice")
# The lattice keeps a history for each cell: with ranks that all change it would not fit.
ORDERED = ("wcc", "k_core", "triangles")


def main() -> None:
    """Run, compare, record, draw and print the headlines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--computations", nargs="+", default=list(COMPUTATIONS))
    parser.add_argument("--years", type=int, default=9, help="periods that have nothing in common")
    parser.add_argument("--thresholds", type=int, default=12, help="of citations")
    parser.add_argument("--quarters", type=int, default=8, help="by which a period grows")
    parser.add_argument("--limits", type=int, default=24, help="of references")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    with laboratory() as lab:
        load_citations(lab.session, most_edges=1_000_000)
        apart, growing = windows(lab.session, chosen.years, chosen.thresholds, chosen.quarters, chosen.limits)
        split = list(splitting(lab, apart, chosen.computations))
        among = [each for each in ORDERED if each in chosen.computations]
        ordered = [row for name in (growing, apart) for row in ordering(lab, name, among)]
    write(chosen.output / "splitting.csv", split)
    write(chosen.output / "ordering.csv", ordered)
    draw(chosen.output / "plot.png", split, ordered)
    summarize(split)


def splitting(lab: Laboratory, collection: str, computations: list[str]) -> Iterator[Measured]:
    """Years apart times growing numbers of citations, one after the other."""
    for computation in computations:
        ways = [("given", way) for way in STRATEGIES]
        yield from lab.run(GRAPH, collection, computation, COMPUTATIONS[computation], ways=ways)


def ordering(lab: Laboratory, collection: str, computations: list[str]) -> Iterator[Measured]:
    """The same views along a chain and on the lattice."""
    stored = lab.session.view_collection(collection)
    print(f"{collection}: edge differences {stored.costs}")
    for computation in computations:
        print(f"{computation}: {order_for(lab.session, computation, collection, COMPUTATIONS[computation])} is chosen")
        ways = [(order, "adaptive") for order in ORDERS]
        yield from lab.run(GRAPH, collection, computation, COMPUTATIONS[computation], ways=ways)


def draw(file: Path, split: list[Measured], ordered: list[Measured]) -> None:
    """Bars of seconds: strategies on the left, orders on the right."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    bars(panels[0], split, "strategy", STRATEGIES, "years apart x citations: strategies")
    names = {"growing": "growing quarters x references: orders", "apart": "years apart x citations: orders"}
    for axes, (collection, title) in zip(panels[1:], names.items(), strict=True):
        bars(axes, [row for row in ordered if row.collection == collection], "order", ORDERS, title)
    for axes in panels:
        axes.set_ylabel("seconds")
    figure.savefig(file, dpi=120)
    plt.close(figure)


def bars(axes: Any, rows: list[Measured], by: str, kinds: tuple[str, ...], title: str) -> None:
    """A bar for each computation and kind."""
    computations = list(dict.fromkeys(row.computation for row in rows))
    for offset, kind in enumerate(kinds):
        heights = [row.seconds for row in rows if getattr(row, by) == kind]
        axes.bar(np.arange(len(computations)) + 0.27 * (offset - 1), heights, 0.27, color=COLOURS[kind], label=kind)
    axes.set_xticks(range(len(computations)), computations)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def summarize(split: list[Measured]) -> None:
    """Print how far ahead of both ways the adaptive one is."""
    for computation in dict.fromkeys(row.computation for row in split):
        seconds = {row.strategy: row.seconds for row in split if row.computation == computation}
        ratios = ", ".join(f"{seconds[way] / seconds['adaptive']:.2f}x {way}" for way in STRATEGIES[:2])
        print(f"{computation}: adaptive {seconds['adaptive']:.3g} s, {ratios}")


if __name__ == "__main__":
    main()
