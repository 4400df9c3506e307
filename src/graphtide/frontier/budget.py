"""Bytes that queries share: what each drops is chosen, and chosen again, so that all stay within (docs/design/06).

Invariant: what the holders of a budget keep is never more than its bytes. Whatever makes one of them longer asks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import UsageError

__all__ = ["Budget", "Holder", "Stock"]

_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS: Final = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?|)b?\s*", re.IGNORECASE)
# Of the bytes: what is freed beyond what is asked for, so that not every step that comes is asked for.
_BEYOND: Final = 64
# Shares of the steps of one degree: dropping them one by one would be as many passes.
_SHARES: Final = 64


class Stock(NamedTuple):
    """What a holder could do without, cheapest first."""

    waste: float  # bytes that cost nothing
    gains: NDArray[np.float64]  # by length of degree: bytes that dropping all of its steps frees
    prices: NDArray[np.float64]  # by length of degree: what a dropped step costs in a batch; never falling
    least: int  # bytes when everything that may go has gone


class Holder(Protocol):
    """One that keeps bytes of a budget, and can drop some."""

    level: float  # what it drops: all steps of degrees of fewer bits, and a share of those with as many

    @property
    def nbytes(self) -> int:
        """Bytes that it keeps."""
        ...

    def stock(self) -> Stock:
        """What it could do without."""
        ...

    def thin(self, level: float, *, is_frugal: bool = False) -> None:
        """Drop up to a level; at all costs if it is to be frugal."""
        ...


class Budget:
    """Drop differences, the cheapest ones of all queries that share the budget, so as to keep at most so many bytes.

    A size is a number of bytes, or one with a unit: KB, MB, GB, TB are powers of 1000, KiB to TiB of 1024.

    >>> Budget("1.5 KiB").bytes, Budget(2_000), Budget("2GB")
    (1536, <Budget of 2,000 bytes: 0 queries keep 0>, <Budget of 2,000,000,000 bytes: 0 queries keep 0>)
    """

    def __init__(self, size: int | str) -> None:
        self.bytes = _bytes(size)
        # Weak, so that a live graph that nobody has any more gives its bytes back.
        self._holders: WeakValueDictionary[int, Holder] = WeakValueDictionary()
        self._entered = 0

    def __repr__(self) -> str:
        return f"<Budget of {self.bytes:,} bytes: {self.queries:,} queries keep {self.used:,}>"

    @property
    def queries(self) -> int:
        """How many share it."""
        return len(self._holders)

    @property
    def used(self) -> int:
        """Bytes that they keep: their steps with the room these have, where each vertex has its own, and filters."""
        return sum(holder.nbytes for holder in self._holders.values())

    @property
    def room(self) -> int:
        """Bytes that are left."""
        return self.bytes - self.used

    def enter(self, holder: Holder) -> None:
        """Let one more share it, which must fit."""
        self._holders[self._entered] = holder
        self._entered += 1

    def leave(self, holder: Holder) -> None:
        """Let one go; its bytes are free."""
        for key, each in list(self._holders.items()):
            if each is holder:
                del self._holders[key]

    def least_beside(self, asker: Holder) -> int:
        """Bytes that the others cannot do without."""
        return sum(holder.stock().least for holder in self._holders.values() if holder is not asker)

    def could_fit(self, asker: Holder, more: int = 0) -> bool:
        """Whether so many bytes are free when all have dropped what they can."""
        return self.least_beside(asker) + asker.stock().least + more <= self.bytes

    def fit(self, asker: Holder, more: int = 0) -> bool:
        """Have `more` bytes free beside what all keep, the asker included, who may be new.

        False, and nothing is done, if that cannot be.
        """
        short = self._used_with(asker) + more - self.bytes
        if short <= 0:
            return True
        if not self.could_fit(asker, more):
            return False
        # Filters become longer as they are told of more, so less may be freed than was meant to be.
        more_of_it = 1
        while short > 0 and more_of_it * short < 4 * self.bytes:
            for holder, level in _cheapest(list(self._with(asker)), more_of_it * short + self.bytes // _BEYOND):
                holder.thin(level)
            short = self._used_with(asker) + more - self.bytes
            more_of_it *= 4
        if short > 0:
            for holder in self._with(asker):
                holder.thin(np.inf, is_frugal=True)
        return self._used_with(asker) + more <= self.bytes

    def _with(self, asker: Holder) -> Iterable[Holder]:
        others = [holder for holder in self._holders.values() if holder is not asker]
        return [*others, asker]

    def _used_with(self, asker: Holder) -> int:
        return sum(holder.nbytes for holder in self._with(asker))


def _cheapest(holders: list[Holder], need: float) -> list[tuple[Holder, float]]:
    """Levels by which holders free so many bytes, at the lowest price; those that need not change are left out."""
    stocks = [holder.stock() for holder in holders]
    gains = np.array([[stock.waste, *stock.gains] for stock in stocks])
    prices = np.array([[0.0, *stock.prices] for stock in stocks])
    # Within a holder prices do not fall and the order is stable: lower degrees come first.
    order = np.argsort(prices, axis=None, kind="stable")
    freed = np.cumsum(gains.ravel()[order])
    end = int(np.searchsorted(freed, need))
    levels: dict[int, float] = {}
    for place in order[: end + 1].tolist():
        at, column = divmod(place, gains.shape[1])
        if gains[at, column] > 0:
            levels[at] = max(levels.get(at, holders[at].level), column)
    if end < len(order):
        # Of the last one a share is enough.
        at, column = divmod(int(order[end]), gains.shape[1])
        share = 1 - (freed[end] - need) / gains[at, column]
        if column > 0:
            begun = max(holders[at].level, column - 1.0)
            wanted = begun + (column - begun) * np.ceil(share * _SHARES) / _SHARES
            levels[at] = max(wanted, holders[at].level)
    return [(holders[at], level) for at, level in levels.items()]


def _bytes(size: Any) -> int:
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        if match is None:
            raise UsageError(f'"{size}" is no size', hint='write for example "512KB", "2GB" or "1.5 GiB"')
        number, unit = float(match[1]), match[2].lower()
        size = int(number * (_BINARY_UNITS[unit] if unit in _BINARY_UNITS else _UNITS[unit]))
    if not isinstance(size, int) or isinstance(size, bool):
        raise UsageError(f"{size!r} is no size", hint='give a number of bytes, or for example "2GB"')
    if size < 1:
        raise UsageError(f"a budget has no {size} bytes", hint="give 1 or more")
    return size
