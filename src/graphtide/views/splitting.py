"""Where to begin anew: for each view, from scratch or from the differences to the one before.

Two linear models of what was observed: seconds from scratch against the size of the view, and seconds
by differences against their number; the lesser estimate is taken (Graphsurge, section 5). The paper
runs the second view by its differences to have something to observe. Here a difference counts as much as
an edge until one has been observed, so that disjoint views are not undone for the sake of a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

__all__ = ["DECIDED_AT_ONCE", "LinearModel", "Splitter", "Way"]

Way = Literal["scratch", "differential"]

DECIDED_AT_ONCE: Final = 10


@dataclass(slots=True)
class LinearModel:
    """Seconds against a size, by least squares: neither a negative price nor a negative start.

    >>> model = LinearModel()
    >>> model.observe(100, 2.0)
    >>> model.observe(300, 4.0)
    >>> round(model.estimate(200), 6)
    3.0
    """

    _sizes: list[float] = field(default_factory=list[float])
    _seconds: list[float] = field(default_factory=list[float])

    def observe(self, size: float, seconds: float) -> None:
        """Note what a run took."""
        self._sizes.append(size)
        self._seconds.append(seconds)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was observed so far."""
        return not self._sizes

    def estimate(self, size: float) -> float:
        """What a run of this size would take."""
        start, slope = self._line()
        return start + slope * size

    def _line(self) -> tuple[float, float]:
        sizes, seconds = np.array(self._sizes), np.array(self._seconds)
        spread = sizes - sizes.mean()
        if not spread.any():
            # One size says nothing of the start: all of it is put down to the size.
            return (0.0, seconds.mean() / sizes[0]) if sizes[0] else (seconds.mean(), 0.0)
        slope = float(spread @ seconds / (spread @ spread))
        start = float(seconds.mean() - slope * sizes.mean())
        if slope < 0:
            return float(seconds.mean()), 0.0
        if start < 0:
            return 0.0, float(sizes @ seconds / (sizes @ sizes))
        return start, slope


@dataclass(slots=True)
class Splitter:
    """Decides for a few views at a time, and learns from each."""

    scratch: LinearModel = field(default_factory=LinearModel)
    differential: LinearModel = field(default_factory=LinearModel)

    def decide(self, size: int, differences: int) -> Way:
        """How to run a view of so many edges that differs in so many from the one before."""
        if self.differential.is_blank:
            return "scratch" if size < differences else "differential"
        is_less = self.estimate("scratch", size) < self.estimate("differential", differences)
        return "scratch" if is_less else "differential"

    def estimate(self, way: Way, size: int) -> float:
        """What a view would take: of `size` edges from scratch, or of `size` differences."""
        model = self.scratch if way == "scratch" or self.differential.is_blank else self.differential
        return model.estimate(size)

    def observe(self, way: Way, size: int, seconds: float) -> None:
        """Note what a view took."""
        (self.scratch if way == "scratch" else self.differential).observe(size, seconds)
