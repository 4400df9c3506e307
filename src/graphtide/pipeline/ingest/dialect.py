"""How the lines of a text file are cut into fields."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Dialect"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing a table as lines; empty lines are no rows in any of them."""

    separator: str | None  # None: any number of blanks and tabs
    quote: str | None  # None: quotes are characters like any other
    comment: str | None  # lines that start so are no rows
    has_header: bool  # the first row of a file names its columns
    null: str = ""  # what stands for a missing value, beside nothing at all
