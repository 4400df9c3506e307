"""Sums that are kept by adding: a number is spread over weights that add up exactly, in any order.

A row with a number becomes a few rows whose *tag* says which part of the number their diff counts: how
many rows there are, how many of them hold a number, and 32-bit limbs of the number itself. Weights are
integers, so insertions and deletions cancel without a trace, and a float sum is the exact sum of the
numbers present, rounded once.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import (
    MEAN_OF_FLOATS,
    MEAN_OF_INTS,
    PARAMETERS,
    SUM_OF_INTS,
    WIDTH,
)
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, new_batch, put, value
from graphtide.trace.kernels.heap import words

__all__ = ["LIMB", "LIMBS", "NULL", "NUMBER", "ROW", "rounded", "total_of_ints", "total_of_weights", "weigh"]

NULL = -(1 << 63)

# Tags.
ROW = 0
NUMBER = 1
NOT_A_NUMBER = 2
PLUS_INFINITY = 3
MINUS_INFINITY = 4
LIMB = 5  # LIMB + k weighs 2**(32 k) for ints, 2**(32 k - 1074) for floats

LIMBS = 67  # enough for the largest float and the carry of 2**31 of them
LIMB_MASK = (1 << 32) - 1
MOST_PARTS = 5
SIGN_FREE = (1 << 63) - 1
EXPONENT_MASK = 0x7FF
MANTISSA_BITS = 52
IMPLICIT_BIT = 1 << 52
CANONICAL_NAN = 0x7FF8 << 48
INFINITY = 0x7FF << 52


@kernel
def weigh(heap, operators, operator, source):
    """Replace the last data column by tags, and diffs by the weights of what the tags stand for."""
    batch = words(heap, source)
    rows = batch[ROWS]
    is_float = words(heap, operators[operator, PARAMETERS])[0] == 1
    width = operators[operator, WIDTH]
    tag = width - 1
    depth = batch[layout.DEPTH]
    result = new_batch(heap, operator, batch[layout.WIDTH], depth, MOST_PARTS * rows, ALL_VARY, 0)
    out = words(heap, result)
    tags = np.empty(MOST_PARTS, np.int64)
    weights = np.empty(MOST_PARTS, np.int64)
    at = 0
    for i in range(rows):
        code = value(batch, tag, i)
        diff = value(batch, width + depth, i)
        parts = _float_parts(code, tags, weights) if is_float else _int_parts(code, tags, weights)
        for p in range(parts):
            if weights[p] == 0:
                continue
            for c in range(width + depth):
                put(out, c, at, value(batch, c, i))
            put(out, tag, at, tags[p])
            put(out, width + depth, at, diff * weights[p])
            at += 1
    out[ROWS] = at
    return result


@leaf
def _int_parts(code, tags, weights):
    tags[0] = ROW
    weights[0] = 1
    if code == NULL:
        return 1
    tags[1] = NUMBER
    weights[1] = 1
    tags[2] = LIMB
    weights[2] = code & LIMB_MASK
    tags[3] = LIMB + 1
    weights[3] = code >> 32
    return 4


@leaf
def _float_parts(code, tags, weights):
    tags[0] = ROW
    weights[0] = 1
    if code == NULL:
        return 1
    tags[1] = NUMBER
    weights[1] = 1
    sign = 1 if code >= 0 else -1
    bits = code if code >= 0 else ~code  # the same float without its sign
    exponent = (bits >> MANTISSA_BITS) & EXPONENT_MASK
    mantissa = bits & (IMPLICIT_BIT - 1)
    weights[2] = 1
    if exponent == EXPONENT_MASK:
        tags[2] = NOT_A_NUMBER if mantissa != 0 else (PLUS_INFINITY if sign > 0 else MINUS_INFINITY)
        return 3
    place = 0
    if exponent > 0:
        mantissa |= IMPLICIT_BIT
        place = exponent - 1
    shift = place & 31
    limb = LIMB + (place >> 5)
    room = 32 - shift
    tags[2] = limb
    weights[2] = sign * ((mantissa & ((1 << room) - 1)) << shift)
    tags[3] = limb + 1
    weights[3] = sign * ((mantissa >> room) & LIMB_MASK)
    tags[4] = limb + 2
    weights[4] = sign * ((mantissa >> room) >> 32)  # in two steps: a shift by 64 is undefined
    return 5


@kernel
def total_of_weights(what, content, count, out):
    """One row with the sum or mean of the numbers that the weights stand for; no row if there are no rows.

    The number of rows is -1 when a sum of ints does not fit into 64 bits.
    """
    rows = 0
    numbers = 0
    nans = 0
    plus = 0
    minus = 0
    limbs = np.zeros(LIMBS, np.int64)
    for i in range(count):
        tag = content[i, 0]
        weight = content[i, 1]
        if tag == ROW:
            rows = weight
        elif tag == NUMBER:
            numbers = weight
        elif tag == NOT_A_NUMBER:
            nans = weight
        elif tag == PLUS_INFINITY:
            plus = weight
        elif tag == MINUS_INFINITY:
            minus = weight
        else:
            limbs[tag - LIMB] = weight
    if rows == 0:
        return out, 0
    out[0, 1] = 1
    if numbers == 0:
        out[0, 0] = NULL
        return out, 1
    if what == SUM_OF_INTS or what == MEAN_OF_INTS:
        out[0, 0], fits = total_of_ints(what, numbers, limbs[0], limbs[1])
        return out, 1 if fits else -1
    if nans != 0 or (plus != 0 and minus != 0):
        code = CANONICAL_NAN
    elif plus != 0:
        code = INFINITY
    elif minus != 0:
        code = ~INFINITY
    else:
        code = rounded(limbs)
    if what == MEAN_OF_FLOATS:
        code = _encode(_decode(code) / np.float64(numbers))
    out[0, 0] = code
    return out, 1


@leaf
def total_of_ints(what, numbers, low, high):
    """The sum or mean of ints, at least one of them, from their limbs; and whether it fits, as every mean does."""
    high += low >> 32
    low &= LIMB_MASK
    fits = -(1 << 31) <= high < (1 << 31) and not (high == -(1 << 31) and low == 0)
    if what == SUM_OF_INTS:
        return (high << 32) | low, fits
    total = np.float64((high << 32) | low) if fits else np.float64(high) * 4294967296.0 + np.float64(low)
    return _encode(total / np.float64(numbers)), True


@leaf
def _decode(code):
    cell = np.empty(1, np.int64)
    cell[0] = code if code >= 0 else code ^ SIGN_FREE
    return cell.view(np.float64)[0]


@leaf
def _encode(number):
    cell = np.empty(1, np.float64)
    cell[0] = number + 0.0  # minus zero becomes zero
    bits = cell.view(np.int64)[0]
    if number != number:
        return CANONICAL_NAN
    return bits if bits >= 0 else bits ^ SIGN_FREE


@leaf
def rounded(limbs):
    """The code of the float nearest to the sum of limbs[k] * 2**(32 k - 1074), ties to even."""
    if _carry(limbs) < 0:
        for k in range(limbs.shape[0]):
            limbs[k] = -limbs[k]
        _carry(limbs)
        magnitude = _magnitude(limbs)
        return ~magnitude if magnitude > 0 else 0
    return _magnitude(limbs)


@leaf
def _carry(limbs):
    """Bring every limb but the last into [0, 2**32); below zero if the number is."""
    carry = 0
    for k in range(limbs.shape[0] - 1):
        v = limbs[k] + carry
        limbs[k] = v & LIMB_MASK
        carry = v >> 32
    limbs[limbs.shape[0] - 1] += carry
    return limbs[limbs.shape[0] - 1]


@leaf
def _magnitude(limbs):
    """The bits of the float nearest to a number whose limbs are all in [0, 2**32)."""
    top = limbs.shape[0] - 1
    while top > 0 and limbs[top] == 0:
        top -= 1
    highest = 32 * top
    rest = limbs[top]
    if rest == 0:
        return 0
    while rest > 1:
        rest >>= 1
        highest += 1
    if highest <= MANTISSA_BITS:
        # Subnormals and the first normal binade: the number is its own bit pattern.
        return limbs[0] | (limbs[1] << 32)
    shift = highest - MANTISSA_BITS
    limb = shift >> 5
    offset = shift & 31
    mantissa = limbs[limb] >> offset
    for k in range(1, 3):
        if limb + k < limbs.shape[0] and 32 * k - offset < 64:
            mantissa |= limbs[limb + k] << (32 * k - offset)
    mantissa &= (IMPLICIT_BIT << 1) - 1
    half = (limbs[(shift - 1) >> 5] >> ((shift - 1) & 31)) & 1
    sticky = limbs[(shift - 1) >> 5] & ((1 << ((shift - 1) & 31)) - 1)
    for k in range((shift - 1) >> 5):
        sticky |= limbs[k]
    if half == 1 and (sticky != 0 or mantissa & 1 == 1):
        mantissa += 1
        if mantissa == IMPLICIT_BIT << 1:
            mantissa >>= 1
            shift += 1
    if shift + 1 >= EXPONENT_MASK:
        return INFINITY
    return ((shift + 1) << MANTISSA_BITS) | (mantissa & (IMPLICIT_BIT - 1))
