"""Operations that give what Python's give, or note that they do not.

Where Python raises, gives a number of another type, or one that is rounded otherwise, these give anything and note it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there

from graphtide.functions.doubt import doubt
from graphtide.functions.operations import CHECKED, are_ints, difference, let_be

__all__ = ["NAMES", "OPERATIONS"]

_types: Any = types
_doubt: Any = doubt
# Ints that are floats, too, and so is all that is between them.
_EXACT: Final = 2**53
_BEYOND: Final = 2.0**63


def _are_mixed(one: Any, other: Any) -> bool:
    return isinstance(one, _types.Integer) != isinstance(other, _types.Integer) and not are_ints(one, other)


# -- division


def divide(one: Any, other: Any) -> Any:
    return one / other


_checked_ratio: Any = CHECKED[operator.truediv]


def _ratio(one: Any, other: Any) -> Any:
    return _checked_ratio(one, other)


def _ratio_of_ints(one: Any, other: Any) -> Any:
    # Python rounds the ratio alone, not what it is of.
    if not (-_EXACT <= one <= _EXACT and -_EXACT <= other <= _EXACT):
        _doubt()
    return _checked_ratio(one, other)


let_be(divide, lambda one, other: _ratio_of_ints if are_ints(one, other) else _ratio)


# -- powers and shifts


def power(one: Any, other: Any) -> Any:
    return one**other


def shift_right(one: Any, other: Any) -> Any:
    return one >> other


def _power_of_floats(one: Any, other: Any) -> Any:
    made = math.pow(np.float64(one), np.float64(other))
    if not math.isfinite(made) and math.isfinite(one) and math.isfinite(other):
        _doubt()
    return made


def _shifted_right(one: Any, other: Any) -> Any:
    if other < 0:
        _doubt()
    # The instruction looks at six bits of the count.
    return np.int64(one) >> min(max(np.int64(other), np.int64(0)), np.int64(63))


_power_of_ints: Any = CHECKED[operator.pow]


def _raised(one: Any, other: Any) -> Any:
    return _power_of_ints(one, other)


let_be(power, lambda one, other: _raised if are_ints(one, other) else _power_of_floats)
let_be(shift_right, lambda one, other: _shifted_right if are_ints(one, other) else None)


# -- bits


def _bitwise(plain: Any) -> Any:
    def of_ints(one: Any, other: Any) -> Any:
        return plain(np.int64(one), np.int64(other))

    def of_truths(one: Any, other: Any) -> Any:
        return plain(one, other)

    def operation(one: Any, other: Any) -> Any:
        return plain(one, other)

    def chosen(one: Any, other: Any) -> Any:
        if isinstance(one, _types.Boolean) and isinstance(other, _types.Boolean):
            return of_truths
        return of_ints if are_ints(one, other) else None

    operation.__name__ = plain.__name__
    let_be(operation, chosen)
    return operation


# -- comparisons


def _comparison(plain: Any) -> Any:
    """Python compares an int with a float as they are; compiled code makes a float of it."""

    def mixed(one: Any, other: Any) -> Any:
        # A longer int may become the float that it is compared with.
        if not (-_EXACT < one < _EXACT or -_EXACT < other < _EXACT):
            _doubt()
        return plain(one, other)

    def alike(one: Any, other: Any) -> Any:
        return plain(one, other)

    def operation(one: Any, other: Any) -> Any:
        return plain(one, other)

    operation.__name__ = plain.__name__
    let_be(operation, lambda one, other: mixed if _are_mixed(one, other) else alike)
    return operation


# -- one operand


def negate(one: Any) -> Any:
    return -one


def plus(one: Any) -> Any:
    return +one


def invert(one: Any) -> Any:
    return ~one


def absolute(one: Any) -> Any:
    return abs(one)


def _absolute_of_int(one: Any) -> Any:
    return difference(np.int64(0), np.int64(one)) if one < 0 else np.int64(one)


def _absolute_of_float(one: Any) -> Any:
    return math.fabs(one)


def _as_int(one: Any) -> Any:
    return np.int64(one)


def _as_float(one: Any) -> Any:
    return np.float64(one)


def whole(one: Any) -> Any:
    return int(one)


def _whole_of_float(one: Any) -> Any:
    if not -_BEYOND < one < _BEYOND:
        _doubt()
        return np.int64(0)
    return np.int64(one)


def floor(one: Any) -> Any:
    return math.floor(one)


def ceil(one: Any) -> Any:
    return math.ceil(one)


def fractional(one: Any) -> Any:
    return float(one)


def _of_int_or_float(plain: Any, of_int: Any, of_float: Any) -> None:
    let_be(plain, lambda one: of_int if are_ints(one) else of_float)


_of_int_or_float(negate, lambda one: difference(np.int64(0), np.int64(one)), lambda one: -one)
_of_int_or_float(plus, _as_int, lambda one: one)
_of_int_or_float(invert, lambda one: ~np.int64(one), None)
_of_int_or_float(absolute, _absolute_of_int, _absolute_of_float)
_of_int_or_float(whole, _as_int, _whole_of_float)
_of_int_or_float(floor, _as_int, lambda one: whole(np.floor(one)))
_of_int_or_float(ceil, _as_int, lambda one: whole(np.ceil(one)))
_of_int_or_float(fractional, _as_float, lambda one: one)


# -- the least and the greatest


def _chosen_of_many(plain: Any, is_better: Callable[[Any, Any], Any]) -> Any:
    """As Python chooses: the first, unless a later one is better; NaN is neither better nor worse."""

    def least(*values: Any) -> Any:
        best = values[0]
        for value in values:
            if is_better(value, best):
                best = value
        return best

    def chosen(*values: Any) -> Any:
        kinds = {_types.unliteral(kind) for kind in values}
        # Of an int and a float it may be either.
        return least if len(values) > 1 and len(kinds) == 1 else None

    def operation(*values: Any) -> Any:
        return plain(*values)

    operation.__name__ = plain.__name__
    let_be(operation, chosen)
    return operation


# -- functions of the module math


def _of_math(plain: Any, count: int) -> Any:
    """Python raises where a function makes NaN of other numbers, or something infinite of finite ones."""

    def of_one(one: Any) -> Any:
        number = np.float64(one)
        made = plain(number)
        if not math.isfinite(made) and not (math.isnan(number) or (math.isinf(number) and not math.isnan(made))):
            _doubt()
        return made

    def of_two(one: Any, other: Any) -> Any:
        first, second = np.float64(one), np.float64(other)
        made = plain(first, second)
        if not math.isfinite(made) and not (math.isnan(first) or math.isnan(second)):
            _doubt()
        return made

    def one_operand(one: Any) -> Any:
        return plain(one)

    def two_operands(one: Any, other: Any) -> Any:
        return plain(one, other)

    operation: Any = one_operand if count == 1 else two_operands
    operation.__name__ = plain.__name__
    let_be(operation, (lambda one: of_one) if count == 1 else lambda one, other: of_two)  # noqa: ARG005 - their types
    return operation


def _asks(plain: Any) -> Any:
    """Whether a number is of some sort."""

    def operation(one: Any) -> Any:
        return plain(one)

    def asked(one: Any) -> Any:
        return plain(np.float64(one))

    operation.__name__ = plain.__name__
    let_be(operation, lambda one: asked)  # noqa: ARG005 - its type
    return operation


_ONE_FLOAT: Final = (
    *(math.sqrt, math.exp, math.expm1, math.log, math.log1p, math.log2, math.log10, math.fabs),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh),
)
_TWO_FLOATS: Final = (math.pow, math.copysign, math.atan2)

# By operators.
OPERATIONS: Final[dict[Any, Any]] = {
    **CHECKED,
    operator.pow: power,
    operator.rshift: shift_right,
    operator.truediv: divide,
    operator.neg: negate,
    operator.pos: plus,
    operator.invert: invert,
    **{each: _bitwise(each) for each in (operator.and_, operator.or_, operator.xor)},
    **{
        each: _comparison(each)
        for each in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    },
}
# By name.
NAMES: Final[dict[Any, Any]] = {
    **OPERATIONS,
    pow: power,
    abs: absolute,
    operator.abs: absolute,
    int: whole,
    float: fractional,
    min: _chosen_of_many(min, operator.lt),
    max: _chosen_of_many(max, operator.gt),
    math.floor: floor,
    math.ceil: ceil,
    math.trunc: whole,
    **{each: _of_math(each, 1) for each in _ONE_FLOAT},
    **{each: _of_math(each, 2) for each in _TWO_FLOATS},
    **{each: _asks(each) for each in (math.isnan, math.isinf, math.isfinite)},
}
