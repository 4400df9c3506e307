"""Changes that come at a fixed rate, whether or not those before them have been served: an open load."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arrivals"]


@dataclass(slots=True)
class Arrivals:
    """When each change is due, in seconds from when they are first gone through."""

    rate: int  # changes a second
    seconds: float
    due: NDArray[np.float64] = field(init=False)
    _start: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.due = np.arange(int(self.rate * self.seconds)) / self.rate

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Each time all changes that have come since the last time, as [first, last); sleeps while there are none."""
        done = 0
        self._start = time.perf_counter()
        while done < len(self.due):
            upto = int(np.searchsorted(self.due, self.elapsed, side="right"))
            if upto == done:
                time.sleep(max(0.0, self.due[done] - self.elapsed))
                continue
            yield done, upto
            done = upto

    @property
    def elapsed(self) -> float:
        """Seconds since the first change was due."""
        return time.perf_counter() - self._start
