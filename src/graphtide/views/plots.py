"""Pictures of runs and of view collections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtide.views.execution import Ints

if TYPE_CHECKING:
    from graphtide.views.run import Run

__all__ = ["plot_distances", "plot_run"]

_COLOURS = {"scratch": "#c44e52", "differential": "#4c72b0", "lattice": "#55a868"}
_LABELLED = 24  # more names than this are thinned out


def plot_run(run: Run, file: str | Path | None) -> Any:
    """How the values develop, how much changes, and what each view took; views that began anew are marked."""
    figure = _figure(10, 9)
    trend, sizes, seconds = figure.subplots(3, 1)
    names = [run.names[step.view] for step in run.report.steps]
    places = np.arange(len(names))
    by_name = {name: (len(values), len(values.unique())) for name, values in run.values()}
    counts, distinct = zip(*(by_name[name] for name in names), strict=True)
    trend.plot(places, counts, color="#4c72b0", label="rows of the result")
    trend.plot(places, distinct, color="#dd8452", label=f"different values of {run.schema.names[-1]}")
    trend.set_ylabel("count")
    _legend(trend)
    figure.suptitle(f"{run.analytic} on {run.on}")

    steps = run.report.steps
    sizes.plot(places, [step.edges for step in steps], color="#8c8c8c", label="edges of the view")
    sizes.plot(places, [step.differences_in for step in steps], color="#4c72b0", label="differences in")
    sizes.plot(places, [step.differences_out for step in steps], color="#dd8452", label="differences out")
    sizes.set_yscale("symlog", linthresh=1)
    sizes.set_ylabel("rows")
    _legend(sizes)

    seconds.bar(places, [1e3 * step.seconds for step in steps], color=[_COLOURS[step.way] for step in steps])
    seconds.set_ylabel("milliseconds")
    for way in dict.fromkeys(step.way for step in steps):
        seconds.plot([], [], color=_COLOURS[way], linewidth=6, label=way)
    _legend(seconds)
    for axes in (trend, sizes, seconds):
        for place, step in enumerate(steps):
            if step.way == "scratch" and place > 0:
                axes.axvline(place, color="#c44e52", linewidth=0.5, alpha=0.5)
        _name_views(axes, names)
    return _finished(figure, file)


def plot_distances(distances: Ints, order: Sequence[int], names: Sequence[str], file: str | Path | None) -> Any:
    """The distance of each pair of views, as given and in another order."""
    figure = _figure(12, 5.5)
    given, chosen = figure.subplots(1, 2)
    between = distances[1:, 1:]
    for axes, places, title in (
        (given, list(range(len(names))), "as given"),
        (chosen, list(order), "along the chain of fewest differences"),
    ):
        image = axes.imshow(between[np.ix_(places, places)], cmap="viridis")
        axes.set_title(title)
        _name_views(axes, [names[p] for p in places])
        figure.colorbar(image, ax=axes, label="edges that differ", shrink=0.8)
    return _finished(figure, file)


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


def _name_views(axes: Any, names: Sequence[str]) -> None:
    step = max(1, -(-len(names) // _LABELLED))
    places = range(0, len(names), step)
    axes.set_xticks(list(places), [names[p] for p in places], rotation=45 if len(names) > 6 else 0, ha="right")
