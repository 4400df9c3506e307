"""Throughput of ego aggregates by the ratio of writes to reads: overlays by method, splitting, and two hops.

Figure 7 of "EAGr: Supporting Continuous Ego-centric Aggregate Queries over Large Dynamic Graphs" (SIGMOD 2014) on
public data. Run it from the root of a checkout:

    python -m experiments.eagr_figure7.run
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes

from experiments.continuous_plots import bars, panels, plain, save
from experiments.ego_graphs import COLOURS, PAPER_NAMES, RECOMMENDED, neighbourhoods
from experiments.ego_runs import AGGREGATES, at_ratio, planned, planned_flat, throughputs
from experiments.latencies import read, write
from graphtide.ego import (
    AdaptiveMining,
    AllPull,
    AllPush,
    Incremental,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    Overlay,
    build,
)
from graphtide.ego.aggregates import Function
from graphtide.ego.plan import Plan

HERE = Path(__file__).parent
RATIOS = (0.05, 0.2, 1.0, 5.0, 20.0)
METHODS = {
    "AdaptiveMining": AdaptiveMining(),
    "NegativeMining": NegativeMining(),
    "OverlappingMining": OverlappingMining(),
    "Incremental": Incremental(),
}
HOPS = {"debian": "one hop", "debian, two hops": "two hops", RECOMMENDED: "two hops either way,\nrecommendations"}
BASELINES = {"all push": "#7a8794", "all pull": "#c5ccd3"}
FLAT = "VNM_A, flattened"
OTHERS = {"decisions, nothing shared": "#1b1f23", FLAT: "#937860"}


@dataclass(frozen=True)
class Row:
    """What one way came to for one aggregate."""

    panel: str
    graph: str
    aggregate: str
    writes_per_read: float
    series: str
    operations_per_second: float  # of processor time


def main() -> None:
    """Build, run, compare, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="ego-Twitter", help="that ratios are tried on")
    parser.add_argument("--panels", nargs="*", default=["a", "b", "c"], help="others stay as recorded")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv", Row) if row.panel not in chosen.panels]
    asked = neighbourhoods(chosen.graph)
    assert asked is not None
    if "a" in chosen.panels:
        rows += ratios(chosen.graph, asked, chosen.operations)
    if "b" in chosen.panels:
        rows += splitting(chosen.graph, asked, chosen.operations)
    if "c" in chosen.panels:
        rows += hops(chosen.operations)
    rows.sort(key=lambda row: row.panel)
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)
    summarize(rows)


def ratios(graph: str, asked: Neighbourhoods, operations: int) -> list[Row]:
    """Overlays by all methods with decisions, against all push and all pull with nothing shared."""
    direct = Overlay.direct(asked)
    overlays: dict[str, Overlay] = {}
    for name, method in METHODS.items():
        overlays[name] = build(asked, method, 1 if isinstance(method, Incremental) else 10).overlay
        print(f"{graph}: {name}: sharing index {overlays[name].sharing_index(asked):.3f}", flush=True)
    rows: list[Row] = []
    for label, function in AGGREGATES.items():
        for ratio in RATIOS:
            rates = at_ratio(asked, ratio)
            plans = {
                "all push": planned(direct, function, rates, by=AllPush()),
                "all pull": planned(direct, function, rates, by=AllPull()),
                "decisions, nothing shared": planned(direct, function, rates, parts=True),
                FLAT: planned_flat(overlays["AdaptiveMining"], function, rates),
                **{
                    name: planned(overlay, function, rates, parts=True)
                    for name, overlay in overlays.items()
                    if fits(overlay, function)
                },
            }
            rows += noted("a", graph, label, ratio, throughputs(plans, rates, operations))
    return rows


def fits(overlay: Overlay, function: Function) -> bool:
    """Whether an aggregate can stand on an overlay."""
    return (function.subtracts or not overlay.has_negatives) and (
        function.duplicate_insensitive or not overlay.overlapping
    )


def splitting(graph: str, asked: Neighbourhoods, operations: int) -> list[Row]:
    """With and without partial precomputation."""
    overlay = build(asked, AdaptiveMining()).overlay
    rows: list[Row] = []
    for label, function in AGGREGATES.items():
        for ratio in RATIOS:
            rates = at_ratio(asked, ratio)
            plans = {name: planned(overlay, function, rates, parts=name == "split") for name in ("whole", "split")}
            rows += noted("b", graph, label, ratio, throughputs(plans, rates, operations))
    return rows


