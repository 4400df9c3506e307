"""Typed values of SQL: an expression of the dataflow with the type that SQL gives it, and their arithmetic.

Division gives a DOUBLE and NULL for a divisor of zero; `//` and `%` cut towards zero. A decimal is rounded half
away from zero where it loses digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from functools import cache
from typing import Any, Final

from graphtide.dataflow.expressions import Expression, call, lit, when
from graphtide.dataflow.expressions.expression import Literal
from graphtide.errors import SqlError
from graphtide.rows import Kind
from graphtide.sql.moments import date_of, timestamp_of, timestamp_text
from graphtide.sql.rounding import decimal_text, refused, rounded, rounded_to, too_wide
from graphtide.sql.types import DIGITS, WIDEST, SqlType, common

__all__ = [
    "BOOLEAN",
    "DATES",
    "DOUBLE",
    "INTEGER",
    "TEXT",
    "TIMES",
    "Scalar",
    "arithmetic",
    "cast",
    "compared",
    "may_be_equal",
    "round_to",
    "united",
    "whole",
]

INTEGER: Final = SqlType(Kind.INT)
DOUBLE: Final = SqlType(Kind.FLOAT)
BOOLEAN: Final = SqlType(Kind.BOOL)
TEXT: Final = SqlType(Kind.STR)
DATES: Final = SqlType(Kind.DATE)
TIMES: Final = SqlType(Kind.TIMESTAMP)

_LARGEST: Final = 2**63 - 1
# Enough for every digit of a number that is written out.
_EXACT: Final = Context(prec=10_000)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value in every row."""

    expression: Expression
    type: SqlType

    @staticmethod
    def of_number(text: str) -> Scalar:
        """A number as it is written: an int, a decimal of as many digits, or with an exponent a double."""
        if "e" in text.lower():
            return Scalar(lit(float(text)), DOUBLE)
        whole, _, fraction = text.replace("_", "").partition(".")
        units = int(whole + fraction or "0")
        if units > _LARGEST or len(fraction) > DIGITS:
            raise SqlError(f"{text} does not fit into 64 bits", hint=f"write {text}e0 for the DOUBLE that is nearest")
        if not fraction:
            return Scalar(lit(units), INTEGER)
        return Scalar(lit(units), SqlType(Kind.INT, len(fraction), min(WIDEST, len(whole) + len(fraction))))

    @property
    def without_zeros(self) -> Scalar:
        """The same decimal without the zeros at its end, if it is a literal: they would cost digits in products."""
        value, scale, precision = self.literal, self.type.scale, self.type.precision
        if scale is None or not isinstance(value, int):
            return self
        while scale > 0 and value % 10 == 0:
            value, scale, precision = value // 10, scale - 1, precision - 1
        return Scalar(lit(value), SqlType(Kind.INT, scale, max(precision, 1)))

    @property
    def literal(self) -> Any:
        """The value if it is fixed, else None."""
        return self.expression.value if isinstance(self.expression, Literal) else None

    @property
    def is_null(self) -> bool:
        """Whether it is a bare NULL."""
        return self.type.kind is None

    def to(self, wanted: SqlType) -> Scalar:
        """The same value in a wider type."""
        if self.type == wanted:
            return self
        if self.is_null:
            return Scalar(lit(None, wanted.encoding), wanted)
        if self.type.is_number and wanted.is_number:
            if wanted.kind is Kind.FLOAT:
                return Scalar(_as_float(self), wanted)
            return Scalar(_scaled(self.expression, (wanted.scale or 0) - (self.type.scale or 0)), wanted)
        if self.type.kind is Kind.DATE and wanted.kind is Kind.TIMESTAMP:
            return Scalar(self.expression.cast(datetime), wanted)
        if self.type.kind is Kind.STR and wanted.kind in _FROM_TEXT and isinstance(self.literal, str):
            return _parsed(self.literal, wanted)
        raise SqlError(f"{self.type} cannot stand for {wanted}", hint=f"write cast(... as {wanted})")


