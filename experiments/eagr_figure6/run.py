"""How much the size of chunks matters, and what pruning leaves for the minimum cut.

Figure 6 of "EAGr: Supporting Continuous Ego-centric Aggregate Queries over Large Dynamic Graphs" (SIGMOD 2014) on
public data. Run it from the root of a checkout:

    python -m experiments.eagr_figure6.run
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from experiments.continuous_plots import bars, panels, plain, save
from experiments.ego_graphs import COLOURS, SHIPPED, neighbourhoods, write, zipf
from experiments.latencies import read
from graphtide.ego import (
    AdaptiveMining,
    Costs,
    Curve,
    FixedMining,
    Greedy,
    Neighbourhoods,
    Overlay,
    build,
    decide,
    split,
)

HERE = Path(__file__).parent
CHUNKS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
COSTS = {"sum": Costs(), "max": Costs(push=Curve(constant=1, log=1))}


@dataclass(frozen=True)
class Chunked:
    """What chunks of a size came to; size 0 stands for chunks that become smaller."""

    graph: str
    chunk: int
    sharing_index: float
    iterations: int
    seconds: float


@dataclass(frozen=True)
class Pruned:
    """What pruning left of an overlay, and what decisions cost."""

    graph: str
    aggregate: str
    writes_per_read: float
    readers: int
    partials: int
    readers_left: int
    partials_left: int
    components: int
    seconds: float  # to decide, the minimum cut included
    cost: float
    greedy_cost: float
    split_cost: float
    all_push: float
    all_pull: float


def main() -> None:
    """Build, decide, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=SHIPPED, choices=SHIPPED, help="others stay as recorded")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    build(Neighbourhoods.from_sets([{0, 1, 2, 3}] * 4, 4), None, 2)  # kernels are compiled now
    chunked = [row for row in read(chosen.output / "chunks.csv", Chunked) if row.graph not in chosen.graphs]
    pruned = [row for row in read(chosen.output / "pruning.csv", Pruned) if row.graph not in chosen.graphs]
    for name in chosen.graphs:
        asked = neighbourhoods(name)
        assert asked is not None
        for chunk in (*CHUNKS, 0):
            method = FixedMining(chunk) if chunk else AdaptiveMining()
            built = build(asked, method, chosen.iterations)
            taken = sum(each.seconds for each in built.iterations)
            chunked.append(Chunked(name, chunk, built.overlay.sharing_index(asked), len(built.iterations), taken))
            print(chunked[-1], flush=True)
            if chunk == 0:
                pruned += prune(name, built.overlay)
    for rows in (chunked, pruned):
        rows.sort(key=lambda row: SHIPPED.index(row.graph))
    write(chosen.output / "chunks.csv", chunked)
    write(chosen.output / "pruning.csv", pruned)
    draw(chosen.output / "plot.png", chunked, pruned)


def prune(name: str, overlay: Overlay) -> list[Pruned]:
    """Decide an overlay at several ratios, with frequencies by Zipf's law: who writes more is read more."""
    rows: list[Pruned] = []
    often = zipf(overlay.readers, seed=1)
    for aggregate, costs in COSTS.items():
        for ratio in (0.1, 1.0, 10.0):
            workload = ratio * often, often, costs
            decide(overlay, *workload)
            began = time.thread_time()
            found = decide(overlay, *workload)
            taken = time.thread_time() - began
            found.check_invariants(overlay)
            readers_left = int(np.count_nonzero(found.left < overlay.writers + overlay.readers))
            sizes = overlay.readers, overlay.partials, readers_left, len(found.left) - readers_left
            greedy = decide(overlay, *workload, by=Greedy())
            _, parts = split(overlay, found, *workload)
            costs_of_all = found.cost_of_all_push, found.cost_of_all_pull
            paid = found.cost, greedy.cost, parts.cost, *costs_of_all
            rows.append(Pruned(name, aggregate, ratio, *sizes, found.components, taken, *paid))
            print(rows[-1], flush=True)
    return rows


def draw(file: Path, chunked: Sequence[Chunked], pruned: Sequence[Pruned]) -> None:
    """The sharing index by chunk, beside nodes before and after pruning."""
    figure, grid = panels(1, 2, (13, 4.8))
    sensitivity(grid[0, 0], chunked)
    grid[0, 0].set_title("a: chunks of one size (line), or adaptive (dotted)", fontsize=10, loc="left")
    left(grid[0, 1], [row for row in pruned if row.aggregate == "max" and row.writes_per_read == 1])
    grid[0, 1].set_title("b: what pruning leaves (maxima, a write for each read)", fontsize=10, loc="left")
    save(figure, file, "Adaptive chunks come near the best size; pruning leaves next to nothing for the minimum cut")


def sensitivity(axes: Axes, rows: Sequence[Chunked]) -> None:
    """The sharing index by the size of chunks."""
    graphs = list(dict.fromkeys(row.graph for row in rows))
    for graph, colour in zip(graphs, COLOURS.values(), strict=False):
        mine = [row for row in rows if row.graph == graph and row.chunk]
        axes.plot(
            [row.chunk for row in mine], [row.sharing_index for row in mine], marker=".", color=colour, label=graph
        )
        adaptive = next(row for row in rows if row.graph == graph and not row.chunk)
        axes.axhline(adaptive.sharing_index, color=colour, linewidth=1, linestyle=":")
    axes.set_xlabel("lists in a chunk")
    axes.set_ylabel("sharing index")
    axes.legend(frameon=False, fontsize=8, loc=(0.66, 0.52))
    axes.set_ylim(bottom=0)
    plain(axes, log="x")


def left(axes: Axes, rows: Sequence[Pruned]) -> None:
    """Nodes before and after pruning, in thousands."""
    before = bars(axes, 0, 2, [(row.readers + row.partials) / 1000 for row in rows], color="#c5ccd3", label="before")
    after = bars(
        axes, 1, 2, [(row.readers_left + row.partials_left) / 1000 for row in rows], color="#4c72b0", label="after"
    )
    axes.bar_label(before, [f"{row.readers + row.partials:,}" for row in rows], fontsize=7)
    axes.bar_label(after, [f"{row.readers_left + row.partials_left:,}" for row in rows], fontsize=7)
    axes.set_xticks(range(len(rows)), [row.graph for row in rows], fontsize=8)
    axes.set_ylabel("thousands of readers and partial aggregates")
    axes.legend(frameon=False, fontsize=8)
    plain(axes)


if __name__ == "__main__":
    main()
