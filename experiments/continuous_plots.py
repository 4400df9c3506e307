"""What the plots of continuous queries have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

COLOURS: Final = {
    "Scratch": "#8c8c8c",
    "Vanilla": "#c44e52",
    "JoinOnDemand": "#4c72b0",
    "DeterministicDrop": "#dd8452",
    "ProbabilisticDrop": "#55a868",
}


def panels(lines: int, columns: int, size: tuple[float, float], **more: Any) -> tuple[Figure, Any]:
    """A figure with a grid of axes, always by line and column."""
    return plt.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False, **more)


def plain(axes: Axes, *, log: str = "") -> None:
    """Thin lines behind, no box, and a log scale along the axes that are named."""
    for name in log:
        getattr(axes, f"set_{name}scale")("log")
        getattr(axes, f"{name}axis").set_minor_formatter(NullFormatter())
    axes.grid(color="#e3e7eb", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def bars(axes: Axes, offset: int, of: int, heights: Sequence[float], **more: Any) -> Any:
    """Bars side by side: those of one of several series, one at each place."""
    width = 0.8 / of
    axes.set_xlim(-0.6, len(heights) - 0.4)
    return axes.bar([place + width * (offset - (of - 1) / 2) for place in range(len(heights))], heights, width, **more)


def save(figure: Figure, file: Path, title: str) -> None:
    """Write the picture; a log scale upwards shows whole decades."""
    for axes in figure.axes:
        if axes.get_yscale() == "log":
            low, high = (round(math.log10(limit), 6) for limit in axes.get_ylim())
            axes.set_ylim(10.0 ** math.floor(low), 10.0 ** math.ceil(high))
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    figure.savefig(file, dpi=100)
    plt.close(figure)
