"""Whether a user's aggregate can be computed in parts: checked on a sample, before anything rests on it."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from graphtide.ego.aggregates import Aggregate
from graphtide.errors import UsageError
from graphtide.rows import Kind, Type

__all__ = ["check_sound"]

_SAMPLES: Final[dict[Kind, tuple[Any, ...]]] = {
    Kind.INT: (1, 2, 3, 7),
    Kind.FLOAT: (0.5, 1.25, 3.0, 8.0),
    Kind.STR: ("a", "b", "ab"),
}
_MOST_VALUES: Final = 6


def check_sound(function: Aggregate, values: Sequence[Any], value_type: Type) -> None:
    """Raise an error with a counterexample if parts of these and a few other values do not make the same whole.

    A sample proves nothing, but shows what most mistakes do. Other values on which the functions fail are left out.
    """
    states = list(_states(function, values, value_type))
    merge, subtract = function.merge, function.subtract
    for one, other, third in product(states, repeat=3):
        left, right = merge(merge(one, other), third), merge(one, merge(other, third))
        if not _close(left, right):
            parts = f"{one!r}, {other!r} and {third!r}"
            raise UsageError(
                f"merge is not associative: of {parts} it makes {left!r} from the left and {right!r} from the right",
                hint="keep in the state what the answer is made of, such as a sum and a count, and divide in finalize",
            )
    for one, other in product(states, repeat=2):
        kept = copy.deepcopy((one, other))
        left, right = merge(one, other), merge(other, one)
        if not _close(left, right):
            raise UsageError(
                f"merge is not commutative: of {one!r} and {other!r} it makes {left!r}, the other way {right!r}",
                hint="neighbours have no order",
            )
        if not _close((one, other), kept):
            raise UsageError(f"merge changes its arguments: {kept!r} became {(one, other)!r}", hint="give a new state")
        if subtract is not None and not _close(subtract(left, other), one):
            made = subtract(left, other)
            raise UsageError(f"subtract does not undo merge: of {left!r} and {other!r} it makes {made!r}, not {one!r}")
    empty = function.initialize()
    for state in states:
        made = merge(empty, state)
        if not _close(made, state):
            raise UsageError(f"initialize() is not neutral: merging {empty!r} with {state!r} gives {made!r}")
        twice = merge(state, state)
        if function.duplicate_insensitive and not _close(twice, state):
            raise UsageError(f"merge is not duplicate-insensitive: of {state!r} and itself it makes {twice!r}")


def _states(function: Aggregate, values: Sequence[Any], value_type: Type) -> Iterator[Any]:
    """States of one value each, and one of two."""
    sample = list(dict.fromkeys(values))[:_MOST_VALUES]
    others = [value for value in _SAMPLES.get(value_type.kind, ()) if value not in sample]
    state = function.initialize()
    for value in sample:
        yield function.update(function.initialize(), value)
    for value in others:
        try:
            alone = function.update(function.initialize(), value)
            state = function.update(state, value)
            function.merge(alone, state)
        except Exception:  # noqa: BLE001, S112 - the user never wrote this value
            continue
        yield alone
        yield state


def _close(one: Any, other: Any) -> bool:
    """Whether two states are equal, but for what floats are rounded."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        parts, others = list[Any](one), list[Any](other)
        return len(parts) == len(others) and all(map(_close, parts, others))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return bool(np.all(one == other))
