"""The differences of a program that sums and shares a budget: all of them are kept, or none.

A dropped state of a sum is not known when its vertex is looked at, so that the vertex counts as moved: batches spread
over all that is dropped, and cost more than computing the program anew. So nothing is dropped, and a query that does
not fit is set aside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.budget import Budget, Stock
from graphtide.frontier.kernels import fields
from graphtide.frontier.sharing import SharingSteps
from graphtide.frontier.sum_program import CompiledSum, SumProgram
from graphtide.frontier.sums import Sums

if TYPE_CHECKING:
    from graphtide.frontier.ground import Admitted
    from graphtide.frontier.housekeeping import Housekeeping
    from graphtide.frontier.kernels.shapes import Lists

__all__ = ["WholeSums"]


class WholeSums(SharingSteps, Sums):
    """Steps that cannot be thinned."""

    def __init__(self, admitted: Admitted, budget: Budget, house: Housekeeping, *, unknown: int = 0) -> None:
        assert isinstance(admitted.program, SumProgram)
        assert isinstance(admitted.message, CompiledSum)
        Sums.__init__(self, admitted.program, admitted.message)
        self.share(budget, house, admitted.begin, unknown)

    def stock(self) -> Stock:
        """Nothing."""
        return Stock(0.0, np.zeros(fields.DEGREES), np.zeros(fields.DEGREES), self.nbytes)

    def thin(self, level: float, *, is_frugal: bool = False) -> None:
        """There is nothing to drop."""

    def forget_told(self) -> None:
        """The next batch tells its changes by itself."""

    def _follow_anew(
        self,
        lists: Lists,  # noqa: ARG002
        weights: NDArray[Any],  # noqa: ARG002
        noted: NDArray[np.int32],
        last_was: NDArray[Any],
        new: range,  # noqa: ARG002
    ) -> None:
        """Keep nothing until the batch is over: then it is computed, and kept if it fits."""
        if not self.is_aside:
            self._set_aside()
        assert self.before is not None
        self.before[noted] = last_was

    def _bytes_of_new(self) -> int:
        return 2 * self._step_bytes  # what is given, and what is made of it without a message

    def _rest(self, vertices: int) -> NDArray[Any]:
        return np.full(vertices, self.rest, self.dtype)

    def _differ(self, before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
        differ = before != after
        differ[self.house.known :] = True
        return differ
