"""Where to begin anew: for each view, from scratch or from the differences to the one before.

Two linear models of what was observed: seconds from scratch against the size of the view, and seconds
by differences against their number; the lesser estimate is taken (Graphsurge, section 5). The paper
runs the second view by its differences to have something to observe. Here a difference counts as much as
an edge until one has been observed, so that disjoint views are not undone for the sake of a measurement. And from
scratch an edge counts no more than a difference does, however few views have begun anew: the first of
them may be small, and what it took says little of large ones.
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
    """Seconds against a size, by least squares: neither a negative price, nor a start below what was seen to be one.

    >>> model = LinearModel()
    >>> model.observe(100, 2.0)
    >>> model.observe(300, 4.0)
    >>> round(model.estimate(200), 6)
    3.0
    """

    _sizes: list[float] = field(default_factory=list[float])
    _seconds: list[float] = field(default_factory=list[float])
    _starts: list[float] = field(default_factory=list[float])

    def observe(self, size: float, seconds: float, start: float = 0.0) -> None:
        """Note what a run took, and what of it another size would have taken as well."""
        self._sizes.append(size)
        self._seconds.append(seconds)
        self._starts.append(start)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was observed so far."""
        return not self._sizes

    @property
    def start(self) -> float:
        """What a run takes at least, whatever its size."""
        return float(np.median(self._starts))

    def estimate(self, size: float) -> float:
        """What a run of this size would take."""
        start, slope = self._line()
        return start + slope * size

    def _line(self) -> tuple[float, float]:
        sizes, seconds = np.array(self._sizes), np.array(self._seconds)
        spread = sizes - sizes.mean()
        if spread.any():
            slope = float(spread @ seconds / (spread @ spread))
            start = float(seconds.mean() - slope * sizes.mean())
            if slope < 0:
                return float(seconds.mean()), 0.0
            if start >= self.start:
                return start, slope
        elif not sizes[0]:
            return float(seconds.mean()), 0.0
        # One size says nothing of the start: all but what was seen of it is put down to the size.
        return self.start, max(0.0, float(sizes @ (seconds - self.start) / (sizes @ sizes)))


@dataclass(slots=True)
class Splitter:
    """Decides for a few views at a time, and learns from each."""

    scratch: LinearModel = field(default_factory=LinearModel)
    differential: LinearModel = field(default_factory=LinearModel)

    def decide(self, size: int, differences: int) -> Way:
        """How to run a view of so many edges that differs in so many from the one before.

        >>> splitter = Splitter()
        >>> splitter.observe("scratch", 100, 0.010, start=0.004)
        >>> splitter.observe("differential", 50, 0.001)
        >>> splitter.decide(10_000, differences=9_000), splitter.decide(10_000, differences=20_000)
        ('differential', 'scratch')
        """
        if self.differential.is_blank:
            return "scratch" if size < differences else "differential"
        is_less = self.estimate("scratch", size) < self.estimate("differential", differences)
        return "scratch" if is_less else "differential"

    def estimate(self, way: Way, size: int) -> float:
        """What a view would take: of `size` edges from scratch, or of `size` differences."""
        if self.differential.is_blank:
            return self.scratch.estimate(size)
        by_differences = self.differential.estimate(size)
        if way == "differential":
            return by_differences
        return min(self.scratch.estimate(size), self.scratch.start + by_differences)

    def observe(self, way: Way, size: int, seconds: float, start: float = 0.0) -> None:
        """Note what a view took; from scratch, also what it took to build a dataflow."""
        (self.scratch if way == "scratch" else self.differential).observe(size, seconds, start)
