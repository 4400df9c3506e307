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

_OPERATIONS: Final = 200_000
_WARM_UP: Final = 2
_ROUNDS: Final = 9
_SLOWER: Final = 1.25  # a plan that takes so many times the least after three rounds is not tried further
_WORTH_IT: Final = 0.94  # of the time of the better plain plan
_AS_GOOD: Final = 1.04  # times the least: the first of these is taken, so that it is the same one the next time
_VALUES: Final = 1_000
_NOTHING: Final = np.zeros(0, np.int64)


def fastest(
    candidates: Sequence[Candidate],
    function: Function,
    writes: NDArray[np.float64],
    reads: NDArray[np.float64],
    has_values: NDArray[np.bool_],
) -> int:
    """Which candidate does operations at such rates in least time; the first two push all and pull all.

    Windows are as full as they are, with one value each, and fill up as they will: what has nothing is counted faster
    than what has. All candidates do the same operations, by turns, so that what else the machine does is the same to
    all. One of the first two is taken unless another takes clearly less than the better of these, round by round; of
    those that do, the first that is about as fast as the fastest.
    """
    rng = np.random.default_rng(0)
    plans = {
        at: _filled(overlay, decisions.push, function, has_values) for at, (overlay, decisions) in enumerate(candidates)
    }
    seconds: dict[int, list[float]] = {at: [] for at in plans}
    for turn in range(_WARM_UP + _ROUNDS):
        kinds = np.where(rng.random(_OPERATIONS) * (writes.sum() + reads.sum()) < writes.sum(), WRITE, READ)
        kinds = kinds.astype(np.int8)
        who = np.where(kinds == WRITE, _drawn(rng, writes), _drawn(rng, reads))
        values = np.minimum(rng.zipf(1.5, _OPERATIONS), _VALUES)
        # What ran before leaves its memory in the caches: each has its turn to be the first.
        order = list(plans)
        first = turn % len(order)
        for at in order[first:] + order[:first]:
            began = time.thread_time()
            plans[at].run(kinds, who, values, _NOTHING, _NOTHING)
            seconds[at].append(time.thread_time() - began)
        if turn >= _WARM_UP + 2:
            typical = {at: float(np.median(seconds[at][_WARM_UP:])) for at in plans}
            least = min(typical.values())
            least_plain = min(typical[at] for at in plans if at < 2)
            plans = {
                at: plan for at, plan in plans.items() if typical[at] < _SLOWER * (least_plain if at < 2 else least)
            }
    plain = min((at for at in plans if at < 2), key=lambda at: float(np.median(seconds[at][_WARM_UP:])))
    base = np.array(seconds[plain][_WARM_UP:])
    share = {at: float(np.median(np.array(seconds[at][_WARM_UP:]) / base)) for at in plans}
    least = min(share.values())
    if least >= _WORTH_IT:
        return plain
    return min(at for at in plans if at > 1 and share[at] <= _AS_GOOD * least)


def _drawn(rng: np.random.Generator, rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Writers or readers, each as often as its rate says."""
    ends = np.cumsum(rates)
    if len(ends) == 0 or ends[-1] == 0:
        return np.zeros(_OPERATIONS, np.int64)
    return np.searchsorted(ends, rng.random(_OPERATIONS) * ends[-1], side="right").clip(max=len(ends) - 1)


def _filled(overlay: Overlay, push: NDArray[np.bool_], function: Function, has_values: NDArray[np.bool_]) -> Plan:
    contents = WindowContents(Last(), overlay.writers)
    values = np.minimum(np.random.default_rng(1).zipf(1.5, overlay.writers), _VALUES)
    contents.arrays.rings[::2] = has_values
    contents.arrays.rings[1::2] = np.where(has_values, values, 0)
    return Plan(overlay, push, function, contents, value_type=INT)
