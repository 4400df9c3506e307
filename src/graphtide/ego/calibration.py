"""What pushes and pulls of an aggregate cost on this machine, measured on small plans (EAGr, section 4)."""

from __future__ import annotations

import time
from dataclasses import replace
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

_SIZES: Final = (1, 8, 64)
# How many writers the plans have that are measured: as many as the one that is asked for, within limits. What does not
# fit a cache takes longer.
_FEWEST_WRITERS: Final = 1 << 11
_MOST_WRITERS: Final = 1 << 17
_OUTPUTS: Final = 8  # of each writer
_LONGEST_WINDOW: Final = 128
_PARTIALS: Final = 4  # of each reader that has some
_OPERATIONS: Final = 20_000
_REPEATS: Final = 11
_NOTHING: Final = np.zeros(0, np.int64)
_VALUES: Final = 1_000
_LEAST: Final = 1e-10


def calibrate(function: Function, window: Window, value_type: Type, writers: int = _FEWEST_WRITERS) -> Costs:
    """Seconds of a push to a node and of a pull of it, by the number of its inputs; measured once for each size.

    A window of time is measured as one of its last value: the partial aggregates behind it are the same. A long one is
    measured as a shorter one, since all plans that are measured have theirs full. What is built in
    takes codes, whatever their type.
    """
    window = Last(min(window.count, _LONGEST_WINDOW)) if isinstance(window, Last) else Last()
    size = min(max(writers, _FEWEST_WRITERS), _MOST_WRITERS).bit_length() - 1
    return _measured(function, window, value_type if isinstance(function, Aggregate) else INT, 1 << size)


@lru_cache(maxsize=64)
def _measured(function: Function, window: Last, value_type: Type, writers: int) -> Costs:
    def plan(overlay: Overlay, push: NDArray[np.bool_]) -> Plan:
        made = Plan(overlay, push, function, WindowContents(window, writers), value_type=value_type, may_be_wrong=True)
        if not isinstance(made.partials, OwnObjects):
            # Windows are full, as they are after a while.
            _run(made, WRITE, np.tile(np.arange(writers), window.count))
        return made

    direct = {size: _direct(writers, size) for size in _SIZES}
    shared = {size: _shared(writers, size) for size in _SIZES}
    some = plan(direct[1], np.arange(direct[1].nodes) < writers)
    if isinstance(function, Aggregate) and isinstance(some.partials, OwnObjects):
        # Python's own time is nearly all of it; inputs are what counts.
        return Costs(Curve(constant=1) if function.subtracts else Curve(linear=1), Curve(linear=1))
    counts_values = function.name in {"top", "distinct"}
    idle = plan(direct[1], np.ones(direct[1].nodes, np.bool_))
    push: list[float] = []
    pull: list[float] = []
    push_of_partial: list[float] = []
    pull_of_partial: list[float] = []
    merge: list[float] = []
    for size in _SIZES:
        overlay = direct[size]
        pulled, kept = (
            plan(overlay, np.arange(overlay.nodes) < writers),
            plan(overlay, np.ones(overlay.nodes, np.bool_)),
        )
        push.append(_longer(kept, some, WRITE) / _OUTPUTS)
        # A reader that is kept is read, too: that is no part of a pull.
        pull.append(_longer(pulled, kept, READ))
        overlay = shared[size]
        numbers = np.arange(overlay.nodes)
        is_reader = (numbers >= writers) & (numbers < writers + overlay.readers)
        pulled, kept = plan(overlay, numbers < writers), plan(overlay, ~is_reader)
        push_of_partial.append(_longer(kept, some, WRITE) / _OUTPUTS)
        if counts_values:
            merge.append(_longer(kept, idle, READ))
        pull_of_partial.append(_longer(pulled, idle, READ))
    own = _fitted(np.array(pull))
    # What a reader costs that has a few inputs of one value is its own share.
    below = (np.array(pull_of_partial) - float(own.at(_PARTIALS))) / _PARTIALS
    costs = Costs(_fitted(np.array(push)), own, _fitted(np.array(push_of_partial)), _fitted(below))
    if not counts_values:
        return costs
    without = float(own.at(_PARTIALS)) - _PARTIALS * costs.of_an_input
    return replace(costs, merge=_fitted((np.array(merge) - without) / _PARTIALS))


def _direct(writers: int, size: int) -> Overlay:
    """Each reader has so many writers that lie anywhere, each writer a few readers."""
    rng = np.random.default_rng(0)
    inputs = np.concatenate([rng.permutation(writers) for _ in range(_OUTPUTS)]).astype(np.int32)
    starts = np.concatenate([np.zeros(writers, np.int64), np.arange(0, len(inputs) + 1, size)])
    return Overlay(writers, len(inputs) // size, starts, inputs, np.ones(len(inputs), np.int8))


def _shared(writers: int, size: int) -> Overlay:
    """Each writer has a few partial aggregates, each of these so many writers, each reader a few of these."""
    below = _direct(writers, size)
    partials = below.readers
    readers = partials // _PARTIALS
    above = writers + readers + np.random.default_rng(1).permutation(partials)
    starts = np.concatenate(
        [np.zeros(writers, np.int64), np.arange(readers) * _PARTIALS, partials + below.starts[writers:]]
    )
    inputs = np.concatenate([above, below.inputs]).astype(np.int32)
    return Overlay(writers, readers, starts, inputs, np.ones(len(inputs), np.int8))


def _run(plan: Plan, kind: int, who: NDArray[np.int64]) -> float:
    # Some values are there far more often than others, as words and topics are.
    values = np.minimum(np.random.default_rng(len(who)).zipf(1.5, len(who)), _VALUES)
    kinds = np.full(len(who), kind, np.int8)
    began = time.thread_time()
    plan.run(kinds, who, values, _NOTHING, _NOTHING)
    return time.thread_time() - began


def _longer(plan: Plan, other: Plan, kind: int) -> float:
    """How many seconds longer an operation takes with one plan than with the other.

    Both are measured by turns, each time with other writers or readers, and the median of the differences counts: a
    busy machine slows both down.
    """
    rng = np.random.default_rng(2)

    def seconds(of: Plan) -> float:
        return _run(of, kind, rng.integers(0, of.writers if kind == WRITE else of.readers, _OPERATIONS))

    return float(np.median([seconds(plan) - seconds(other) for _ in range(_REPEATS)])) / _OPERATIONS


def _fitted(seconds: NDArray[np.float64]) -> Curve:
    """The curve nearest to measurements, nearly in proportion, with no part below 0."""
    sizes = np.array(_SIZES, np.float64)
    measured = np.maximum(seconds, _LEAST)
    weights = 1 / (measured + measured.mean() / 10)  # the least of them are differences, and may be anything
    parts = np.column_stack([np.ones(len(sizes)), np.log2(sizes), sizes])
    chosen = [0, 1, 2]
    while True:
        found, *_ = np.linalg.lstsq(parts[:, chosen] * weights[:, None], measured * weights, rcond=None)
        if (found >= 0).all() or len(chosen) == 1:
            break
        del chosen[int(found.argmin())]
    shares = np.zeros(3)
    shares[chosen] = np.maximum(found, 0)
    return Curve(max(float(shares[0]), _LEAST), float(shares[1]), float(shares[2]))
