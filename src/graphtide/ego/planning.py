"""How plans are made and kept good: the overlay, the decisions, and when either is made anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.aggregates import Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.overlay import Overlay
from graphtide.ego.plan import Plan
from graphtide.rows.codes import Codes

__all__ = ["Planning"]


class Planning:
    """Policies of one query."""

    def __init__(self, decay: float = 0.25) -> None:
        self._decay = decay
        self._keeps_all = False

    def neighbourhoods(self, starts: Codes, writers: Codes, writer_count: int) -> Neighbourhoods:
        """Neighbourhoods from lists in rising order."""
        return Neighbourhoods(starts, writers.astype(np.int32), writer_count)

    def plan(self, neighbourhoods: Neighbourhoods, function: Function, contents: WindowContents) -> Plan:
        """The first plan."""
        overlay = Overlay.direct(neighbourhoods)
        return Plan(overlay, self._decided(overlay), function, contents, pairs=len(neighbourhoods))

    def replan(self, plan: Plan, neighbourhoods: Neighbourhoods) -> Plan:
        """A plan for the same windows, made anew."""
        frame, overlay = plan.frame, Overlay.direct(neighbourhoods)
        return Plan(
            overlay,
            self._decided(overlay),
            plan.function,
            frame.contents,
            dictionary=frame.dictionary,
            value_type=frame.type,
            pairs=len(neighbourhoods),
        )

    def keep_all(self, plan: Plan) -> None:
        """Let all nodes push, from now on."""
        self._keeps_all = True
        plan.decide(np.ones(plan.frame.nodes.count, np.bool_))

    def ran(self, plan: Plan, operations: int) -> None:
        """Know of operations; decisions may be made anew."""

    def has_decayed(self, plan: Plan) -> bool:
        """Whether graph changes have undone so much sharing that a new overlay is worth its making."""
        return plan.built_index - plan.sharing_index > self._decay

    def _decided(self, overlay: Overlay) -> NDArray[np.bool_]:
        push = np.zeros(overlay.nodes, np.bool_)
        push[: overlay.writers] = True
        return push | self._keeps_all
