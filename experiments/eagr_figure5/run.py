"""How much overlays share, by iteration, and how long it takes to make them.

Figure 5 of "EAGr: Supporting Continuous Ego-centric Aggregate Queries over Large Dynamic Graphs" (SIGMOD 2014) on
public data. Run it from the root of a checkout:

    python -m experiments.eagr_figure5.run
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from matplotlib.axes import Axes

from experiments.continuous_plots import panels, plain, save
from experiments.ego_graphs import BY_PATH, COLOURS, PAPER_NAMES, SHIPPED, neighbourhoods, write
from experiments.latencies import read
from graphtide.ego import (
    AdaptiveMining,
    FixedMining,
    Incremental,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    build,
)

HERE = Path(__file__).parent
METHODS = (FixedMining(), AdaptiveMining(), NegativeMining(), OverlappingMining(), Incremental())
TIMED = "ego-Twitter"


@dataclass(frozen=True)
class Row:
    """One iteration of one method on one graph."""

    graph: str
    pairs: int
    method: str
    iteration: int
    sharing_index: float
    restructured: int
    benefit: int
    chunk: int
    seconds: float
    depth: float  # of readers, on average, in the last overlay


def main() -> None:
    """Build, check, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*SHIPPED, *BY_PATH]
    parser.add_argument("--graphs", nargs="*", default=known, choices=known, help="others stay as recorded")
    parser.add_argument("--data", type=Path, help="folder of the graphs that do not come with the package")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = read(chosen.output / "results.csv", Row)
    measure("", Neighbourhoods.from_sets([{0, 1, 2, 3}] * 4, 4), 2)  # kernels are compiled now
    for name in chosen.graphs:
        asked = neighbourhoods(name, chosen.data)
        if asked is not None:
            rows = [row for row in rows if row.graph != name] + measure(name, asked, chosen.iterations)
    rows.sort(key=lambda row: known.index(row.graph))
    write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)


def measure(name: str, asked: Neighbourhoods, iterations: int) -> list[Row]:
    """All methods on one graph; each overlay is checked."""
    rows: list[Row] = []
    for method in METHODS:
        most = min(3, iterations) if isinstance(method, Incremental) else iterations
        built = build(asked, method, most)
        built.overlay.check_invariants(asked)
        first = built.overlay.writers
        depth = float(built.overlay.levels()[first : first + asked.readers].mean())
        for number, each in enumerate(built.iterations, 1):
            restructured = each.restructured, each.benefit, each.chunk, each.seconds
            label = type(method).__name__
            rows.append(Row(name, len(asked), label, number, each.sharing_index, *restructured, depth))
        if name:
            last = built.iterations[-1]
            seconds = sum(each.seconds for each in built.iterations)
            print(f"{name}: {method}: {last.sharing_index:.3f} in {seconds:.1f} s, depth {depth:.2f}", flush=True)
    return rows


def draw(file: Path, rows: Sequence[Row]) -> None:
    """The sharing index by iteration, a panel for each graph; and by time on one of them."""
    graphs = list(dict.fromkeys(row.graph for row in rows))
    columns = 3
    lines = -(-(len(graphs) + 1) // columns)
    figure, grid = panels(lines, columns, (4.6 * columns, 3.6 * lines))
    places = list(grid.flat)
    for axes, graph in zip(places, graphs, strict=False):
        curves(axes, [row for row in rows if row.graph == graph])
        axes.set_title(graph, fontsize=10, loc="left")
    seconds(places[len(graphs)], [row for row in rows if row.graph == TIMED])
    places[len(graphs)].set_title(f"{TIMED}: time", fontsize=10, loc="left")
    for axes in places[len(graphs) + 1 :]:
        axes.set_axis_off()
    places[0].legend(frameon=False, fontsize=8)
    save(figure, file, "A few iterations find most of what there is to share; how much that is depends on the graph")


def curves(axes: Axes, rows: Sequence[Row]) -> None:
    """The sharing index after each iteration."""
    for method, colour in COLOURS.items():
        mine = [row for row in rows if row.method == method]
        numbers, indices = [row.iteration for row in mine], [row.sharing_index for row in mine]
        axes.plot(numbers, indices, marker=".", color=colour, label=f"{method} ({PAPER_NAMES[method]})")
    axes.set_xlabel("iteration")
    axes.set_ylabel("sharing index")
    axes.set_ylim(bottom=0)
    plain(axes)


def seconds(axes: Axes, rows: Sequence[Row]) -> None:
    """All seconds up to each iteration."""
    for method, colour in COLOURS.items():
        mine = [row for row in rows if row.method == method]
        axes.plot([row.iteration for row in mine], [*accumulate(row.seconds for row in mine)], marker=".", color=colour)
    axes.set_xlabel("iteration")
    axes.set_ylabel("seconds on a processor, in all")
    plain(axes, log="y")


if __name__ == "__main__":
    main()
