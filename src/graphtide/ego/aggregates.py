"""What is computed over the values in a neighbourhood: ours by name, or a user's own (EAGr, section 2.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["Aggregate", "BuiltIn", "Function", "TopK", "aggregate_of"]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """An aggregate that kernels know."""

    name: str

    @property
    def subtracts(self) -> bool:
        """Whether a part can be taken away from a whole."""
        return self.name not in {"min", "max"}

    @property
    def duplicate_insensitive(self) -> bool:
        """Whether it is the same if values count more than once."""
        return self.name in {"min", "max", "distinct"}

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, init=False)
class TopK(BuiltIn):
    """The `k` most frequent values, the most frequent first; of equally frequent ones, the least first."""

    k: int

    def __init__(self, k: int) -> None:
        if type(k) is not int or k < 1:
            raise UsageError(f"cannot look for the {k!r} most frequent values", hint="look for 1 or more")
        object.__setattr__(self, "name", "top")
        object.__setattr__(self, "k", k)

    def __repr__(self) -> str:
        return f"TopK({self.k})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A user's own aggregate: states, which are made of values and merged.

    `initialize()` is the state of no values, `update(state, value)` that with one more, `merge(one, other)` that of
    both, `finalize(state)` the answer. States are numbers or tuples of numbers that keep their types if they are to be
    compiled (begin with 0.0 to add floats), else any values. `merge` must be associative and commutative;
    `subtract(whole, part)`, if it is given, undoes it. A merge that gives the same if a part counts twice is
    `duplicate_insensitive`.

    >>> spread = Aggregate(
    ...     initialize=lambda: (float("inf"), float("-inf")),
    ...     update=lambda state, value: (min(state[0], value), max(state[1], value)),
    ...     merge=lambda one, other: (min(one[0], other[0]), max(one[1], other[1])),
    ...     finalize=lambda state: state[1] - state[0],
    ...     duplicate_insensitive=True,
    ... )
    """

    initialize: Callable[[], Any]
    update: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    finalize: Callable[[Any], Any]
    subtract: Callable[[Any, Any], Any] | None = None
    duplicate_insensitive: bool = False
    name: str = "aggregate"

    @property
    def subtracts(self) -> bool:
        """Whether a part can be taken away from a whole."""
        return self.subtract is not None

    @property
    def shown(self) -> str:
        """It, as messages quote it."""
        return "the aggregate" if self.name == "aggregate" else f'"{self.name}"'

    def __repr__(self) -> str:
        return self.name


Function = BuiltIn | Aggregate

_NAMES: Final = ("avg", "count", "distinct", "max", "min", "sum")


def aggregate_of(function: str | Function) -> Function:
    """The aggregate that is meant.

    >>> aggregate_of("sum"), aggregate_of(TopK(3))
    (sum, TopK(3))
    """
    if isinstance(function, BuiltIn | Aggregate):
        return function
    if isinstance(function, str) and function in _NAMES:  # pyright: ignore[reportUnnecessaryIsInstance]
        return BuiltIn(function)
    near = get_close_matches(function, _NAMES, n=1) if isinstance(function, str) else []  # pyright: ignore[reportUnnecessaryIsInstance]
    listed = ", ".join(f'"{name}"' for name in _NAMES)
    all_of_them = f"there are {listed}, TopK(k), and your own Aggregate(...)"
    hint = f'did you mean "{near[0]}"?' if near else all_of_them
    raise UsageError(f"there is no aggregate {shown(function)}", hint=hint)
