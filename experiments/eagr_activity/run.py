"""Ego aggregates under real activity: what people did, in its order, with windows of time.

"EAGr: Supporting Continuous Ego-centric Aggregate Queries over Large Dynamic Graphs" (SIGMOD 2014), section 5, has
Zipf's law and traces of requests. Here are the recorded acts of three days and weeks. Run it from the root of a
checkout:

    python -m experiments.eagr_activity.run --data FOLDER
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from experiments.continuous_plots import bars, panels, plain, save
from experiments.ego_activity import EPA, Activity, edits, mentions, requests
from experiments.ego_graphs import neighbourhoods
from experiments.ego_runs import AGGREGATES, read_time
from experiments.latencies import read, write
from graphtide.ego import AdaptiveMining, AllPull, AllPush, Direct, Neighbourhoods
from graphtide.ego.aggregates import Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Planning, Rates
from graphtide.ego.windows import Within
from graphtide.rows import INT

HERE = Path(__file__).parent
AN_HOUR: Final = 3600
TIMES: Final = 3
CALL: Final = 10_000  # operations
AGGREGATE_NAMES: Final = ("SUM", "TOP-K")
WAYS: Final = ("decisions", "all push", "all pull")
COLOURS: Final = {"decisions": "#4c72b0", "all push": "#7a8794", "all pull": "#c5ccd3"}
SHARES: Final = ("average", "95th percentile", "worst")


@dataclass(frozen=True)
class Row:
    """One figure: operations a second, or seconds of reads."""

    activity: str
    aggregate: str
    way: str
    what: str
    value: float


@dataclass(frozen=True, eq=False)
class Operations:
    """What each does, to whom, with which value, when, and when that expires."""

    kinds: NDArray[np.int8]
    who: NDArray[np.int64]
    values: NDArray[np.int64]
    times: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kinds)

    def part(self, first: int, end: int) -> Operations:
        """Some of them."""
        return Operations(*(each[first:end] for each in (self.kinds, self.who, self.values, self.times)))

    def rates(self, asked: Neighbourhoods) -> Rates:
        """How often each vertex writes and is read among them."""
        of = [np.bincount(self.who[self.kinds == kind], minlength=asked.readers) for kind in (WRITE, READ)]
        return Rates(of[0].astype(np.float64), of[1].astype(np.float64))

    def run(self, plan: Plan) -> Any:
        """All of them, in one call; what the reads found."""
        return plan.run(self.kinds, self.who, self.values, self.times + AN_HOUR, self.times)


def main() -> None:
    """Play, compare, record, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--activities", nargs="*", default=list(MEASURES), choices=list(MEASURES), help="others stay")
    parser.add_argument("--data", type=Path, help="a folder with what does not come with the package")
    parser.add_argument("--events", type=int, help="only the first ones")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    recorded = chosen.output / "results.csv"
    rows = read(recorded, Row) if recorded.exists() else []
    for name in chosen.activities:
        measured = MEASURES[name](name, chosen.data, chosen.events)
        if measured:
            rows = [row for row in rows if row.activity != name] + measured
        else:
            print(f"{name}: not in the folder, stays as recorded")
    rows.sort(key=lambda row: list(MEASURES).index(row.activity))
    write(recorded, rows)
    draw(chosen.output / "plot.png", rows)


def of_mentions(name: str, _data: Path | None, events: int | None) -> list[Row]:
    """Who refers to others reads what these wrote."""
    return played(name, mentions(events))


def of_edits(name: str, _data: Path | None, events: int | None) -> list[Row]:
    """Who edits reads what others in the same languages edited."""
    return played(name, edits(events))


def of_requests(name: str, data: Path | None, events: int | None) -> list[Row]:
    """Latencies of reads, one at a time."""
    file = data / EPA if data else None
    if file is None or not file.exists():
        return []
    asked = neighbourhoods("ego-Twitter")
    assert asked is not None
    activity = requests(file, asked, events)
    is_read = np.random.default_rng(2).random(len(activity.who)) < 0.5
    kinds = np.where(is_read, READ, WRITE).astype(np.int8)
    operations = Operations(kinds, activity.who, activity.topics, activity.when)
    rows: list[Row] = []
    for way, plan in plans(asked, AGGREGATES["TOP-K"], operations.rates(asked)).items():
        seconds: list[float] = []
        for at in range(len(operations)):
            if operations.kinds[at] == WRITE:
                operations.part(at, at + 1).run(plan)
            else:
                seconds.append(read_time(plan, int(operations.who[at]), int(operations.times[at])))
        told = float(np.mean(seconds)), float(np.percentile(seconds, 95)), max(seconds)
        rows += [Row(name, "TOP-K", way, share, value) for share, value in zip(SHARES, told, strict=True)]
        print(f"{name}: {way}: " + ", ".join(f"{1e6 * each:.2f}" for each in told) + " µs", flush=True)
    return rows


