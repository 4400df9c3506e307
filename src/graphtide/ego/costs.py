"""What a push to a node and a pull of it cost, by the number of its inputs (EAGr, section 4: H and L)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Costs", "Curve"]


@dataclass(frozen=True, slots=True)
class Curve:
    """A constant, a part that grows with log2 of the number of inputs, and one that grows with the number.

    >>> Curve(constant=1, log=2, linear=0.5).at([1, 4])
    array([1.5, 7. ])
    """

    constant: float = 0.0
    log: float = 0.0
    linear: float = 0.0

    def at(self, inputs: ArrayLike) -> NDArray[np.float64]:
        """The cost for each number of inputs; none at all has no logarithm, and counts as one there."""
        count = np.asarray(inputs, np.float64)
        return self.constant + self.log * np.log2(np.maximum(count, 1)) + self.linear * count


@dataclass(frozen=True, slots=True)
class Costs:
    """`push.at(k)` is what one push to a node with k inputs costs, `pull.at(k)` one pull of it.

    Unless they are measured: a push is the same however many inputs there are, a pull looks at each. So it is for sums.
    """

    push: Curve = Curve(constant=1)
    pull: Curve = Curve(linear=1)
