"""The dataflows of a ground: one for the programs on a weight, and one for those with the same function of a user's.

Invariant: a program that has no answer any more takes no other one of its dataflow with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphtide.errors import CapacityError, NotConvergedError
from graphtide.frontier.delta import Delta
from graphtide.frontier.failures import Failures, first_failure
from graphtide.frontier.steps import Begin, Steps, no_state
from graphtide.frontier.sums import Sums
from graphtide.frontier.vanilla import VanillaFlow, VanillaProgram
from graphtide.functions import doubted, note_doubt
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.ground import Ground

__all__ = ["Dataflows"]

# A weight, the type of states, and the function.
_Kind = tuple[str | None, np.dtype[Any], int]


class Dataflows:
    """Made by the first program that needs one, and gone with the last."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._flows: dict[_Kind, VanillaFlow] = {}

    def __bool__(self) -> bool:
        return bool(self._flows)

    @property
    def nbytes(self) -> list[tuple[str | None, int]]:
        """The weight and the bytes of each, without what is one program's own."""
        return [(weight, flow.nbytes) for (weight, _, _), flow in self._flows.items()]

    def keep(self, name: str, steps: Steps) -> VanillaProgram:
        """A program as a branch of a dataflow, with its first answer."""
        ground, weight, message = self._ground, steps.program.weight, steps.message
        # A function that does not settle must not stop programs that do.
        at = weight, steps.dtype, message.kind if message.pointer else 0
        if at not in self._flows:
            flow = self._flows[at] = VanillaFlow(message)
            rows = ground.adjacency.list_all()
            weights = np.ones(len(rows), steps.dtype) if weight is None else ground.weights(weight)[rows[:, 2]]
            flow.change(rows[:0], weights[:0], rows, weights)
            flow.commit()
        kept = VanillaProgram(self._flows[at], name, steps)
        if kept.begins_everywhere:
            kept.start(*self._beginnings(kept, ground.numbers()))
        else:
            kept.start(*steps.begin)
        try:
            kept.install()
        except NotConvergedError:
            self.leave(kept)
            raise
        except CapacityError as error:
            self.leave(kept)
            raise first_failure(name) from error
        # A dataflow also looks at rows that cancel: the answer from scratch decides.
        if doubted() and ground.try_to_compute(steps, Failures(), kept=False) is None:
            note_doubt()
        return kept

    def leave(self, program: VanillaProgram) -> None:
        """Take a program out, and its dataflow if it was the last one."""
        program.drop()
        self._flows = {at: flow for at, flow in self._flows.items() if flow.programs}

    def follow(self, delta: Delta, failures: Failures) -> None:
        """Bring all programs up to date with a batch of the edges."""
        for (weight, dtype, _), flow in self._flows.items():
            self._stage(flow, weight, dtype, delta)
            self._commit(flow, failures)

    def _stage(self, flow: VanillaFlow, weight: str | None, dtype: np.dtype[Any], delta: Delta) -> None:
        """Tell a dataflow what the batch did."""
        ground = self._ground
        if weight is None:
            lost, gained = delta.seen_in(-1)
            before, after = np.ones(len(lost), dtype), np.ones(len(gained), dtype)
        else:
            lost, old, gained, new = delta.in_column(ground.column(weight))
            before, after = ground.as_numbers(weight, old), ground.as_numbers(weight, new)
        flow.change(lost, before, gained, after)
        for program in flow.programs:
            if program.begins_everywhere:
                program.stop(*self._beginnings(program, ground.turnover.went))
                program.start(*self._beginnings(program, ground.turnover.came))

    def _commit(self, flow: VanillaFlow, failures: Failures) -> None:
        """Bring the programs of a dataflow up to date.

        It does not say which of them does not settle, or made an int that is too long: their answers from scratch do.
        """
        doubted()  # whatever was tried before is forgotten
        is_settled = flow.follow()
        if is_settled and not doubted():
            return
        for program in flow.programs:
            self._ground.try_to_compute(program.steps, failures, kept=False)
        if not is_settled:
            # The changes are still staged, and without the branches that failed the others may settle.
            for program in [each for each in flow.programs if failures.has(each.steps)]:
                program.drop()
            if not flow.follow():
                failures.unsettled += [program.steps for program in flow.programs]

    def _beginnings(self, kept: VanillaProgram, numbers: Codes) -> Begin:
        """What a program begins with that begins everywhere, at those of these numbers that have something."""
        vertices = self._ground.adjacency.vertices
        if isinstance(kept.steps, Sums):
            return numbers.astype(np.int32), kept.steps.beginnings(vertices, kept.steps.begin)[numbers]
        labels = self._ground.labels[numbers]
        there = labels != no_state(labels.dtype)
        return numbers[there].astype(np.int32), labels[there]
