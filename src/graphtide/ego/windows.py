"""Which of a writer's values count: the last few, or those of the last while (EAGr, section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["Last", "Window", "Within", "window_of"]


@dataclass(frozen=True, slots=True)
class Last:
    """The last `count` values that each vertex wrote.

    >>> Last(10)
    Last(10)
    """

    count: int = 1

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 1:
            raise UsageError(f"a window cannot hold the last {self.count!r} values", hint="it holds at least 1")

    def __repr__(self) -> str:
        return f"Last({self.count})"


@dataclass(frozen=True, slots=True)
class Within:
    """What each vertex wrote in the last `span` units of time: a number, or a timedelta for dates and timestamps.

    A value written at t is there until the clock, which is the latest time that was seen, reaches t + span.
    """

    span: float | timedelta

    def __post_init__(self) -> None:
        if isinstance(self.span, timedelta):
            is_span = self.span > timedelta(0)
        else:
            is_span = isinstance(self.span, int | float) and 0 < self.span < float("inf")  # pyright: ignore[reportUnnecessaryIsInstance]
        if not is_span:
            raise UsageError(f"a window cannot be {self.span!r} long", hint="give a number above 0, or a timedelta")

    def __repr__(self) -> str:
        return f"Within({self.span!r})"


Window: TypeAlias = Last | Within


def window_of(window: object) -> Window:
    """The window that is meant: the last value if none is given.

    >>> window_of(None), window_of(Within(5))
    (Last(1), Within(5))
    """
    if window is None:
        return Last()
    if not isinstance(window, Last | Within):
        hint = "give Last(...) for so many values of each vertex, or Within(...) for a while"
        raise UsageError(f"window={shown(window)} is not a window", hint=hint)
    return window
