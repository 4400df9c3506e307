"""Which nodes of an overlay are kept up to date by pushes, and which are computed by pulls (EAGr, section 4).

Invariant: all inputs of a node that pushes push. Writers always do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphtide.ego.costs import Costs
from graphtide.ego.cut import cheapest_cut
from graphtide.ego.kernels.decisions import (
    PULL,
    PUSH,
    UNDECIDED,
    components,
    decide_greedily,
    prune,
    spread_frequencies,
)
from graphtide.ego.overlay import Overlay
from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = [
    "Decided",
    "Decider",
    "Decisions",
    "Frequencies",
    "Greedy",
    "MinCut",
    "check_decider",
    "decide",
    "expenses",
    "frequencies",
    "priced",
]


class Frequencies(NamedTuple):
    """How often each node would be pushed to if all pushed, and pulled from if all pulled."""

    push: NDArray[np.float64]
    pull: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Which nodes push, what that is expected to cost, and what it would if all did or none."""

    push: NDArray[np.bool_]
    cost: float
    cost_of_all_push: float
    cost_of_all_pull: float
    considered: int  # nodes that could be decided either way: all but the writers
    left: NDArray[np.int64]  # of these, the nodes that pruning did not decide
    components: int  # connected parts of what was left

    def check_invariants(self, overlay: Overlay) -> None:
        """Assert what the module promises."""
        assert len(self.push) == overlay.nodes
        assert self.push[: overlay.writers].all()
        owners = np.repeat(np.arange(overlay.nodes), np.diff(overlay.starts))
        assert (self.push[overlay.inputs] | ~self.push[owners]).all(), "a node pushes whose input pulls"


class Decided(NamedTuple):
    """Which nodes push, which were not decided by pruning, and in how many connected parts these are."""

    push: NDArray[np.bool_]
    left: NDArray[np.int64]
    components: int


@runtime_checkable
class Decider(Protocol):
    """How decisions are made: MinCut, Greedy, AllPush or AllPull."""

    def push(self, overlay: Overlay, worth: NDArray[np.float64]) -> Decided:
        """The nodes to push, if a push of each node saves `worth` against a pull."""
        ...


@dataclass(frozen=True, slots=True)
class MinCut:
    """The cheapest decisions there are: a minimum cut of what pruning leaves."""

    def push(self, overlay: Overlay, worth: NDArray[np.float64]) -> Decided:
        """The nodes to push, if a push of each node saves `worth` against a pull."""
        outputs = overlay.outputs()
        decided = prune(overlay.starts, overlay.inputs, outputs.starts, outputs.nodes, overlay.writers, worth)
        left = np.flatnonzero(decided == UNDECIDED)
        parts = int(components(overlay.starts, overlay.inputs, decided)) if len(left) else 0
        if len(left):
            decided[left] = PUSH
            decided[cheapest_cut(overlay, left, worth)] = PULL
        return Decided(decided == PUSH, left, parts)


@dataclass(frozen=True, slots=True)
class Greedy:
    """Node after node from the writers on, in time linear in the edges; not always the cheapest."""

    def push(self, overlay: Overlay, worth: NDArray[np.float64]) -> Decided:
        """The nodes to push, if a push of each node saves `worth` against a pull."""
        by_level = np.argsort(overlay.levels(), kind="stable")
        push = decide_greedily(overlay.starts, overlay.inputs, overlay.writers, by_level, worth)
        return Decided(push, np.arange(overlay.writers, overlay.nodes), 0)


def check_decider(decider: object) -> None:
    """Raise an error if it does not say how decisions are made."""
    # A class has the attributes of what it makes.
    if isinstance(decider, type) or not isinstance(decider, Decider):
        raise UsageError(
            f"decide={shown(decider)} does not say what is kept",
            hint="give AllPush(), AllPull(), MinCut() or Greedy(), of graphtide.ego",
        )


def frequencies(overlay: Overlay, writes: ArrayLike, reads: ArrayLike) -> Frequencies:
    """Pushes and pulls of each node, if writers write and readers are read so often."""
    push, pull = np.zeros(overlay.nodes), np.zeros(overlay.nodes)
    push[: overlay.writers] = writes
    pull[overlay.writers : overlay.writers + overlay.readers] = reads
    spread_frequencies(overlay.starts, overlay.inputs, np.argsort(overlay.levels(), kind="stable"), push, pull)
    return Frequencies(push, pull)


def expenses(
    overlay: Overlay, often: Frequencies, costs: Costs, writer_window: float = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each node costs if it pushes, and if it pulls; a writer has the values of its window as inputs."""
    inputs = np.diff(overlay.starts).astype(np.float64)
    inputs[: overlay.writers] = writer_window
    is_partial = np.arange(overlay.nodes) >= overlay.writers + overlay.readers
    push, pull = costs.pushes(inputs), costs.pulls(inputs)
    return often.push * np.where(is_partial, push[1], push[0]), often.pull * np.where(is_partial, pull[1], pull[0])


def decide(
    overlay: Overlay,
    writes: ArrayLike,
    reads: ArrayLike,
    costs: Costs | None = None,
    *,
    writer_window: float = 1,
    by: Decider | None = None,
) -> Decisions:
    """Decide for each node whether it pushes, from how often each writer writes and each reader is read.

    `writer_window` is how many values a writer's window has on average. The cheapest decisions are found, by MinCut(),
    unless it is said otherwise.
    """
    push_cost, pull_cost = expenses(overlay, frequencies(overlay, writes, reads), costs or Costs(), writer_window)
    return priced(overlay, (by or MinCut()).push(overlay, pull_cost - push_cost), push_cost, pull_cost)


def priced(overlay: Overlay, decided: Decided, pushed: NDArray[np.float64], pulled: NDArray[np.float64]) -> Decisions:
    """Decisions with what they cost, by what each node costs if it pushes and if it pulls."""
    return Decisions(
        decided.push,
        float(np.where(decided.push, pushed, pulled).sum()),
        float(pushed.sum()),
        float(pushed[: overlay.writers].sum() + pulled[overlay.writers :].sum()),
        overlay.nodes - overlay.writers,
        decided.left,
        decided.components,
    )
