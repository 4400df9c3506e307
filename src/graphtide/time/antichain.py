"""Frontiers: sets of times of which none comes before another.

A frontier stands for every time at or after one of its elements. The earlier frontier is the one
that stands for more; the empty one stands for nothing and is the last of all: it says that no
time is left, as a closed input or a trace without readers does.

Invariant: `elements` holds minimal times only, sorted, so that equal frontiers are equal objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from graphtide.time.order import Time, join, leq

__all__ = ["Antichain"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Antichain:
    """The minimal ones among the given times.

    >>> Antichain([(3, 2), (1, 5), (4, 4)])
    Antichain([(1, 5), (3, 2)])
    """

    elements: tuple[Time, ...]

    def __init__(self, times: Iterable[Time] = ()) -> None:
        object.__setattr__(self, "elements", _minimal(times))

    def insert(self, time: Time) -> Self:
        """The frontier that stands for `time` too.

        >>> Antichain([(3, 2)]).insert((1, 5)).insert((9, 9))
        Antichain([(1, 5), (3, 2)])
        """
        return self if self.covers(time) else type(self)((*self.elements, time))

    def covers(self, time: Time) -> bool:
        """Whether `time` is in advance of the frontier: at or after some element.

        >>> frontier = Antichain([(1, 5), (3, 2)])
        >>> frontier.covers((3, 4)), frontier.covers((2, 4))
        (True, False)
        """
        return any(leq(element, time) for element in self.elements)

    def meet(self, other: Self) -> Self:
        """The latest frontier at or before both: it covers what either of them covers.

        This is what a trace must keep for two readers.

        >>> Antichain([(1, 5)]).meet(Antichain([(3, 2)]))
        Antichain([(1, 5), (3, 2)])
        """
        return type(self)((*self.elements, *other.elements))

    def join(self, other: Self) -> Self:
        """The earliest frontier at or after both: it covers what both of them cover.

        >>> Antichain([(1, 5)]).join(Antichain([(3, 2)]))
        Antichain([(3, 5)])
        """
        return type(self)(join(a, b) for a in self.elements for b in other.elements)

    def __le__(self, other: Self) -> bool:
        """Whether this frontier covers every time that the other covers.

        >>> Antichain([(1, 0)]) <= Antichain([(1, 5), (3, 2)]) <= Antichain()
        True
        """
        return all(map(self.covers, other.elements))

    def __lt__(self, other: Self) -> bool:
        """Whether this frontier covers all that the other covers, and more."""
        return self != other and self <= other

    def __contains__(self, time: object) -> bool:
        """Whether `time` is an element; being in advance of one is `covers`."""
        return time in self.elements

    def __iter__(self) -> Iterator[Time]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __repr__(self) -> str:
        return f"Antichain({list(self.elements) if self.elements else ''})"

    def check_invariants(self) -> None:
        """Fail if an element comes before another, or if they are out of order."""
        assert list(self.elements) == sorted(set(self.elements)), self.elements
        pairs = ((a, b) for a in self.elements for b in self.elements if a != b)
        assert not any(leq(a, b) for a, b in pairs), self.elements


def _minimal(times: Iterable[Time]) -> tuple[Time, ...]:
    kept: list[Time] = []
    # Sorting extends the partial order: a time can only be covered by one that was seen before it.
    for time in sorted(times):
        if not any(leq(element, time) for element in kept):
            kept.append(time)
    return tuple(kept)
