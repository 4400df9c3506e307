"""Many epochs of TPC-H as one physical batch: how throughput and latency grow with it.

Figure 4b of "Shared Arrangements: practical inter-query sharing for streaming dataflows" (the K-Pg system) on one core.
Run it from the root of a checkout; it needs `tpchgen-cli`, which comes with graphtide[bench]:

    python -m experiments.kpg_figure4.run
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from experiments.continuous_plots import panels, plain, save
from experiments.latencies import read, write
from graphtide.bench.held_memory import hold_memory
from graphtide.bench.tpch_tables import KEYS, QUERIES, Changes, generated
from graphtide.dataflow.warm import warm
from graphtide.sql import Database, View
from graphtide.sql.decimals import with_units

HERE = Path(__file__).parent
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
LONG_ENOUGH = 0.3  # seconds of batches of one size
FEWEST, MOST = 2, 200  # batches of one size
# Seconds of a batch after which no larger one is tried: of any, and of one that is slower by the change than a smaller.
TOO_LONG, LONG = 0.5, 0.05
COMPARED = 200  # epochs
GREY, BLUE, RED = "#c5ccd3", "#4c72b0", "#c44e52"


@dataclass(frozen=True)
class Row:
    """One query with batches of so many epochs, one changed row each."""

    query: int
    epochs: int
    batches: int
    changes_per_second: float  # of processor time in run()
    changes_per_second_staged: float  # from rows in Arrow
    latency: float  # median seconds of a run


class Tables:
    """TPC-H's tables in a database without keys, so that rows of many epochs can be staged at once."""

    def __init__(self, tables: Mapping[str, pa.Table], waiting: int) -> None:
        self._changes = Changes(tables, waiting=waiting)
        self.database = Database()
        for name in KEYS:
            rows = self._changes.held(name)
            self.database.table(name, rows.schema)
            self.database.insert(name, rows)
        self.database.commit()
        self._inputs = {each.node.name: each for each in self.database.flow.inputs}
        self._rng = np.random.default_rng(1)

    def batch(self, size: int, names: Iterable[str]) -> list[tuple[str, pa.Table, int, np.ndarray]]:
        """Rows to insert (1) and to remove (-1) by table, each in an epoch of its own, counted from 0."""
        parts = [
            (name, rows, diff)
            for name, (taken, brought) in self._changes.batch(size, names).items()
            for rows, diff in ((taken, -1), (brought, 1))
            if rows.num_rows
        ]
        order = self._rng.permutation(sum(rows.num_rows for _, rows, _ in parts))
        ends = np.cumsum([rows.num_rows for _, rows, _ in parts])
        return [(*part, np.sort(epochs)) for part, epochs in zip(parts, np.split(order, ends[:-1]), strict=True)]

    def stage(self, batch: Iterable[tuple[str, pa.Table, int, np.ndarray]], size: int) -> None:
        """Let all of its epochs be closed, and run none."""
        flow = self.database.flow
        for name, rows, diff, epochs in batch:
            source = self._inputs[name]
            scales = {each.name: each.type.scale for each in rows.schema if pa.types.is_decimal(each.type)}
            given = with_units(rows, source.schema.names, scales)
            source.change(given, np.full(len(epochs), diff), epochs=flow.epoch + epochs)
        flow.seal(size)

    def view(self, number: int) -> View:
        """A query of TPC-H, filled."""
        made = self.database.view(QUERIES[number], name=f"q{number}")
        self.database.commit()
        return made


def main() -> None:
    """Compare, measure, record, draw and print the headline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", nargs="*", type=int, default=list(QUERIES), help="others stay as recorded")
    parser.add_argument("--scale", type=float, default=0.1, help="TPC-H's scale factor")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    rows = [row for row in read(chosen.output / "results.csv", Row) if row.query not in chosen.queries]
    if chosen.queries:
        warm()
        hold_memory(2 << 30)
        compare(chosen.queries)
        tables = made(chosen.scale, waiting=BATCHES[-1])
        for number in chosen.queries:
            rows += measure(tables, number)
            rows.sort(key=lambda row: (row.query, row.epochs))
            write(chosen.output / "results.csv", rows)
    draw(chosen.output / "plot.png", rows)
    summarize(rows)


def made(scale: float, waiting: int) -> Tables:
    """TPC-H's tables of a size."""
    with TemporaryDirectory() as folder:
        # Arrow takes rows out of one chunk far faster than out of many.
        return Tables({name: rows.combine_chunks() for name, rows in generated(scale, Path(folder)).items()}, waiting)


