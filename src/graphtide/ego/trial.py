"""Which of a few plans is fastest, found by trying them.

Expected costs say what a push and a pull cost on average. How much of a plan stays in which cache, and how well a
processor foretells its branches, they do not say; on large plans that is most of the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.aggregates import Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.decisions import Decisions
from graphtide.ego.overlay import Overlay
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.windows import Last, Window
from graphtide.rows import INT

__all__ = ["Candidate", "Conditions", "fastest", "is_clearly_below"]

Candidate = tuple[Overlay, Decisions]

_OPERATIONS: Final = 200_000  # in a round, if it does not take too long
_FEW_OPERATIONS: Final = 10_000  # in a round of the warm-up
_LONG_ENOUGH: Final = 0.5  # seconds of a round
_WARM_UP: Final = 3
_ROUNDS: Final = 9
_MOST_ROUNDS: Final = 45  # of the last two plans, if it takes so many to tell them apart
_FAR_SLOWER: Final = 3.0  # a plan that takes so many times the least in the warm-up is not tried further
_SLOWER: Final = 1.25  # nor one that takes so many times the least after three rounds
_WORTH_IT: Final = 0.96  # of the time of the better plain plan
_AS_GOOD: Final = 1.02  # times the least: the first of these is taken, so that it is the same one the next time
_SURE: Final = 2.0  # errors of a median
_VALUES: Final = 1_000
_NOTHING: Final = np.zeros(0, np.int64)


class Conditions(NamedTuple):
    """What plans are for: how often each writer writes and each reader is read, and which windows have values."""

    function: Function
    window: Window
    writes: NDArray[np.float64]
    reads: NDArray[np.float64]
    has_values: NDArray[np.bool_]


def fastest(candidates: Sequence[Candidate], conditions: Conditions) -> int:
    """Which candidate does operations at such rates in least time; the first two push all and pull all.

    All candidates do the same operations, by turns, so that what else the machine does is the same to all. The better
    one of the first two and the fastest of the others then go on alone: of several that are measured at once, the one
    that comes out first was also lucky, so these rounds do not count any more. The other is taken only if it is sure to
    need clearly less time.
    """
    race = _Race(candidates, conditions)
    for _ in range(_WARM_UP):
        race.run(_FEW_OPERATIONS)
    race.keep_near(_FAR_SLOWER)
    slowest = max(race.typical().values()) / _FEW_OPERATIONS
    race.operations = int(min(_OPERATIONS, max(_LONG_ENOUGH / slowest, _FEW_OPERATIONS)))
    race.run()
    race.forget()
    for turn in range(_ROUNDS):
        race.run()
        if turn >= 2:
            race.keep_near(_SLOWER)
    typical = race.typical()
    plain = min((at for at in typical if at < 2), key=lambda at: typical[at])
    share = {at: race.share(at, plain) for at in typical if at > 1}
    if not share or min(share.values()) > 1:
        return plain
    other = min(at for at in share if share[at] <= _AS_GOOD * min(share.values()))
    race.keep((plain, other))
    race.run()
    race.forget()
    for turn in range(1, _MOST_ROUNDS + 1):
        race.run()
        if turn >= _ROUNDS and turn % 3 == 0:
            shares = race.shares(other, plain)
            if is_clearly_below(shares, _WORTH_IT):
                return other
            if is_clearly_below(-shares, -_WORTH_IT):
                break
    return plain


def is_clearly_below(measured: NDArray[np.float64], limit: float) -> bool:
    """Whether the median of measurements is below a limit by more than it may be wrong.

    How wrong it may be follows from how far the measurements are from it: outliers, which come of what else a machine
    does, hardly count.

    >>> is_clearly_below(np.array([0.90, 0.91, 0.92, 1.7]), 0.96)
    True
    >>> is_clearly_below(np.array([0.80, 0.90, 0.97, 1.10]), 0.96)
    False
    """
    median = float(np.median(measured))
    # Of normal values: the error of a median is 1.25 times that of a mean, a deviation 1.48 times the median one.
    error = 1.25 * 1.48 * float(np.median(np.abs(measured - median))) / len(measured) ** 0.5
    return median + _SURE * error < limit


class _Race:
    """Plans that do the same operations by turns, and how many seconds each took each time."""

    def __init__(self, candidates: Sequence[Candidate], conditions: Conditions) -> None:
        self._plans = {
            at: _filled(overlay, decisions.push, conditions) for at, (overlay, decisions) in enumerate(candidates)
        }
        self._writes, self._reads = np.cumsum(conditions.writes), np.cumsum(conditions.reads)
        self._rng = np.random.default_rng(0)
        self._seconds: dict[int, list[float]] = {}
        self.operations = _OPERATIONS  # in a round
        self.forget()

    def run(self, operations: int | None = None) -> None:
        """Let all plans do the next operations, as many as in a round or so many."""
        rng, writes, reads = self._rng, self._writes, self._reads
        many = operations or self.operations
        is_write = rng.random(many) * (writes[-1] + reads[-1]) < writes[-1]
        kinds = np.where(is_write, WRITE, READ).astype(np.int8)
        who = np.where(is_write, _drawn(rng, writes, many), _drawn(rng, reads, many))
        values = np.minimum(rng.zipf(1.5, many), _VALUES)
        # What ran before leaves its memory in the caches: each comes after each other one now and then.
        for at in rng.permutation(list(self._plans)).tolist():
            began = time.thread_time()
            self._plans[at].run(kinds, who, values, _NOTHING, _NOTHING)
            self._seconds[at].append(time.thread_time() - began)

    def keep(self, which: Iterable[int]) -> None:
        """Go on with these alone."""
        self._plans = {at: self._plans[at] for at in which}

    def keep_near(self, times: float) -> None:
        """Go on with those that took less than so many times the least, and of the first two, of the lesser of them."""
        typical = self.typical()
        least, least_plain = min(typical.values()), min(typical[at] for at in typical if at < 2)
        self.keep(at for at in typical if typical[at] < times * (least_plain if at < 2 else least))

    def forget(self) -> None:
        """Let what was measured not count."""
        self._seconds = {at: [] for at in self._plans}

    def typical(self) -> dict[int, float]:
        """The median of seconds by plan."""
        return {at: float(np.median(self._seconds[at])) for at in self._plans}

    def shares(self, one: int, other: int) -> NDArray[np.float64]:
        """What one plan took of the time of another one, turn by turn."""
        return np.array(self._seconds[one]) / np.array(self._seconds[other])

    def share(self, one: int, other: int) -> float:
        """The median of these."""
        return float(np.median(self.shares(one, other)))


def _drawn(rng: np.random.Generator, ends: NDArray[np.float64], many: int) -> NDArray[np.int64]:
    """So many writers or readers, each as often as its rate says; `ends` are sums of rates."""
    return np.searchsorted(ends, rng.random(many) * ends[-1], side="right").clip(max=len(ends) - 1)


def _filled(overlay: Overlay, push: NDArray[np.bool_], conditions: Conditions) -> Plan:
    """A plan whose windows are full where they have something: what has nothing is counted faster than what has."""
    # What is kept for a window of time is as for one of its last value.
    window = conditions.window if isinstance(conditions.window, Last) else Last()
    contents = WindowContents(window, overlay.writers)
    rings = contents.arrays.rings.reshape(overlay.writers, window.count + 1)
    values = np.random.default_rng(1).zipf(1.5, (overlay.writers, window.count)).clip(max=_VALUES)
    rings[conditions.has_values, 0] = window.count
    rings[conditions.has_values, 1:] = values[conditions.has_values]
    return Plan(overlay, push, conditions.function, contents, value_type=INT)
