"""Latencies and throughput of an index that changes all the time, and of joins with it that are installed anew.

Figure 6 of "Shared Arrangements: practical inter-query sharing for streaming dataflows" (the K-Pg system) on two cores.
Run it from the root of a checkout:

    python -m experiments.kpg_figure6.run
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import graphtide as gt
from experiments.continuous_plots import bars, panels, plain, save
from experiments.latencies import Point, at, curves, read, tail, write
from experiments.open_loads import OpenLoad, Rounds, prepare, serve
from graphtide.dataflow.flow import Merging

HERE = Path(__file__).parent
WORKERS = (1, 2)
MERGING: tuple[Merging, ...] = ("eager", "default", "lazy")
PARTS = ("batch formation", "trace maintenance", "count")
JOINED = (1, 16, 256, 4_096, 65_536)
FEW = 256  # keys that are joined with smaller indexes, too
BLUES = ("#08306b", "#2171b5", "#6baed6", "#9ecae1", "#c6dbef")
TWO = ("#c44e52", "#4c72b0")
SIX = ("#c44e52", "#8c8c8c", "#4c72b0")
TITLES = {
    "a": "a: fewer keys and changes, one worker",
    "b": "b: the same load on more workers",
    "c": "c: as much load for each worker",
    "d": "d: throughput, batches of 10,000",
    "e": "e: when merges are done",
    "f": "f: a new join with an index",
}


@dataclass(frozen=True)
class Throughput:
    """What one part of the work comes to with so many workers."""

    part: str
    workers: int
    changes_per_second: float  # of all workers
    changes_per_cpu_second: float  # of one


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    keys: int
    rate: int
    seconds: float
    rounds: int
    installs: int


def main() -> None:
    """Measure the panels that are asked for, record, draw and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--panels", nargs="*", default=list(TITLES), choices=list(TITLES), help="others stay as recorded"
    )
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--rate", type=int, default=4_000_000, help="changes a second")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--installs", type=int, default=200)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    sizes = Sizes(chosen.keys, chosen.rate, chosen.seconds, chosen.rounds, chosen.installs)
    points = [each for each in read(chosen.output / "latencies.csv", Point) if each.panel[0] not in chosen.panels]
    throughputs = read(chosen.output / "throughput.csv", Throughput)
    if chosen.panels:
        prepare(sizes.keys)
    for panel in chosen.panels:
        if panel == "d":
            throughputs = throughput(sizes)
        else:
            points += MEASURES[panel](sizes)
    points.sort(key=lambda each: each.panel)
    write(chosen.output / "latencies.csv", points)
    write(chosen.output / "throughput.csv", throughputs)
    draw(chosen.output / "plot.png", points, throughputs)


def varying_load(sizes: Sizes) -> list[Point]:
    """All keys and changes, half of them, a quarter, ..."""
    points: list[Point] = []
    for halvings in range(len(BLUES)):
        load = OpenLoad(sizes.keys >> halvings, sizes.rate >> halvings, sizes.seconds)
        points += told("a", f"{millions(load.keys)} keys, {load.rate:,}/s", serve(load))
    return points


def strong_scaling(sizes: Sizes) -> list[Point]:
    """One load, shared by workers."""
    load = OpenLoad(sizes.keys, sizes.rate, sizes.seconds)
    return [point for workers in WORKERS for point in told("b", named(workers), serve(load, workers))]


def weak_scaling(sizes: Sizes) -> list[Point]:
    """As much load for each worker."""
    points: list[Point] = []
    for workers in WORKERS:
        part = workers / WORKERS[-1] / 2
        load = OpenLoad(int(sizes.keys * part), int(sizes.rate * part), sizes.seconds)
        points += told("c", f"{named(workers)}, {millions(load.keys)} keys, {load.rate:,}/s", serve(load, workers))
    return points


