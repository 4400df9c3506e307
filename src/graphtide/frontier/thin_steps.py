"""The differences of a selective query that shares a budget: those that cost the least to compute again are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.budget import Budget, Stock
from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.thinning import census, fold, places_after, thin, unfold
from graphtide.frontier.sharing import SharingSteps
from graphtide.frontier.steps import LONG, WIDE

if TYPE_CHECKING:
    from graphtide.frontier.family import Family
    from graphtide.frontier.ground import Admitted
    from graphtide.frontier.housekeeping import Housekeeping

__all__ = ["ThinSteps"]

_ALL: Final = float(fields.DEGREES)
_FEWEST_WORDS: Final = 2
# Bits of a filter for each step that is marked in it: below the first it is unfolded, the second is a last resort.
_BITS: Final = 8
_LEAST_BITS: Final = 4
# Work that is expected before any was seen: keeps first prices from jumping.
_SEEN: Final = 64.0
# Computing a query anew may cost so much of what its dropped steps have cost since.
_PART: Final = 8


class ThinSteps(SharingSteps):
    """Steps of which some are dropped, as many as it takes."""

    parts = (*SharingSteps.parts, "_folds", "_dropped")

    def __init__(
        self, admitted: Admitted, budget: Budget, house: Housekeeping, family: Family, *, unknown: int = 0
    ) -> None:
        super().__init__(admitted.program, admitted.message, budget)
        self.share(budget, house, admitted.begin, unknown)
        self._family = family
        self._folds = 0  # how often the filter was unfolded
        self._dropped = np.zeros(fields.DEGREES)  # by length of degree, since they were computed
        self._row_then = self.row.copy()  # when they were computed
        self._batch_then = 0
        self._stock: tuple[tuple[float, ...], Stock] | None = None

    # -- being computed

    def _drop_nothing(self) -> None:
        self.marks = np.empty(0, np.int64)
        self._folds, self._dropped = 0, np.zeros(fields.DEGREES)
        self._choose()

    def _bytes_beside(self) -> int:
        return self._family.bytes_to_widen(self)

    def _bytes_of_new(self) -> int:
        return self._step_bytes

    def _note_computed(self) -> None:
        self._row_then, self._batch_then = self.row.copy(), self.house.batches

    def _width(self, highest: int) -> np.dtype[Any]:
        return WIDE if self._family.rounds_type == WIDE else super()._width(highest)

    def _length(self, states: NDArray[Any]) -> np.dtype[Any]:
        return LONG if self._family.states_type == LONG else super()._length(states)

    def settle_width(self) -> None:
        """Let the family have rounds as wide as these, now that they were computed anew."""
        self._family.settle_width(self)

    @property
    def pays_to_renew(self) -> bool:
        """Whether computing it anew is a small part of what its dropped steps have cost, and there is room for some.

        A filter forgets nothing: one that has filled up is a reason, too.
        """
        if self.is_aside or len(self.marks) == 0:
            return False
        adjacency = self.house.adjacency
        done = self.row[fields.WORK :] - self._row_then[fields.WORK :]
        edges = max(1.0, 2 * adjacency.edges / max(1, adjacency.vertices))
        if done.sum() < _PART * edges * (self.differences + self._marked):
            return False
        return self.budget.room > self.nbytes // 8 or self._marked * _LEAST_BITS > 64 * len(self.marks)

    # -- growing

    def widen(self) -> None:
        """Rounds of four bytes, for long paths."""
        if self.is_aside or self._has_room(self.bytes_to_become(WIDE, self.states.dtype)):
            super().widen()

    def lengthen_states(self) -> None:
        """States of eight bytes, for great ones."""
        if self.is_aside or self._has_room(self.bytes_to_become(self.rounds.dtype, LONG)):
            super().lengthen_states()

    def bytes_to_become(self, rounds: np.dtype[Any], states: np.dtype[Any]) -> int:
        """Bytes that steps of these types, if they are the wider ones, take more."""
        wider = max(0, rounds.itemsize - self.rounds.itemsize) + max(0, states.itemsize - self.states.itemsize)
        return len(self.states) * wider

    # -- being thinned

    def stock(self) -> Stock:
        """What could be dropped, and what that would cost."""
        if self.is_aside:
            return Stock(0.0, np.zeros(fields.DEGREES), np.zeros(fields.DEGREES), self.nbytes)
        counted = (fields.STEPS, fields.DROPPED, fields.ANSWERED)
        sizes = len(self.states), len(self.head), len(self.marks), self.level
        key = (*(int(self.row[field]) for field in counted), *sizes)
        if self._stock is not None and self._stock[0] == key:
            return self._stock[1]
        counts = np.zeros(fields.DEGREES, np.int64)
        places, least_places = census(self.head, self.rounds, self.house.adjacency.lists.size, counts)
        each = self._step_bytes
        words = len(self.marks) >> self._folds if len(self.marks) else _words(int(counts.sum()))
        least = self.nbytes - each * (len(self.states) - int(least_places)) + 8 * (words - len(self.marks))
        freed = (each - _BITS / 8) * counts.astype(np.float64)
        # What is chosen already went unseen by the batches.
        chosen = int(min(self.level, _ALL))
        waste = each * float(len(self.states) - places) + freed[:chosen].sum()
        freed[:chosen] = 0
        stock = Stock(waste if waste > self.nbytes / 32 else 0.0, freed, self._prices(), least)
        self._stock = key, stock
        return stock

    def thin(self, level: float, *, is_frugal: bool = False) -> None:
        """Drop up to a level, and leave no free places."""
        if self.is_aside:
            return
        self.level = max(self.level, min(level, _ALL))
        low, high, chance = self._choose()
        size = self.house.adjacency.lists.size
        before, after = np.zeros(fields.DEGREES, np.int64), np.zeros(fields.DEGREES, np.int64)
        census(self.head, self.rounds, size, before)
        places, gone = places_after(self.head, self.rounds, size, low, high, chance)
        self._make_filter(int(gone), int(before.sum()), is_frugal=is_frugal)
        states, rounds = np.zeros(places, self.states.dtype), np.zeros(places, self.rounds.dtype)
        self.free = thin(self.head, self.states, self.rounds, size, low, high, chance, self.marks, states, rounds)
        self.states, self.rounds = states, rounds
        self.row[fields.STEPS] -= gone
        self.row[fields.DROPPED] += gone
        census(self.head, self.rounds, size, after)
        self._dropped += before - after
        self._locate()

    def _choose(self) -> tuple[int, int, int]:
        """The level as kernels know it: the degrees of which all steps are dropped or none, and a chance for others."""
        whole = int(min(self.level, _ALL - 1))
        low = 1 << whole >> 1
        high = 2**31 if whole == fields.DEGREES - 1 else (1 << whole) - 1
        chance = int((self.level - whole) * 2**32)
        self.row[fields.LOW_DEGREE], self.row[fields.HIGH_DEGREE], self.row[fields.CHANCE] = low, high, chance
        return low, high, chance

    @property
    def _marked(self) -> int:
        """Steps that the filter was told of."""
        return int(self.row[fields.DROPPED] - self._row_then[fields.DROPPED])

    def _make_filter(self, gone: int, droppable: int, *, is_frugal: bool) -> None:
        """Have a filter for so many more steps. Its least length holds all that could be dropped, badly."""
        if gone > 0 and len(self.marks) == 0:
            self.marks = np.zeros(_words(droppable), np.int64)
        if is_frugal:
            while self._folds > 0:
                self.marks = fold(self.marks)
                self._folds -= 1
            return
        while 0 < 64 * len(self.marks) < _BITS * (self._marked + gone):
            self.marks = unfold(self.marks)
            self._folds += 1

    def _prices(self) -> NDArray[np.float64]:
        """What a dropped step costs in a batch, by length of degree: edges gone along to compute it again.

        A step is asked for along its vertex's edges, and goes through as many: so the price is first
        taken to rise with the square of the degree, and then put right by what was seen.
        """
        since = self.row - self._row_then
        batches = self.house.batches - self._batch_then
        called = (since[fields.ANSWERED] + 1) / (batches + 1) / (self.differences + 1)
        prices = called * 4.0 ** np.arange(fields.DEGREES)
        seen = since[fields.WORK :]
        right = (seen + _SEEN) / (prices * self._dropped * batches + _SEEN)
        known = np.maximum.accumulate(np.where(self._dropped > 0, np.arange(fields.DEGREES), -1))
        prices *= np.where(known >= 0, right[known], 1.0)
        return np.maximum.accumulate(prices)


def _words(droppable: int) -> int:
    """Of a filter at its least."""
    return max(_FEWEST_WORDS, -(-droppable * _LEAST_BITS // 64))
