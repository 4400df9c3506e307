"""The steps of a linear operator's program, each over one chunk of codes.

Places hold codes: NULL is one word in every type, and floats compare as integers do, NaN last and
equal to itself. Float steps decode their operands and encode their result, which costs less than
keeping two representations in step. Loops are plain and free of branches where that lets them
become vector instructions.
"""

from __future__ import annotations

import math

import numpy as np

from graphtide.dataflow.kernels.opcodes import (
    ADD_FLOAT,
    ADD_INT,
    AND,
    AT_MOST,
    BIT_LENGTH,
    CEIL,
    CHOOSE,
    COALESCE,
    DATE_FLOOR,
    DATE_PART,
    DIVIDE_FLOAT,
    DIVIDE_INT,
    EQUAL,
    EXP,
    FLOAT_TO_INT,
    FLOOR,
    FLOOR_DIVIDE_FLOAT,
    GREATEST,
    INT_TO_FLOAT,
    IS_NULL,
    LEAST,
    LOG,
    MODULO_INT,
    MONTH,
    MULTIPLY_FLOAT,
    MULTIPLY_INT,
    NOT,
    NOT_EQUAL,
    OR,
    POWER,
    ROUND,
    SQRT,
    SUBTRACT_FLOAT,
    SUBTRACT_INT,
    WITHIN,
    YEAR,
)
from graphtide.jit import kernel, leaf
from graphtide.rows.codes import NULL
from graphtide.trace.kernels.radix import bit_length

__all__ = ["arithmetic", "choose_rows", "fails", "in_set", "row_step", "vector"]

ALL_BUT_SIGN = 2**63 - 1
NAN = 0x7FF8000000000000
INT_LIMIT = 2.0**63
# Products of factors from -SMALL to SMALL - 1 fit; others are looked at one by one.
SMALL = np.uint64(1 << 31)

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


@leaf
def decoded(code):
    """The float behind a code; a NaN for NULL."""
    return np.int64(code ^ ((code >> 63) & ALL_BUT_SIGN)).view(np.float64)


@leaf
def encoded(x):
    """The code of a float: -0.0 is 0.0, and there is one NaN."""
    bits = np.float64(x + 0.0).view(np.int64)
    return NAN if x != x else bits ^ ((bits >> 63) & ALL_BUT_SIGN)


# Signed integers must not overflow in compiled code, or the tests for it are compiled away: what may
# overflow is computed on unsigned ones, which wrap.


@kernel
def arithmetic(op, out, a, b, n):
    """A step that may fail; whether some row is in doubt, which `fails` then settles."""
    doubt = 0
    if op <= SUBTRACT_INT:
        # One loop serves both: x - y is x + -y, and NULL is its own negative.
        flip = np.uint64(0) if op == ADD_INT else ~np.uint64(0)
        for i in range(n):
            x = a[i]
            y = np.int64((np.uint64(b[i]) ^ flip) - flip)
            r = np.int64(np.uint64(x) + np.uint64(y))
            null = (x == NULL) | (y == NULL)
            # The sign bit is set if both signs differ from the result's.
            doubt |= 0 if null else ((x ^ r) & (y ^ r)) | (NULL if r == NULL else 0)
            out[i] = NULL if null else r
    elif op == MULTIPLY_INT:
        for i in range(n):
            x = np.uint64(a[i])
            y = np.uint64(b[i])
            null = (a[i] == NULL) | (b[i] == NULL)
            large = (x + SMALL >= SMALL + SMALL) | (y + SMALL >= SMALL + SMALL)
            doubt |= NULL if large & (not null) else 0
            out[i] = NULL if null else np.int64(x * y)
    elif op == FLOAT_TO_INT:
        for i in range(n):
            x = decoded(a[i])
            fits = (x > -INT_LIMIT) & (x < INT_LIMIT)
            doubt |= NULL if (not fits) & (a[i] != NULL) else 0
            out[i] = np.int64(x) if fits else NULL
    else:  # WITHIN
        for i in range(n):
            doubt |= NULL if (a[i] != NULL) & ((a[i] < b[0]) | (a[i] > b[1])) else 0
    return doubt < 0


@kernel
def fails(op, out, a, b, guard, is_guarded, n):
    """Whether a row fails in which the guard holds true; other failures become null, and no matter."""
    for i in range(n):
        x = a[i]
        y = b[i if op <= MULTIPLY_INT else 0]
        if x == NULL or (y == NULL and op <= MULTIPLY_INT):
            continue
        if op == MULTIPLY_INT:
            estimate = abs(float(x) * float(y))
            failed = estimate > INT_LIMIT
            if 0.99 * INT_LIMIT < estimate < 1.01 * INT_LIMIT:
                # So near to the limit, a product that wrapped has the wrong sign.
                r = np.int64(np.uint64(x) * np.uint64(y))
                failed = r == NULL or (r < 0) != ((x < 0) != (y < 0))
        elif op <= SUBTRACT_INT:
            r = np.int64(np.uint64(x) + np.uint64(y) if op == ADD_INT else np.uint64(x) - np.uint64(y))
            failed = r == NULL or (r < x) != (y < 0 if op == ADD_INT else y > 0)
        elif op == FLOAT_TO_INT:
            failed = not -INT_LIMIT < decoded(x) < INT_LIMIT
        else:  # WITHIN
            failed = x < y or x > b[1]
        if failed:
            if not is_guarded or guard[i] == 1:
                return True
            if op != WITHIN:
                out[i] = NULL
    return False


