"""What can be asked of numbers.

Each method is an operation of its name; its types are in `infer`, its instructions in `lower`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtide.dataflow.expressions.expression import Expression, Operand

__all__ = ["NumberMethods"]


class NumberMethods:
    """Functions of ints and floats; what leaves the real numbers is a NaN, as in IEEE 754."""

    __slots__ = ()

    def abs(self) -> Expression:
        """The value without its sign; `abs(x)` is the same."""
        return self._apply("abs")

    def bit_length(self) -> Expression:
        """How many bits an int has, without its sign; a good priority for labels that should go small ones first."""
        return self._apply("bit_length")

    def floor(self) -> Expression:
        """The next whole number at or below, in the type of the value."""
        return self._apply("floor")

    def ceil(self) -> Expression:
        """The next whole number at or above, in the type of the value."""
        return self._apply("ceil")

    def round(self, digits: int = 0) -> Expression:
        """The nearest number with so many digits after the point; halves go to the even digit."""
        return self._apply("round", digits)

    def sqrt(self) -> Expression:
        """The square root, a float; NaN of a negative number."""
        return self._apply("sqrt")

    def exp(self) -> Expression:
        """The power of e, a float."""
        return self._apply("exp")

    def log(self) -> Expression:
        """The natural logarithm, a float; -inf of zero, NaN of a negative number."""
        return self._apply("log")

    def pow(self, exponent: Operand) -> Expression:
        """The power, always a float; `x ** y` is the same."""
        return self._apply("**", exponent)

    def hash(self) -> Expression:
        """An int from 0 to 2**63 - 1 that looks random and is the same in every run; of None too."""
        return self._apply("hash_of")

    def __abs__(self) -> Expression:
        return self.abs()

    def __round__(self, digits: int = 0) -> Expression:
        return self.round(digits)

    def _apply(self, operation: str, *others: Any) -> Expression:
        raise NotImplementedError
