"""How many labels are in difference in each iteration of connected components, by four techniques.

Figure 1 of "Differential dataflow" (CIDR 2013) on public data: a day of mentions on Twitter, which
then slides by a minute, and which then loses one edge. Run it from the root of a checkout:

    python experiments/cidr13_figure1/run.py
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import matplotlib as mpl
import networkx as nx
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from graphtide import datasets
from graphtide.time.priority import unpack

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
Inspector = Callable[[tuple[int, ...], tuple[int, ...], int], None]
# An iteration is (priority, round); without priorities the former is 0.
Iteration = tuple[int, int]


@dataclass
class Components:
    """Connected components of edges that change, with the differences of the labels as they pass."""

    prioritized: bool
    counted: bool = True
    seen: dict[int, Counter[Iteration]] = field(default_factory=dict[int, Counter[Iteration]])

    def __post_init__(self) -> None:
        self.flow = gt.Dataflow()
        self.edges = self.flow.input("edges", src=int, dst=int)
        both_ways = self.edges.concat(self.edges.select(src="dst", dst="src"))
        nodes = both_ways.select(node="src", label="src").distinct()

        def step(labels: gt.Collection, arriving: gt.Collection = nodes) -> gt.Collection:
            heard = labels.join(both_ways, on={"node": "src"}).select(node="dst", label="label")
            least = heard.concat(arriving).group_by("node").min("label")
            return least.inspect(self._note) if self.counted else least

        if self.prioritized:
            by_length = gt.col("label").bit_length()
            self.labels = nodes.iterate_prioritized(step, priority=by_length).output("labels")
        else:
            self.labels = nodes.iterate(step).output("labels")

    def change(self, arriving: NDArray[np.int64], leaving: NDArray[np.int64]) -> tuple[Counter[Iteration], float]:
        """Change the edges; the differences of the labels by iteration, and how long it took."""
        began = perf_counter()
        self.edges.insert(arriving)
        self.edges.remove(leaving)
        epoch = self.flow.commit()
        return self.seen.pop(epoch, Counter[Iteration]()), perf_counter() - began

    def _note(self, _row: tuple[int, ...], time: tuple[int, ...], _diff: int) -> None:
        epoch, coordinate = time
        iteration = unpack(coordinate) if self.prioritized else (0, coordinate)
        self.seen.setdefault(epoch, Counter())[iteration] += 1


@dataclass(frozen=True)
class Window:
    """A day of edges, and what comes and goes as it slides."""

    edges: NDArray[np.int64]
    times: NDArray[np.int64]
    begin: int
    width: int

    @classmethod
    def load(cls, name: str, day: str, hours: float) -> Window:
        """The window that begins with a day."""
        table = datasets.load(name)
        edges = np.column_stack([table["src"].to_numpy(), table["dst"].to_numpy()])
        times = table["time"].cast(pa.timestamp("s")).cast(pa.int64()).to_numpy()
        return cls(edges, times, int(np.datetime64(day, "s").astype(np.int64)), round(3600 * hours))

    def between(self, low: int, high: int) -> NDArray[np.int64]:
        """The edges from one second on and before another."""
        return self.edges[slice(*np.searchsorted(self.times, (low, high)).tolist())]

    def whole(self) -> NDArray[np.int64]:
        """All that it holds."""
        return self.between(self.begin, self.begin + self.width)

    def slid(self, seconds: int) -> Window:
        """The window that much later."""
        return replace(self, begin=self.begin + seconds)

    def slide(self, seconds: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What arrives and what leaves as the window goes on."""
        low, high = self.begin, self.begin + self.width
        return self.between(high, high + seconds), self.between(low, low + seconds)


