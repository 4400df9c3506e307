"""A hash table from codes to small numbers: open addressing, at most half full.

A code stands beside its number, so that to find it costs one miss of the cache.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import borrowing_leaf, kernel

__all__ = ["EMPTY", "enter", "enter_again", "known_number", "look_up", "number_of", "put", "take_out"]

EMPTY = -1
_CODE, _NUMBER = 0, 1


@borrowing_leaf
def _place(code, size):
    """Where to begin looking: the high bits of a product spread neighbours apart."""
    mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(32)) & (size - 1)


@borrowing_leaf
def _find(entries, code):
    """The place of a code, or the empty one where it belongs."""
    size = entries.shape[0]
    at = _place(code, size)
    while entries[at, _NUMBER] != EMPTY and entries[at, _CODE] != code:
        at = (at + 1) & (size - 1)
    return at


@kernel
def look_up(entries, codes, out):
    """The numbers of many codes, EMPTY for those that have none; the first of these, or how many codes there are."""
    missing = codes.shape[0]
    for k in range(codes.shape[0] - 1, -1, -1):
        out[k] = known_number(codes[k], entries)
        if out[k] == EMPTY:
            missing = k
    return missing


@borrowing_leaf
def known_number(code, entries):
    """The number of a code, EMPTY if it has none."""
    return entries[_find(entries, code), _NUMBER]


@borrowing_leaf
def number_of(code, entries, names, count):
    """The number of a code, a new one if it has none; how many there are then."""
    at = _find(entries, code)
    if entries[at, _NUMBER] == EMPTY:
        entries[at, _CODE] = code
        entries[at, _NUMBER] = count
        names[count] = code
        count += 1
    return entries[at, _NUMBER], count


@kernel
def enter(entries, names, count, codes, at, out):
    """The numbers of codes from a place on, new ones for those that are not there; until there is no room for one more.

    How many there are then, and the place to go on at.
    """
    room = min(names.shape[0], entries.shape[0] // 2)
    while at < codes.shape[0] and count < room:
        out[at], count = number_of(codes[at], entries, names, count)
        at += 1
    return count, at


@kernel
def enter_again(entries, names, is_there):
    """Fill an empty table with the codes of the numbers that are there."""
    for number in range(is_there.shape[0]):
        if is_there[number]:
            _put(entries, names[number], number)


@kernel
def put(entries, names, code, number):
    """Give a code that has none a number."""
    names[number] = code
    _put(entries, code, number)


@borrowing_leaf
def _put(entries, code, number):
    at = _find(entries, code)
    entries[at, _CODE] = code
    entries[at, _NUMBER] = number


@kernel
def take_out(entries, codes):
    """Let codes have no number any more; those behind them move up, so that no search ends too early."""
    size = entries.shape[0]
    for code in codes:
        gap = _find(entries, code)
        at = (gap + 1) & (size - 1)
        while entries[at, _NUMBER] != EMPTY:
            # How far a code lies behind where its search begins, and how far it would then.
            begin = _place(entries[at, _CODE], size)
            if ((at - begin) & (size - 1)) >= ((at - gap) & (size - 1)):
                entries[gap] = entries[at]
                gap = at
            at = (at + 1) & (size - 1)
        entries[gap, _NUMBER] = EMPTY
