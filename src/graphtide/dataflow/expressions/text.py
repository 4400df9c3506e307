"""What can be asked of strings.

Positions count code points from 0, and from the end if they are negative, as Python's do. Strings
order by code points. Each method is an operation of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtide.dataflow.expressions.expression import Expression, Operand

__all__ = ["TextMethods"]


class TextMethods:
    """Functions of strings. Each distinct string is computed once, however many rows hold it."""

    __slots__ = ()

    def upper(self) -> Expression:
        """In capitals."""
        return self._apply("upper")

    def lower(self) -> Expression:
        """In small letters."""
        return self._apply("lower")

    def length(self) -> Expression:
        """Characters of a string, bytes of bytes, or elements of a tuple."""
        return self._apply("length")

    def strip(self, characters: Operand = None) -> Expression:
        """Without white space, or without the given characters, at both ends."""
        return self._trim("strip", characters)

    def lstrip(self, characters: Operand = None) -> Expression:
        """Without white space, or without the given characters, at the start."""
        return self._trim("lstrip", characters)

    def rstrip(self, characters: Operand = None) -> Expression:
        """Without white space, or without the given characters, at the end."""
        return self._trim("rstrip", characters)

    def substr(self, start: Operand, length: Operand = None) -> Expression:
        """`length` characters from position `start` on, all of them without a length."""
        return self._apply("substr", start) if length is None else self._apply("substr", start, length)

    def contains(self, part: Operand) -> Expression:
        """Whether the string holds `part`."""
        return self._apply("contains", part)

    def startswith(self, prefix: Operand) -> Expression:
        """Whether the string begins with `prefix`."""
        return self._apply("startswith", prefix)

    def endswith(self, suffix: Operand) -> Expression:
        """Whether the string ends with `suffix`."""
        return self._apply("endswith", suffix)

    def replace(self, old: Operand, new: Operand) -> Expression:
        """Every `old` replaced by `new`."""
        return self._apply("replace", old, new)

    def split_part(self, separator: Operand, index: Operand) -> Expression:
        """The part at `index` between separators; None if there are fewer."""
        return self._apply("split_part", separator, index)

    def like(self, pattern: Operand) -> Expression:
        r"""Whether the whole string fits SQL's pattern.

        `%` stands for any text, `_` for any character, and `\` takes the next character as it is.
        """
        return self._apply("like", pattern)

    def matches(self, pattern: Operand) -> Expression:
        """Whether the regular expression is found anywhere; anchor it with ^ and $ for the whole."""
        return self._apply("matches", pattern)

    def extract(self, pattern: Operand, group: int = 0) -> Expression:
        """The first text that the regular expression, or a group in it, fits; None if there is none."""
        return self._apply("extract", pattern, group)

    def order_word(self, index: int) -> Expression:
        """Seven bytes of the string from 7 * `index` on, as an int; words one after the other order as strings do."""
        return self._apply("order_word", index)

    def _trim(self, operation: str, characters: Operand) -> Expression:
        return self._apply(operation) if characters is None else self._apply(operation, characters)

    def _apply(self, operation: str, *others: Any) -> Expression:
        raise NotImplementedError
