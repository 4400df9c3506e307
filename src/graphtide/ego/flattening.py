"""Overlays of two levels: what a plan is fastest on.

A partial aggregate that is kept for a reader that is kept only adds a push, and one that is pulled for a reader that
is pulled only adds a step: both save edges, not time. What pays is to keep a partial aggregate that readers share which
are pulled. If it stands on its writers alone, no walk goes further than one list.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphtide.ego.costs import Costs
from graphtide.ego.decisions import Decided, Decisions, expenses, frequencies, priced
from graphtide.ego.kernels.flattening import add_up, choose_kept, flatten
from graphtide.ego.kernels.paths import stand_for_sets
from graphtide.ego.overlay import Overlay

__all__ = ["flattened"]

_ROUNDS: Final = 6


def flattened(
    overlay: Overlay,
    writes: ArrayLike,
    reads: ArrayLike,
    costs: Costs | None = None,
    *,
    writer_window: float = 1,
) -> tuple[Overlay, Decisions]:
    """An overlay of the partial aggregates that are worth keeping, each on its writers, with decisions.

    What is kept is chosen again a few times, each node by what the others are; the cheapest choice counts. Where inputs
    are subtracted, what is behind a partial aggregate may be no set; such a one is not kept.
    """
    costs = costs or Costs()
    first = overlay.writers + overlay.readers
    lists = overlay.starts, overlay.inputs, overlay.signs
    by_level = np.argsort(overlay.levels(), kind="stable")
    sizes, written = np.zeros(overlay.nodes, np.int64), np.zeros(overlay.nodes)
    sizes[: overlay.writers], written[: overlay.writers] = 1, writes
    for amounts in (sizes, written):
        add_up(*lists, by_level, amounts)
    np.clip(sizes, 0, overlay.writers, out=sizes)  # what is no set may count some of them more than once
    can_keep = stand_for_sets(*lists, overlay.writers) if overlay.has_negatives else np.ones(overlay.nodes, np.bool_)
    most = np.arange(int(sizes.max(initial=0)) + 1)
    push_cost, pull_cost, merged = costs.pushes(most), costs.pulls(most), costs.merges(most)
    asked = np.asarray(reads, np.float64)
    # At first no partial aggregate is kept.
    keep = np.arange(overlay.nodes) < overlay.writers
    of_reader = slice(overlay.writers, first)
    keep[of_reader] = written[of_reader] * push_cost[0, sizes[of_reader]] < asked * pull_cost[0, sizes[of_reader]]
    alone = keep.copy()
    best, least = alone, np.inf
    for _ in range(_ROUNDS):
        before = keep.copy()
        cost = choose_kept(
            *lists[:2], by_level, written, asked, overlay.writers, overlay.readers, sizes, push_cost, pull_cost,
            merged, costs.of_an_input, can_keep, keep,
        )  # fmt: skip
        if cost < least:
            best, least = before, cost

    def flat(keep: NDArray[np.bool_]) -> tuple[Overlay, Decisions]:
        starts, inputs, signs, kept = flatten(*lists, overlay.writers, overlay.readers, overlay.overlapping, keep)
        after = Overlay(overlay.writers, overlay.readers, starts, inputs, signs, overlay.overlapping)
        push = np.concatenate((keep[:first], np.ones(len(kept), np.bool_)))
        pushed, pulled = expenses(after, frequencies(after, writes, reads), costs, writer_window)
        return after, priced(after, Decided(push, np.zeros(0, np.int64), 0), pushed, pulled)

    # How many inputs are left where some overlap or are subtracted is known only afterwards.
    return min((flat(each) for each in (best, alone)), key=lambda found: found[1].cost)