@kernel
def vector(op, out, a, b, c, n):
    """A step that cannot fail. Kinds of steps share a loop where data can tell them apart."""
    if op <= SUBTRACT_FLOAT:
        sign = 1.0 if op == ADD_FLOAT else -1.0
        for i in range(n):
            r = encoded(decoded(a[i]) + sign * decoded(b[i]))
            out[i] = NULL if (a[i] == NULL) | (b[i] == NULL) else r
    elif op == MULTIPLY_FLOAT:
        for i in range(n):
            r = encoded(decoded(a[i]) * decoded(b[i]))
            out[i] = NULL if (a[i] == NULL) | (b[i] == NULL) else r
    elif op == DIVIDE_FLOAT:
        for i in range(n):
            r = encoded(decoded(a[i]) / decoded(b[i]))
            out[i] = NULL if (a[i] == NULL) | (b[i] == NULL) | (b[i] == 0) else r
    elif op == INT_TO_FLOAT:
        for i in range(n):
            out[i] = NULL if a[i] == NULL else encoded(float(a[i]))
    elif op <= AT_MOST:
        below = op != EQUAL
        level = (op == EQUAL) | (op == AT_MOST)
        above = op == NOT_EQUAL
        for i in range(n):
            x = a[i]
            y = b[i]
            holds = ((x < y) & below) | ((x == y) & level) | ((x > y) & above)
            out[i] = NULL if (x == NULL) | (y == NULL) else holds
    elif op <= OR:
        # The operand that decides alone: false for "and", true for "or".
        decisive = 0 if op == AND else 1
        for i in range(n):
            x = a[i]
            y = b[i]
            rest = NULL if (x == NULL) | (y == NULL) else 1 - decisive
            out[i] = decisive if (x == decisive) | (y == decisive) else rest
    elif op == NOT:
        for i in range(n):
            out[i] = NULL if a[i] == NULL else 1 - a[i]
    elif op == IS_NULL:
        for i in range(n):
            out[i] = a[i] == NULL
    elif op == CHOOSE:
        for i in range(n):
            out[i] = b[i] if a[i] == 1 else c[i]
    elif op == COALESCE:
        for i in range(n):
            out[i] = b[i] if a[i] == NULL else a[i]
    elif op == LEAST:
        for i in range(n):
            least = min(a[i], b[i])
            # Null comes before all codes, so the greater one is the value if there is one.
            out[i] = max(a[i], b[i]) if least == NULL else least
    elif op == GREATEST:
        for i in range(n):
            out[i] = max(a[i], b[i])
    else:  # HASH
        for i in range(n):
            out[i] = _mix(a[i], b[i])


@leaf
def _mix(x, before):
    """The finalizer of splitmix64, less its last bit: never negative, so never NULL."""
    z = np.uint64(x) + GOLDEN * (np.uint64(before) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@kernel
def in_set(out, a, members, n):
    """Whether each code is among the sorted `members`."""
    for i in range(n):
        low = 0
        high = members.shape[0]
        while low < high:
            middle = (low + high) >> 1
            if members[middle] < a[i]:
                low = middle + 1
            else:
                high = middle
        found = low < members.shape[0] and members[low] == a[i]
        out[i] = NULL if a[i] == NULL else found


@kernel
def choose_rows(a, chosen, n):
    """Write down the rows in which `a` is true, and return how many there are."""
    kept = 0
    for i in range(n):
        chosen[kept] = i
        kept += a[i] == 1
    return kept


@leaf
def row_step(op, x, y):
    """A step over one row: too costly in itself to be worth a loop of its own."""
    if x == NULL or y == NULL:
        return NULL
    if op == DIVIDE_INT:
        return NULL if y == 0 else x // y
    if op == MODULO_INT:
        return NULL if y == 0 else x % y
    if op == DATE_PART:
        year, month, day = _civil(x)
        return year if y == YEAR else month if y == MONTH else day
    if op == DATE_FLOOR:
        year, month, _ = _civil(x)
        months = 12 * year + month - 1
        months -= months % y
        return _days(months // 12, months % 12 + 1)
    if op == BIT_LENGTH:
        return bit_length(np.uint64(abs(x)))
    f = decoded(x)
    if op == FLOOR:
        r = np.floor(f)
    elif op == CEIL:
        r = np.ceil(f)
    elif op == ROUND:
        scale = 10.0 ** abs(y)
        r = np.rint(f * scale) / scale if y >= 0 else np.rint(f / scale) * scale
        if not math.isfinite(r):
            r = f  # it is too large to have such a digit
    elif op == SQRT:
        r = math.sqrt(f)
    elif op == EXP:
        r = math.exp(f)
    elif op == LOG:
        r = math.log(f)
    elif op == POWER:
        r = f ** decoded(y)
    elif y == 0:
        return NULL
    else:
        r = f // decoded(y) if op == FLOOR_DIVIDE_FLOAT else f % decoded(y)
    return encoded(r)


@leaf
def _civil(days):
    """Year, month and day of a day counted from 1970-01-01.

    Years begin in March, so that the leap day is the last; divisions are products with a shift
    (C. Neri and L. Schneider, "Euclidean affine functions and their application to calendar algorithms").
    """
    quarter_days = 4 * (days + 719468) + 3
    century = quarter_days // 146097
    quarter_days = 4 * ((quarter_days - 146097 * century) >> 2) + 3
    product = 2939745 * quarter_days
    of_year = ((product & 0xFFFFFFFF) // 2939745) >> 2
    product_of_year = 2141 * of_year + 197913
    month = product_of_year >> 16
    day = (product_of_year & 0xFFFF) // 2141 + 1
    year = 100 * century + (product >> 32)
    return (year + 1, month - 12, day) if of_year >= 306 else (year, month, day)


@leaf
def _days(year, month):
    """The day on which a month begins, counted from 1970-01-01."""
    shifted = year - (month <= 2)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
