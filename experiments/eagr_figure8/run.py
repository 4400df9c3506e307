"""Decisions of ego aggregates: when the load changes, against none at all, and by what pushes and pulls cost.

Figure 8 of "EAGr: Supporting Continuous Ego-centric Aggregate Queries over Large Dynamic Graphs" (SIGMOD 2014) on
public data. Run it from the root of a checkout:

    python -m experiments.eagr_figure8.run
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from experiments.continuous_plots import bars, panels, plain, save
from experiments.ego_graphs import neighbourhoods
from experiments.ego_runs import AGGREGATES, WINDOW, at_ratio, planned, read_time, throughputs, workload
from experiments.latencies import read, write
from graphtide.ego import AdaptiveMining, AllPull, AllPush, Costs, Curve, Neighbourhoods, Overlay, build
from graphtide.ego.calibration import calibrate
from graphtide.ego.contents import WindowContents
from graphtide.ego.mining import Step
from graphtide.ego.partials import READ
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Planning, Rates
from graphtide.rows import INT

HERE = Path(__file__).parent
BUSIER_READERS, BUSIER = 0.05, 50  # which share of readers is read so many times as often from half-way on
PUSH_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)  # of a push, in place of what was measured
SHARES = ("average", "95th percentile", "worst")
COLOURS = {"adaptive": "#4c72b0", "static": "#c44e52", "all push": "#7a8794", "all pull": "#c5ccd3"}


@dataclass(frozen=True)
class Row:
    """One value of one series; what stands along the axis is told by the panel."""

    panel: str
    series: str
    place: str
    value: float


@dataclass(frozen=True)
class Prebuilt:
    """An overlay that was made before."""

    overlay: Overlay

    @property
    def subtracts(self) -> bool:
        """Whether it has negative edges."""
        return self.overlay.has_negatives

    @property
    def overlaps(self) -> bool:
        """Whether it counts writers more than once."""
        return self.overlay.overlapping

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """That overlay."""
        del overlay
        return iter([Step(self.overlay, 0, 0)])


def main() -> None:
    """Build, run, compare, record, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="debian")
    parser.add_argument("--panels", nargs="*", default=list(MEASURES), choices=list(MEASURES), help="others stay")
    parser.add_argument("--operations", type=int, default=50_000, help="of a batch")
    parser.add_argument("--batches", type=int, default=20, help="before and after the load changes")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv", Row) if row.panel not in chosen.panels]
    asked = neighbourhoods(chosen.graph)
    assert asked is not None
    overlay = build(asked, AdaptiveMining()).overlay
    for panel in chosen.panels:
        rows += MEASURES[panel](asked, overlay, chosen.operations, chosen.batches)
    rows.sort(key=lambda row: row.panel)
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows, chosen.graph)


def changing_load(asked: Neighbourhoods, overlay: Overlay, operations: int, batches: int) -> list[Row]:
    """Operations a second, batch by batch; half-way the readers that take longest are read far more often."""
    function = AGGREGATES["TOP-K"]
    before = at_ratio(asked, 1.0)
    ways: dict[str, tuple[Plan, Planning | None]] = {}
    for name in ("static", "adaptive"):
        planning = Planning(function, WINDOW, method=Prebuilt(overlay), rates=before)
        plan = planning.plan(asked, WindowContents(WINDOW, asked.writer_count), INT)
        ways[name] = plan, planning if name == "adaptive" else None
    direct = Overlay.direct(asked)
    ways["all push"] = planned(direct, function, before, by=AllPush()), None
    ways["all pull"] = planned(direct, function, before, by=AllPull()), None
    after = busier(asked, before, ways["static"][0])
    rows: list[Row] = []
    for turn in range(2 * batches):
        work = workload(before if turn < batches else after, operations, seed=turn)
        answers: Any = None
        for name, (plan, planning) in ways.items():
            began = time.process_time()
            found = work.run(plan)
            if planning is not None:
                planning.ran(plan, operations)
            rows.append(Row("a", name, str(turn), operations / (time.process_time() - began)))
            told = plan.column(found)
            if answers is not None and not told.equals(answers):
                raise SystemExit(f"{name} gives another answer")
            answers = told
    last = batches // 2
    for name in ways:
        speeds = [row.value for row in rows if row.series == name]
        early, late = np.median(speeds[last:batches]), np.median(speeds[-last:])
        print(f"a: {name}: {early:,.0f} operations a second, then {late:,.0f}")
    adapting = ways["adaptive"][1]
    assert adapting is not None
    print(f"a: {adapting.flips:,} nodes flipped", flush=True)
    return rows


def busier(asked: Neighbourhoods, rates: Rates, plan: Plan) -> Rates:
    """As rates are, with more reads of the readers that pull most writers."""
    readers = asked.readers
    sizes = np.where(plan.push[plan.reader_node], 0, np.diff(asked.starts))
    chosen = np.argsort(-sizes, kind="stable")[: int(BUSIER_READERS * readers)]
    reads = rates.reads.copy()
    reads[chosen] = BUSIER * np.maximum(reads[chosen], reads.mean())
    return replace(rates, reads=reads)


