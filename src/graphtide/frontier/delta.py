"""Rows of edges that a batch speaks of, and what it did with them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels.adjacency import FIRST_COLUMN
from graphtide.rows.codes import Codes

__all__ = ["Delta", "Rows"]

_NO_ROWS: Final = np.empty((0, 0), np.int64)


class Rows:
    """Rows of kernels: the ends of edges and their columns, floats by their bits; a batch fills in the rest."""

    __slots__ = ("before", "count", "given", "place", "table", "word")

    def __init__(self, word: str, table: Codes, given: NDArray[np.bool_], before: Codes = _NO_ROWS) -> None:
        self.word = word  # what is to be done with them
        self.table = table
        self.given = given  # which of the columns the user gave
        self.before = before  # memory for as many rows, if they are to be renewed
        self.count = len(table)
        # What kernels find all of it by: see `kernels.change`.
        self.place = np.array([table.ctypes.data, len(table), given.ctypes.data, before.ctypes.data])


class Delta(NamedTuple):
    """What a batch did, in rows of kernels: edges lost and gained, and those that have other columns now as both.

    It holds until the next batch.
    """

    lost: Codes  # without slots
    gained: Codes
    renewed: int  # so many of either, the first ones, are edges that have other columns

    @classmethod
    def of(cls, leaving: Rows, renewed: Rows, entering: Rows) -> Delta:
        """What a batch of these rows did."""
        if renewed.count == 0:
            return cls(leaving.table, entering.table, 0)
        lost = np.concatenate([renewed.before, leaving.table])
        return cls(lost, np.concatenate([renewed.table, entering.table]), renewed.count)

    def seen_in(self, c: int) -> tuple[Codes, Codes]:
        """Edges lost and gained, for those who look at one column, or at none if it is -1."""
        lost, gained, renewed = self
        if renewed == 0:
            return lost, gained
        if c < 0:
            return lost[renewed:], gained[renewed:]
        gone, come = np.ones(len(lost), np.bool_), np.ones(len(gained), np.bool_)
        at = FIRST_COLUMN + c
        gone[:renewed] = come[:renewed] = lost[:renewed, at] != gained[:renewed, at]
        return lost[gone], gained[come]

    def in_column(self, c: int) -> tuple[Codes, Codes, Codes, Codes]:
        """Edges lost, their values in a column, edges gained and theirs."""
        lost, gained = self.seen_in(c)
        at = FIRST_COLUMN + c
        return lost, np.ascontiguousarray(lost[:, at]), gained, np.ascontiguousarray(gained[:, at])
