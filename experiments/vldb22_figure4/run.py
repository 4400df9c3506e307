"""Seconds and bytes of continuous queries: from scratch, as a dataflow, and without the differences of Join.

Figure 4 of "Optimizing Differentially-Maintained Recursive Queries on Dynamic Graphs" (VLDB 2022) on public data. Run
it from the root of a checkout:

    python -m experiments.vldb22_figure4.run
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import graphtide as gt
from experiments.continuous_graphs import Evolving, evolving
from experiments.continuous_plots import COLOURS, bars, panels, plain, save
from experiments.continuous_runs import (
    BATCHES,
    QUERIES,
    WARM,
    Ask,
    Course,
    Measured,
    components,
    k_hop,
    pagerank,
    paths,
    prepare,
    read,
    shortest_paths,
    write,
)

HERE = Path(__file__).parent
POLICIES = (gt.Scratch(), gt.Vanilla(), gt.JoinOnDemand())
SHARES = (0.0, 0.25, 0.5)
KINDS = ("SPSP", "K-hop", "RPQ", "WCC", "PageRank")
# The patterns a*, a b*, a b c d e of the paper by graph, each after its first label.
PATTERNS = {
    "ldbc-snb-sf0.1": {
        "Q1": ("knows", "knows*"),
        "Q2": ("likes", "likes replyOf*"),
        "Q3": ("likes", "likes replyOf hasCreator knows likes"),
    },
    "wordnet30": {
        "Q1": ("hypernym", "hypernym*"),
        "Q2": ("hypernym", "hypernym hyponym*"),
        "Q3": ("hypernym", "hypernym hyponym part_meronym hypernym hyponym"),
    },
    "icews14": {
        "Q1": ("Make statement", "'Make statement'*"),
        "Q2": ("Make a visit", "'Make a visit' Consult*"),
        "Q3": ("Make a visit", "'Make a visit' Consult 'Praise or endorse' 'Make statement' Consult"),
    },
    "linux-kernel-callgraph": {"Q1": ("call", "call*")},
}


def three_paths(graph: Evolving, queries: int) -> list[Ask]:
    """The paper's three patterns with the labels of a graph."""
    asked = PATTERNS[graph.name]
    return [paths(graph, f"RPQ {name}", pattern, queries, first=first) for name, (first, pattern) in asked.items()]


def one(make: Callable[[Evolving, int], Ask]) -> Callable[[Evolving, int], list[Ask]]:
    """A kind of query alone."""
    return lambda graph, queries: [make(graph, queries)]


ASKED: dict[str, list[Callable[[Evolving, int], list[Ask]]]] = {
    "road-malta-osm": [one(shortest_paths)],
    "as-caida": [one(shortest_paths), one(components)],
    "soc-Slashdot0902": [one(k_hop), one(components), one(pagerank)],
    "ego-Twitter": [one(k_hop), one(components), one(pagerank)],
    "wordnet30": [three_paths],
    "icews14": [three_paths],
    "ldbc-snb-sf0.1": [three_paths],
    "linux-kernel-callgraph": [three_paths],
    "rmat": [one(shortest_paths), one(k_hop), one(components)],
    "rmat-eighth": [one(shortest_paths), one(k_hop), one(components)],
    "rmat-small": [one(shortest_paths), one(k_hop), one(components), one(pagerank)],
}
SHIPPED = ("road-malta-osm", "as-caida", "soc-Slashdot0902", "wordnet30", "icews14")


