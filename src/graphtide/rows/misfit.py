"""A value that its column's type refuses, on its way to an error with a row and a column.

The encoders know the value and its position, the caller knows the column; a `Misfit` carries the
former up to the latter and never leaves this layer.
"""

from __future__ import annotations

from reprlib import Repr

from graphtide.errors import SchemaError
from graphtide.rows.types import Type

__all__ = ["DECLARE", "IF_MISSING", "Misfit", "missing", "shown"]

# How hints begin that speak of a column's type, and how they end if None is to be allowed: who knows no columns says it
# in other words.
DECLARE = "declare the column as "
IF_MISSING = " | None if values may be missing"

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


class Misfit(Exception):  # noqa: N818 - it is caught inside this layer, users see a SchemaError
    """A refused value: where it stands, what is wrong with it, and what to do."""

    def __init__(self, value: object, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.position = 0
        self.value = value
        self.problem = problem
        self.hint = hint

    def at(self, position: int) -> Misfit:
        """The same misfit, at this position of its column."""
        self.position = int(position)
        return self

    def in_column(self, name: str) -> SchemaError:
        """The error that users see."""
        place = f'row {self.position}, column "{name}"'
        return SchemaError(f"{place}: {shown(self.value)} {self.problem}", hint=self.hint)

    def alone(self) -> SchemaError:
        """The error for a value that stands in no row."""
        return SchemaError(f"{shown(self.value)} {self.problem}", hint=self.hint)


def missing(wanted: Type) -> Misfit:
    """None where the type does not allow it."""
    return Misfit(None, f"is not {wanted.described}", f"{DECLARE}{wanted}{IF_MISSING}")


def shown(value: object) -> str:
    """A value in a message, shortened if it is long.

    >>> shown("abc"), len(shown("x" * 1000))
    ("'abc'", 60)
    """
    return _SHORT.repr(value)
