"""The differences of a query that shares a budget: they ask before they grow, and can be thinned or set aside.

A query is *set aside* if not even its last steps fit any more. It then keeps nothing, and is computed when it is
asked and around every batch, until it fits again: its answers and changes stay right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import CapacityError
from graphtide.frontier.budget import Budget, Stock
from graphtide.frontier.kernels import fields, stairs
from graphtide.frontier.kernels.rooms import END, new_free
from graphtide.frontier.kernels.thinning import census, fold, places_after, thin, unfold
from graphtide.frontier.steps import LONG, WIDE, Steps, no_state

if TYPE_CHECKING:
    from graphtide.frontier.family import Family
    from graphtide.frontier.ground import Admitted
    from graphtide.frontier.housekeeping import Housekeeping
    from graphtide.frontier.kernels.shapes import Lists
    from graphtide.frontier.steps import Log

__all__ = ["ThinSteps"]

_ALL: Final = float(fields.DEGREES)
_FEWEST_WORDS: Final = 2
_FEWEST_PLACES: Final = 16
# Bits of a filter for each step that is marked in it: below the first it is unfolded, the second is a last resort.
_BITS: Final = 8
_LEAST_BITS: Final = 4
# Work that is expected before any was seen: keeps first prices from jumping.
_SEEN: Final = 64.0
# Computing a query anew may cost so much of what its dropped steps have cost since.
_PART: Final = 8


class ThinSteps(Steps):
    """Steps within a budget."""

    def __init__(
        self,
        admitted: Admitted,
        budget: Budget,
        house: Housekeeping,
        family: Family,
        *,
        unknown: int = 0,
    ) -> None:
        super().__init__(admitted.program, admitted.message, budget)
        self.begin = admitted.begin
        self.budget = budget
        self.level = 0.0
        self.before: NDArray[Any] | None = None  # answers before a batch, while one goes on and nothing is kept
        self._house = house
        self._unknown = unknown  # vertices that are yet to come: these steps only find out whether they may
        self._family = family
        self._folds = 0  # how often the filter was unfolded
        self._dropped = np.zeros(fields.DEGREES)  # by length of degree, since they were computed
        self._row_then = self.row.copy()  # when they were computed
        self._batch_then = 0
        self._stock: tuple[tuple[float, ...], Stock] | None = None
        self._is_held = False

    # -- being computed

    def _keep(self, log: Log, count: int, vertices: int, highest: int, lists: Lists) -> None:  # noqa: ARG002
        """Keep all steps if they fit, or as many as the budget gives them; if none fit, what was kept before."""
        names = ("head", "states", "rounds", "free", "marks", "level", "_folds", "_dropped")
        saved = {name: getattr(self, name) for name in names}
        row = self.row.copy()
        self.marks = np.empty(0, np.int64)
        self.level, self._folds, self._dropped = 0.0, 0, np.zeros(fields.DEGREES)
        self._choose()
        self.row[fields.ASIDE] = 0
        self._lay_out(log, count, vertices, highest)
        more = self._family.bytes_to_widen(self)
        if self._unknown > 0:
            more += self._unknown * (self._step_bytes + 4 * (self.budget.queries + 1))
            fits = self.budget.could_fit(self, more)
        else:
            fits = self.budget.fit(self, more)
        if fits and self._unknown == 0:
            self._row_then, self._batch_then = self.row.copy(), self._house.batches
            if not self._is_held:
                self._is_held = True
                self.budget.enter(self)
                self._house.enter(self)
        if fits:
            return
        least = self.stock().least
        for name, value in saved.items():
            setattr(self, name, value)
        self.row[:] = row
        if not self._is_held:
            raise CapacityError(
                f"a query needs at least {least:,} bytes, and with the others at their least "
                f"{max(0, self.budget.bytes - self.budget.least_beside(self)):,} of {self.budget.bytes:,} are left",
                hint="drop a query, raise the budget, or register it with maintain=Scratch()",
            )
        self._locate()

    def _slack(self, length: int) -> int:  # noqa: ARG002 - places are asked for when they are needed
        return 0

    def _width(self, highest: int) -> np.dtype[Any]:
        return WIDE if self._family.rounds_type == WIDE else super()._width(highest)

    def _length(self, states: NDArray[Any]) -> np.dtype[Any]:
        return LONG if self._family.states_type == LONG else super()._length(states)

    def release(self) -> None:
        """Leave the budget: the query is dropped."""
        self.budget.leave(self)
        self._house.leave(self)

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
        adjacency = self._house.adjacency
        done = self.row[fields.WORK :] - self._row_then[fields.WORK :]
        edges = max(1.0, 2 * adjacency.edges / max(1, adjacency.vertices))
        if done.sum() < _PART * edges * (self.differences + self._marked):
            return False
        return self.budget.room > self.nbytes // 8 or self._marked * _LEAST_BITS > 64 * len(self.marks)

    # -- growing

    def add_vertices(self, vertices: int) -> None:
        """Let there be so many vertices; new ones have no steps."""
        if self.is_aside or vertices <= len(self.head):
            return
        if not self._has_room(4 * (vertices - len(self.head))):
            return
        spare = max(0, min(vertices // 16, self.budget.room // 8 - (vertices - len(self.head))))
        head = np.full(vertices + spare, -1, np.int32)
        head[: len(self.head)] = self.head
        self.head = head
        self._locate()

    def grow(self, need: int) -> None:
        """More places in the pool: for a list of that room at least."""
        each = self._step_bytes
        if not self._has_room(need * each):
            return
        places = len(self.states)
        if self.free[END] + need > places:
            self._lengthen(places + max(need, min(places // 8 + _FEWEST_PLACES, self.budget.room // (2 * each))))

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

    def _has_room(self, more: int) -> bool:
        """Have so many bytes free, or set the query aside."""
        if self.budget.fit(self, more):
            return True
        self._set_aside()
        return False

    def _set_aside(self) -> None:
        names, vertices = self._house.labels, self._house.adjacency.vertices
        before = np.full(vertices, no_state(self.dtype), self.dtype)
        own = self.program.begins_with_ids
        if own:
            before[:] = names[:vertices]
        known = min(vertices, len(self.head))
        stairs.final_states(
            self.head, self.states, self.rounds, known, own, names, no_state(self.dtype), before[:known]
        )
        self.before = before
        self.head = np.empty(0, np.int32)
        self.states = np.empty(0, self.states.dtype)
        self.rounds = np.empty(0, self.rounds.dtype)
        self.marks = np.empty(0, np.int64)
        self.free = new_free()
        self.row[fields.STEPS] = 0
        self.row[fields.ASIDE] = 1
        self._locate()
        self._house.set_aside(self)

    @property
    def is_aside(self) -> bool:
        """Whether nothing is kept."""
        return bool(self.row[fields.ASIDE] == 1)

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
        places, least_places = census(self.head, self.rounds, self._house.adjacency.lists.size, counts)
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
        size = self._house.adjacency.lists.size
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
        batches = self._house.batches - self._batch_then
        called = (since[fields.ANSWERED] + 1) / (batches + 1) / (self.differences + 1)
        prices = called * 4.0 ** np.arange(fields.DEGREES)
        seen = since[fields.WORK :]
        right = (seen + _SEEN) / (prices * self._dropped * batches + _SEEN)
        known = np.maximum.accumulate(np.where(self._dropped > 0, np.arange(fields.DEGREES), -1))
        prices *= np.where(known >= 0, right[known], 1.0)
        return np.maximum.accumulate(prices)

    @property
    def _step_bytes(self) -> int:
        return self.states.itemsize + self.rounds.itemsize

    # -- being read

    def last_states(self, names: NDArray[np.int64], vertices: int) -> NDArray[Any]:
        """The state that each vertex ends with."""
        return self._house.answer(self) if self.is_aside else super().last_states(names, vertices)

    def trace(self, vertex: int) -> list[tuple[int, Any]]:
        """The steps of a vertex that are kept: rounds and states."""
        return [] if self.is_aside else super().trace(vertex)

    def tell(self, answer: NDArray[Any]) -> None:
        """A batch is over: what its answer was before and is now are its changes."""
        before = self.before
        assert before is not None
        self.before = None
        rest = self._house.labels[: len(answer)] if self.program.begins_with_ids else no_state(self.dtype)
        whole = np.full(len(answer), rest, self.dtype)
        whole[: len(before)] = before
        changed = np.flatnonzero(whole != answer)
        self.changes = changed.astype(np.int32), whole[changed], answer[changed]


def _words(droppable: int) -> int:
    """Of a filter at its least."""
    return max(_FEWEST_WORDS, -(-droppable * _LEAST_BITS // 64))