def united(*scalars: Scalar) -> list[Scalar]:
    """The scalars in one type that holds them all; a string literal becomes a date next to dates."""
    result = scalars[0].type
    for each in scalars[1:]:
        found = common(result, each.type)
        if found is None:
            # A literal gives way to what it is compared with.
            if each.type.kind is Kind.STR and isinstance(each.literal, str) and result.kind in _FROM_TEXT:
                found = result
            elif result.kind is Kind.STR and each.type.kind in _FROM_TEXT:
                found = each.type
            else:
                raise SqlError(f"{result} and {each.type} do not fit together", hint="cast one of them")
        result = found
    return [each.to(result) for each in scalars]


def compared(operation: str, a: Scalar, b: Scalar) -> tuple[Expression, Expression]:
    """Both sides of <, <=, > or >= in one type, for any two values that fit together.

    Of two decimals the one with more digits is rounded, to the side on which nothing changes, because the other one
    may not fit into 64 bits with as many.
    """
    a, b = a.without_zeros, b.without_zeros
    exact = a.type.kind is b.type.kind is Kind.INT
    digits = (a.type.scale or 0) - (b.type.scale or 0)
    is_fixed = (a if digits < 0 else b).literal is not None and may_be_equal(a, b)
    if not exact or digits == 0 or is_fixed:
        a, b = united(a, b)
        return a.expression, b.expression
    factor = 10 ** abs(digits)
    if digits < 0:
        return a.expression, _divided(b.expression, factor, up=operation in {"<", ">="})
    return _divided(a.expression, factor, up=operation in {">", "<="}), b.expression


def may_be_equal(a: Scalar, b: Scalar) -> bool:
    """Whether both fit into one type: a literal may be larger than any decimal of the other one's scale."""
    if a.type.kind is not Kind.INT or b.type.kind is not Kind.INT:
        return True
    digits = (a.type.scale or 0) - (b.type.scale or 0)
    literal = (a if digits < 0 else b).literal
    return literal is None or abs(literal) * 10 ** abs(digits) <= _LARGEST


