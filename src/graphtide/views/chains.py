"""Chains and grids of views whose differences lie in a stream on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphtide.views.execution import Ints
from graphtide.views.stream import DifferenceStream

__all__ = ["StreamChain", "StreamGrid"]


@dataclass(frozen=True, slots=True)
class StreamChain:
    """Views in the order of their stream."""

    folder: Path
    order: Sequence[int]
    sizes: Sequence[int]  # by position
    counts: Sequence[int]  # by position

    def differences(self, position: int) -> tuple[Ints, Ints]:
        """Numbers of edges and their diffs."""
        return _read(self.folder, position)


@dataclass(frozen=True, slots=True)
class StreamGrid:
    """Cells of a product; positions in the stream count along the orders of the dimensions, the last fastest."""

    folder: Path
    orders: Sequence[Sequence[int]]
    sizes: Sequence[int]  # by the given number of the cell's view
    counts: Sequence[int]  # by position

    def size(self, cell: tuple[int, ...]) -> int:
        """Edges of a cell's view."""
        given = tuple(order[p] for order, p in zip(self.orders, cell, strict=True))
        return self.sizes[int(np.ravel_multi_index(given, self._shape))]

    def count(self, cell: tuple[int, ...]) -> int:
        """Differences at a cell."""
        return self.counts[self._position(cell)]

    def differences(self, cell: tuple[int, ...]) -> tuple[Ints, Ints]:
        """Numbers of edges and their diffs at a cell."""
        return _read(self.folder, self._position(cell))

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(order) for order in self.orders)

    def _position(self, cell: tuple[int, ...]) -> int:
        return int(np.ravel_multi_index(cell, self._shape))


def _read(folder: Path, position: int) -> tuple[Ints, Ints]:
    edges, diffs = DifferenceStream(folder).read(position)
    return edges, diffs.astype(np.int64)
