"""The product order on times, and its least upper and greatest lower bounds.

Invariant: two times meet in an operation only if they have the same number of coordinates, that
is, if they belong to the same scope. Entering or leaving a loop is what changes the number.
"""

from __future__ import annotations

from operator import le
from typing import TypeAlias

__all__ = ["Time", "join", "leq", "less", "meet"]

Time: TypeAlias = tuple[int, ...]


def leq(a: Time, b: Time) -> bool:
    """Whether `a` comes before `b` or is `b`: no coordinate of `a` is the larger one.

    >>> leq((1, 5), (2, 5)), leq((1, 5), (2, 4)), leq((2, 4), (1, 5))
    (True, False, False)
    """
    assert len(a) == len(b), f"{a} and {b} are times of different scopes"
    return all(map(le, a, b))


def less(a: Time, b: Time) -> bool:
    """Whether `a` comes strictly before `b`.

    >>> less((1, 5), (2, 5)), less((1, 5), (1, 5))
    (True, False)
    """
    return a != b and leq(a, b)


def join(a: Time, b: Time) -> Time:
    """The earliest time that both `a` and `b` come before: where a joined pair appears.

    >>> join((1, 5), (3, 2))
    (3, 5)
    """
    assert len(a) == len(b), f"{a} and {b} are times of different scopes"
    return tuple(map(max, a, b))


def meet(a: Time, b: Time) -> Time:
    """The latest time that comes before both `a` and `b`.

    >>> meet((1, 5), (3, 2))
    (1, 2)
    """
    assert len(a) == len(b), f"{a} and {b} are times of different scopes"
    return tuple(map(min, a, b))