def compare(queries: Sequence[int]) -> None:
    """Stop unless all queries change alike in each epoch, with epochs one by one and as one batch."""
    together, apart = made(0.01, 2_000), made(0.01, 2_000)
    for number in queries:
        views = together.view(number), apart.view(number)
        batch = together.batch(COMPARED, views[0].reads)
        apart.batch(COMPARED, views[1].reads)  # both have the same rows waiting
        size = sum(len(epochs) for *_, epochs in batch)
        first = together.database.flow.epoch
        assert first == apart.database.flow.epoch
        together.stage(batch, size)
        together.database.flow.run()
        seen: list[pa.Table] = []
        for epoch in range(size):
            [(name, rows, diff, epochs)] = [each for each in batch if epoch in each[3]]
            place = int(np.searchsorted(epochs, epoch))
            apart.stage([(name, rows.slice(place, 1), diff, np.zeros(1, np.int64))], 1)
            apart.database.flow.run()
            seen.append(views[1].output.changes())
        if told(views[0].output.changes()) != told(pa.concat_tables(seen)):
            raise SystemExit(f"q{number:02}: one batch gives other changes than epochs one by one")
        for each, view in zip((together, apart), views, strict=True):
            each.database.drop(view)
    print(f"{len(queries)} queries change alike in each of {COMPARED} epochs, in one batch and one by one", flush=True)


def told(changes: pa.Table) -> list[tuple[str, ...]]:
    """Changes in order, the epoch and the difference among their columns."""
    return sorted(tuple(map(str, row.values())) for row in changes.to_pylist())


def measure(tables: Tables, number: int) -> list[Row]:
    """One query with batches of all sizes."""
    view = tables.view(number)
    run(tables, view, 1_000)
    rows: list[Row] = []
    for size in BATCHES:
        runs: list[tuple[int, float, float, float]] = []
        while len(runs) < FEWEST or (len(runs) < MOST and sum(each[2] for each in runs) < LONG_ENOUGH):
            runs.append(run(tables, view, size))
        changes, staging, running, waited = (np.array(each) for each in zip(*runs, strict=True))
        rate, with_staging = changes.sum() / running.sum(), changes.sum() / (staging + running).sum()
        rows.append(Row(number, size, len(runs), float(rate), float(with_staging), float(np.median(waited))))
        slower = len(rows) > 1 and rows[-1].changes_per_second < rows[-2].changes_per_second
        if running.min() > (LONG if slower else TOO_LONG):
            break
    tables.database.drop(view)
    rates = ", ".join(f"{row.changes_per_second:,.0f}" for row in rows)
    print(f"q{number:02}: {rates} changes a second", flush=True)
    return rows


def run(tables: Tables, view: View, size: int) -> tuple[int, float, float, float]:
    """A batch: how many epochs it has, processor seconds of staging and of running, and seconds of running."""
    batch = tables.batch(size, view.reads)
    epochs = sum(len(each) for *_, each in batch)
    began = time.process_time()
    tables.stage(batch, epochs)
    staged, clock = time.process_time(), time.perf_counter()
    tables.database.flow.run()
    return epochs, staged - began, time.process_time() - staged, time.perf_counter() - clock


def draw(file: Path, rows: Sequence[Row]) -> None:
    """Throughput relative to epochs that run one by one, and latency, by the size of batches."""
    figure, grid = panels(1, 2, (12, 4.8))
    numbers = sorted({row.query for row in rows})
    lines(grid[0, 0], rows, numbers, relative=True)
    grid[0, 0].set_ylabel("throughput, relative to one by one")
    grid[0, 0].set_title("b: throughput", fontsize=10, loc="left")
    lines(grid[0, 1], rows, numbers, relative=False)
    grid[0, 1].set_ylabel("seconds until a batch is done (median)")
    grid[0, 1].set_title("latency", fontsize=10, loc="left")
    save(
        figure,
        file,
        "TPC-H as streams of epochs with one changed row each: the more epochs in a batch, the more a second",
    )


def lines(axes: Axes, rows: Sequence[Row], numbers: Sequence[int], *, relative: bool) -> None:
    """A line for each query, and the geometric mean of those that batches of all sizes were tried with."""
    values: list[list[float]] = []
    for number in numbers:
        mine = [row for row in rows if row.query == number]
        first = mine[0].changes_per_second
        values.append([row.changes_per_second / first if relative else row.latency for row in mine])
        sizes = [row.epochs for row in mine]
        axes.plot(sizes, values[-1], color=GREY if len(mine) == len(BATCHES) else RED, linewidth=1)
        end = sizes[-1], values[-1][-1]
        axes.annotate(f"q{number}", end, fontsize=6, xytext=(3, -2), textcoords="offset points")
    complete = [each for each in values if len(each) == len(BATCHES)]
    means = [geometric_mean(column) for column in zip(*complete, strict=True)]
    axes.plot(BATCHES, means, color=BLUE, marker=".", linewidth=2, label="geometric mean")
    axes.set_xlabel("epochs in a batch")
    axes.legend(frameon=False, fontsize=8)
    plain(axes, log="xy")


def summarize(rows: Sequence[Row]) -> None:
    """Print the geometric means, and for which queries batches became too long."""
    whole = {row.query for row in rows if row.epochs == BATCHES[-1]}
    print(f"given up: {sorted({row.query for row in rows} - whole) or 'none'}")
    for size in BATCHES:
        mine = [row for row in rows if row.epochs == size and row.query in whole]
        rate = geometric_mean(row.changes_per_second for row in mine)
        staged = geometric_mean(row.changes_per_second_staged for row in mine)
        late = geometric_mean(row.latency for row in mine)
        print(f"{size:,} epochs: {rate:,.0f} changes a second, {staged:,.0f} with staging, {1e3 * late:.3g} ms")


if __name__ == "__main__":
    main()
