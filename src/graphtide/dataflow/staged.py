"""Changes that wait at an input for their epoch to be closed and run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.plan import Codes

__all__ = ["Staged", "lines_of"]


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

    @property
    def takes_away(self) -> bool:
        """Whether some rows are to be there less often."""
        return self.diffs < 0 if isinstance(self.diffs, int) else bool((self.diffs < 0).any())

    def parted(self, epoch: int) -> tuple[Staged, Staged]:
        """The changes before an epoch, and the others."""
        nothing = _nothing(self.codes.shape[0])
        if isinstance(self.epochs, int):
            return (self, nothing) if self.epochs < epoch else (nothing, self)
        is_before = self.epochs < epoch
        if is_before.all():
            return self, nothing
        return self._chosen(is_before), self._chosen(~is_before)

    def moved_to(self, epoch: int) -> Staged:
        """All of it in one epoch."""
        return replace(self, epochs=epoch)

    def moved_by(self, epochs: int) -> Staged:
        """All of it so many epochs later."""
        return replace(self, epochs=self.epochs + epochs)

    def _chosen(self, rows: NDArray[np.bool_]) -> Staged:
        epochs, diffs = (of if isinstance(of, int) else of[rows] for of in (self.epochs, self.diffs))
        return Staged(self.codes[:, rows], epochs, diffs)


@cache
def _nothing(width: int) -> Staged:
    """No rows of so many columns."""
    return Staged(np.empty((width, 0), np.int64), 0, 0)


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
