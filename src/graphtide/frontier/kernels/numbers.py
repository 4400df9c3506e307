"""A hash table from codes to small numbers: open addressing, at most half full, nothing is ever taken out."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["EMPTY", "enter", "enter_again", "known_number", "look_up", "number_of"]

EMPTY = -1


@leaf
def _place(code, size):
    """Where to begin looking: the high bits of a product spread neighbours apart."""
    mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(32)) & (size - 1)


@leaf
def _find(keys, numbers, code):
    """The place of a code, or the empty one where it belongs."""
    size = keys.shape[0]
    at = _place(code, size)
    while numbers[at] != EMPTY and keys[at] != code:
        at = (at + 1) & (size - 1)
    return at


@kernel
def look_up(keys, numbers, codes, out):
    """The numbers of many codes, EMPTY for those that have none; the first of these, or how many codes there are."""
    missing = codes.shape[0]
    for k in range(codes.shape[0] - 1, -1, -1):
        out[k] = numbers[_find(keys, numbers, codes[k])]
        if out[k] == EMPTY:
            missing = k
    return missing


@leaf
def known_number(code, keys, numbers):
    """The number of a code, EMPTY if it has none."""
    return np.int64(numbers[_find(keys, numbers, code)])


@leaf
def number_of(code, keys, numbers, names, count):
    """The number of a code, a new one if it has none; how many there are then."""
    at = _find(keys, numbers, code)
    if numbers[at] == EMPTY:
        keys[at] = code
        numbers[at] = count
        names[count] = code
        count += 1
    return np.int64(numbers[at]), count


@kernel
def enter(keys, numbers, names, count, codes, out):
    """The numbers of many codes, new ones for those that are not there; how many there are then."""
    for k in range(codes.shape[0]):
        out[k], count = number_of(codes[k], keys, numbers, names, count)
    return count


@kernel
def enter_again(keys, numbers, names, count):
    """Fill an empty table with codes in the order of their numbers."""
    for number in range(count):
        at = _find(keys, numbers, names[number])
        keys[at] = names[number]
        numbers[at] = number
