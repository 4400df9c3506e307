"""The places of interned values in their order, kept up while more values arrive.

Codes number values by first appearance, so `min`, `top_k` and `<` on strings need a second
number. A new value never changes how two old ones compare, so an old ranking stays right for the
codes it knows, and a few newcomers are merged into the old order instead of sorting everything.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphtide.rows.codes import Codes

__all__ = ["Ranking"]

# Merging costs some 3 us per newcomer (a binary search in Python), sorting 1 us per value.
_FEW: Final = 4


class Ranking:
    """For each code, the rank of its value among all values so far."""

    __slots__ = ("_order", "_ranks")

    def __init__(self) -> None:
        self._order: Codes = np.empty(0, np.int64)
        self._ranks: Codes = np.empty(0, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._order.nbytes + self._ranks.nbytes

    def extend(self, size: int, key: Callable[[int], Any]) -> Codes:
        """The ranks of codes 0 to `size` (exclusive), whose values compare as their keys do.

        Keys may change between calls, but never how two codes compare.

        >>> words = ["pear", "apple", "fig"]
        >>> Ranking().extend(3, words.__getitem__).tolist()
        [2, 0, 1]
        """
        known = len(self._order)
        if size > known:
            newcomers = sorted(range(known, size), key=key)
            if len(newcomers) * _FEW < size:
                places = [bisect_left(self._order, key(code), key=key) for code in newcomers]
                self._order = np.insert(self._order, places, newcomers)
            else:
                everyone = self._order.tolist() + newcomers
                # Both halves are sorted already, and the sort finds and merges such runs.
                self._order = np.array(sorted(everyone, key=key), np.int64)
            self._ranks = np.empty(size, np.int64)
            self._ranks[self._order] = np.arange(size)
            self._ranks.setflags(write=False)
        return self._ranks
