"""Overlays of two levels: what a plan is fastest on.

A partial aggregate that is kept for a reader that is kept only adds a push, and one that is pulled for a reader that
is pulled only adds a step: both save edges, not time. What pays is to keep a partial aggregate that readers share which
are pulled. If it stands on its writers alone, no walk goes further than one list.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from graphtide.ego.costs import Costs
from graphtide.ego.decisions import Decided, Decisions, expenses, frequencies, priced
from graphtide.ego.kernels.flattening import choose_kept, count_writers, flatten
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

    What is kept is chosen again a few times, each node by what the others are; the cheapest choice counts. No input may
    be subtracted: what is behind a partial aggregate would be no set.
    """
    assert not overlay.has_negatives
    costs = costs or Costs()
    often = frequencies(overlay, writes, reads)
    first = overlay.writers + overlay.readers
    lists = overlay.starts, overlay.inputs
    by_level = np.argsort(overlay.levels(), kind="stable")
    sizes = count_writers(*lists, by_level, overlay.writers)
    most = np.arange(int(sizes.max(initial=0)) + 1)
    push_cost, pull_cost, merged = costs.pushes(most), costs.pulls(most), costs.merges(most)
    asked = np.asarray(reads, np.float64)
    # At first no partial aggregate is kept.
    keep = np.arange(overlay.nodes) < overlay.writers
    of_reader = slice(overlay.writers, first)
    keep[of_reader] = often.push[of_reader] * push_cost[0, sizes[of_reader]] < asked * pull_cost[0, sizes[of_reader]]
    best, least = keep, np.inf
    for _ in range(_ROUNDS):
        before = keep.copy()
        cost = choose_kept(
            *lists, by_level, often.push, asked, overlay.writers, overlay.readers, sizes, push_cost, pull_cost,
            merged, costs.of_an_input, keep,
        )  # fmt: skip
        if cost < least:
            best, least = before, cost
    starts, inputs, kept = flatten(*lists, overlay.writers, overlay.readers, best)
    after = Overlay(
        overlay.writers, overlay.readers, starts, inputs, np.ones(len(inputs), np.int8), overlay.overlapping
    )
    push = np.concatenate((best[:first], np.ones(len(kept), np.bool_)))
    pushed, pulled = expenses(after, frequencies(after, writes, reads), costs, writer_window)
    return after, priced(after, Decided(push, np.zeros(0, np.int64), 0), pushed, pulled)
