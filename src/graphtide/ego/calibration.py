"""What pushes and pulls of an aggregate cost on this machine, measured on small plans (EAGr, section 4)."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.aggregates import Aggregate, Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.costs import Costs, Curve
from graphtide.ego.overlay import Overlay
from graphtide.ego.own import OwnObjects
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.windows import Last, Window
from graphtide.rows import Type

__all__ = ["calibrate"]

_SIZES: Final = (1, 4, 16, 64)
_WRITERS: Final = 1 << 15
_OPERATIONS: Final = 20_000
_REPEATS: Final = 3
_NOTHING: Final = np.zeros(0, np.int64)
_VALUES: Final = 100
_LEAST: Final = 1e-10


@lru_cache(maxsize=64)
def calibrate(function: Function, window: Window, value_type: Type) -> Costs:
    """Seconds of a push to a node and of a pull of it, by the number of its inputs.

    A window of time is measured as one of its last value: the partial aggregates behind it are the same.
    """
    window = window if isinstance(window, Last) else Last()
    plans = {size: _plan(function, window, value_type, size, push=False) for size in _SIZES}
    if isinstance(function, Aggregate) and isinstance(plans[1].partials, OwnObjects):
        # Python's own time is nearly all of it; inputs are what counts.
        return Costs(Curve(constant=1) if function.subtracts else Curve(linear=1), Curve(linear=1))
    pulls = np.array([_seconds(plan, READ) for plan in plans.values()])
    alone = _seconds(plans[1], WRITE)
    pushes: list[float] = []
    kept = 0.0
    for size in _SIZES:
        plan = _plan(function, window, value_type, size, push=True)
        pushes.append(_seconds(plan, WRITE) - alone)
        kept = _seconds(plan, READ) if size == 1 else kept
    return Costs(_fitted(np.array(pushes)), _fitted(pulls - kept))


def _plan(function: Function, window: Last, value_type: Type, size: int, *, push: bool) -> Plan:
    """Each writer has one reader, and each reader so many writers, that lie anywhere."""
    readers = _WRITERS // size
    starts = np.concatenate([np.zeros(_WRITERS, np.int64), np.arange(readers + 1) * size])
    inputs = np.random.default_rng(0).permutation(_WRITERS).astype(np.int32)
    overlay = Overlay(_WRITERS, readers, starts, inputs, np.ones(_WRITERS, np.int8))
    decided = (np.arange(overlay.nodes) < _WRITERS) | push
    plan = Plan(overlay, decided, function, WindowContents(window, _WRITERS), value_type=value_type)
    if not isinstance(plan.partials, OwnObjects):
        # Windows are full, as they are after a while.
        everyone = np.tile(np.arange(_WRITERS), window.count)
        _run(plan, WRITE, everyone)
    return plan


def _run(plan: Plan, kind: int, who: NDArray[np.int64]) -> float:
    values = np.random.default_rng(1).integers(0, _VALUES, len(who))
    kinds = np.full(len(who), kind, np.int8)
    began = time.process_time()
    plan.run(kinds, who, values, _NOTHING, _NOTHING)
    return time.process_time() - began


def _seconds(plan: Plan, kind: int) -> float:
    """Seconds of an operation, the least of a few measurements."""
    count = plan.writers if kind == WRITE else plan.readers
    who = np.random.default_rng(2).integers(0, count, _OPERATIONS)
    return min(_run(plan, kind, who) for _ in range(_REPEATS)) / _OPERATIONS


def _fitted(seconds: NDArray[np.float64]) -> Curve:
    """The curve nearest to measurements, in proportion, with no part below 0."""
    sizes = np.array(_SIZES, np.float64)
    measured = np.maximum(seconds, _LEAST)
    parts = np.column_stack([np.ones(len(sizes)), np.log2(sizes), sizes])
    chosen = [0, 1, 2]
    while True:
        found, *_ = np.linalg.lstsq(parts[:, chosen] / measured[:, None], np.ones(len(sizes)), rcond=None)
        if (found >= 0).all() or len(chosen) == 1:
            break
        del chosen[int(found.argmin())]
    shares = np.zeros(3)
    shares[chosen] = np.maximum(found, 0)
    return Curve(max(float(shares[0]), _LEAST), float(shares[1]), float(shares[2]))
