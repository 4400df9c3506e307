"""Messages as kernels and dataflows take them: ours by a number, users' functions compiled.

A user's function sees states as the user knows them, and says None where nothing goes along an edge. Inside, less
is better, so for a program that takes the greatest state they are negated on their way in and out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.frontier.kernels.messages import first_offence, states_in_reach
from graphtide.frontier.program import Program
from graphtide.frontier.steps import no_state
from graphtide.functions import (
    Pointer,
    as_bits,
    compile_checked,
    compile_scalar,
    doubt_flag,
    made_by,
    name_of,
    point_to,
    takes_up_to,
)

__all__ = ["CompiledMessage", "check_monotone", "compile_message"]

_INT = np.dtype(np.int64)
_FLOAT = np.dtype(np.float64)
_MOST_STATES = 64


@dataclass(frozen=True, slots=True)
class CompiledMessage:
    """A message, and the type of the states that it makes."""

    kind: int  # what kernels know it by
    dtype: np.dtype[Any]
    weight_dtype: np.dtype[Any]
    offer: Callable[..., Any] | None = None  # a user's function on the inside, for dataflows
    pointer: Pointer | None = None  # kept, because kernels know only its address

    @property
    def may_fail(self) -> bool:
        """Whether it is a user's function, which may divide by 0 or make an int that is too long for a state."""
        return self.pointer is not None


def compile_message(program: Program, weight_dtype: np.dtype[Any] | None = None) -> CompiledMessage:
    """The message of a program on weights of a type; without weights, edges count 1."""
    if isinstance(program.message, str):
        dtype = _INT if weight_dtype is None else weight_dtype
        return CompiledMessage(program.kind, dtype, dtype)
    begins_with_floats = any(isinstance(state, float | np.floating) for state in (program.initial or {}).values())
    least = _FLOAT if begins_with_floats else _INT
    return _compile_function(program.message, least, weight_dtype, program.sign)


# A function that many queries share is compiled once.
@lru_cache(maxsize=256)
def _compile_function(
    function: Callable[..., Any], dtype: np.dtype[Any], weight_dtype: np.dtype[Any] | None, sign: int
) -> CompiledMessage:
    takes = takes_up_to(function, 2)
    each = compile_checked(function)
    if made_by(each, (dtype, weight_dtype or dtype)[:takes]) == _FLOAT and dtype == _INT:
        dtype = _FLOAT
        made_by(each, (dtype, weight_dtype or dtype)[:takes])
    weight_dtype = weight_dtype or dtype
    offer = compile_scalar(_inside(each, takes, sign, no_state(dtype)))
    made_by(offer, (dtype, weight_dtype))
    whole = offer if dtype == weight_dtype else compile_scalar(_with_weight_as_bits(offer, weight_dtype.type(0)))
    pointer = point_to(whole.py_func, (dtype, dtype), dtype)
    return CompiledMessage(pointer.address, dtype, weight_dtype, offer, pointer)


def _inside(each: Any, takes: int, sign: int, nothing: Any) -> Callable[..., Any]:
    """A user's function on states that are better the less they are; nothing comes of no state."""

    def of_state(state: Any, _weight: Any) -> Any:
        return each(state)

    numbers = compile_scalar(of_state) if takes == 1 else each

    def offer(state: Any, weight: Any) -> Any:
        if state == nothing:
            return nothing
        made = numbers(sign * state, weight)
        if made is None:
            return nothing
        found = sign * made
        return min(nothing, found)  # NaN is nothing, too

    return offer


def _with_weight_as_bits(offer: Any, like: Any) -> Callable[..., Any]:
    """An offer that takes its weight as a number of the type of states: kernels hand both over in one type."""

    def on_bits(state: Any, bits: Any) -> Any:
        return offer(state, as_bits(bits, like))  # pyright: ignore[reportCallIssue] - numba fills in the context

    return on_bits


def check_monotone(program: Program, message: CompiledMessage, states: NDArray[Any], weights: NDArray[Any]) -> None:
    """Refuse a user's function that makes a worse state of a better one, on states that walks may have.

    `states` are some to begin with, on the inside. A sample proves nothing, but shows what most mistakes do.
    """
    nothing = no_state(message.dtype)
    known = weights.view(message.dtype)
    reached = states_in_reach(message.kind, states, known, _MOST_STATES, nothing, doubt_flag())
    at, w = first_offence(message.kind, reached, known, doubt_flag())
    if at < 0:
        return
    assert not isinstance(program.message, str)
    each, takes = compile_scalar(program.message), takes_up_to(program.message, 2)

    def shown(state: Any) -> str:
        known_as = (program.sign * state).item()
        return f"{each(*(known_as, weights[w].item())[:takes])} of {known_as}"

    order = "less" if program.aggregate == "min" else "greater"
    along = f" along an edge of weight {weights[w].item()}" if program.weight is not None else ""
    raise UsageError(
        f"{name_of(program.message)} is not monotone: it makes {shown(reached[at])}, but {shown(reached[at - 1])}, "
        f"which is {order} and so better{along}",
        hint="a better state must never make a worse message; another aggregate, or another state, may do",
    )