def merging(sizes: Sizes) -> list[Point]:
    """Merges at once, by and by, and more slowly."""
    points: list[Point] = []
    for workers in WORKERS:
        for setting in MERGING:
            load = OpenLoad(sizes.keys, sizes.rate // 4, sizes.seconds, merging=setting)
            points += told(f"e, {named(workers)}", setting, serve(load, workers))
    return points


def installing(sizes: Sizes) -> list[Point]:
    """Joins of a few keys with an index of many, and of 256 with indexes of fewer."""
    points: list[Point] = []
    for keys in (sizes.keys, sizes.keys // 10, sizes.keys // 100):
        flow, index = indexed(keys)
        for asked in JOINED if keys == sizes.keys else (FEW,):
            seconds = np.array([install(flow, index, keys, asked, n) for n in range(-5, sizes.installs)][5:])
            name = f"{asked:,} key{'s' * (asked > 1)} with {millions(keys)}"
            if keys == sizes.keys:
                points += told("f", name, [seconds])
            if asked == FEW:
                points += told("f, smaller indexes", name, [seconds])
        del flow, index
        gc.collect()
    return points


def indexed(keys: int) -> tuple[gt.Dataflow, gt.Arrangement]:
    """A running dataflow with an index of (key, value), value = 7 * key."""
    flow = gt.Dataflow()
    table = flow.input("table", key=int, value=int)
    index = table.arrange("key")
    numbers = np.random.default_rng(1).permutation(keys)
    table.insert(np.column_stack([numbers, 7 * numbers]))
    flow.commit()
    return flow, index


def install(flow: gt.Dataflow, index: gt.Arrangement, keys: int, asked: int, number: int) -> float:
    """Seconds from saying what to join to having all of it; stop if that is wrong. It is dropped again."""
    wanted = np.unique(np.random.default_rng(number + 5).integers(0, keys, asked))
    began = time.perf_counter()
    asking = flow.input("asked", key=int)
    asking.insert(wanted[:, None])
    found = asking.join(index, on="key").output("found")
    flow.commit()
    seconds = time.perf_counter() - began
    answer = found.table()
    columns = answer.column("key").to_numpy(), answer.column("value").to_numpy()
    if not (np.array_equal(np.sort(columns[0]), wanted) and np.array_equal(columns[1], 7 * columns[0])):
        raise SystemExit("a join is wrong")
    found.close()
    flow.drop_input("asked")
    return seconds


def throughput(sizes: Sizes) -> list[Throughput]:
    """The parts of the work, one at a time, as fast as they go."""
    rows: list[Throughput] = []
    for part in PARTS:
        for workers in WORKERS:
            found = serve(Rounds(sizes.keys, sizes.rounds, part), workers)
            rates = np.array(found)
            rows.append(Throughput(part, workers, float(rates[:, 0].sum()), float(rates[:, 1].mean())))
            print(rows[-1], flush=True)
    return rows


MEASURES: dict[str, Callable[[Sizes], list[Point]]] = {
    "a": varying_load,
    "b": strong_scaling,
    "c": weak_scaling,
    "e": merging,
    "f": installing,
}


def told(panel: str, series: str, found: list[NDArray[np.float64]]) -> list[Point]:
    """The distribution of what all workers found, with a line on it."""
    points = tail(panel, series, np.concatenate(found))
    spread = ", ".join(f"{name} {1e3 * at(points, panel, series, share):.3g}" for name, share in SHARES.items())
    print(f"{panel}: {series}: {spread} ms", flush=True)
    return points


SHARES = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99.9": 0.001, "worst": 1e-9}


def named(workers: int) -> str:
    """So many workers."""
    return f"{workers} worker{'s' * (workers > 1)}"


def millions(keys: int) -> str:
    """A number of keys."""
    return f"{keys / 1e6:g} million" if keys >= 1e6 else f"{keys:,}"


def draw(file: Path, points: Sequence[Point], throughputs: Sequence[Throughput]) -> None:
    """Six panels, as in the paper."""
    figure, grid = panels(2, 3, (16, 9))
    for axes, (panel, title) in zip(grid.flat, TITLES.items(), strict=True):
        if panel == "d":
            rates(axes, throughputs)
        else:
            picture(axes, panel, [each for each in points if each.panel[0] == panel])
        axes.set_title(title, fontsize=10, loc="left")
    save(figure, file, "An index of millions of keys under load, and joins that are installed on it")


def picture(axes: Axes, panel: str, points: Sequence[Point]) -> None:
    """A panel of latencies."""
    if panel != "e":
        curves(axes, [each for each in points if each.panel == panel], TWO if panel in "bc" else BLUES)
        return
    both = [
        Point(panel, f"{each.series}, {each.panel.partition(', ')[2]}", each.share, each.seconds) for each in points
    ]
    curves(axes, both, SIX * len(WORKERS))
    for line in axes.lines[len(SIX) :]:
        line.set_linestyle("--")
    axes.legend(frameon=False, fontsize=8)


def rates(axes: Axes, rows: Sequence[Throughput]) -> None:
    """Millions of changes a second, by part and workers."""
    for place, workers in enumerate(WORKERS):
        heights = [row.changes_per_second / 1e6 for row in rows if row.workers == workers]
        drawn: Any = bars(axes, place, len(WORKERS), heights, color=TWO[place], label=named(workers))
        axes.bar_label(drawn, [f"{height:.3g}" for height in heights], fontsize=8)
    axes.set_xticks(range(len(PARTS)), PARTS)
    axes.set_ylabel("millions of changes a second")
    plain(axes)
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main()
