"""Distributions of latencies: recorded and drawn as the share that took longer, with all detail in the tail."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from experiments.continuous_plots import plain

Row = TypeVar("Row")
_A_DECADE: Final = 12  # points of a curve
LEAST_SHARE: Final = 1e-6


@dataclass(frozen=True)
class Point:
    """The share of all that took longer than so many seconds, in one series of one panel."""

    panel: str
    series: str
    share: float
    seconds: float


def tail(panel: str, series: str, seconds: NDArray[np.float64]) -> list[Point]:
    """What the median, the tenth, the hundredth, ... of all took longer than, down to the slowest one."""
    least = max(LEAST_SHARE, 1 / len(seconds))
    shares = np.geomspace(1, least, 1 + round(-_A_DECADE * np.log10(least)))
    ordered = np.sort(seconds)
    places = np.minimum(np.ceil((1 - shares) * len(ordered)).astype(np.int64), len(ordered) - 1)
    return [
        Point(panel, series, float(f"{share:.4g}"), float(f"{ordered[place]:.4g}"))
        for share, place in zip(shares, places, strict=True)
    ]


def at(points: Iterable[Point], panel: str, series: str, share: float) -> float:
    """What a share of one series took longer than, or the nearest share that was recorded."""
    mine = [each for each in points if (each.panel, each.series) == (panel, series)]
    return min(mine, key=lambda each: abs(np.log(each.share / share))).seconds


def curves(axes: Axes, points: Sequence[Point], colours: Sequence[Any], *, least: float = 0.0) -> None:
    """One panel: a curve for each series, both axes by powers of ten."""
    series = list(dict.fromkeys(each.series for each in points))
    for name, colour in zip(series, colours, strict=False):
        mine = [each for each in points if each.series == name and each.share >= least]
        axes.plot([each.seconds for each in mine], [each.share for each in mine], color=colour, label=name)
    axes.set_xlabel("latency")
    axes.set_ylabel("share that took longer")
    plain(axes, log="xy")
    axes.set_ylim(top=1)
    axes.xaxis.set_major_formatter(FuncFormatter(_time))
    axes.legend(frameon=False, fontsize=8)


def _time(seconds: float, _place: object) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.999 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-9:g} ns"


def write(file: Path, rows: Sequence[Any]) -> None:
    """Record rows, dataclasses of one type; none leave what was recorded as it is."""
    if not rows:
        return
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows({n: f"{v:.6g}" if isinstance(v, float) else v for n, v in asdict(row).items()} for row in rows)


def read(file: Path, kind: type[Row]) -> list[Row]:
    """What was recorded before."""
    if not file.exists():
        return []
    makers: dict[str, Any] = {"str": str, "int": int, "float": float}
    types = {field.name: makers[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type]
    with file.open(newline="") as stream:
        return [kind(**{name: types[name](text) for name, text in row.items()}) for row in csv.DictReader(stream)]