def _divided(number: Expression, factor: int, *, up: bool) -> Expression:
    return -((-number) // factor) if up else number // factor


def arithmetic(operation: str, a: Scalar, b: Scalar) -> Scalar:
    """The sum, difference, product, quotient or remainder of two numbers; days may be added to dates.

    An OverflowError says that a constant date is outside the years that there are.
    """
    if a.is_null and b.is_null:
        return Scalar(lit(None, int), INTEGER)
    if operation in "+-" and Kind.DATE in {a.type.kind, b.type.kind}:
        return _days(operation, a, b)
    a, b = (a.to(b.type) if a.is_null else a), (b.to(a.type) if b.is_null else b)
    for each in (a, b):
        if not each.type.is_number:
            raise SqlError(f"cannot compute {a.type} {operation} {b.type}", hint="cast both to numbers")
    if operation == "/":
        return Scalar(_as_float(a) / _as_float(b), DOUBLE)
    if operation == "*" and Kind.FLOAT not in {a.type.kind, b.type.kind}:
        return _product(a, b)
    a, b = united(a, b)
    if operation in "+-*":
        result = a.type
        if result.is_decimal:
            result = SqlType(Kind.INT, result.scale, min(WIDEST, result.precision + 1))
        left, right = a.expression, b.expression
        sums = {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}
        return Scalar(_folded(sums[operation](right), operation, left, right), result)
    if operation == "%":
        return Scalar(_remainder(a.expression, b.expression), a.type)
    assert operation == "//"
    if a.type != INTEGER:
        raise SqlError(f"cannot compute {a.type} // {b.type}", hint="cast both to BIGINT, or divide with /")
    return Scalar(_quotient(a.expression, b.expression), INTEGER)


def _folded(expression: Expression, operation: str, a: Expression, b: Expression) -> Expression:
    """The literal that two literals come to, so that 0.06 - 0.01 is as plain as 0.05."""
    if isinstance(a, Literal) and isinstance(b, Literal) and a.value is not None and b.value is not None:
        x, y = a.value, b.value
        value = x + y if operation == "+" else x - y if operation == "-" else x * y
        if isinstance(value, float) or abs(value) < 2**63:
            return lit(value)
    return expression


def _product(a: Scalar, b: Scalar) -> Scalar:
    a, b = a.without_zeros, b.without_zeros
    product = _folded(a.expression * b.expression, "*", a.expression, b.expression)
    if not (a.type.is_decimal or b.type.is_decimal):
        return Scalar(product, INTEGER)
    scale = (a.type.scale or 0) + (b.type.scale or 0)
    if scale > DIGITS:
        raise SqlError(
            f"a product of {a.type} and {b.type} has {scale} digits after the point, which 64 bits do not hold",
            hint="cast one of them to DOUBLE, or to a decimal of a smaller scale",
        )
    return Scalar(product, SqlType(Kind.INT, scale, min(WIDEST, a.type.precision + b.type.precision)))


def _days(operation: str, a: Scalar, b: Scalar) -> Scalar:
    kinds = (a.type.kind, b.type.kind)
    if operation == "-" and kinds == (Kind.DATE, Kind.DATE):
        return Scalar(a.expression - b.expression, INTEGER)
    if operation == "+" and kinds == (Kind.INT, Kind.DATE):
        return _days(operation, b, a)
    if kinds == (Kind.DATE, Kind.INT) and not b.type.is_decimal:
        if isinstance(a.literal, date) and isinstance(b.literal, int):
            return Scalar(lit(a.literal + timedelta(b.literal if operation == "+" else -b.literal)), DATES)
        return Scalar(a.expression + b.expression if operation == "+" else a.expression - b.expression, DATES)
    raise SqlError(f"cannot compute {a.type} {operation} {b.type}", hint="add days as a BIGINT, or an INTERVAL")


def _as_float(number: Scalar) -> Expression:
    scale = number.type.scale or 0
    if number.type.kind is Kind.FLOAT:
        return number.expression
    if isinstance(number.literal, int):
        return lit(float(Decimal(number.literal).scaleb(-scale)))
    whole = number.expression.cast(float)
    return whole / float(10**scale) if scale else whole


def _scaled(number: Expression, digits: int) -> Expression:
    """A decimal with so many digits more, or less."""
    if digits == 0:
        return number
    if digits < 0:
        factor = 10**-digits
        half = factor // 2
        return when(number >= 0, (number + half) // factor).otherwise(-((-number + half) // factor))
    if isinstance(number, Literal) and isinstance(number.value, int):
        if abs(number.value) * 10**digits > _LARGEST:
            raise SqlError(
                f"{number.value} with {digits} digits more after the point does not fit into 64 bits",
                hint="cast one side to DOUBLE",
            )
        return lit(number.value * 10**digits)
    return number * 10**digits


def _remainder(a: Expression, b: Expression) -> Expression:
    return when(a >= 0, a % abs(b)).otherwise(-((-a) % abs(b)))


def _quotient(a: Expression, b: Expression) -> Expression:
    size = abs(a) // abs(b)
    return when((a < 0) == (b < 0), size).otherwise(-size)


_FROM_TEXT: Final = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.INT, Kind.FLOAT, Kind.BOOL})


def _parsed(text: str, wanted: SqlType) -> Scalar:
    """A string literal as another type."""
    try:
        if wanted.is_decimal:
            value: Any = _units(Decimal(text), wanted, f"'{text}'")
        elif wanted.kind is Kind.DATE:
            value = date_of(text)
        elif wanted.kind is Kind.TIMESTAMP:
            value = timestamp_of(text)
        elif wanted.kind is Kind.BOOL:
            value = {"true": True, "false": False}[text.strip().lower()]
        else:
            value = float(text) if wanted.kind is Kind.FLOAT else int(text)
    except (ValueError, ArithmeticError, KeyError):
        assert wanted.kind is not None
        hint = "write a number, such as 12" if wanted.is_number else f"write it as {_WRITTEN[wanted.kind]}"
        raise SqlError(f"'{text}' is not a {wanted}", hint=hint) from None
    return Scalar(lit(value), wanted)


_WRITTEN: Final = {
    Kind.DATE: "'2020-12-31'",
    Kind.TIMESTAMP: "'2020-12-31 23:59:00'",
    Kind.BOOL: "'true' or 'false'",
}