MEASURES: Final[dict[str, Callable[[str, Path | None, int | None], list[Row]]]] = {
    "Twitter": of_mentions,
    "Wikipedia": of_edits,
    "EPA": of_requests,
}


def played(name: str, activity: Activity) -> list[Row]:
    """Who acts writes, and then reads. The first half tells how often; the second is measured."""
    rows: list[Row] = []
    print(f"{name}: {len(activity.who):,} events, {len(activity.asked):,} pairs", flush=True)
    for label in AGGREGATE_NAMES:
        values = activity.topics if label == "TOP-K" else activity.amounts
        kinds = np.tile(np.array([WRITE, READ], np.int8), len(values))
        operations = Operations(kinds, *(np.repeat(each, 2) for each in (activity.who, values, activity.when)))
        speeds: dict[str, list[float]] = {way: [] for way in WAYS}
        half = len(values)
        for _ in range(TIMES):
            made = plans(activity.asked, AGGREGATES[label], operations.part(0, half).rates(activity.asked))
            answers: dict[str, list[Any]] = {}
            for way, plan in made.items():
                seconds, answers[way] = play(plan, operations, half)
                speeds[way].append(half / seconds)
            for way in WAYS:
                if not all(a.equals(b) for a, b in zip(answers[way], answers["all pull"], strict=True)):
                    raise SystemExit(f"{way} gives another answer")
        typical = {way: float(np.median(each)) for way, each in speeds.items()}
        rows += [Row(name, label, way, "operations a second", speed) for way, speed in typical.items()]
        shown = ", ".join(f"{way} {speed:,.0f}" for way, speed in typical.items())
        index = made["decisions"].sharing_index
        rows.append(Row(name, label, "decisions", "sharing index", index))
        print(f"{name}: {label}: {shown} operations a second; sharing index {index:.1%}", flush=True)
    return rows


def plans(asked: Neighbourhoods, function: Function, rates: Rates) -> dict[str, Plan]:
    """One of each way, for windows of an hour and the same rates."""
    window = Within(AN_HOUR)
    policies = {
        "decisions": Planning(function, window, method=AdaptiveMining(), rates=rates),
        "all push": Planning(function, window, method=Direct(), decider=AllPush(), rates=rates),
        "all pull": Planning(function, window, method=Direct(), decider=AllPull(), rates=rates),
    }
    return {
        way: planning.plan(asked, WindowContents(window, asked.writer_count), INT) for way, planning in policies.items()
    }


def play(plan: Plan, operations: Operations, half: int) -> tuple[float, list[Any]]:
    """Processor seconds of the operations from half-way on, and what all of them found, call by call."""
    seconds, answers = 0.0, []
    for at in [*range(0, half, CALL), *range(half, len(operations), CALL)]:
        some = operations.part(at, min(at + CALL, half if at < half else len(operations)))
        began = time.process_time()
        found = some.run(plan)
        if at >= half:
            seconds += time.process_time() - began
        answers.append(plan.column(found))
    return seconds, answers


def draw(file: Path, rows: Sequence[Row]) -> None:
    """Two panels."""
    figure, grid = panels(1, 2, (12, 4.8))
    throughput(grid[0, 0], [row for row in rows if row.what == "operations a second"])
    grid[0, 0].set_title("throughput, windows of an hour", fontsize=10, loc="left")
    alone = [row for row in rows if row.activity == "EPA"]
    if alone:
        latencies(grid[0, 1], alone)
        grid[0, 1].set_title("reads of TOP-K on ego-Twitter, one at a time, by EPA's requests", fontsize=10, loc="left")
    else:
        grid[0, 1].set_axis_off()
    save(figure, file, "Ego aggregates under real activity")


def throughput(axes: Axes, rows: Sequence[Row]) -> None:
    """Bars by activity and aggregate."""
    places = list(dict.fromkeys((row.activity, row.aggregate) for row in rows))
    for offset, way in enumerate(WAYS):
        speeds = [row.value / 1e6 for row in rows if row.way == way]
        drawn = bars(axes, offset, len(WAYS), speeds, color=COLOURS[way], label=way)
        axes.bar_label(drawn, [f"{each:.2g}" for each in speeds], fontsize=8)
    axes.set_xticks(range(len(places)), [f"{activity}\n{aggregate}" for activity, aggregate in places])
    axes.set_ylabel("millions of operations a second")
    plain(axes, log="y")
    axes.legend(frameon=False, fontsize=8)


def latencies(axes: Axes, rows: Sequence[Row]) -> None:
    """Bars by share."""
    for offset, way in enumerate(WAYS):
        times = [1e6 * row.value for row in rows if row.way == way]
        drawn = bars(axes, offset, len(WAYS), times, color=COLOURS[way], label=way)
        axes.bar_label(drawn, [f"{each:.2g}" for each in times], fontsize=8)
    axes.set_xticks(range(len(SHARES)), SHARES)
    axes.set_ylabel("microseconds")
    plain(axes, log="y")
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main()