def main() -> None:
    """Count, check, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="higgs-mentions")
    parser.add_argument("--day", default="2012-07-04", help="where the window begins")
    parser.add_argument("--hours", type=float, default=24.0, help="its width")
    parser.add_argument("--step", type=int, default=60, help="how many seconds it slides each time")
    parser.add_argument("--slides", type=int, default=360, help="how often it slides")
    parser.add_argument("--removals", type=int, default=300, help="how many single edges are removed and put back")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    window = Window.load(chosen.data, chosen.day, chosen.hours)

    whole, nothing = window.whole(), window.edges[:0]
    incremental, _ = Components(prioritized=False).change(whole, nothing)
    maintained = Components(prioritized=True)
    prioritized, _ = maintained.change(whole, nothing)
    labels = len(maintained.labels)
    removed = [one_edge(maintained, edge) for edge in sample(whole, chosen.removals)]
    moves = [window.slid(n * chosen.step).slide(chosen.step) for n in range(chosen.slides)]
    slid = [maintained.change(*move)[0] for move in moves]
    check(maintained, window.slid(chosen.slides * chosen.step))

    stateless = Counter(dict.fromkeys(incremental, labels))
    series = {
        "stateless": stateless,
        "incremental": incremental,
        "prioritized": prioritized,
        f"differential ({chosen.step} s change)": typical(slid),
        "differential (1 edge removed)": typical(removed),
    }
    write(chosen.output / "results.csv", series)
    draw(chosen.output / "plot.png", series, f"{chosen.data}, {chosen.hours:g} hours from {chosen.day}")
    summarize(series, {f"{chosen.step} seconds": slid, "one edge": removed}, labels, len(whole))
    time_it(whole, moves)


def one_edge(maintained: Components, edge: NDArray[np.int64]) -> Counter[Iteration]:
    """The differences that taking one edge away makes; it is put back."""
    nothing = edge[:0]
    differences, _ = maintained.change(nothing, edge)
    maintained.change(edge, nothing)
    return differences


def sample(edges: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
    """Edges drawn at random, the same in every run, with all their copies."""
    distinct = np.unique(edges, axis=0)
    drawn = distinct[np.random.default_rng(2013).choice(len(distinct), min(count, len(distinct)), replace=False)]
    return [edges[(edges == edge).all(axis=1)] for edge in drawn]


def typical(changes: list[Counter[Iteration]]) -> Counter[Iteration]:
    """The change with the median number of differences, among those that have any."""
    some = sorted((each for each in changes if each), key=Counter.total)
    return some[len(some) // 2] if some else Counter()


def check(maintained: Components, window: Window) -> None:
    """Stop unless the labels are those that NetworkX finds."""
    graph = nx.Graph(window.whole().tolist())
    expected = {(node, least) for part in nx.connected_components(graph) for least in [min(part)] for node in part}
    if set(maintained.labels.rows()) != expected:
        raise SystemExit("the labels differ from NetworkX's")
    print(f"after all changes, all {len(expected):,} labels equal NetworkX's")


def numbered(*counts: Iterable[Iteration]) -> dict[Iteration, int]:
    """Iterations in the order in which they happen, from 1 on."""
    return {iteration: n for n, iteration in enumerate(sorted(set[Iteration]().union(*counts)), 1)}


def columns(series: dict[str, Counter[Iteration]]) -> dict[str, dict[Iteration, int]]:
    """The numbers of the iterations, for each technique: those with priorities share theirs."""
    plain = numbered(series["stateless"], series["incremental"])
    by_priority = numbered(*(counts for name, counts in series.items() if name not in {"stateless", "incremental"}))
    return {name: plain if name in {"stateless", "incremental"} else by_priority for name in series}


def write(file: Path, series: dict[str, Counter[Iteration]]) -> None:
    """Record the counts."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["technique", "iteration", "priority", "round", "differences"])
        for name, numbers in columns(series).items():
            for (priority, turn), n in numbers.items():
                if series[name][priority, turn]:
                    writer.writerow([name, n, priority, turn, series[name][priority, turn]])


def draw(file: Path, series: dict[str, Counter[Iteration]], title: str) -> None:
    """Plot the counts by iteration."""
    colors = ("#7a8794", "#c2571a", "#1f6f8b", "#5b2a86", "#3a9d5d")
    markers = ("", "", "", "o", "s")
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    for (name, numbers), color, marker in zip(columns(series).items(), colors, markers, strict=True):
        shown = [(n, series[name][iteration]) for iteration, n in numbers.items() if series[name][iteration]]
        line = "-" if not marker else ":"
        axes.plot(
            *zip(*shown, strict=True), line, marker=marker, color=color, label=f"{name}: {series[name].total():,}"
        )
    axes.set_yscale("log")
    axes.set_xlabel("iteration")
    axes.set_ylabel("labels in difference")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, title="differences in all", alignment="left", loc="center left", bbox_to_anchor=(1, 0.5))
    axes.grid(color="#e3e7eb", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def summarize(
    series: dict[str, Counter[Iteration]],
    changes: dict[str, list[Counter[Iteration]]],
    labels: int,
    edges: int,
) -> None:
    """Print what it all came to."""
    print(f"{edges:,} edges, {labels:,} labels")
    for name in ("stateless", "incremental", "prioritized"):
        print(f"{name}: {series[name].total():,} differences in {len(series[name])} iterations")
    first = series["prioritized"].total()
    for name, each_change in changes.items():
        totals = [each.total() for each in each_change]
        share = 100 * mean(totals) / first
        print(
            f"{name}: median {median(totals):g}, mean {mean(totals):.1f}, most {max(totals):,} differences; "
            f"the mean is {share:.4f} % of a prioritized run"
        )


def time_it(whole: NDArray[np.int64], moves: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> None:
    """The same without counting, for the clock."""
    for prioritized in (False, True):
        timed = Components(prioritized=prioritized, counted=False)
        _, first = timed.change(whole, whole[:0])
        later = [timed.change(*move)[1] for move in moves]
        name = "prioritized" if prioritized else "incremental"
        print(f"{name}: {first:.2f} s at first, then {1000 * median(later):.2f} ms (median) for a slide")


if __name__ == "__main__":
    main()
