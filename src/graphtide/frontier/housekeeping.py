"""Looking after the queries on a ground that share budgets: those that keep nothing, and those worth computing anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from numpy.typing import NDArray

from graphtide.frontier.adjacency import Adjacency
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.failures import Failures
    from graphtide.frontier.ground import Ground
    from graphtide.frontier.sharing import SharingSteps

__all__ = ["Housekeeping"]

# Batches from one look at whether a query is worth computing anew to the next.
_BETWEEN: Final = 16


class Housekeeping:
    """A ground, as queries within budgets see it: its edges, its batches, and a turn after each of them."""

    def __init__(self, ground: Ground) -> None:
        self.batches = 0
        self._ground = ground
        self.held: list[SharingSteps] = []  # those that are looked after
        self._aside: list[SharingSteps] = []
        self._told: list[SharingSteps] = []  # those whose changes the last batch told from answers
        self._is_changing = False

    @property
    def adjacency(self) -> Adjacency:
        """The edges."""
        return self._ground.adjacency

    @property
    def known(self) -> int:
        """Vertices from this number on came with the last batch."""
        return self._ground.known

    @property
    def labels(self) -> Codes:
        """By number: the state with which a program begins that has no initial states."""
        return self._ground.labels

    def answer(self, steps: SharingSteps) -> NDArray[Any]:
        """The last states of a program."""
        return self._ground.compute(steps, steps.begin, kept=False)

    def enter(self, steps: SharingSteps) -> None:
        """Let a query be looked after."""
        self.held.append(steps)

    def leave(self, steps: SharingSteps) -> None:
        """Look after it no longer."""
        self.held.remove(steps)
        if steps in self._aside:
            self._aside.remove(steps)

    def set_aside(self, steps: SharingSteps) -> None:
        """Keep in mind that a query keeps nothing."""
        self._aside.append(steps)
        if not self._is_changing:
            steps.before = None

    def begin(self) -> None:
        """Before the edges change: what queries answer that keep nothing is needed to tell what changes."""
        self._is_changing = True
        for steps in self._aside:
            steps.before = self.answer(steps)

    def end(self, failures: Failures) -> None:
        """After the batch: tell the changes of queries that keep nothing, and let them keep something if they fit."""
        self._is_changing = False
        self.batches += 1
        for steps in self._told:
            steps.forget_told()
        self._told = []
        if self._aside:
            self._told, self._aside = self._aside, []
            for steps in self._told:
                states = self._ground.try_to_compute(steps, failures)
                if states is not None:
                    steps.tell(states)
                if steps.is_aside:
                    self._aside.append(steps)
                elif states is not None:
                    steps.settle_width()
        if self.held and self.batches % _BETWEEN == 0:
            steps = self.held[self.batches // _BETWEEN % len(self.held)]
            if steps.pays_to_renew and self._ground.try_to_compute(steps, failures) is not None:
                steps.settle_width()
