"""Whether a user's aggregate can be computed in parts: checked on a sample, before anything rests on it."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from graphtide.ego.aggregates import Aggregate
from graphtide.ego.own import called
from graphtide.errors import UsageError, UserFunctionError
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
    try:
        written = [_state_of(function, value) for value in list(dict.fromkeys(values))[:_MOST_VALUES]]
        for law, count in _LAWS:
            for states in product(written, repeat=count):
                law(function, *states)
    except UserFunctionError as error:
        error.add_hint("nothing of the call was applied")
        raise
    states = [*written, *_other_states(function, values, value_type)]
    for law, count in _LAWS:
        for some in product(states, repeat=count):
            with contextlib.suppress(UserFunctionError):  # nobody wrote all of these values
                law(function, *some)


def _state_of(function: Aggregate, value: Any) -> Any:
    """The state of one value."""
    empty = called(function, "initialize")
    state = called(function, "update", empty, value)
    if state is None and empty is not None:
        raise UsageError(f"update of {function.shown} gives None for ({empty!r}, {value!r})", hint="give the new state")
    return state


def _other_states(function: Aggregate, values: Sequence[Any], value_type: Type) -> Iterator[Any]:
    """States of one value each that nobody wrote, and of several."""
    state = called(function, "initialize")
    for value in _SAMPLES.get(value_type.kind, ()):
        if value not in values:
            with contextlib.suppress(UserFunctionError):
                alone = _state_of(function, value)
                state = called(function, "update", state, value)
                called(function, "merge", alone, state)
                yield alone
                yield state


def _check_associative(function: Aggregate, one: Any, other: Any, third: Any) -> None:
    left = called(function, "merge", called(function, "merge", one, other), third)
    right = called(function, "merge", one, called(function, "merge", other, third))
    if not _close(left, right):
        parts = f"{one!r}, {other!r} and {third!r}"
        raise UsageError(
            f"merge is not associative: of {parts} it makes {left!r} from the left and {right!r} from the right",
            hint="keep in the state what the answer is made of, such as a sum and a count, and divide in finalize",
        )


def _check_pairs(function: Aggregate, one: Any, other: Any) -> None:
    """That merge is commutative and leaves its arguments alone, and subtract undoes it."""
    kept = copy.deepcopy((one, other))
    left, right = called(function, "merge", one, other), called(function, "merge", other, one)
    if not _close(left, right):
        raise UsageError(
            f"merge is not commutative: of {one!r} and {other!r} it makes {left!r}, the other way {right!r}",
            hint="neighbours have no order",
        )
    if not _close((one, other), kept):
        raise UsageError(f"merge changes its arguments: {kept!r} became {(one, other)!r}", hint="give a new state")
    if function.subtracts:
        made = called(function, "subtract", left, other)
        if not _close(made, one):
            raise UsageError(f"subtract does not undo merge: of {left!r} and {other!r} it makes {made!r}, not {one!r}")


def _check_neutral(function: Aggregate, state: Any) -> None:
    """That the state of no values adds nothing, and a state that is merged with itself neither, if that is said."""
    empty = called(function, "initialize")
    made = called(function, "merge", empty, state)
    if not _close(made, state):
        raise UsageError(f"initialize() is not neutral: merging {empty!r} with {state!r} gives {made!r}")
    if function.duplicate_insensitive:
        twice = called(function, "merge", state, state)
        if not _close(twice, state):
            raise UsageError(f"merge is not duplicate-insensitive: of {state!r} and itself it makes {twice!r}")


# Each with how many states it is about.
_LAWS: Final = ((_check_associative, 3), (_check_pairs, 2), (_check_neutral, 1))


def _close(one: Any, other: Any) -> bool:
    """Whether two states are equal, but for what floats are rounded."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        parts, others = list[Any](one), list[Any](other)
        return len(parts) == len(others) and all(map(_close, parts, others))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return bool(np.all(one == other))
