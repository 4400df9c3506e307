"""Stable least-significant-digit radix sort of unsigned words, alone or with the rows they came from.

All digits are counted first, and a digit that is the same everywhere costs nothing.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["bit_length", "is_ascending", "sort_keys", "sort_pairs"]

# Below this many keys insertion beats counting.
FEW = 48
# From this many keys on, wider digits (fewer passes) win over their larger counters.
MANY = 1 << 12
# From this many on, the keys are dealt out to parts that fit the caches.
TOO_MANY = 1 << 22
NARROW_DIGIT = 8
WIDE_DIGIT = 11


@leaf
def bit_length(x):
    """Bits of the unsigned word `x`: 0 for 0, 64 for the largest."""
    n = 0
    if x >> np.uint64(32):
        n += 32
        x >>= np.uint64(32)
    if x >> np.uint64(16):
        n += 16
        x >>= np.uint64(16)
    if x >> np.uint64(8):
        n += 8
        x >>= np.uint64(8)
    if x >> np.uint64(4):
        n += 4
        x >>= np.uint64(4)
    if x >> np.uint64(2):
        n += 2
        x >>= np.uint64(2)
    if x >> np.uint64(1):
        n += 1
        x >>= np.uint64(1)
    return n + np.int64(x)


@kernel
def is_ascending(keys, n):
    """Whether the first `n` keys never fall."""
    for i in range(1, n):
        if keys[i] < keys[i - 1]:
            return False
    return True


@kernel
def _count_digits(keys, n, digits, width):
    counts = np.zeros((digits, 1 << width), np.int64)
    mask = np.uint64((1 << width) - 1)
    for d in range(digits):
        own = counts[d]
        shift = np.uint64(d * width)
        for i in range(n):
            own[(keys[i] >> shift) & mask] += 1
    return counts


@kernel
def _starts(counts, n):
    """Turn one digit's counts into start positions; False if all keys share the digit."""
    total = 0
    for v in range(counts.shape[0]):
        c = counts[v]
        if c == n:
            return False
        counts[v] = total
        total += c
    return True


@kernel
def sort_keys(keys, other, n, bits):
    """Sort the first `n` keys, of `bits` bits each, using a second array: True if the result is in that one."""
    if n <= FEW:
        _insert(keys, n)
        return False
    if is_ascending(keys, n):
        return False
    if n < TOO_MANY or bits <= WIDE_DIGIT:
        return _by_digits(keys, other, n, bits)
    # More than the caches hold: first deal out by the leading bits, then sort each part where it fits.
    rest = bits - WIDE_DIGIT
    start = np.zeros((1 << WIDE_DIGIT) + 1, np.int64)
    shift = np.uint64(rest)
    for i in range(n):
        start[np.int64(keys[i] >> shift) + 1] += 1
    for v in range(1, start.shape[0]):
        start[v] += start[v - 1]
    place = start.copy()
    for i in range(n):
        v = np.int64(keys[i] >> shift)
        other[place[v]] = keys[i]
        place[v] += 1
    for v in range(start.shape[0] - 1):
        low = start[v]
        size = start[v + 1] - low
        part = other[low : low + size]
        if size <= FEW:
            _insert(part, size)
        elif _by_digits(part, keys[low : low + size], size, rest):
            other[low : low + size] = keys[low : low + size]
    return True


@kernel
def _insert(keys, n):
    """Insertion sort."""
    for i in range(1, n):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@leaf
def _digits(n, bits):
    """How many digits to sort by and how wide they are: as few as may be, and then as narrow."""
    widest = WIDE_DIGIT if n >= MANY else NARROW_DIGIT
    digits = (bits + widest - 1) // widest
    return digits, (bits + digits - 1) // max(digits, 1)


@kernel
def _by_digits(keys, other, n, bits):
    """Sort digit by digit, the last one first: True if the result is in `other`."""
    digits, width = _digits(n, bits)
    counts = _count_digits(keys, n, digits, width)
    mask = np.uint64((1 << width) - 1)
    swapped = False
    for d in range(digits):
        start = counts[d]
        if not _starts(start, n):
            continue
        shift = np.uint64(d * width)
        for i in range(n):
            key = keys[i]
            v = (key >> shift) & mask
            # Unsigned, since a signed place may count from the end.
            other[np.uint64(start[v])] = key
            start[v] += 1
        keys, other = other, keys
        swapped = not swapped
    return swapped


@kernel
def sort_pairs(keys, rows, n, bits):
    """Sort `keys` and carry `rows` along, stably; both are overwritten, the sorted pair is returned."""
    if n <= FEW:
        for i in range(1, n):
            key = keys[i]
            row = rows[i]
            j = i - 1
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                rows[j + 1] = rows[j]
                j -= 1
            keys[j + 1] = key
            rows[j + 1] = row
        return keys, rows
    if is_ascending(keys, n):
        return keys, rows
    digits, width = _digits(n, bits)
    counts = _count_digits(keys, n, digits, width)
    mask = np.uint64((1 << width) - 1)
    other_keys = np.empty(n, np.uint64)
    other_rows = np.empty(n, np.int64)
    for d in range(digits):
        start = counts[d]
        if not _starts(start, n):
            continue
        shift = np.uint64(d * width)
        for i in range(n):
            key = keys[i]
            v = np.int64((key >> shift) & mask)
            other_keys[start[v]] = key
            other_rows[start[v]] = rows[i]
            start[v] += 1
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
    return keys, rows
