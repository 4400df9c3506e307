"""Changes that wait at an input for their epoch to be closed and run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.plan import Codes

__all__ = ["Staged", "least_counts", "lines_of"]


@dataclass(frozen=True, slots=True)
class Staged:
    """Rows, one line of codes per column, with an epoch and a diff for all of them or for each."""

    codes: Codes
    epochs: int | Codes
    diffs: int | Codes

    def __len__(self) -> int:
        return self.codes.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.codes.nbytes + sum(0 if isinstance(of, int) else of.nbytes for of in (self.epochs, self.diffs))

    def parted(self, epoch: int) -> tuple[Staged, Staged]:
        """The changes before an epoch, and the others."""
        if isinstance(self.epochs, int):
            return (self, self._chosen(slice(0))) if self.epochs < epoch else (self._chosen(slice(0)), self)
        is_before = self.epochs < epoch
        if is_before.all():
            return self, self._chosen(slice(0))
        return self._chosen(is_before), self._chosen(~is_before)

    def moved_to(self, epoch: int) -> Staged:
        """All of it in one epoch."""
        return replace(self, epochs=epoch)

    def moved_by(self, epochs: int) -> Staged:
        """All of it so many epochs later."""
        return replace(self, epochs=self.epochs + epochs)

    def _chosen(self, rows: slice | NDArray[np.bool_]) -> Staged:
        epochs, diffs = (of if isinstance(of, int) else of[rows] for of in (self.epochs, self.diffs))
        return Staged(self.codes[:, rows], epochs, diffs)


def lines_of(parts: Sequence[Staged]) -> Codes:
    """All changes as lines of data, epochs and diffs."""
    sizes = [len(part) for part in parts]
    width = parts[0].codes.shape[0]
    lines = np.empty((width + 2, sum(sizes)), np.int64)
    np.concatenate([part.codes for part in parts], axis=1, out=lines[:width])
    for line, values in ((width, [part.epochs for part in parts]), (width + 1, [part.diffs for part in parts])):
        # The values that hold for whole parts at once, then those of single rows over the zeros that stand for them.
        lines[line] = np.repeat([of if isinstance(of, int) else 0 for of in values], sizes)
        end = 0
        for of, size in zip(values, sizes, strict=True):
            end += size
            if not isinstance(of, int):
                lines[line, end - size : end] = of
    return lines


def least_counts(parts: Sequence[Staged]) -> tuple[Codes, Codes]:
    """The rows that change, each once, and by how much its count is less at the least after any epoch (0: never)."""
    lines = lines_of(parts)
    rows, epochs, diffs = lines[:-2], lines[-2], lines[-1]
    order = np.lexsort([epochs, *rows[::-1]])
    rows, epochs, diffs = rows[:, order], epochs[order], diffs[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    firsts = np.flatnonzero(begins)
    before = np.cumsum(diffs) - diffs
    changed = before + diffs - np.repeat(before[firsts], np.diff(firsts, append=len(order)))
    # Only what an epoch comes to counts, not the order in which its changes were staged.
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = begins[1:] | (epochs[1:] != epochs[:-1])
    return rows[:, firsts], np.minimum.reduceat(np.where(is_last, changed, 0), firsts)
