"""What a push to a node and a pull of it cost, by the number of its inputs (EAGr, section 4: H and L)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["Costs", "Curve"]

_MANY: Final = 33


@dataclass(frozen=True, slots=True)
class Curve:
    """A constant, a part that grows with log2 of the number of inputs, and one that grows with the number.

    >>> Curve(constant=1, log=2, linear=0.5).at([1, 4])
    array([1.5, 7. ])
    """

    constant: float = 0.0
    log: float = 0.0
    linear: float = 0.0

    def __post_init__(self) -> None:
        for name in ("constant", "log", "linear"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                hint = "give a finite number that is not below 0"
                raise UsageError(f"a cost cannot have {name}={shown(value)}", hint=hint)

    def at(self, inputs: ArrayLike) -> NDArray[np.float64]:
        """The cost for each number of inputs; none at all has no logarithm, and counts as one there."""
        count = np.asarray(inputs, np.float64)
        return self.constant + self.log * np.log2(np.maximum(count, 1)) + self.linear * count

    def times(self, factor: float) -> Curve:
        """The same curve, so many times as high."""
        return Curve(self.constant * factor, self.log * factor, self.linear * factor)


@dataclass(frozen=True, slots=True)
class Costs:
    """`push.at(k)` is what one push to a node with k inputs costs, `pull.at(k)` one pull of it.

    Unless they are measured: a push is the same however many inputs there are, a pull looks at each. So it is for sums.
    A partial aggregate may cost more than a reader: a batch says which readers come next, and memory can be asked for
    them, but a walk learns of a partial aggregate when it gets there.
    """

    push: Curve = Curve(constant=1)
    pull: Curve = Curve(linear=1)
    push_of_partial: Curve | None = None  # None if it is as for a reader
    pull_of_partial: Curve | None = None
    merge: Curve | None = None  # by the writers of a partial aggregate that is kept; None if it is as for one writer

    def __post_init__(self) -> None:
        for name in ("push", "pull", "push_of_partial", "pull_of_partial", "merge"):
            curve = getattr(self, name)
            if not isinstance(curve, Curve) and (curve is not None or name in {"push", "pull"}):
                raise UsageError(f"{name}={shown(curve)} is not a curve", hint="give Curve(...)")
        if self.merge is not None and self.of_an_input <= 0:
            raise UsageError(
                "merge= is counted in inputs of a pull, and pull= does not grow with these",
                hint="give pull= a part log= or linear=",
            )

    def pushes(self, inputs: ArrayLike) -> NDArray[np.float64]:
        """What a push costs for each number of inputs: a row for readers, and one for partial aggregates."""
        return np.stack([self.push.at(inputs), (self.push_of_partial or self.push).at(inputs)])

    def pulls(self, inputs: ArrayLike) -> NDArray[np.float64]:
        """What a pull costs for each number of inputs: a row for readers, and one for partial aggregates."""
        return np.stack([self.pull.at(inputs), (self.pull_of_partial or self.pull).at(inputs)])

    @property
    def of_an_input(self) -> float:
        """What a pull costs more with one more input, if it has many."""
        return float(self.pull.at(_MANY) - self.pull.at(1)) / (_MANY - 1)

    def merges(self, writers: ArrayLike) -> NDArray[np.float64]:
        """As how many writers a partial aggregate of so many counts that is kept: a histogram is merged by values."""
        if self.merge is None:
            return np.ones(np.shape(writers))
        return np.maximum(self.merge.at(writers) / self.of_an_input, 1)

    def with_dearer_pushes(self, factor: float) -> Costs:
        """The same pulls, and pushes at so many times their cost."""
        return replace(
            self,
            push=self.push.times(factor),
            push_of_partial=self.push_of_partial and self.push_of_partial.times(factor),
        )
