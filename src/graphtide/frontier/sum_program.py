"""Programs that sum the messages to a vertex for a fixed number of rounds, as PageRank does.

    D(r + 1, v) = finish(D(0, v), sum of message(D(r, u), w, degree of u) over the edges u -> v)

Invariant: a sum is exact and rounded once, so that a state does not depend on the order of edges, and so not on how the
graph came to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from graphtide.errors import UsageError
from graphtide.frontier.arguments import check_along, check_count, check_number
from graphtide.frontier.message import CompiledMessage
from graphtide.frontier.program import SIDES, Along
from graphtide.functions import (
    Pointer,
    as_bits,
    compile_checked,
    compile_scalar,
    made_by,
    name_of,
    point_to,
    takes_up_to,
)

__all__ = ["CompiledSum", "SumProgram", "compile_sum"]

_INT: Final = np.dtype(np.int64)
_FLOAT: Final = np.dtype(np.float64)
_MOST_ROUNDS: Final = 2**15 - 2


@dataclass(frozen=True, slots=True)
class SumProgram:
    """What to compute; `live.ife(program)` keeps it computed.

    `initial` is the state of round 0: a number for every vertex, or numbers of some, and 0 for the others.
    """

    message: Callable[..., Any]
    initial: float | Mapping[Any, Any]
    rounds: int
    finish: Callable[..., Any] | None = None
    weight: str | None = None
    along: Along = "out"
    state: str = "state"  # the name of the answer's column

    def __post_init__(self) -> None:
        if isinstance(self.message, str) or not callable(self.message):
            raise UsageError(
                f"a program that sums has no message {self.message!r}",
                hint="take a function of a state, the weight of an edge and the degree of its source",
            )
        if takes_up_to(self.message, 3) == 0 or (self.weight is not None and takes_up_to(self.message, 3) == 1):
            raise UsageError(
                f"{name_of(self.message)} cannot be called with a state and the weight of an edge",
                hint="for example: lambda state, weight, degree: state / degree",
            )
        if self.finish is not None and takes_up_to(self.finish, 2) == 0:
            raise UsageError(
                f"{name_of(self.finish)} cannot be called with an initial state and a sum",
                hint="for example: finish=lambda begin, total: begin + 0.5 * total",
            )
        check_along(self.along)
        check_count(self.rounds, "rounds")
        if not 1 <= self.rounds <= _MOST_ROUNDS:
            raise UsageError(f"a program cannot sum for {self.rounds} rounds", hint=f"take 1 to {_MOST_ROUNDS:,}")
        for state in (self.rest, *self.beginnings.values()):
            check_number(state, "a program that sums cannot begin with")
            if not np.isfinite(state):
                raise UsageError(f"a program that sums cannot begin with {state}", hint="begin with finite numbers")

    @property
    def rest(self) -> float:
        """The initial state of vertices that are not given one."""
        return 0 if isinstance(self.initial, Mapping) else self.initial

    @property
    def beginnings(self) -> Mapping[Any, Any]:
        """The vertices that are given initial states."""
        return self.initial if isinstance(self.initial, Mapping) else {}

    @property
    def begins_with_ids(self) -> bool:
        """No vertex does."""
        return False

    @property
    def sides(self) -> int:
        """The lists of a vertex that messages go out along: 1 the edges out of it, 2 those into it, 3 both."""
        return SIDES[self.along]

    @property
    def sign(self) -> int:
        """States are inside what they are outside."""
        return 1


@dataclass(frozen=True, slots=True)
class CompiledSum(CompiledMessage):
    """A message that may ask for the degree, and what makes a state of a sum."""

    finish: Callable[..., Any] | None = None
    ending: Pointer | None = None  # the same as kernels call it
    uses_degree: bool = False


def compile_sum(program: SumProgram, weight_dtype: np.dtype[Any] | None = None) -> CompiledSum:
    """The functions of a program on weights of a type; without weights, edges count 1."""
    states = (program.rest, *program.beginnings.values())
    least = _FLOAT if any(isinstance(state, float | np.floating) for state in states) else _INT
    return _compile_functions(program.message, program.finish or _add, least, weight_dtype)


# Functions that many queries share are compiled once.
@lru_cache(maxsize=256)
def _compile_functions(
    message: Callable[..., Any],
    finish: Callable[..., Any],
    dtype: np.dtype[Any],
    weight_dtype: np.dtype[Any] | None,
) -> CompiledSum:
    takes, takes_last = takes_up_to(message, 3), takes_up_to(finish, 2)
    each, last = compile_checked(message), compile_checked(finish)

    def makes(dtype: np.dtype[Any]) -> np.dtype[Any]:
        offered = made_by(each, (dtype, weight_dtype or dtype, _INT)[:takes])
        finished = made_by(last, (dtype, dtype)[:takes_last])
        return _FLOAT if _FLOAT in {offered, finished} else _INT

    if makes(dtype) == _FLOAT and dtype == _INT:
        dtype = _FLOAT
        makes(dtype)
    zero = dtype.type(0)
    offer = compile_scalar(_with_all(each, takes, zero))
    whole = offer if weight_dtype in {None, dtype} else compile_scalar(_with_weight_as_bits(offer, weight_dtype))
    pointer = point_to(whole.py_func, (dtype, dtype, _INT), dtype)
    end = compile_scalar(_with_both(last, takes_last, zero))
    ending = point_to(end.py_func, (dtype, dtype), dtype)
    return CompiledSum(
        pointer.address, dtype, weight_dtype or dtype, offer, pointer, end, ending, uses_degree=takes == 3
    )


def _add(begin: Any, total: Any) -> Any:
    return begin + total


def _with_all(each: Any, takes: int, zero: Any) -> Callable[..., Any]:
    """A user's message as one of three arguments; None adds nothing."""

    def of_one(state: Any, _weight: Any, _degree: Any) -> Any:
        return each(state)

    def of_two(state: Any, weight: Any, _degree: Any) -> Any:
        return each(state, weight)

    made_of = {1: of_one, 2: of_two, 3: each}[takes]
    numbers = made_of if made_of is each else compile_scalar(made_of)

    def offer(state: Any, weight: Any, degree: Any) -> Any:
        made = numbers(state, weight, degree)
        return zero if made is None else zero + made

    return offer


def _with_weight_as_bits(offer: Any, weight_dtype: Any) -> Callable[..., Any]:
    """An offer that takes its weight as a number of the type of states: kernels hand both over in one type."""
    like = weight_dtype.type(0)

    def on_bits(state: Any, bits: Any, degree: Any) -> Any:
        weight = as_bits(bits, like)  # pyright: ignore[reportCallIssue] - numba fills in the context
        return offer(state, weight, degree)

    return on_bits


def _with_both(last: Any, takes: int, zero: Any) -> Callable[..., Any]:
    """What makes a state of a sum, as a function of the initial state and the sum; None is 0."""

    def of_total(_begin: Any, total: Any) -> Any:
        return last(total)

    numbers = compile_scalar(of_total) if takes == 1 else last

    def finish(begin: Any, total: Any) -> Any:
        made = numbers(begin, total)
        return zero if made is None else zero + made

    return finish
