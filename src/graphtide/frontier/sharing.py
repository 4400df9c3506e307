"""The differences of a query that shares a budget: they ask before they grow, and can be set aside.

A query is *set aside* if not even what it cannot do without fits any more. It then keeps nothing, and is computed when
it is asked and around every batch, until it fits again: its answers and changes stay right.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import CapacityError
from graphtide.frontier.budget import Budget, Stock
from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.rooms import END, new_free
from graphtide.frontier.steps import Steps, no_state

if TYPE_CHECKING:
    from graphtide.frontier.housekeeping import Housekeeping
    from graphtide.frontier.kernels.shapes import Lists
    from graphtide.frontier.steps import Begin, Log

__all__ = ["SharingSteps"]

_FEWEST_PLACES: Final = 16


class SharingSteps(Steps):
    """Steps within a budget."""

    parts: ClassVar[tuple[str, ...]] = ("head", "states", "rounds", "free", "marks", "level")
    level: float  # what is dropped, as budgets know it
    budget: Budget
    house: Housekeeping
    before: NDArray[Any] | None  # answers before a batch, while one goes on and nothing is kept

    def share(self, budget: Budget, house: Housekeeping, begin: Begin, unknown: int) -> None:
        """Know with whom, and what it begins with.

        Of `unknown` vertices that are yet to come, these steps only find out whether they may.
        """
        self.budget, self.house, self.begin, self._unknown = budget, house, begin, unknown
        self.level, self.before, self._is_held = 0.0, None, False

    # -- being computed

    def _keep(self, log: Log, count: int, vertices: int, highest: int, lists: Lists) -> None:  # noqa: ARG002
        """Keep all steps if they fit, or as many as the budget gives them; if none fit, what was kept before."""
        saved = {name: getattr(self, name) for name in self.parts}
        row = self.row.copy()
        self.level = 0.0
        self._drop_nothing()
        self.row[fields.ASIDE] = 0
        self._lay_out(log, count, vertices, highest)
        more = self._bytes_beside()
        if self._unknown > 0:
            more += self._unknown * (self._bytes_of_new() + 4 * (self.budget.queries + 1))
            fits = self.budget.could_fit(self, more)
        else:
            fits = self.budget.fit(self, more)
        if fits:
            if self._unknown == 0:
                self._note_computed()
                self._hold()
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

    def _drop_nothing(self) -> None:
        """Be as a query that has just been computed."""

    def _bytes_beside(self) -> int:
        """Bytes that others take for it."""
        return 0

    @abstractmethod
    def _bytes_of_new(self) -> int:
        """Bytes at most of the steps of a vertex without edges."""

    def _note_computed(self) -> None:
        """All steps are there."""

    def _hold(self) -> None:
        if not self._is_held:
            self._is_held = True
            self.budget.enter(self)
            self.house.enter(self)

    def release(self) -> None:
        """Leave the budget: the query is dropped."""
        self.budget.leave(self)
        self.house.leave(self)

    def _slack(self, length: int) -> int:  # noqa: ARG002 - places are asked for when they are needed
        return 0

    def settle_width(self) -> None:
        """Agree on the types of arrays with whom it is kept, now that it was computed anew."""

    @property
    def pays_to_renew(self) -> bool:
        """Whether it should be computed anew, to keep more of its steps."""
        return False

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

    def _has_room(self, more: int) -> bool:
        """Have so many bytes free, or set the query aside."""
        if self.budget.fit(self, more):
            return True
        self._set_aside()
        return False

    @property
    def _step_bytes(self) -> int:
        return self.states.itemsize + self.rounds.itemsize

    # -- keeping nothing

    def _set_aside(self) -> None:
        self.before = self._answer_now()
        self.head = np.empty(0, np.int32)
        self.states = np.empty(0, self.states.dtype)
        self.rounds = np.empty(0, self.rounds.dtype)
        self.marks = np.empty(0, np.int64)
        self.free = new_free()
        self.row[fields.STEPS] = 0
        self.row[fields.ASIDE] = 1
        self._locate()
        self.house.set_aside(self)

    def _answer_now(self) -> NDArray[Any]:
        """The last states as steps have them, of vertices that have none yet as well."""
        vertices = self.house.adjacency.vertices
        states = self._rest(vertices).astype(self.dtype)
        known = min(vertices, len(self.head))
        states[:known] = super().last_states(self.house.labels, known)
        return states

    def _rest(self, vertices: int) -> NDArray[Any]:
        """The states of vertices without steps."""
        if self.program.begins_with_ids:
            return self.house.labels[:vertices]
        return np.full(vertices, no_state(self.dtype), self.dtype)

    @property
    def is_aside(self) -> bool:
        """Whether nothing is kept."""
        return bool(self.row[fields.ASIDE] == 1)

    def tell(self, answer: NDArray[Any]) -> None:
        """A batch is over: what its answer was before and is now are its changes."""
        before = self.before
        assert before is not None
        self.before = None
        whole = self._rest(len(answer)).astype(self.dtype)
        whole[: len(before)] = before
        changed = np.flatnonzero(self._differ(whole, answer))
        self.changes = changed.astype(np.int32), whole[changed], answer[changed]

    def forget_told(self) -> None:
        """What was told of the last batch is over."""
        self.changes = None

    def _differ(self, before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
        return before != after

    # -- being thinned

    @abstractmethod
    def stock(self) -> Stock:
        """What could be dropped, and what that would cost."""

    @abstractmethod
    def thin(self, level: float, *, is_frugal: bool = False) -> None:
        """Drop up to a level, and leave no free places."""

    # -- being read

    def last_states(self, names: NDArray[np.int64], vertices: int) -> NDArray[Any]:
        """The state that each vertex ends with."""
        return self.house.answer(self) if self.is_aside else super().last_states(names, vertices)

    def trace(self, vertex: int) -> list[tuple[int, Any]]:
        """The steps of a vertex that are kept: rounds and states."""
        return [] if self.is_aside else super().trace(vertex)
