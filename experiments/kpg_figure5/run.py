"""Interactive queries on a graph that changes all the time, with and without shared indexes.

Figure 5 of "Shared Arrangements: practical inter-query sharing for streaming dataflows" (the K-Pg system) on one core.
Run it from the root of a checkout:

    python -m experiments.kpg_figure5.run
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from experiments.continuous_plots import panels, plain, save
from experiments.latencies import Point, at, curves, read, tail, write
from graphtide.bench.held_memory import hold_memory
from graphtide.bench.interactive_load import KINDS, Load, load_of, outstanding_agree
from graphtide.dataflow.flow import Dataflow, Sharing
from graphtide.dataflow.warm import warm
from graphtide.procedures import SharedGraph

HERE = Path(__file__).parent
WAYS: dict[Sharing, str] = {"indexes": "shared", "nothing": "not shared"}
COLOURS = {"shared": "#4c72b0", "not shared": "#c44e52"}
KIND_COLOURS = ("#8c8c8c", "#55a868", "#dd8452", "#4c72b0")


@dataclass(frozen=True)
class Footprint:
    """The bytes that operators keep so many seconds after the load began."""

    series: str
    turn: int
    seconds: float
    bytes: int


class Watched(SharedGraph):
    """A graph that notes the bytes that its operators keep, about once in so many seconds.

    Where each procedure has its own indexes, those of the graph are of no use, and it has none.
    """

    def __init__(self, sharing: Sharing, every: float) -> None:
        super().__init__(flow=Dataflow(sharing=sharing), value=int)
        if sharing == "nothing":
            for each in self.indexes:
                each.close()
        self._every = every
        self.noted: list[tuple[float, int]] = []
        self._began, self._next = 0.0, np.inf

    def begin(self) -> None:
        """Count seconds from now on."""
        self._began = self._next = time.perf_counter()

    def commit(self) -> int:
        """As any graph does."""
        epoch = super().commit()
        if time.perf_counter() >= self._next:
            self.noted.append((time.perf_counter() - self._began, self.flow.machine.heap.nbytes))
            self._next = time.perf_counter() + self._every
        return epoch


def main() -> None:
    """Serve the load in both ways, check, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=6_400_000)
    parser.add_argument("--rate", type=int, default=10_000, help="changes a second")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--turns", type=int, default=2, help="how often, by turns; 0 draws what was recorded")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    if chosen.turns:
        measure(load_of(chosen.nodes, chosen.edges, chosen.rate, chosen.seconds), chosen.turns, chosen.output)
    points = read(chosen.output / "latencies.csv", Point)
    footprints = read(chosen.output / "memory.csv", Footprint)
    title = f"{chosen.nodes:,} nodes, {chosen.edges:,} edges, {chosen.rate:,} changes a second, one core"
    draw(chosen.output / "plot.png", points, footprints, title)
    summarize(points, footprints)


def measure(load: Load, turns: int, output: Path) -> None:
    """Serve the load in both ways, by turns, and record."""
    warm()
    hold_memory(500 * len(load.edges))
    waited: dict[str, dict[str, list[NDArray[np.float64]]]] = {name: {k: [] for k in KINDS} for name in WAYS.values()}
    footprints: list[Footprint] = []
    for turn in range(turns):
        for sharing, name in WAYS.items():
            graph = loaded(load, sharing, every=load.seconds / 20)
            served = load.serve(graph)
            if not outstanding_agree(load, graph):
                raise SystemExit(f"{name}: an answer is not that of a search")
            for kind, seconds in served.latencies.items():
                waited[name][kind].append(seconds)
            footprints += [Footprint(name, turn, seconds, kept) for seconds, kept in graph.noted]
            rate = served.served / served.seconds
            print(f"{name}: {rate:,.0f} changes a second, {graph.noted[-1][1] / 1e6:,.0f} MB at the end", flush=True)
            del graph
            gc.collect()
    points: list[Point] = []
    for name, by_kind in waited.items():
        for kind, seconds in by_kind.items():
            points += tail(f"by query, {name}", kind.replace("_", " "), np.concatenate(seconds))
        points += tail("mix", name, np.concatenate([each for seconds in by_kind.values() for each in seconds]))
    write(output / "latencies.csv", points)
    write(output / "memory.csv", footprints)


def loaded(load: Load, sharing: Sharing, every: float) -> Watched:
    """A graph with all procedures, which were there before its edges: what comes late would share what is there."""
    graph = Watched(sharing, every)
    for kind in KINDS:
        getattr(graph, kind)()
    numbers = np.arange(load.nodes)
    graph.nodes.insert(np.column_stack([numbers, 3 * numbers]))
    graph.edges.insert(load.edges)
    graph.commit()
    graph.begin()
    return graph


def draw(file: Path, points: Sequence[Point], footprints: Sequence[Footprint], title: str) -> None:
    """Latencies by query and of the mix, beside what is kept."""
    figure, grid = panels(1, 3, (15, 4.6))
    axes: Sequence[Any] = grid[0]
    curves(axes[0], [each for each in points if each.panel == "by query, shared"], KIND_COLOURS)
    axes[0].set_title("a: each query, shared indexes", fontsize=10, loc="left")
    curves(axes[1], [each for each in points if each.panel == "mix"], list(COLOURS.values()))
    axes[1].set_title("b: the mix", fontsize=10, loc="left")
    memory(axes[2], footprints)
    axes[2].set_title("c: bytes kept", fontsize=10, loc="left")
    save(figure, file, f"Four queries that share the indexes of a graph: {title}")


def memory(axes: Axes, footprints: Sequence[Footprint]) -> None:
    """Gigabytes by time."""
    for name, colour in COLOURS.items():
        mine = [each for each in footprints if each.series == name and each.turn == 0]
        axes.plot([each.seconds for each in mine], [each.bytes / 1e9 for each in mine], color=colour, label=name)
    axes.set_xlabel("seconds since the load began")
    axes.set_ylabel("gigabytes")
    axes.set_ylim(bottom=0)
    plain(axes)
    axes.legend(frameon=False, fontsize=8)


def summarize(points: Sequence[Point], footprints: Sequence[Footprint]) -> None:
    """Print what it came to."""
    for name in COLOURS:
        spread = ", ".join(
            f"{told} {1e3 * at(points, 'mix', name, share):.3g} ms"
            for told, share in (("p50", 0.5), ("p90", 0.1), ("p99", 0.01), ("p99.9", 0.001))
        )
        print(f"{name}: {spread}")
    last = {each.series: each.bytes for each in footprints}
    print(f"{last['not shared'] / last['shared']:.2f} times the bytes without sharing")


if __name__ == "__main__":
    main()
