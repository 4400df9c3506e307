"""Rounding as SQL does it, half away from zero, and decimals held to the digits that their type has.

What stands behind the point of a double is exact, so it alone decides: adding a half first would round twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, Final

from graphtide.dataflow.expressions import Expression, call, lit, when
from graphtide.errors import SqlError
from graphtide.sql.types import SqlType

__all__ = ["decimal_text", "refused", "rounded", "rounded_to", "too_wide"]

_LARGEST: Final = sys.float_info.max
# Powers of ten beyond it are no doubles.
_MOST_DIGITS: Final = sys.float_info.max_10_exp


def rounded(number: Expression) -> Expression:
    """A double rounded to a whole number, half away from zero."""
    size = abs(number)
    below = size.floor()
    nearest = when(size - below >= lit(0.5), below + 1.0).otherwise(below)
    return when(number < 0.0, -nearest).otherwise(nearest)


def rounded_to(number: Expression, digits: int) -> Expression:
    """A double rounded to so many digits after the point; itself where it is too large to have them."""
    if digits == 0:
        return rounded(number)
    if digits > _MOST_DIGITS:
        return number
    factor = float(10**digits)
    result = rounded(number * factor) / factor
    return when(abs(result) <= _LARGEST, result).otherwise(number)


def refused(value: Expression, of: SqlType, to: SqlType, told: str) -> Expression:
    """What stands for a value that does not fit into a decimal: the run stops there, and says which value it is."""
    if of.is_decimal:
        return call(_refusal(of, to, told), value, returns=int)
    return call(_refusal(of, to, told), value, returns=float).cast(int)


@cache
def _refusal(of: SqlType, to: SqlType, told: str) -> Callable[[Any], Any]:
    """A function that refuses a value; the same one for the same cast, so that views share it."""

    def refusal(value: Any) -> Any:
        raise too_wide(value if of.scale is None else decimal_text(value, of), to, told)

    return refusal


def too_wide(value: object, to: SqlType, told: str) -> SqlError:
    """The error of a value with more digits than a decimal has."""
    digits = to.precision - (to.scale or 0)
    return SqlError(
        f"{value} does not fit into {to}, which has {digits} digits before the point: {told}",
        hint="use a type with more digits, or keep such rows out with WHERE",
    )


def decimal_text(units: int, of: SqlType) -> str:
    """A decimal as text, with all digits of its scale; without a zero before the point if its type has none there.

    >>> from graphtide.rows import Kind
    >>> decimal_text(2000, SqlType(Kind.INT, 3, 4)), decimal_text(-5, SqlType(Kind.INT, 1, 1))
    ('2.000', '-.5')
    """
    text = f"{Decimal(units).scaleb(-(of.scale or 0)):f}"
    return text.replace("0.", ".", 1) if of.scale and of.precision == of.scale else text
