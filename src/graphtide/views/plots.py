"""Pictures of runs and of view collections."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphtide.views.execution import Ints

if TYPE_CHECKING:
    from graphtide.views.run import Run

__all__ = ["Panel", "plot_panels", "plot_run"]

_COLOURS = {"scratch": "#c44e52", "differential": "#4c72b0", "lattice": "#55a868"}
_BLUE, _ORANGE, _GREY, _PALE = "#4c72b0", "#dd8452", "#8c8c8c", "#d0d0d0"
_LABELLED = 24  # more names than this are thinned out
_MARKED = 100  # of so few views, each is a point on its line
_RUN_LETTERS, _PANEL_LETTERS = 110, 45  # what fits below a picture in a line
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Panel:
    """Numbers by two names each, and what is to be said of them."""

    title: str
    numbers: Ints
    rows: Sequence[str]
    columns: Sequence[str]
    meaning: str  # of a number


def plot_run(run: Run, file: str | Path | None) -> Any:
    """How the values develop, how much changes, and what each view took; views that began anew are marked."""
    steps = run.report.steps
    figure = _figure(10, 9)
    # One x axis for all: a view stands above itself.
    trend, sizes, seconds = figure.subplots(3, 1, sharex=True)
    figure.suptitle(f"{run.analytic} on {run.on}" + (f", order {run.report.order}" if len(steps) > 1 else ""))
    _plot_values(trend, run)

    marker = _marker(len(steps))
    # Broad, since a view from scratch has as many differences in as it has edges.
    sizes.plot(
        [step.edges for step in steps], color=_PALE, label="edges of the view", marker=marker, linewidth=5, ms=12
    )
    sizes.plot([step.differences_in for step in steps], color=_BLUE, label="differences in", marker=marker)
    sizes.plot([step.differences_out for step in steps], color=_ORANGE, label="differences out", marker=marker)
    _scale_counts(sizes, (n for step in steps for n in (step.edges, step.differences_in, step.differences_out)))
    sizes.set_ylabel("rows")
    _legend(sizes)

    places = np.arange(len(steps))
    seconds.bar(places, [1e3 * step.seconds for step in steps], color=[_COLOURS[step.way] for step in steps])
    seconds.set_ylabel("milliseconds")
    for way in dict.fromkeys(step.way for step in steps):
        seconds.plot([], [], color=_COLOURS[way], linewidth=6, label=way)
    _legend(seconds)
    for axes in (trend, sizes, seconds):
        for place, step in enumerate(steps):
            if step.way == "scratch" and place > 0:
                axes.axvline(place, color=_COLOURS["scratch"], linewidth=0.5, alpha=0.5, zorder=0)
    seconds.set_xlim(-0.5, len(steps) - 0.5)
    _name_views(seconds.xaxis, [run.names[step.view] for step in steps], _RUN_LETTERS)
    seconds.set_xlabel("views in the order of the run")
    return _finished(figure, file)


def plot_panels(panels: Sequence[Panel], file: str | Path | None) -> Any:
    """Panels side by side; those whose numbers mean the same are on one scale."""
    figure = _figure(7 * len(panels), 6)
    most: dict[str, int] = {}
    for panel in panels:
        # All numbers may be zero: the scale has a whole number above it even so.
        most[panel.meaning] = max(1, most.get(panel.meaning, 0), int(panel.numbers.max(initial=0)))
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        image = axes.imshow(panel.numbers, cmap="viridis", vmin=0, vmax=most[panel.meaning], aspect="auto")
        axes.set_title(panel.title, fontsize="medium")
        _name_views(axes.xaxis, panel.columns, _PANEL_LETTERS)
        _name_views(axes.yaxis, panel.rows, sys.maxsize)
        _whole_numbers(figure.colorbar(image, ax=axes, label=panel.meaning).ax.yaxis)
    return _finished(figure, file)


def _plot_values(axes: Any, run: Run) -> None:
    """Quartiles of values that measure something; of those that name something, how many there are."""
    column = run.schema.names[-1]
    by_name = dict(run.values())
    values = [by_name[run.names[step.view]] for step in run.report.steps]
    marker = _marker(len(values))
    if run.is_measured(column):
        least, low, median, high, most = np.array([_quartiles(each) for each in values]).T
        places = np.arange(len(values))
        axes.fill_between(places, low, high, color=_BLUE, alpha=0.25, linewidth=0, label="middle half")
        # The median on top: it often is the least value too.
        axes.plot(median, color=_BLUE, label="median", marker=marker, zorder=3)
        axes.plot(most, color=_ORANGE, linestyle="--", label="greatest", marker=marker)
        axes.plot(least, color=_GREY, linestyle="--", label="least", marker=marker)
        _scale_values(axes, np.array([least, most]))
        axes.set_ylabel(column)
    else:
        counts = [len(each) for each in values]
        axes.plot(counts, color=_BLUE, label="rows of the result", marker=marker)
        distinct = [len(each.unique()) for each in values] if len(run.schema) > 1 else []
        if distinct:
            axes.plot(distinct, color=_ORANGE, label=f'different values of "{column}"', marker=marker)
        _scale_counts(axes, [*counts, *distinct])
        axes.set_ylabel("count")
    _legend(axes)


def _quartiles(values: pa.ChunkedArray) -> list[float]:
    """Least, first quartile, median, third quartile and greatest; all NaN where there are no numbers."""
    numbers = values.drop_null().cast(pa.float64()).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    return np.quantile(numbers, _QUARTERS).tolist() if len(numbers) else [np.nan] * len(_QUARTERS)


def _scale_values(axes: Any, values: Any) -> None:
    """By powers of ten where the greatest value would press all others to the ground."""
    known = values[np.isfinite(values)]
    if len(known) and known.min() > 0 and known.max() / known.min() > 100:
        axes.set_yscale("log")


def _scale_counts(axes: Any, counts: Iterable[int]) -> None:
    """By powers of ten where counts differ by one, from one below all to one above all, so that some are labelled."""
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415 - takes a moment, and only plots need it

    known = list(counts)
    least, most = min(known, default=0), max(1, *known)
    if most <= 10 or (least and most / least < 10):
        axes.set_ylim(0, 1.05 * most)
        _whole_numbers(axes.yaxis)
        return
    axes.set_yscale("symlog", linthresh=1)
    bottom = 0.8 * 10 ** floor(log10(least)) if least else -0.1
    axes.set_ylim(bottom, 10 ** ceil(log10(1.1 * most)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _place: f"{count:,.0f}"))


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter  # noqa: PLC0415 - takes a moment, and only plots need it

    axis.set_major_locator(MaxNLocator(integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes a moment, and only plots need it

    # A figure of its own, not pyplot's: no window, no state between calls.
    return Figure(figsize=(width, height), layout="constrained")


def _finished(figure: Any, file: str | Path | None) -> Any:
    if file is not None:
        figure.savefig(file, dpi=120)
    return figure


def _legend(axes: Any) -> None:
    """Above the picture, where no line runs."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)


def _marker(views: int) -> str | None:
    """A point for each view, if they are few: no line leads to one that has no neighbour with a value."""
    return "." if views <= _MARKED else None


def _name_views(axis: Any, names: Sequence[str], room: int) -> None:
    """Names along an axis, as many as fit at even steps; aslant if they have more letters than there is room for."""
    step = max(1, -(-len(names) // _LABELLED))
    places = list(range(0, len(names), step))
    axis.set_ticks(places, [names[p] for p in places])
    if len(places) * (max(map(len, names), default=0) + 2) > room:
        for label in axis.get_ticklabels():
            label.set(rotation=45, rotation_mode="anchor", horizontalalignment="right")
