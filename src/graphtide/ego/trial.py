"""Which of a few plans is fastest, found by trying them.

Expected costs say what a push and a pull cost on average. How much of a plan stays in which cache, and how well a
processor foretells its branches, they do not say; on large plans that is most of the time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.aggregates import Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.decisions import Decisions
from graphtide.ego.overlay import Overlay
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.windows import Last
from graphtide.rows import INT

__all__ = ["Candidate", "fastest"]

Candidate = tuple[Overlay, Decisions]

_OPERATIONS: Final = 100_000
_ROUNDS: Final = 10
_SLOWER: Final = 1.2  # a plan that takes so many times the least after three rounds is not tried further
_NEARLY_AS_FAST: Final = 1.1
_VALUES: Final = 1_000
_NOTHING: Final = np.zeros(0, np.int64)


def fastest(
    candidates: Sequence[Candidate], function: Function, writes: NDArray[np.float64], reads: NDArray[np.float64]
) -> int:
    """Which candidate does operations at such rates in least time, on full windows of one value each.

    One that pushes all or pulls all is taken if it is nearly as fast: its branches are foretold better as it runs on.
    """
    rng = np.random.default_rng(0)
    plans = {at: _filled(overlay, decisions.push, function) for at, (overlay, decisions) in enumerate(candidates)}
    seconds: dict[int, list[float]] = {at: [] for at in plans}
    typical: dict[int, float] = {}
    for _ in range(_ROUNDS):
        kinds = np.where(rng.random(_OPERATIONS) * (writes.sum() + reads.sum()) < writes.sum(), WRITE, READ)
        kinds = kinds.astype(np.int8)
        who = np.where(kinds == WRITE, _drawn(rng, writes), _drawn(rng, reads))
        values = np.minimum(rng.zipf(1.5, _OPERATIONS), _VALUES)
        for at, plan in plans.items():
            began = time.thread_time()
            plan.run(kinds, who, values, _NOTHING, _NOTHING)
            seconds[at].append(time.thread_time() - began)
        # The first round warms up.
        typical = {at: float(np.median(seconds[at][1:] or seconds[at])) for at in plans}
        if len(seconds[min(plans)]) > 2:
            plans = {at: plan for at, plan in plans.items() if typical[at] < _SLOWER * min(typical.values())}
    best = min(plans, key=lambda at: typical[at])
    alike = [at for at in plans if _is_alike(*candidates[at]) and typical[at] <= _NEARLY_AS_FAST * typical[best]]
    return min(alike, key=lambda at: typical[at], default=best)


def _is_alike(overlay: Overlay, decisions: Decisions) -> bool:
    """Whether all nodes but the writers push, or all pull."""
    others = decisions.push[overlay.writers :]
    return bool(others.all() or not others.any())


def _drawn(rng: np.random.Generator, rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Writers or readers, each as often as its rate says."""
    ends = np.cumsum(rates)
    if len(ends) == 0 or ends[-1] == 0:
        return np.zeros(_OPERATIONS, np.int64)
    return np.searchsorted(ends, rng.random(_OPERATIONS) * ends[-1], side="right").clip(max=len(ends) - 1)


def _filled(overlay: Overlay, push: NDArray[np.bool_], function: Function) -> Plan:
    contents = WindowContents(Last(), overlay.writers)
    contents.arrays.ring[: overlay.writers] = np.minimum(np.random.default_rng(1).zipf(1.5, overlay.writers), _VALUES)
    contents.arrays.written[: overlay.writers] = 1
    return Plan(overlay, push, function, contents, value_type=INT)
