"""Sums that do not depend on the order of what is summed: exact, and rounded once (Shewchuk, as Python's `math.fsum`).

A sum on its way is a few numbers whose digits do not overlap, in ascending order; of ints it is one number.
"""

from __future__ import annotations

from graphtide.jit import leaf

__all__ = ["MOST_PARTS", "add_part", "rounded"]

# Floats have 2,098 binary digits in all, 53 of them in each.
MOST_PARTS = 64


@leaf
def add_part(parts, count, number):
    """Add a number to a sum of so many parts; how many parts it has then."""
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
def rounded(parts, count):
    """The number nearest to a sum; of two, the even one."""
    low = parts.dtype.type(0)
    if count == 0:
        return low
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
