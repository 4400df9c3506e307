"""The one time that stands for all times a reader can no longer tell apart.

Two times are indistinguishable as of a frontier when every time in advance of it compares with
them in the same way. A trace whose readers have all moved on to the frontier may rewrite its
times to representatives and add up the differences that then coincide. Source: K-Pg, appendix A,
whose two theorems are laws in `tests/laws/test_time.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from graphtide.time.order import Time, join, meet

__all__ = ["representative"]


def representative(time: Time, since: Iterable[Time]) -> Time:
    """The latest time that no reader in advance of `since` can tell from `time`.

    It is the greatest lower bound of the least upper bounds of `time` and each element. The
    frontier must not be empty: without readers there is nothing to represent, only to drop.

    >>> representative((1, 5), since=[(3, 2)])
    (3, 5)
    >>> representative((0, 0), since=[(1, 5), (3, 2)])
    (1, 2)
    """
    frontier = tuple(since)
    assert frontier, "an empty frontier has no readers: drop the differences instead"
    return reduce(meet, (join(time, element) for element in frontier))
