"""The vertices of a live graph, numbered in the order in which they came; numbers of those that are gone come first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels.numbers import EMPTY, enter, enter_again, look_up, put, take_out
from graphtide.rows.codes import Codes

__all__ = ["Numbers"]

_FEWEST = 1024


class Numbers:
    """Dense numbers for codes, each kept until its code is taken out.

    >>> numbers = Numbers()
    >>> numbers.of_new(np.array([70, 30, 70])).tolist(), len(numbers)
    ([0, 1, 0], 2)
    """

    def __init__(self) -> None:
        self.entries: Codes = np.full((2 * _FEWEST, 2), EMPTY)  # a hash table: see `kernels.numbers`
        self.names: Codes = np.zeros(_FEWEST, np.int64)  # by number: the code
        self.count = 0
        self.free: list[int] = []  # numbers whose codes were taken out
        self.reused: list[int] = []  # of these, those that stand for other codes since it was last emptied
        self.room = _FEWEST  # there are places for so many codes

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        """Bytes of the table and of the codes."""
        return self.entries.nbytes + self.names.nbytes

    def of_new(self, codes: Codes) -> Codes:
        """The number of each code; those not seen before get free ones, and then the next ones."""
        self.reuse(codes)
        out = np.empty(len(codes), np.int64)
        at = 0
        # Room for those that are new, not for as many as there are codes: most name vertices that are known.
        while at < len(codes):
            self.make_room(self.count + 1)
            self.count, at = (int(each) for each in enter(self.entries, self.names, self.count, codes, at, out))
        return out

    def reuse(self, codes: Codes) -> list[int]:
        """Give free numbers, as far as there are any, to codes that have none; these numbers."""
        if not self.free:
            return []
        numbers, _ = self.of(codes)
        unknown = dict.fromkeys(codes[numbers == EMPTY].tolist())
        given = [self.free.pop() for _ in range(min(len(unknown), len(self.free)))]
        for code, number in zip(unknown, given, strict=False):
            put(self.entries, self.names, code, number)
        self.reused += given
        return given

    def take_back(self, numbers: list[int]) -> None:
        """Let numbers that were just given be free again."""
        self.remove(np.array(numbers, np.int64))
        del self.reused[len(self.reused) - len(numbers) :]

    def remove(self, numbers: Codes) -> None:
        """Take out the codes of numbers, which keep their names until others have them."""
        take_out(self.entries, self.names[numbers])
        self.free += numbers.tolist()

    def are_there(self) -> NDArray[np.bool_]:
        """By number: whether it stands for a code."""
        there = np.ones(self.count, np.bool_)
        there[self.free] = False
        return there

    def of(self, codes: Codes) -> tuple[Codes, int]:
        """The number of each code, and the place of the first that has none (or how many codes there are)."""
        out = np.empty(len(codes), np.int64)
        return out, int(look_up(self.entries, codes, out))

    def make_room(self, most: int) -> None:
        """Have places for `most` codes, which some of them may not need."""
        if most > len(self.names):
            grown = np.zeros(max(most, 2 * len(self.names)), np.int64)
            grown[: self.count] = self.names[: self.count]
            self.names = grown
        if 2 * most > len(self.entries):
            self._rebuild(1 << (2 * most - 1).bit_length())
        self.room = min(len(self.names), len(self.entries) // 2)

    def _rebuild(self, size: int) -> None:
        self.entries = np.full((size, 2), EMPTY)
        enter_again(self.entries, self.names, self.are_there())
