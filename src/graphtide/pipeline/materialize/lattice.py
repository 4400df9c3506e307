"""The orders of a product's dimensions, and the cells that they put in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lattice"]

# The kernels loop over as many.
_DIMENSIONS: Final = 3


@dataclass(frozen=True, slots=True)
class Lattice:
    """One to three dimensions, each with an order: the number of the view at each place. A chain is one dimension."""

    orders: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, orders: Sequence[Sequence[int]]) -> Self:
        """Check that each order has every view of its dimension once."""
        assert 1 <= len(orders) <= _DIMENSIONS, f"{len(orders)} dimensions"
        for order in orders:
            assert sorted(order) == list(range(len(order))), f"{order} is not an order of {len(order)} views"
        return cls(tuple(tuple(map(int, order)) for order in orders))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many views each dimension has."""
        return tuple(map(len, self.orders))

    @property
    def cells(self) -> int:
        """How many views the product has."""
        return prod(self.shape)

    def for_kernels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sizes and ranks of three dimensions, the first ones padded with a single view.

        >>> shape, rank = Lattice.of([[2, 0, 1]]).for_kernels()
        >>> shape, rank[2]
        (array([1, 1, 3]), array([1, 2, 0]))
        """
        padded = ((0,),) * (_DIMENSIONS - len(self.orders)) + self.orders
        shape = np.array([len(order) for order in padded])
        rank = np.zeros((_DIMENSIONS, shape.max()), np.int64)
        for line, order in zip(rank, padded, strict=True):
            line[list(order)] = np.arange(len(order))
        return shape, rank