def cast(value: Scalar, to: SqlType, told: str = "a cast") -> Scalar:
    """The value as another type, as CAST gives it; an error will quote how it was `told`."""
    have = value.type
    if have == to or value.is_null:
        return value.to(to)
    if isinstance(value.literal, str) and to.kind in _FROM_TEXT:
        return _parsed(value.literal, to)
    if have.is_decimal and to.kind is Kind.STR:
        return Scalar(call(_text_of(have), value.expression, returns=str), to)
    if have.kind is Kind.TIMESTAMP and to.kind is Kind.STR:
        return Scalar(call(timestamp_text, value.expression, returns=str), to)
    if to.is_decimal:
        return _to_decimal(value, to, told)
    if have.is_decimal:
        if to.kind is Kind.INT:
            return value.to(to)
        if to.kind is not Kind.FLOAT:
            raise SqlError(f"cannot cast {have} to {to}", hint="cast to BIGINT first")
        return value.to(to)
    if have.kind is Kind.FLOAT and to.kind is Kind.INT:
        return Scalar(value.expression.round().cast(int), to)
    if {have.kind, to.kind} == {Kind.INT, Kind.DATE} or {have.kind, to.kind} == {Kind.INT, Kind.TIMESTAMP}:
        raise SqlError(f"cannot cast {have} to {to}", hint="add days to a date, as in date '1970-01-01' + x")
    return Scalar(value.expression.cast(to.encoding), to)


def _to_decimal(value: Scalar, to: SqlType, told: str) -> Scalar:
    """A number as a decimal, which it must fit into."""
    have, number = value.type, value.expression
    scale, most = to.scale or 0, 10**to.precision
    if have.kind is Kind.FLOAT:
        units = rounded(number * float(10**scale))
        fits = (abs(units) < float(most)) | number.is_null()
        return Scalar(when(fits, units.cast(int)).otherwise(refused(number, have, to, told)), to)
    if have.kind is not Kind.INT:
        raise SqlError(f"cannot cast {have} to {to}", hint="cast to DOUBLE first")
    own = have if have.is_decimal else SqlType(Kind.INT, 0, WIDEST)
    if isinstance(value.literal, int):
        return Scalar(lit(_units(Decimal(value.literal).scaleb(-(own.scale or 0)), to, told)), to)
    more = scale - (own.scale or 0)
    scaled = _scaled(number, more)
    # Rounding may bring a digit before the point.
    if own.precision - (own.scale or 0) + (more < 0) <= to.precision - scale:
        return Scalar(scaled, to)
    # Before it is scaled, where that might leave 64 bits.
    fits = abs(number) < 10 ** (to.precision - more) if more >= 0 else abs(scaled) < most
    return Scalar(when(fits | number.is_null(), scaled).otherwise(refused(number, own, to, told)), to)


def _units(number: Decimal, to: SqlType, told: str) -> int:
    """A fixed number as units of a decimal."""
    units = int(number.scaleb(to.scale or 0, _EXACT).quantize(Decimal(1), "ROUND_HALF_UP", _EXACT))
    if abs(units) >= 10**to.precision:
        raise too_wide(f"{number:f}", to, told)
    return units


@cache
def _text_of(of: SqlType) -> Callable[[int], str]:
    def text(units: int) -> str:
        return decimal_text(units, of)

    return text


def round_to(value: Scalar, digits: int) -> Scalar:
    """The value with so many digits after the point."""
    if value.type.is_decimal:
        scale = value.type.scale or 0
        kept = min(max(digits, 0), scale)
        # 9.9 becomes 10: as many digits in all as before.
        return Scalar(_scaled(value.expression, kept - scale), SqlType(Kind.INT, kept, value.type.precision))
    if value.type.kind is Kind.INT:
        return value
    return Scalar(rounded_to(value.expression, digits), DOUBLE)


def whole(value: Scalar, *, up: bool) -> Scalar:
    """The next whole number at or below the value, or at or above it."""
    if not value.type.is_decimal:
        return value if value.type.kind is Kind.INT else Scalar(_ceil_or_floor(value.expression, up=up), DOUBLE)
    factor = 10 ** (value.type.scale or 0)
    number = value.expression
    return Scalar(_divided(number, factor, up=up), SqlType(Kind.INT, 0, value.type.precision))


def _ceil_or_floor(number: Expression, *, up: bool) -> Expression:
    return number.ceil() if up else number.floor()
