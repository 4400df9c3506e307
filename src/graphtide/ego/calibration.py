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
from graphtide.rows import INT, Type

__all__ = ["calibrate"]

_SIZES: Final = (1, 4, 16, 64)
_WRITERS: Final = 1 << 13
_OUTPUTS: Final = 8  # of each writer
_OPERATIONS: Final = 4_000
_REPEATS: Final = 5
_NOTHING: Final = np.zeros(0, np.int64)
_VALUES: Final = 100
_LEAST: Final = 1e-10


def calibrate(function: Function, window: Window, value_type: Type) -> Costs:
    """Seconds of a push to a node and of a pull of it, by the number of its inputs; measured once.

    A window of time is measured as one of its last value: the partial aggregates behind it are the same. What is built
    in takes codes, whatever their type.
    """
    window = window if isinstance(window, Last) else Last()
    return _measured(function, window, value_type if isinstance(function, Aggregate) else INT)


@lru_cache(maxsize=64)
def _measured(function: Function, window: Last, value_type: Type) -> Costs:
    plans = {size: _plan(function, window, value_type, size, push=False) for size in _SIZES}
    if isinstance(function, Aggregate) and isinstance(plans[1].partials, OwnObjects):
        # Python's own time is nearly all of it; inputs are what counts.
        return Costs(Curve(constant=1) if function.subtracts else Curve(linear=1), Curve(linear=1))
    alone = _seconds(plans[1], WRITE)
    pulls = [_seconds(plan, READ) for plan in plans.values()]
    pushes: list[float] = []
    kept: list[float] = []
    for size in _SIZES:
        plan = _plan(function, window, value_type, size, push=True)
        pushes.append((_seconds(plan, WRITE) - alone) / _OUTPUTS)
        kept.append(_seconds(plan, READ))
    # A reader that is kept is read, too: that is no part of a pull.
    return Costs(_fitted(np.array(pushes)), _fitted(np.array(pulls) - np.array(kept)))


def _plan(function: Function, window: Last, value_type: Type, size: int, *, push: bool) -> Plan:
    """Each writer has a few partial aggregates, each of these so many writers that lie anywhere, and one reader.

    So an output of a writer is one of both sorts of nodes, and so is what a reader pulls.
    """
    count = _WRITERS * _OUTPUTS // size
    edges = _WRITERS * _OUTPUTS
    starts = np.concatenate(
        [
            np.zeros(_WRITERS, np.int64),
            np.arange(count),
            count + np.arange(count + 1) * size,
        ]
    )
    rng = np.random.default_rng(0)
    writers = np.concatenate([rng.permutation(_WRITERS) for _ in range(_OUTPUTS)])
    inputs = np.concatenate([_WRITERS + count + rng.permutation(count), writers]).astype(np.int32)
    overlay = Overlay(_WRITERS, count, starts, inputs, np.ones(count + edges, np.int8))
    decided = (np.arange(overlay.nodes) < _WRITERS) | push
    plan = Plan(overlay, decided, function, WindowContents(window, _WRITERS), value_type=value_type)
    if not isinstance(plan.partials, OwnObjects):
        # Windows are full, as they are after a while.
        _run(plan, WRITE, np.tile(np.arange(_WRITERS), window.count))
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
    # Two nodes each: one with so many inputs, and one with a single one.
    parts = np.column_stack([np.full(len(sizes), 2.0), np.log2(sizes), sizes + 1])
    chosen = [0, 1, 2]
    while True:
        found, *_ = np.linalg.lstsq(parts[:, chosen] / measured[:, None], np.ones(len(sizes)), rcond=None)
        if (found >= 0).all() or len(chosen) == 1:
            break
        del chosen[int(found.argmin())]
    shares = np.zeros(3)
    shares[chosen] = np.maximum(found, 0)
    return Curve(max(float(shares[0]), _LEAST), float(shares[1]), float(shares[2]))
