"""Sums that do not depend on the order of what is summed: exact, and rounded once (Shewchuk, as Python's `math.fsum`).

A sum on its way is a few numbers whose digits do not overlap, in ascending order. Of ints it is three: the sum in 64
bits, how often it went around them, and how many numbers were no ints of the house, which are from -(2**63 - 1) on.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf

__all__ = ["MOST_PARTS", "add_part", "is_no_int", "is_too_long", "rounded"]

_NO_INT = np.iinfo(np.int64).min

# Floats have 2,098 binary digits in all, 53 of them in each.
MOST_PARTS = 64


@leaf
def _are_ints(parts):
    # A constant to the compiler, which leaves out what is for the other type.
    return parts.dtype.type(0.5) == 0


@leaf
def add_part(parts, count, number):
    """Add a number to a sum of so many parts; how many parts it has then."""
    if _are_ints(parts):
        return _add_int(parts, count, number)
    kept = 0
    for k in range(count):
        part = parts[k]
        high = number + part
        if high - high != 0:
            # Beyond all floats: the sum is infinite, or not a number, and stays so.
            parts[0] = high
            return 1
        # What was rounded off (Knuth's sum of two, which does not ask which of them is the greater).
        share = high - number
        low = (number - (high - share)) + (part - share)
        # Without a branch: which of the parts are 0 cannot be foreseen.
        parts[kept] = low
        kept += low != 0
        number = high
    parts[kept] = number
    return kept + 1


@leaf
def _add_int(parts, count, number):
    if count == 0:
        parts[0] = number
        parts[1] = 0
        parts[2] = number == _NO_INT
        return 3
    before = parts[0]
    # Signed integers must not overflow in compiled code, or the test for it is compiled away.
    after = np.int64(np.uint64(before) + np.uint64(number))
    parts[0] = after
    if before >= 0 and number >= 0 and after < 0:
        parts[1] += 1
    elif before < 0 and number < 0 and after >= 0:
        parts[1] -= 1
    parts[2] += number == _NO_INT
    return 3


@leaf
def is_no_int(parts, number):
    """Whether a number of a sum's type is an int that has no place among those of the house."""
    return _are_ints(parts) and number == _NO_INT


@leaf
def is_too_long(parts, count):
    """Whether a sum is of ints, and it or one of them is no int of the house."""
    return _are_ints(parts) and count > 0 and (parts[1] != 0 or parts[2] != 0 or parts[0] == _NO_INT)


@leaf
def rounded(parts, count):
    """The number nearest to a sum, of two the even one; of ints the sum, unless it is too long."""
    low = parts.dtype.type(0)
    if count == 0:
        return low
    if _are_ints(parts):
        return parts[0]
    at = count - 1
    high = parts[at]
    while at > 0:
        before = high
        at -= 1
        part = parts[at]
        high = before + part
        low = part - (high - before)
        if low != 0:
            break
    # Half a digit is left, and more of the same sign behind it: away from the even number.
    if at > 0 and ((low < 0 and parts[at - 1] < 0) or (low > 0 and parts[at - 1] > 0)):
        twice = low + low
        further = high + twice
        if twice == further - high:
            high = further
    return high
