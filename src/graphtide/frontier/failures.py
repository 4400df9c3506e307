"""Queries that a batch leaves without an answer: they are dropped, and the error says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphtide.errors import CapacityError, GraphtideError, NotConvergedError

if TYPE_CHECKING:
    from graphtide.frontier.query import ProgramQuery
    from graphtide.frontier.steps import Steps

__all__ = ["Failures", "first_failure", "raise_all"]

_RETURN_NONE: Final = "let the function return None for what it divides by 0 and beyond a bound, or let it make floats"


@dataclass(slots=True)
class Failures:
    """The programs that a batch left without an answer, which must be forgotten."""

    unsettled: list[Steps] = field(default_factory=list)
    failed: list[Steps] = field(default_factory=list)
    suspects: list[Steps] = field(default_factory=list)  # a function failed, but maybe on a state that is no more

    def __bool__(self) -> bool:
        return bool(self.unsettled or self.failed)

    def add(self, other: Failures) -> None:
        """Let those of another be among these."""
        self.unsettled += other.unsettled
        self.failed += other.failed
        self.suspects += other.suspects

    def has(self, steps: Steps) -> bool:
        """Whether a program is among them."""
        return any(each is steps for each in (*self.unsettled, *self.failed))

    def drop(self, queries: Sequence[ProgramQuery], batch: int) -> GraphtideError:
        """Drop those of the queries that these programs are of; what is said of it."""
        others = [query for query in queries if not any(query.steps is steps for steps in self.failed)]
        failed, unsettled = _drop_all(queries, self.failed), _drop_all(others, self.unsettled)
        applied = "The batch was applied, and other queries follow it"
        if failed:
            more = f"; {unsettled} did not settle and was dropped, too" if unsettled else ""
            return CapacityError(
                f"with batch {batch}, {failed} made an int of more than 64 bits or divided by 0, and was dropped{more}",
                hint=f"{_RETURN_NONE}. {applied}",
            )
        return NotConvergedError(
            f"with batch {batch}, {unsettled} did not settle and was dropped: "
            "a state got better at more rounds than there are vertices",
            hint=f"a cycle that betters the states along it does this; bound it with rounds=. {applied}",
        )


def _drop_all(queries: Sequence[ProgramQuery], failed: list[Steps]) -> str:
    """Drop the queries of programs; their names."""
    dropped = [query for query in queries if any(query.steps is steps for steps in failed)]
    for query in dropped:
        query.drop()
    return ", ".join(f'"{query.name}"' for query in dropped)


def first_failure(name: str) -> CapacityError:
    """That a query cannot be kept."""
    return CapacityError(
        f'the first answer of "{name}" has an int of more than 64 bits or a division by 0 on its way', hint=_RETURN_NONE
    )


def raise_all(errors: Sequence[Exception]) -> None:
    """Raise the one error that there is, or all of them in a group; none if there is none."""
    if len(errors) > 1:
        raise ExceptionGroup(f"{len(errors)} errors; what was to be changed is applied", errors)
    for error in errors:
        raise error
