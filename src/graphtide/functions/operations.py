"""Operations that note an int of more than 64 bits, and a division by 0."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.extending import intrinsic, overload

from graphtide.functions.doubt import doubt, set_flag

__all__ = ["CHECKED", "are_ints", "difference", "let_be"]

_types: Any = types
_doubt: Any = doubt


def let_be(plain: Any, chosen: Any) -> None:
    """Let compiled code take what `chosen` gives for the types of the operands in the place of `plain`."""
    overload(plain, strict=False)(chosen)  # strict compares annotations, too


def are_ints(*kinds: Any) -> bool:
    """Whether all types are of ints or truth values, which Python adds as ints."""
    return all(isinstance(kind, _types.Boolean) or (isinstance(kind, _types.Integer) and kind.signed) for kind in kinds)


def _with_overflow(instruction: str) -> Any:
    """An operation on two ints by an instruction of LLVM that says whether the result was too long."""

    def typed(_context: Any, one: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            both = getattr(builder, instruction)(*values)
            with builder.if_then(builder.extract_value(both, 1), likely=False):
                set_flag(context, builder)
            return builder.extract_value(both, 0)

        return types.int64(one, other), generate

    return intrinsic(typed)


_sum: Any = _with_overflow("sadd_with_overflow")
difference: Any = _with_overflow("ssub_with_overflow")
_product: Any = _with_overflow("smul_with_overflow")


def add(one: Any, other: Any) -> Any:
    return one + other


def subtract(one: Any, other: Any) -> Any:
    return one - other


def multiply(one: Any, other: Any) -> Any:
    return one * other


def raise_to(one: Any, other: Any) -> Any:
    return one**other


def shift(one: Any, other: Any) -> Any:
    return one << other


def _of_ints(plain: Any, checked: Any) -> None:
    let_be(plain, lambda one, other: checked if are_ints(one, other) else plain)


def _power(one: Any, other: Any) -> Any:
    if other < 0:  # Python makes a float of it
        _doubt()
        return np.int64(0)
    power = np.int64(1)
    # More factors say no more: all but -1, 0 and 1 are too long by then, and -1 is odd or even.
    for _ in range(min(other, 64 + (other & 1))):
        power = _product(power, np.int64(one))
    return power


def _shifted(one: Any, other: Any) -> Any:
    if other < 0:
        _doubt()
        return np.int64(0)
    # The instruction looks at six bits of the count, and half of the longest shift is a power of two with a sign.
    half = min(np.int64(other), 64) >> 1
    return _product(_product(np.int64(one), np.int64(1) << half), np.int64(1) << (min(np.int64(other), 64) - half))


_of_ints(add, lambda one, other: _sum(np.int64(one), np.int64(other)))
_of_ints(subtract, lambda one, other: difference(np.int64(one), np.int64(other)))
_of_ints(multiply, lambda one, other: _product(np.int64(one), np.int64(other)))
_of_ints(shift, _shifted)
_of_ints(raise_to, _power)


# -- division


def divide(one: Any, other: Any) -> Any:
    return one / other


def divide_whole(one: Any, other: Any) -> Any:
    return one // other


def remainder(one: Any, other: Any) -> Any:
    return one % other


def _ratio(one: Any, other: Any) -> Any:
    if other == 0:
        _doubt()
        return 0.0
    return np.float64(one) / np.float64(other)


def _quotient(one: Any, other: Any) -> Any:
    if other == 0:
        _doubt()
        return 0.0
    return np.float64(one) // np.float64(other)


def _quotient_of_ints(one: Any, other: Any) -> Any:
    if other == 0:
        _doubt()
        return np.int64(0)
    if other == -1:
        return difference(np.int64(0), np.int64(one))
    return np.int64(one) // np.int64(other)


def _rest(one: Any, other: Any) -> Any:
    if other == 0:
        _doubt()
        return 0.0
    return np.float64(one) % np.float64(other)


def _rest_of_ints(one: Any, other: Any) -> Any:
    if other == 0:
        _doubt()
        return np.int64(0)
    return np.int64(0) if other == -1 else np.int64(one) % np.int64(other)


let_be(divide, lambda one, other: _ratio)  # noqa: ARG005 - their types
let_be(divide_whole, lambda one, other: _quotient_of_ints if are_ints(one, other) else _quotient)
let_be(remainder, lambda one, other: _rest_of_ints if are_ints(one, other) else _rest)

CHECKED: Final = {
    operator.add: add,
    operator.sub: subtract,
    operator.mul: multiply,
    operator.pow: raise_to,
    operator.lshift: shift,
    operator.truediv: divide,
    operator.floordiv: divide_whole,
    operator.mod: remainder,
}
