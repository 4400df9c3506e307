"""A stream of edges in the order of time, and a window that slides over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide import datasets
from graphtide.errors import UsageError

__all__ = ["STREAMS", "Slide", "Stream", "slides"]

# The data sets that can be slid over.
STREAMS: Final = ("CollegeMsg", "email-Eu-core-temporal", "higgs-mentions")


@dataclass(frozen=True, slots=True)
class Stream:
    """Edges with their times in seconds, sorted by time."""

    edges: NDArray[np.int64]  # a row (src, dst) each
    times: NDArray[np.int64]

    @classmethod
    def load(cls, name: str) -> Stream:
        """One of the data sets that come with the package."""
        if name not in STREAMS:
            raise UsageError(f'"{name}" is not a stream of edges', hint=f"use one of {', '.join(STREAMS)}")
        table = datasets.load(name)
        times = table["time"]
        seconds = times if pa.types.is_integer(times.type) else times.cast(pa.timestamp("s")).cast(pa.int64())
        edges = np.column_stack([table["src"].to_numpy(), table["dst"].to_numpy()])
        return cls(edges, seconds.to_numpy())

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True)
class Slide:
    """One position of the window: what it holds, and what came and went since the one before."""

    end: int
    held: slice
    arriving: slice
    leaving: slice

    @property
    def until(self) -> str:
        """The minute of its end."""
        return datetime.fromtimestamp(self.end, UTC).strftime("%Y-%m-%d %H:%M")


def slides(stream: Stream, begin: int, width: int, step: int, count: int) -> Iterator[Slide]:
    """A window of `width` seconds from `begin` on, then `count` more, each `step` later, as far as the stream goes.

    >>> stream = Stream(np.zeros((4, 2), np.int64), np.array([100, 105, 110, 115]))
    >>> [(slide.held.start, slide.held.stop) for slide in slides(stream, 100, width=10, step=5, count=9)]
    [(0, 2), (1, 3), (2, 4)]
    """
    low = high = np.searchsorted(stream.times, begin).item()
    for n in range(count + 1):
        end = begin + width + n * step
        if n > 0 and end > int(stream.times[-1]) + step:
            return
        new_low, new_high = np.searchsorted(stream.times, (end - width, end)).tolist()
        yield Slide(end, slice(new_low, new_high), slice(high, new_high), slice(low, new_low))
        low, high = new_low, new_high
