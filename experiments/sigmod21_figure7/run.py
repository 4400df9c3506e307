"""Views that grow a little and views that share nothing: by differences, from scratch, adaptively.

Figure 7 of "Graphsurge" (SIGMOD 2021) on public data. Run it from the root of a checkout:

    python -m experiments.sigmod21_figure7.run
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from experiments.view_runs import (
    COLOURS,
    COMPUTATIONS,
    STRATEGIES,
    Laboratory,
    Measured,
    arguments_on,
    laboratory,
    read,
    write,
)
from graphtide import datasets

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import NullFormatter

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Temporal:
    """A graph over time, and the widths by which its windows grow or slide."""

    name: str
    first: float  # the share of the edges that are in the first window of a growing collection
    similar: dict[str, timedelta]
    disjoint: dict[str, timedelta]
    most: int = 20  # views of a collection


_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
GRAPHS = (
    Temporal(
        "sx-mathoverflow",
        0.7,
        {"1 day": _DAY, "1 month": 30 * _DAY, "6 months": 182 * _DAY},
        {"3 months": 91 * _DAY, "6 months": 182 * _DAY, "1 year": 365 * _DAY, "2 years": 730 * _DAY},
    ),
    Temporal(
        "higgs-twitter",
        0.7,
        {"10 minutes": _HOUR / 6, "1 hour": _HOUR, "12 hours": 12 * _HOUR},
        {"6 hours": 6 * _HOUR, "12 hours": 12 * _HOUR, "1 day": _DAY, "2 days": 2 * _DAY},
    ),
    Temporal(
        "email-Eu-core-temporal",
        0.7,
        {"1 day": _DAY, "1 week": 7 * _DAY, "1 month": 30 * _DAY},
        {"1 week": 7 * _DAY, "1 month": 30 * _DAY, "3 months": 91 * _DAY, "6 months": 182 * _DAY},
    ),
)


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [graph.name for graph in GRAPHS]
    parser.add_argument("--graphs", nargs="*", default=names, help="others keep what was recorded of them")
    parser.add_argument("--computations", nargs="+", default=list(COMPUTATIONS))
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv") if row.graph not in chosen.graphs]
    with laboratory() as lab:
        for graph in GRAPHS:
            if graph.name in chosen.graphs:
                rows += measure(lab, graph, chosen.computations)
    rows.sort(key=lambda row: names.index(row.graph))
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)
    summarize(rows)


def measure(lab: Laboratory, graph: Temporal, computations: list[str]) -> list[Measured]:
    """All collections on a graph, all computations, all ways."""
    table = with_timestamps(datasets.load(graph.name))
    seconds = table.column("time").cast(pa.timestamp("s", "UTC")).cast(pa.int64()).to_numpy()
    name = graph.name.replace("-", "_")
    lab.session.load_graph(name, edges=table.append_column("weight", pa.array(1 + seconds % 10)))
    arguments = arguments_on(table.slice(0, round(graph.first * table.num_rows)))
    collections = collections_of(lab, name, graph, seconds)
    return [
        row
        for called, collection in collections.items()
        for computation in computations
        for row in lab.run(
            graph.name,
            collection,
            computation,
            arguments[computation],
            ways=[("given", way) for way in STRATEGIES],
            as_called=called,
        )
    ]


def with_timestamps(edges: pa.Table) -> pa.Table:
    """Edges whose times are timestamps; seconds from a beginning that nobody knows are counted from 1970 on."""
    place = edges.column_names.index("time")
    times = edges.column(place)
    return (
        edges
        if pa.types.is_timestamp(times.type)
        else edges.set_column(place, "time", times.cast(pa.timestamp("s", "UTC")))
    )


def collections_of(lab: Laboratory, on: str, graph: Temporal, seconds: NDArray[np.int64]) -> dict[str, str]:
    """Growing and sliding windows of each width; the names of their collections by what they are called."""
    begin, first, end = (instant(seconds[place]) for place in (0, round(graph.first * len(seconds)), -1))
    found: dict[str, str] = {}
    for number, (called, width) in enumerate(graph.similar.items()):
        count = min(graph.most, (end - first) // width + 1)
        views = {f"v{k}": f"time < {literal(first + k * width)}" for k in range(count)}
        found[f"growing by {called}"] = f"{on}_growing_{number}"
        lab.session.create_view_collection(f"{on}_growing_{number}", on=on, views=views, order="given")
    for number, (called, width) in enumerate(graph.disjoint.items()):
        bounds = [begin + k * width for k in range(min(graph.most, (end - begin) // width + 1) + 1)]
        views = {
            f"v{k}": f"time >= {literal(low)} and time < {literal(high)}"
            for k, (low, high) in enumerate(pairwise(bounds))
        }
        found[f"sliding by {called}"] = f"{on}_sliding_{number}"
        lab.session.create_view_collection(f"{on}_sliding_{number}", on=on, views=views, order="given")
    return found


def instant(second: int) -> datetime:
    """A second since 1970 as a time."""
    return datetime.fromtimestamp(float(second), UTC)


def literal(time: datetime) -> str:
    """A time in GVDL."""
    return f"timestamp '{time:%Y-%m-%d %H:%M:%S}'"


def draw(file: Path, rows: list[Measured]) -> None:
    """Bars for each strategy, a picture for each graph and computation, growing collections left of sliding ones."""
    graphs = list(dict.fromkeys(row.graph for row in rows))
    computations = list(dict.fromkeys(row.computation for row in rows))
    size = (3.2 * len(computations) + 1, 3.0 * len(graphs) + 0.8)
    figure, panels = plt.subplots(len(graphs), len(computations), figsize=size, layout="constrained", squeeze=False)
    for line, graph in enumerate(graphs):
        for place, computation in enumerate(computations):
            axes = panels[line, place]
            mine = [row for row in rows if (row.graph, row.computation) == (graph, computation)]
            collections = list(dict.fromkeys(row.collection for row in mine))
            for offset, strategy in enumerate(STRATEGIES):
                heights = [row.seconds for row in mine if row.strategy == strategy]
                axes.bar(
                    np.arange(len(collections)) + 0.27 * (offset - 1),
                    heights,
                    0.27,
                    color=COLOURS[strategy],
                    label=strategy,
                )
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_title(f"{computation}, {graph}", fontsize=9, loc="left")
            axes.set_xticks(range(len(collections)), collections, rotation=35, ha="right", fontsize=7)
            axes.tick_params(axis="y", labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
        panels[line, 0].set_ylabel("seconds")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def summarize(rows: list[Measured]) -> None:
    """Print how the ways compare, by kind of collection."""
    seconds = {(row.graph, row.collection, row.computation, row.strategy): row.seconds for row in rows}
    print("\n| graph | collection | views |" + "".join(f" {c} |" for c in dict.fromkeys(r.computation for r in rows)))
    for graph, collection in dict.fromkeys((row.graph, row.collection) for row in rows):
        mine = [row for row in rows if (row.graph, row.collection, row.strategy) == (graph, collection, "adaptive")]
        cells: list[str] = []
        for row in mine:
            by_way = {way: seconds[graph, collection, row.computation, way] for way in STRATEGIES}
            better = min(by_way["differential"], by_way["scratch"])
            cells.append(f" {by_way['scratch'] / by_way['differential']:.2g}x, {better / by_way['adaptive']:.2f} |")
        print(f"| {graph} | {collection} | {mine[0].views} |" + "".join(cells))
    print("each cell: scratch over differential, and the better of both over adaptive")


if __name__ == "__main__":
    main()
