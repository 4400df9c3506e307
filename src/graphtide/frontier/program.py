"""Programs of iterative frontier expansion: what a vertex makes of its neighbours' states, round after round.

    D(r + 1, v) = aggregate of D(0, v) and of message(D(r, u), w) over the edges u -> v

A message is one of ours by its name, or a function of the user's.

Invariant: inside, less is better; a program that takes the greatest state has its states negated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from graphtide.errors import UsageError
from graphtide.frontier.arguments import check_along, check_count, check_number
from graphtide.frontier.kernels import messages
from graphtide.functions import name_of, takes_up_to
from graphtide.rows.misfit import shown

__all__ = ["SIDES", "Aggregate", "Along", "Message", "Program", "distances"]

Message = Literal["add", "hop", "copy", "narrowest", "multiply"] | Callable[..., Any]
Aggregate = Literal["min", "max"]
Along = Literal["out", "in", "both"]

# The kernel of each message, by the aggregate it goes with.
_KINDS: Final[dict[tuple[str, str], int]] = {
    ("add", "min"): messages.ADD,
    ("hop", "min"): messages.HOP,
    ("copy", "min"): messages.COPY,
    ("narrowest", "max"): messages.WIDE,
    ("multiply", "max"): messages.TIMES,
}
_WEIGHTED: Final = {"add", "narrowest", "multiply"}
SIDES: Final[dict[str, int]] = {"out": 1, "in": 2, "both": 3}


@dataclass(frozen=True, slots=True)
class Program:
    """What to compute; `live.ife(program)` keeps it computed.

    `initial` gives vertices their states of round 0; without it every vertex begins with its own id.
    """

    message: Message
    aggregate: Aggregate = "min"
    initial: Mapping[Any, Any] | None = None
    weight: str | None = None
    along: Along = "out"
    rounds: int | None = None
    state: str = "state"  # the name of the answer's column

    def __post_init__(self) -> None:
        if isinstance(self.message, str):
            self._check_named(self.message)
        else:
            self._check_function(self.message)
        check_along(self.along)
        for vertex, state in (self.initial or {}).items():
            check_number(state, f"a program cannot begin at {vertex!r} with")
            if state != state or (self.message == "multiply" and state < 0):  # noqa: PLR0124 - NaN
                raise UsageError(
                    f"a program with the message {self.message_name} cannot begin with {state} at {vertex!r}",
                    hint="begin with a number, and to multiply, with none below 0",
                )
        if not isinstance(self.state, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users say it
            raise UsageError(f"a column cannot be called {shown(self.state)}", hint="state= is a string")
        if self.rounds is not None:
            check_count(self.rounds, "rounds")
        if self.rounds is not None and self.rounds < 0:
            raise UsageError(f"a program cannot run for {self.rounds} rounds", hint="rounds is 0 or more, or None")

    def _check_named(self, message: str) -> None:
        if (message, self.aggregate) not in _KINDS:
            fitting = ", ".join(f'"{message}" with "{aggregate}"' for message, aggregate in _KINDS)
            raise UsageError(
                f'no program has the message "{message}" with the aggregate "{self.aggregate}"',
                hint=f"there are {fitting}, and any function with either",
            )
        if (message in _WEIGHTED) != (self.weight is not None):
            needs = "needs" if message in _WEIGHTED else "takes no"
            hint = 'for example weight="length"'
            raise UsageError(f'the message "{message}" {needs} weight of an edge', hint=hint)

    def _check_function(self, function: Callable[..., Any]) -> None:
        if self.aggregate not in {"min", "max"}:
            raise UsageError(f'there is no aggregate "{self.aggregate}"', hint='there are "min" and "max"')
        if not callable(function):
            raise UsageError(f"{function!r} is no message", hint="take a name or a function of a state and a weight")
        if takes_up_to(function, 2) < (1 if self.weight is None else 2):
            raise UsageError(
                f"{name_of(function)} cannot be called with a state and the weight of an edge",
                hint="for example: lambda state, weight: min(state, weight)",
            )
        if self.initial is None and self.aggregate == "max":
            raise UsageError("a program that takes the greatest state needs initial states", hint="for example {17: 0}")

    @property
    def message_name(self) -> str:
        """The message as errors quote it."""
        return f'"{self.message}"' if isinstance(self.message, str) else name_of(self.message)

    @property
    def kind(self) -> int:
        """The kernels' number of a message of ours."""
        assert isinstance(self.message, str)
        return _KINDS[self.message, self.aggregate]

    @property
    def beginnings(self) -> Mapping[Any, Any]:
        """The vertices that are given initial states."""
        return {} if self.initial is None else self.initial

    @property
    def begins_with_ids(self) -> bool:
        """Whether every vertex begins with its own id."""
        return self.initial is None

    @property
    def sides(self) -> int:
        """The lists of a vertex that messages go out along: 1 the edges out of it, 2 those into it, 3 both."""
        return SIDES[self.along]

    @property
    def sign(self) -> int:
        """What a state is multiplied by inside."""
        return 1 if self.aggregate == "min" else -1

    @property
    def least_weight(self) -> float:
        """A smaller weight would make a walk better the longer it is."""
        return 0.0 if self.message in {"add", "multiply"} else float("-inf")

    @property
    def greatest_weight(self) -> float:
        """A greater weight would make a walk better the longer it is."""
        return 1.0 if self.message == "multiply" else float("inf")


def distances(source: Any, weight: str | None, along: Along = "out") -> Program:
    """The program of distances from a vertex: sums of weights, or numbers of edges."""
    message = "hop" if weight is None else "add"
    return Program(message, initial={source: 0}, weight=weight, along=along, state="distance")
