"""Results of a run: what each view put out, and from it what each view comes to.

A result is kept as the run made it: a table of its own for a view that ran from scratch, differences
for the others. Rows are codes, so that adding them up knows no types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from graphtide.views.execution import Ints

__all__ = ["ChainResults", "LatticeResults", "Lines", "Results"]


@dataclass(frozen=True, slots=True)
class Lines:
    """Rows as lines of codes, one per column, each with its diff."""

    codes: Ints
    diffs: Ints

    def __len__(self) -> int:
        return self.codes.shape[1]

    @classmethod
    def summed(cls, width: int, parts: Sequence[Lines]) -> Lines:
        """All parts added up: rows in order, each once, none with a diff of zero.

        >>> part = Lines(np.array([[2, 1]]), np.array([1, 1]))
        >>> both = Lines.summed(1, [part, Lines(np.array([[1]]), np.array([-1]))])
        >>> both.codes.tolist(), both.diffs.tolist()
        ([[2]], [1])
        """
        filled = [part for part in parts if len(part)]
        if not filled:
            return cls(np.empty((width, 0), np.int64), np.empty(0, np.int64))
        codes = np.concatenate([part.codes for part in filled], axis=1)
        diffs = np.concatenate([part.diffs for part in filled])
        order = np.lexsort(codes[::-1])
        codes, diffs = codes[:, order], diffs[order]
        begins = np.flatnonzero(np.r_[True, (codes[:, 1:] != codes[:, :-1]).any(axis=0)])
        sums = np.add.reduceat(diffs, begins)
        kept = sums != 0
        return cls(codes[:, begins[kept]], sums[kept])

    def negated(self) -> Lines:
        """The same rows taken away."""
        return Lines(self.codes, -self.diffs)


class Results(Protocol):
    """What a run found; views are numbered as the user gave them."""

    def whole(self, view: int) -> Lines:
        """The rows of a view."""
        ...

    def all_whole(self) -> Iterator[tuple[int, Lines]]:
        """All views with their rows, in the order of the run."""
        ...

    def changes(self, view: int) -> Lines:
        """What a view changes: against the one before it in a chain; against all cells before it in a lattice."""
        ...


@dataclass(frozen=True, slots=True)
class ChainResults:
    """One view after the other; some begin anew."""

    width: int
    order: tuple[int, ...]  # views by position
    parts: tuple[Lines, ...]  # by position
    is_anew: tuple[bool, ...]  # by position

    def whole(self, view: int) -> Lines:
        """The rows of a view: all differences since the last new beginning."""
        end = self.order.index(view)
        begin = max(p for p in range(end + 1) if self.is_anew[p])
        return Lines.summed(self.width, self.parts[begin : end + 1])

    def all_whole(self) -> Iterator[tuple[int, Lines]]:
        """All views with their rows, in the order of the run."""
        so_far = Lines.summed(self.width, [])
        for view, part, is_anew in zip(self.order, self.parts, self.is_anew, strict=True):
            so_far = Lines.summed(self.width, [part] if is_anew else [so_far, part])
            yield view, so_far

    def changes(self, view: int) -> Lines:
        """What changed from the view before in the run."""
        position = self.order.index(view)
        if not self.is_anew[position] or position == 0:
            return Lines.summed(self.width, [self.parts[position]])
        before = self.whole(self.order[position - 1])
        return Lines.summed(self.width, [self.parts[position], before.negated()])


@dataclass(frozen=True, slots=True)
class LatticeResults:
    """Cells of a grid; a cell's rows are all differences at or before it in every dimension."""

    width: int
    orders: tuple[tuple[int, ...], ...]  # of each dimension, the given number of each position
    parts: Mapping[tuple[int, ...], Lines]  # by positions; what is absent is empty

    def whole(self, view: int) -> Lines:
        """The rows of a cell."""
        cell = self._positions(view)
        before = product(*(range(p + 1) for p in cell))
        return Lines.summed(self.width, [self.parts[each] for each in before if each in self.parts])

    def all_whole(self) -> Iterator[tuple[int, Lines]]:
        """All cells with their rows: sums along one dimension after the other."""
        sums = dict(self.parts)
        empty = Lines.summed(self.width, [])
        cells = list(product(*(range(len(order)) for order in self.orders)))
        for axis in range(len(self.orders)):
            for cell in cells:
                if cell[axis] > 0:
                    before = (*cell[:axis], cell[axis] - 1, *cell[axis + 1 :])
                    sums[cell] = Lines.summed(self.width, [sums.get(cell, empty), sums.get(before, empty)])
        for cell in cells:
            yield self._view(cell), Lines.summed(self.width, [sums.get(cell, empty)])

    def changes(self, view: int) -> Lines:
        """What a cell adds to all cells before it."""
        part = self.parts.get(self._positions(view))
        return Lines.summed(self.width, [] if part is None else [part])

    def _positions(self, view: int) -> tuple[int, ...]:
        shape = [len(order) for order in self.orders]
        given = np.unravel_index(view, shape)
        return tuple(order.index(int(g)) for order, g in zip(self.orders, given, strict=True))

    def _view(self, cell: tuple[int, ...]) -> int:
        shape = tuple(len(order) for order in self.orders)
        given = tuple(order[p] for order, p in zip(self.orders, cell, strict=True))
        return int(np.ravel_multi_index(given, shape))
