"""Writing a program of iterative frontier expansion in a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from graphtide.errors import UsageError
from graphtide.frontier.program import Aggregate, Along, Message, Program
from graphtide.frontier.sum_program import SumProgram

__all__ = ["ife"]


@overload
def ife(
    message: Message,
    *,
    aggregate: Aggregate = ...,
    initial: Mapping[Any, Any] | None = ...,
    weight: str | None = ...,
    along: Along = ...,
    rounds: int | None = ...,
    state: str = ...,
) -> Program: ...


@overload
def ife(
    message: Callable[..., Any],
    *,
    aggregate: Literal["sum"],
    initial: float | Mapping[Any, Any],
    rounds: int,
    finish: Callable[..., Any] | None = ...,
    weight: str | None = ...,
    along: Along = ...,
    state: str = ...,
) -> SumProgram: ...


def ife(
    message: Any,
    *,
    aggregate: Aggregate | Literal["sum"] = "min",
    initial: Any = None,
    weight: str | None = None,
    along: Along = "out",
    rounds: int | None = None,
    finish: Callable[..., Any] | None = None,
    state: str = "state",
) -> Program | SumProgram:
    """A program of iterative frontier expansion.

    The message is a name or a function of a state and the weight of an edge, which numba compiles; it gives the state
    that the edge offers to its other end, or None if it offers none. States are ints or floats, as the function and
    the initial states make them.

    With `min` and `max` it must be *monotone*: of a better state (less, or greater if the aggregate is `max`) it never
    makes a worse one.

    >>> ife(lambda state, weight: min(state, weight), aggregate="max", initial={"a": 100}, weight="capacity").sign
    -1

    With `sum`, what a vertex gets is added up anew in each round, and `finish` makes its next state of its initial
    one and that sum; without it, their sum. `rounds` says how many, `initial` may be a number for every vertex, and the
    message may ask for the number of edges that the state is sent along. This is PageRank:

    >>> ranks = ife(
    ...     lambda rank, _, degree: rank / degree,
    ...     aggregate="sum",
    ...     initial=1.0,
    ...     rounds=10,
    ...     finish=lambda _, total: 0.15 + 0.85 * total,
    ... )
    """
    if aggregate == "sum":
        if rounds is None or initial is None:
            missing = "rounds" if rounds is None else "initial states"
            raise UsageError(f"a program that sums needs {missing}", hint="for example rounds=10, initial=1.0")
        return SumProgram(message, initial, rounds, finish, weight, along, state)
    if finish is not None:
        raise UsageError(f'a program with the aggregate "{aggregate}" has nothing to finish', hint="leave out finish")
    if initial is not None and not isinstance(initial, Mapping):
        hint = "for example initial={17: 0}"
        raise UsageError(f'a program with the aggregate "{aggregate}" begins at vertices, not with {initial!r}', hint)
    if initial is None and isinstance(message, str) and message != "copy":
        hint = "for example initial={17: 0}"
        raise UsageError(f'a program with the message "{message}" needs initial states', hint=hint)
    return Program(message, aggregate, initial, weight, along, rounds, state)