def decided_or_not(asked: Neighbourhoods, overlay: Overlay, operations: int, _batches: int) -> list[Row]:
    """One overlay with all push, with decisions, and with all pull."""
    rates = at_ratio(asked, 1.0)
    rows: list[Row] = []
    for label, function in AGGREGATES.items():
        plans = {
            "all push": planned(overlay, function, rates, by=AllPush()),
            "decisions": planned(overlay, function, rates, parts=True),
            "all pull": planned(overlay, function, rates, by=AllPull()),
        }
        found = throughputs(plans, rates, operations)
        rows += [Row("b", name, label, speed) for name, speed in found.items()]
        print(f"b: {label}: " + ", ".join(f"{name} {speed:,.0f}" for name, speed in found.items()), flush=True)
    return rows


def latencies(asked: Neighbourhoods, overlay: Overlay, operations: int, _batches: int) -> list[Row]:
    """Seconds of a read of the most frequent values, by what a push is said to cost."""
    function = AGGREGATES["TOP-K"]
    rates = at_ratio(asked, 1.0)
    measured = calibrate(function, WINDOW, INT)
    fill = workload(rates, operations, seed=0)
    readers = workload(rates, 10_000, seed=1)
    readers = readers.who[readers.kinds == READ][:2_000]
    rows: list[Row] = []
    for factor in PUSH_COSTS:
        push = measured.push
        scaled = Curve(factor * push.constant, factor * push.log, factor * push.linear)
        plan = planned(overlay, function, rates, costs=Costs(scaled, measured.pull), parts=True)
        fill.run(plan)
        seconds = np.array([read_time(plan, int(reader)) for reader in readers])
        told = float(seconds.mean()), float(np.percentile(seconds, 95)), float(seconds.max())
        pushing = int(plan.push.sum()) - plan.writers
        rows += [Row("c", name, f"{factor:g}", value) for name, value in zip(SHARES, told, strict=True)]
        rows.append(Row("c", "nodes that push", f"{factor:g}", pushing))
        print(
            f"c: {factor:g}: {pushing:,} push; " + ", ".join(f"{1e6 * each:.2f}" for each in told) + " µs", flush=True
        )
    return rows


MEASURES: dict[str, Callable[[Neighbourhoods, Overlay, int, int], list[Row]]] = {
    "a": changing_load,
    "b": decided_or_not,
    "c": latencies,
}


def draw(file: Path, rows: Sequence[Row], graph: str) -> None:
    """Three panels."""
    figure, grid = panels(1, 3, (16, 4.8))
    over_time(grid[0, 0], [row for row in rows if row.panel == "a"])
    grid[0, 0].set_title("a: TOP-K, long readers become busy half-way", fontsize=10, loc="left")
    compared(grid[0, 1], [row for row in rows if row.panel == "b"])
    grid[0, 1].set_title("b: one overlay, a write for each read", fontsize=10, loc="left")
    by_cost(grid[0, 2], [row for row in rows if row.panel == "c" and row.series in SHARES])
    grid[0, 2].set_title("c: reads of TOP-K by what a push is said to cost", fontsize=10, loc="left")
    save(figure, file, f"Decisions on {graph}")


def over_time(axes: Axes, rows: Sequence[Row]) -> None:
    """Operations a second, batch by batch."""
    for name, colour in COLOURS.items():
        mine = [row for row in rows if row.series == name]
        axes.plot([int(row.place) for row in mine], [row.value / 1e3 for row in mine], color=colour, label=name)
    axes.axvline(len(mine) / 2 - 0.5, color="#1b1f23", linewidth=0.8, linestyle=":")
    axes.set_xlabel("batch")
    axes.set_ylabel("thousands of operations a second")
    plain(axes, log="y")
    axes.legend(frameon=False, fontsize=8)


def compared(axes: Axes, rows: Sequence[Row]) -> None:
    """Bars by aggregate."""
    colours = {"all push": COLOURS["all push"], "decisions": "#4c72b0", "all pull": COLOURS["all pull"]}
    for place, (name, colour) in enumerate(colours.items()):
        speeds = [row.value / 1e3 for row in rows if row.series == name]
        drawn = bars(axes, place, len(colours), speeds, color=colour, label=name)
        axes.bar_label(drawn, [f"{each:,.0f}" for each in speeds], fontsize=8)
    axes.set_xticks(range(len(AGGREGATES)), list(AGGREGATES))
    axes.set_ylabel("thousands of operations a second")
    plain(axes, log="y")
    axes.legend(frameon=False, fontsize=8)


def by_cost(axes: Axes, rows: Sequence[Row]) -> None:
    """Microseconds of a read."""
    for name, colour in zip(SHARES, ("#4c72b0", "#dd8452", "#c44e52"), strict=True):
        mine = [row for row in rows if row.series == name]
        axes.plot([float(row.place) for row in mine], [1e6 * row.value for row in mine], ".-", color=colour, label=name)
    axes.set_xlabel("cost of a push, relative to what was measured")
    axes.set_ylabel("microseconds")
    plain(axes, log="xy")
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main()
