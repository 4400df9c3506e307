"""What the order of views saves where none is natural: each choice of the largest communities removed.

Table 4 and figure 8 of "Graphsurge" (SIGMOD 2021): departments of an institution that write e-mails, and
a generated graph of com-DBLP's size. Run it from the root of a checkout:

    python -m experiments.sigmod21_table4.run
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa

from experiments.view_runs import COMPUTATIONS, Laboratory, Measured, arguments_on, laboratory, write
from graphtide import datasets

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import NullFormatter

HERE = Path(__file__).parent
STRATEGIES = ("differential", "adaptive")
SEED = 21


@dataclass(frozen=True)
class Perturbed:
    """A graph whose largest communities are removed, some at a time."""

    graph: str
    largest: int
    removed: int

    @property
    def called(self) -> str:
        """As the paper calls it."""
        return f"{self.largest}C{self.removed}"


@dataclass(frozen=True)
class Created:
    """A collection in an order of its own, what it costs and what it took to create it."""

    graph: str
    collection: str
    views: int
    order: str
    edge_differences: int
    seconds: float


def main() -> None:
    """Create, run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=317_000, help="of the generated graph")
    parser.add_argument("--computations", nargs="+", default=list(COMPUTATIONS))
    parser.add_argument("--long", action="store_true", help="also run on the generated graph, for an hour or so")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    created: list[Created] = []
    rows: list[Measured] = []
    with laboratory() as lab:
        for graph, edges, nodes in graphs(chosen.nodes):
            lab.session.load_graph(graph, edges=edges, nodes=nodes)
            arguments = arguments_on(edges)
            # One view alone, so that what Spark does but once is not counted.
            lab.session.create_view_collection(f"{graph}_warm", on=graph, views={"all": "src.community >= 0"})
            for largest, removed in ((7, 4), (10, 5)):
                perturbed = Perturbed(graph, largest, removed)
                orders = {order: create(lab, perturbed, nodes, order) for order in ("found", "random")}
                created += orders.values()
                if graph == "email" or chosen.long:
                    rows += runs(lab, perturbed, chosen.computations, arguments)
    write(chosen.output / "runs.csv", rows)
    write_created(chosen.output / "collections.csv", created)
    draw(chosen.output / "plot.png", rows)
    summarize(created, rows)


def graphs(size: int) -> Iterator[tuple[str, pa.Table, pa.Table]]:
    """Name, edges with a weight, and nodes with a community."""
    departments = datasets.nodes("email-Eu-core")
    assert departments is not None, "its people have departments"
    departments = departments.rename_columns({"department": "community"})
    yield "email", weighted(datasets.load("email-Eu-core")), departments
    nodes, edges = datasets.communities(size, mean_degree=6.6, seed=1)
    yield "lfr", weighted(edges), nodes


def weighted(edges: pa.Table) -> pa.Table:
    """With a weight from 1 to 10 that the ends of an edge give it."""
    src, dst = (edges.column(name).to_numpy() for name in ("src", "dst"))
    return edges.append_column("weight", pa.array(1 + (7 * src + dst) % 10))


def create(lab: Laboratory, perturbed: Perturbed, nodes: pa.Table, order: str) -> Created:
    """The collection in the order that is found for it, or shuffled once and kept so."""
    community = nodes.column("community").drop_null().to_numpy()
    names, sizes = np.unique(community[community >= 0], return_counts=True)
    largest = names[np.argsort(-sizes, kind="stable")[: perturbed.largest]].tolist()
    choices = list(combinations(largest, perturbed.removed))
    np.random.default_rng(SEED).shuffle(choices)
    views: dict[str, str] = {}
    for choice in choices:
        listed = ", ".join(map(str, sorted(choice)))
        views["without_" + "_".join(map(str, sorted(choice)))] = (
            f"not src.community in ({listed}) and not dst.community in ({listed})"
        )
    clock = time.perf_counter()
    made = lab.session.create_view_collection(
        f"{perturbed.graph}_{perturbed.called}_{order}",
        on=perturbed.graph,
        views=views,
        order="given" if order == "random" else "auto",
    )
    seconds = time.perf_counter() - clock
    cost = int(made.costs[made.chosen])
    return Created(perturbed.graph, perturbed.called, len(views), order, cost, round(seconds, 3))


def runs(
    lab: Laboratory, perturbed: Perturbed, computations: list[str], arguments: dict[str, dict[str, Any]]
) -> Iterator[Measured]:
    """Each computation in both orders, with and without splitting."""
    for computation in computations:
        for order in ("found", "random"):
            name = f"{perturbed.graph}_{perturbed.called}_{order}"
            ways = [("auto", strategy) for strategy in STRATEGIES]
            called = f"{perturbed.called} {order}"
            yield from lab.run(perturbed.graph, name, computation, arguments[computation], ways=ways, as_called=called)


def write_created(file: Path, created: list[Created]) -> None:
    """Record what the collections cost."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["graph", "collection", "views", "order", "edge_differences", "seconds"])
        writer.writerows(
            [each.graph, each.collection, each.views, each.order, each.edge_differences, each.seconds]
            for each in created
        )


def draw(file: Path, rows: list[Measured]) -> None:
    """Bars for both orders, with and without splitting, a picture for each graph and collection."""
    colours = {
        ("found", "differential"): "#4c72b0",
        ("random", "differential"): "#c44e52",
        ("found", "adaptive"): "#9db6dc",
        ("random", "adaptive"): "#e5a8aa",
    }
    places = list(dict.fromkeys((row.graph, row.collection.split()[0]) for row in rows))
    figure, panels = plt.subplots(1, len(places), figsize=(4.6 * len(places), 4), layout="constrained", squeeze=False)
    for axes, (graph, called) in zip(panels[0], places, strict=True):
        computations = list(dict.fromkeys(row.computation for row in rows))
        for offset, ((order, strategy), colour) in enumerate(colours.items()):
            heights = [
                row.seconds
                for row in rows
                if (row.graph, row.collection, row.strategy) == (graph, f"{called} {order}", strategy)
            ]
            x = np.arange(len(computations)) + 0.2 * (offset - 1.5)
            axes.bar(x, heights, 0.2, color=colour, label=f"{order} order, {strategy}")
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_title(f"{graph}, {called}", loc="left", fontsize=11)
        axes.set_xticks(range(len(computations)), computations, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("seconds")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def summarize(created: list[Created], rows: list[Measured]) -> None:
    """Print table 4, and how much faster the order found is."""
    for found, random in zip(created[::2], created[1::2], strict=True):
        print(
            f"{found.graph} {found.collection}: {found.edge_differences:,} against {random.edge_differences:,} "
            f"differences ({random.edge_differences / found.edge_differences:.1f}x), "
            f"created in {found.seconds:.2f} and {random.seconds:.2f} s"
        )
    seconds = {(row.graph, row.collection, row.computation, row.strategy): row.seconds for row in rows}
    for (graph, collection, computation, strategy), found in seconds.items():
        called, order = collection.split()
        if order == "found":
            ratio = seconds[graph, f"{called} random", computation, strategy] / found
            print(f"{graph} {called}, {computation}, {strategy}: the order found is {ratio:.1f}x faster")


if __name__ == "__main__":
    main()