def hops(operations: int) -> list[Row]:
    """Neighbourhoods of one hop and of two, a write for each read."""
    rows: list[Row] = []
    for graph in HOPS:
        asked = neighbourhoods(graph)
        assert asked is not None
        direct, overlay = Overlay.direct(asked), build(asked, AdaptiveMining()).overlay
        for label, function in AGGREGATES.items():
            rates = at_ratio(asked, 1.0)
            plans: dict[str, Plan] = {
                "all push": planned(direct, function, rates, by=AllPush()),
                "all pull": planned(direct, function, rates, by=AllPull()),
                "AdaptiveMining": planned(overlay, function, rates, parts=True),
                FLAT: planned_flat(overlay, function, rates),
            }
            rows += noted("c", graph, label, 1.0, throughputs(plans, rates, operations))
    return rows


def noted(panel: str, graph: str, aggregate: str, ratio: float, found: dict[str, float]) -> list[Row]:
    """Rows of one comparison, and a line on it."""
    print(f"{panel}: {aggregate}, {ratio:g}: " + ", ".join(f"{n} {v:,.0f}" for n, v in found.items()), flush=True)
    return [Row(panel, graph, aggregate, ratio, name, speed) for name, speed in found.items()]


def draw(file: Path, rows: Sequence[Row]) -> None:
    """A column for each aggregate: by ratio; what splitting gives; one and two hops."""
    figure, grid = panels(3, len(AGGREGATES), (15, 12))
    for column, label in enumerate(AGGREGATES):
        mine = [row for row in rows if row.aggregate == label]
        by_ratio(grid[0, column], [row for row in mine if row.panel == "a"])
        grid[0, column].set_title(f"a: {label}", fontsize=10, loc="left")
        gain(grid[1, column], [row for row in mine if row.panel == "b"])
        grid[1, column].set_title(f"b: {label}, nodes split", fontsize=10, loc="left")
        by_hops(grid[2, column], [row for row in mine if row.panel == "c"])
        grid[2, column].set_title(f"c: {label}, one and two hops (debian)", fontsize=10, loc="left")
    save(figure, file, "Throughput of ego aggregates on one core, decisions by measured costs")


def by_ratio(axes: Axes, rows: Sequence[Row]) -> None:
    """Thousands of operations a second, a line for each way."""
    for series in dict.fromkeys(row.series for row in rows):
        mine = [row for row in rows if row.series == series]
        colour = (COLOURS | BASELINES | OTHERS)[series]
        name = f"{series} ({PAPER_NAMES[series]})" if series in PAPER_NAMES else series
        style = "--" if series in BASELINES else "-"
        speeds = [row.operations_per_second / 1e3 for row in mine]
        axes.plot([row.writes_per_read for row in mine], speeds, style, marker=".", color=colour, label=name)
    axes.set_xlabel("writes for each read")
    axes.set_ylabel("thousands of operations a second")
    plain(axes, log="xy")
    axes.legend(frameon=False, fontsize=7)


def gain(axes: Axes, rows: Sequence[Row]) -> None:
    """How many times as many operations split nodes give."""
    speeds = {(row.series, row.writes_per_read): row.operations_per_second for row in rows}
    gains = [speeds["split", ratio] / speeds["whole", ratio] for ratio in RATIOS]
    drawn = bars(axes, 0, 1, gains, color="#4c72b0")
    axes.bar_label(drawn, [f"{each:.2f}" for each in gains], fontsize=8)
    axes.axhline(1, color="#1b1f23", linewidth=0.8)
    axes.set_xticks(range(len(RATIOS)), [f"{ratio:g}" for ratio in RATIOS])
    axes.set_xlabel("writes for each read")
    axes.set_ylabel("times as many operations")
    plain(axes)


def by_hops(axes: Axes, rows: Sequence[Row]) -> None:
    """Millions of operations a second by hops."""
    series = list(dict.fromkeys(row.series for row in rows))
    for place, name in enumerate(series):
        speeds = [row.operations_per_second / 1e6 for row in rows if row.series == name]
        colour = (COLOURS | BASELINES | OTHERS)[name]
        drawn = bars(axes, place, len(series), speeds, color=colour, label=name)
        axes.bar_label(drawn, [f"{each:.3g}" for each in speeds], fontsize=7)
    axes.set_xticks(range(len(HOPS)), list(HOPS.values()))
    axes.set_ylabel("millions of operations a second")
    plain(axes, log="y")
    axes.legend(frameon=False, fontsize=8)


def summarize(rows: Sequence[Row]) -> None:
    """Print the best way with decisions against the better baseline."""
    for panel, graph, label, ratio in dict.fromkeys(
        (row.panel, row.graph, row.aggregate, row.writes_per_read) for row in rows if row.panel in "ac"
    ):
        key = panel, graph, label, ratio
        mine = {
            row.series: row.operations_per_second
            for row in rows
            if (row.panel, row.graph, row.aggregate, row.writes_per_read) == key
        }
        better = max(BASELINES, key=lambda name: mine[name])
        best = max((name for name in mine if name not in BASELINES), key=lambda name: mine[name])
        print(f"{panel}, {graph}, {label}, {ratio:g}: {best} {mine[best] / mine[better]:.2f} times {better}")


if __name__ == "__main__":
    main()
