"""Where views only gain edges: what is computed of edges that are never taken away may cost much less.

All is told by numbers. Edges that come and edges that go count alike as differences, so a view has as many more edges
than the one before as there are differences exactly if none went.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Protocol

__all__ = ["Sized", "SizedGrid", "grid_grows", "growing_until"]


class Sized(Protocol):
    """Views in an order, by numbers alone."""

    @property
    def sizes(self) -> Sequence[int]:
        """Edges of the view at each position."""
        ...

    @property
    def counts(self) -> Sequence[int]:
        """Differences from the view before, at each position."""
        ...


class SizedGrid(Protocol):
    """Cells of a product along an order of each dimension, by numbers alone."""

    @property
    def orders(self) -> Sequence[Sequence[int]]:
        """Of each dimension, the user's number of the view at each place."""
        ...

    def size(self, cell: tuple[int, ...]) -> int:
        """Edges of a cell's view."""
        ...

    def count(self, cell: tuple[int, ...]) -> int:
        """Differences at a cell."""
        ...


def growing_until(chain: Sized, position: int) -> int:
    """The first position after this one whose view lacks an edge of the view before it; the end if there is none.

    >>> from types import SimpleNamespace
    >>> chain = SimpleNamespace(sizes=[5, 7, 8, 6, 9], counts=[5, 2, 1, 4, 3])
    >>> growing_until(chain, 0), growing_until(chain, 3)
    (3, 5)
    """
    sizes, counts = chain.sizes, chain.counts
    following = range(position + 1, len(sizes))
    return next((p for p in following if sizes[p] - sizes[p - 1] != counts[p]), len(sizes))


def grid_grows(grid: SizedGrid) -> bool:
    """Whether no edge is taken away at any cell: then the last cell has all that came."""
    shape = [len(order) for order in grid.orders]
    last = tuple(length - 1 for length in shape)
    return grid.size(last) == sum(map(grid.count, product(*map(range, shape))))
