"""Queries that a batch leaves without an answer: they are dropped, and the error says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphtide.errors import CapacityError, NotConvergedError
from graphtide.frontier.query import ProgramQuery

if TYPE_CHECKING:
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.steps import Steps

__all__ = ["drop_overflowed", "drop_unsettled", "first_overflow"]

_SHORTER: Final = "ints have 64 bits here: let the function return None beyond a bound, or work on floats"


def first_overflow(name: str) -> CapacityError:
    """That a query cannot be kept."""
    return CapacityError(f'the first answer of "{name}" has an int of more than 64 bits on its way', hint=_SHORTER)


def drop_unsettled(live: LiveGraph, unsettled: Sequence[Steps]) -> None:
    """Take out the queries of these steps."""
    dropped = [query for query in _programs(live) if any(query.steps is steps for steps in unsettled)]
    raise NotConvergedError(
        f"with batch {live.batches}, {_drop(dropped)} did not settle and was dropped: "
        "a state got better at more rounds than there are vertices",
        hint="a cycle that betters the states along it does this; bound it with rounds=. "
        "The batch was applied, and other queries follow it",
    )


def drop_overflowed(live: LiveGraph) -> None:
    """Take out all queries whose functions work on ints: which of them made one that is too long, nobody saw."""
    dropped = [query for query in _programs(live) if query.steps.message.may_overflow]
    one, were = ("", "was") if len(dropped) == 1 else ("one of ", "all were")
    raise CapacityError(
        f"with batch {live.batches}, {one}{_drop(dropped)} made an int of more than 64 bits and {were} dropped",
        hint=f"{_SHORTER}. The batch was applied, and other queries follow it",
    )


def _programs(live: LiveGraph) -> list[ProgramQuery]:
    return [query for query in live.queries.values() if isinstance(query, ProgramQuery)]


def _drop(queries: Sequence[ProgramQuery]) -> str:
    for query in queries:
        query.drop()
    return ", ".join(f'"{query.name}"' for query in queries)
