"""The sum of squared distances from the mean, exactly: what variances and standard deviations are made of.

It is the sum of squares less the square of the sum by the count, which cancels unless both are exact. So neither is
rounded: a number is cut into pieces whose products are exact, those are kept as the weights that exact sums are kept
as, and Python puts the few weights of a key together as whole numbers. What is added and removed again leaves no trace,
and a change costs the same whatever the size of its group.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, col, lit, when
from graphtide.dataflow.kernels.weigh import LIMB, NUMBER
from graphtide.rows import Kind
from graphtide.sql.workshop import Workshop

__all__ = ["spread"]

# Ints are cut into three digits: products of two, added up, are far from 64 bits.
_DIGIT_BITS: Final = 22
# A double times this, less what that is above the double, has half of its digits (T. J. Dekker, 1971).
_SPLITTER: Final = float(2**27 + 1)
# Squares of doubles beyond it are infinite, or so near to it that nothing is to be gained.
_LARGE: Final = 1e150
# A float's last limb counts units of this power of two.
_LEAST_BIT: Final = 1074

_Rows = list[tuple[tuple[Any, ...], int]]


def spread(shop: Workshop, values: Collection) -> Collection:
    """The keys, which are all columns but the last, and the spread of the last one; None where all of it is NULL."""
    *keys, value = values.schema.names
    is_float = values.schema[value].kind is Kind.FLOAT
    number = col(value)
    pieces = _squares_of_floats(number) if is_float else _squares_of_ints(number)
    parts = [(0, number), *pieces]
    placed = shop.concat(
        *(shop.linear(values, [*map(col, keys), lit(place), piece]) for place, piece in parts),
    )

    def make() -> Collection:
        *by, place, piece = placed.schema.names
        weights = placed.group_by(*by, place).weights(piece)
        return weights.group_by(*by).reduce(_of_floats if is_float else _of_ints, spread=float | None)

    return shop.made(("spread", placed.node), make)


def _squares_of_ints(number: Expression) -> list[tuple[int, Expression]]:
    """The square of an int in pieces: that of place p counts 2**(22 (p - 1))."""
    base = 1 << _DIGIT_BITS
    low, rest = number % base, number // base
    middle, high = rest % base, rest // base
    pieces = [low * low, 2 * low * middle, 2 * low * high + middle * middle, 2 * middle * high, high * high]
    return list(enumerate(pieces, 1))


def _squares_of_floats(number: Expression) -> list[tuple[int, Expression]]:
    """The square of a double in pieces that are each exact, unless they are less than the least double."""
    is_small = abs(number) < _LARGE
    shifted = number * _SPLITTER
    high = when(is_small, shifted - (shifted - number)).otherwise(number)
    low = when(is_small | number.is_null(), number - high).otherwise(lit(0.0))
    return [(1, high * high), (1, 2.0 * high * low), (1, low * low)]


def _sums(rows: _Rows) -> tuple[int, dict[int, int], bool]:
    """How many numbers there are, the sum of the pieces of each place, and whether all of them are finite."""
    count, is_finite = 0, True
    sums: dict[int, int] = defaultdict(int)
    for (place, tag, weight), _ in rows:
        if tag >= LIMB:
            sums[place] += weight << (32 * (tag - LIMB))
        elif tag > NUMBER:
            is_finite = False
        elif tag == NUMBER and place == 0:
            count = weight
    return count, sums, is_finite


def _of_ints(_key: tuple[Any, ...], rows: _Rows) -> Sequence[tuple[float | None]]:
    count, sums, _ = _sums(rows)
    if count == 0:
        return [(None,)]
    squares = sum(sums[place] << (_DIGIT_BITS * (place - 1)) for place in range(1, 6))
    return [(float(Fraction(count * squares - sums[0] ** 2, count)),)]


def _of_floats(_key: tuple[Any, ...], rows: _Rows) -> Sequence[tuple[float | None]]:
    count, sums, is_finite = _sums(rows)
    if count == 0:
        return [(None,)]
    if not is_finite:
        return [(math.nan,)]
    exact = Fraction(((count * sums[1]) << _LEAST_BIT) - sums[0] ** 2, count << (2 * _LEAST_BIT))
    try:
        # Pieces that were too small to be exact may leave a little less than nothing.
        return [(max(float(exact), 0.0),)]
    except OverflowError:
        return [(math.inf,)]
