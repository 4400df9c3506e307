"""Functions of the user in random programs: values, so that programs compare and print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests import naive

__all__ = ["CountUp", "Ends", "Sizes", "Turn"]


@dataclass(frozen=True)
class CountUp:
    """From none to two rows for a row: a number below that of a column, and a column that is kept."""

    number: int
    kept: int

    def __call__(self, *row: Any) -> list[naive.Row]:
        return [(i, row[self.kept]) for i in range((row[self.number] or 0) % 3)]


@dataclass(frozen=True)
class Turn:
    """A number turned into another, and a column that is kept."""

    number: int
    kept: int

    def __call__(self, *row: Any) -> naive.Row:
        return row[self.kept], (2 - (row[self.number] or 0)) % 4


@dataclass(frozen=True)
class Ends:
    """The first and the last row of a key: two rows, equal if there is one."""

    def __call__(self, key: naive.Row, rows: list[tuple[naive.Row, int]]) -> list[naive.Row]:
        del key
        return [rows[0][0], rows[-1][0]]


@dataclass(frozen=True)
class Sizes:
    """How many rows a key has, distinct and in all; no row for an odd number."""

    def __call__(self, key: naive.Row, rows: list[tuple[naive.Row, int]]) -> list[naive.Row]:
        del key
        total = sum(times for _, times in rows)
        return [] if total % 2 else [(len(rows), total)]