def main() -> None:
    """Run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=SHIPPED, choices=list(ASKED), help="others stay as recorded")
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv") if row.graph not in chosen.graphs]
    if chosen.graphs:
        prepare()
    for name in chosen.graphs:
        graph = evolving(name, chosen.data)
        if graph is not None:
            rows += measure(graph, chosen.queries, chosen.batches)
    rows.sort(key=lambda row: list(ASKED).index(row.graph))
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)
    summarize(rows)


def measure(graph: Evolving, queries: int, batches: int) -> list[Measured]:
    """All queries that a graph is asked, kept in each way; changes that come with a graph are taken as they are."""
    course = Course(graph)
    shares = SHARES
    if graph.given:
        batches = len(graph.given) - WARM
        shares = (round(sum(gone for gone, _ in graph.given) / len(graph.given), 2),)
    return [
        row
        for asked in ASKED[graph.name]
        for ask in asked(graph, queries)
        for policy in POLICIES
        for row in course.run(ask, policy, shares=shares, batches=batches)
    ]


def draw(file: Path, rows: list[Measured]) -> None:
    """A column of panels for each kind of query: seconds with each share of deletions, and bytes."""
    kinds = [kind for kind in KINDS if places(rows, kind)]
    widths = [2 + len(places(rows, kind)) for kind in kinds]
    figure, grid = panels(4, len(kinds), (17, 11), sharey="row", sharex="col", width_ratios=widths)
    for column, kind in enumerate(kinds):
        for line, share in enumerate(SHARES):
            picture(grid[line, column], rows, kind, share, lambda row: row.mean_seconds)
        picture(grid[3, column], rows, kind, 0.0, lambda row: row.bytes / 1e6)
        grid[0, column].set_title(kind, fontsize=11, loc="left")
    for line, share in enumerate(SHARES):
        what = "insertions alone" if share == 0 else f"{share:.0%} deletions"
        grid[line, 0].set_ylabel(f"{what}\nseconds per batch (mean)")
    grid[3, 0].set_ylabel("memory of all queries\nmegabytes")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
    save(figure, file, "What an update of one edge costs, and what is kept for it")


def places(rows: list[Measured], kind: str) -> list[tuple[str, str]]:
    """Graphs and queries of a kind."""
    return list(dict.fromkeys((row.graph, row.query) for row in rows if row.query.startswith(kind)))


def picture(axes: Axes, rows: list[Measured], kind: str, share: float, value: Callable[[Measured], float]) -> None:
    """Bars of one kind of query, for each graph and policy."""
    asked = places(rows, kind)
    names = [type(policy).__name__ for policy in POLICIES]
    for offset, policy in enumerate(names):
        found = {(row.graph, row.query): value(row) for row in rows if row.policy == policy and is_shown(row, share)}
        heights = [found.get(place, np.nan) for place in asked]
        bars(axes, offset, len(names), heights, color=COLOURS[policy], label=policy)
    labels = [graph + (query.removeprefix("RPQ") if kind == "RPQ" else "") for graph, query in asked]
    axes.set_xticks(range(len(asked)), labels, rotation=30, ha="right", fontsize=8)
    plain(axes, log="y")


def is_shown(row: Measured, share: float) -> bool:
    """Changes that come with a graph have a share of their own; they stand in each row."""
    return row.deletions == share or row.deletions not in SHARES


def summarize(rows: list[Measured]) -> None:
    """Print how the ways compare."""
    print("\n| graph | query | deletions | Scratch | Vanilla | JoinOnDemand | bytes of Vanilla to JoinOnDemand |")
    for key in dict.fromkeys((row.graph, row.query, row.deletions) for row in rows):
        by_policy = {row.policy: row for row in rows if (row.graph, row.query, row.deletions) == key}
        cells = [
            f"{1e6 * by_policy[name].mean_seconds:,.0f} us" if name in by_policy else "-"
            for name in ("Scratch", "Vanilla", "JoinOnDemand")
        ]
        both = "Vanilla" in by_policy and "JoinOnDemand" in by_policy
        ratio = f"{by_policy['Vanilla'].bytes / by_policy['JoinOnDemand'].bytes:.1f}" if both else "-"
        print(f"| {key[0]} | {key[1]} | {key[2]:.0%} | {' | '.join(cells)} | {ratio} |")


if __name__ == "__main__":
    main()
