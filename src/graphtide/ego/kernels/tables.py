"""How often each value is there: tables of counts, and lists of the values that are there most often.

A node that is kept and has many values has a table by open addressing, all in one pool of pairs (value, count), with
as many places as a power of two; where the count is 0, the place is free. Counts add up as sums do, so in which order
changes come does not matter; on their way they may be below 0.

Behind a table of a node is room for a list of the most frequent values, made when one is asked for. It is right as far
as it goes: a count that changes is noted in it, and it ends before the first place that may be another's then. Readers
that are kept are often read and seldom written to.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.tally import (
    add_pairs,
    collect,
    counts_of,
    distinct,
    golden,
    most_frequent,
    values_of,
)
from graphtide.jit import inlined, kernel, leaf
from graphtide.memory import address_to_words, copy_words, free, malloc, prefetch

__all__ = [
    "BITS",
    "CAPACITY",
    "CLASSES",
    "FEWEST_BITS",
    "POOL",
    "START",
    "TABLE",
    "USED",
    "add_table",
    "answer_table",
    "ask_for_list",
    "ask_for_value",
    "clear",
    "count_value",
    "discard",
    "give_back",
    "grow",
    "keep_list",
    "pairs_of",
    "resize",
    "settle",
    "take",
]

# Columns of a node's table: where it starts in the pool, how many bits its size has, how many places are used.
START = 0
BITS = 1
USED = 2
LISTED = 3  # how many of the most frequent values are listed
TABLE = 4

# The pool: where it is in memory, and how many pairs it has room for.
ADDRESS = 0
CAPACITY = 1
POOL = 2

# Free places of the pool by bits of their size, linked through their first value; the last word is where its unused end
# is.
CLASSES = 40
END = CLASSES - 1

FEWEST_BITS = 2
# The list behind a table has room for so many values, or as many as the table.
LIST = 8


@leaf
def pairs_of(pool):
    """The pool as an array: value 2 k and count 2 k + 1 of pair k."""
    return address_to_words(pool[ADDRESS], 2 * pool[CAPACITY])


@kernel
def grow(pool, capacity):
    """Have room for so many pairs."""
    address = malloc(16 * capacity)
    if pool[ADDRESS] != 0:
        copy_words(address, pool[ADDRESS], 2 * pool[CAPACITY])
        free(pool[ADDRESS])
    pool[ADDRESS] = address
    pool[CAPACITY] = capacity


@kernel
def discard(pool):
    """Give the memory of a pool back."""
    free(pool[ADDRESS])
    pool[ADDRESS] = 0
    pool[CAPACITY] = 0


@kernel
def take(pool, places, bits):
    """A place for a table of that size, all counts 0."""
    size = (np.int64(1) << bits) + _list_room(bits)
    start = places[bits]
    if start >= 0:
        places[bits] = pairs_of(pool)[2 * start]
    else:
        start = places[END]
        if start + size > pool[CAPACITY]:
            grow(pool, max(2 * pool[CAPACITY], start + size))
        places[END] = start + size
    pairs = pairs_of(pool)
    for k in range(start, start + size):
        pairs[2 * k + 1] = 0
    return start


@leaf
def give_back(pool, places, start, bits):
    """Let the place of a table be taken again."""
    pairs_of(pool)[2 * start] = places[bits]
    places[bits] = start


@leaf
def _find(pairs, start, bits, value):
    """The place of a value in a table, or where it would be."""
    mask = (np.int64(1) << bits) - 1
    at = golden(value, bits)
    while pairs[2 * (start + at) + 1] != 0 and pairs[2 * (start + at)] != value:
        at = (at + 1) & mask
    return at


@leaf
def _remove(pairs, start, bits, at):
    """Empty a place; those behind it move up, as far as they were displaced (Knuth, 6.4, algorithm R)."""
    mask = (np.int64(1) << bits) - 1
    hole = at
    k = at
    while True:
        k = (k + 1) & mask
        if pairs[2 * (start + k) + 1] == 0:
            break
        home = golden(pairs[2 * (start + k)], bits)
        if ((k - home) & mask) >= ((k - hole) & mask):
            pairs[2 * (start + hole)] = pairs[2 * (start + k)]
            pairs[2 * (start + hole) + 1] = pairs[2 * (start + k) + 1]
            hole = k
    pairs[2 * (start + hole) + 1] = 0


@kernel
def resize(pool, places, tables, node, bits):
    """Give a node a table of another size."""
    start = take(pool, places, bits)
    pairs = pairs_of(pool)
    old, old_bits = tables[node, START], tables[node, BITS]
    if old_bits > 0:
        for k in range(old, old + (np.int64(1) << old_bits)):
            if pairs[2 * k + 1] != 0:
                at = start + _find(pairs, start, bits, pairs[2 * k])
                pairs[2 * at] = pairs[2 * k]
                pairs[2 * at + 1] = pairs[2 * k + 1]
        give_back(pool, places, old, old_bits)
    tables[node, START] = start
    tables[node, BITS] = bits
    tables[node, LISTED] = 0


@inlined
def count_value(pool, places, tables, node, value, change):
    """Add to how often a value is there; how often that is then."""
    bits = tables[node, BITS]
    start = tables[node, START]
    pairs = pairs_of(pool)
    at = np.int64(-1)
    count = np.int64(0)
    if bits > 0:
        at = start + _find(pairs, start, bits, value)
        count = pairs[2 * at + 1]
    if count != 0:
        pairs[2 * at + 1] = count + change
        if count + change == 0:
            _remove(pairs, start, bits, at - start)
            tables[node, USED] -= 1
    elif at >= 0 and 4 * (tables[node, USED] + 1) <= 3 << bits:  # a quarter stays free
        pairs[2 * at] = value
        pairs[2 * at + 1] = change
        tables[node, USED] += 1
    else:
        _insert(pool, places, tables, node, value, change)
    return count + change


@kernel
def _insert(pool, places, tables, node, value, change):
    """Add a value to a table that is full."""
    resize(pool, places, tables, node, max(tables[node, BITS] + 1, np.int64(FEWEST_BITS)))
    start = tables[node, START]
    pairs = pairs_of(pool)
    at = start + _find(pairs, start, tables[node, BITS], value)
    pairs[2 * at] = value
    pairs[2 * at + 1] = change
    tables[node, USED] += 1


@kernel
def settle(pool, places, tables, node, tally):
    """Let a node that has nothing have what was counted."""
    values, counts = values_of(tally), counts_of(tally)
    there = distinct(tally)
    if there == 0:
        return
    bits = np.int64(FEWEST_BITS)
    while 4 * there > 3 << bits:
        bits += 1
    resize(pool, places, tables, node, bits)
    for k in range(there):
        count_value(pool, places, tables, node, values[k], counts[k])


@inlined
def add_table(pool, tables, node, tally, sign):
    """Count what is in the table of a node."""
    first = tables[node, START]
    add_pairs(tally, pairs_of(pool), first, first + _places(tables, node), sign)


@leaf
def _list_room(bits):
    """How many values a list has room for, behind a table of so many bits."""
    return min(np.int64(LIST), np.int64(1) << bits)


@leaf
def _places(tables, node):
    """How many places a table has."""
    bits = tables[node, BITS]
    return np.int64(1) << bits if bits > 0 else np.int64(0)


@inlined
def ask_for_value(pool, tables, node, value):
    """Have the place of a value in a node's table in the cache soon."""
    place = golden(value, max(tables[node, BITS], np.int64(1)))
    prefetch(pairs_of(pool), 2 * (tables[node, START] + place))


@inlined
def ask_for_list(pool, tables, node):
    """Have the list of a node in the cache soon."""
    prefetch(pairs_of(pool), 2 * (tables[node, START] + (np.int64(1) << tables[node, BITS])))


@kernel
def _make_list(pool, tables, node, tally, ranks):
    """List the most frequent values of a table."""
    start = tables[node, START]
    end = start + _places(tables, node)
    collect(tally, pairs_of(pool), start, end)
    tables[node, LISTED] = most_frequent(tally, pairs_of(pool), 2 * end, 2, 1, _list_room(tables[node, BITS]), ranks)


@inlined
def keep_list(pool, tables, node, value, count, change):
    """Let a list be right after a count has changed, unless it was and is below all that are listed."""
    listed = tables[node, LISTED]
    if listed > 0:
        first = 2 * (tables[node, START] + _places(tables, node))
        if max(count, count - change) >= pairs_of(pool)[first + 2 * listed - 1]:
            tables[node, LISTED] = _mend_list(pairs_of(pool), first, listed, value, count, change)


@leaf
def _mend_list(pairs, first, listed, value, count, change):
    """Note a count in a list, which ends before the first place that may be another's then; how long it is."""
    k = 0
    while k < listed and pairs[first + 2 * k] != value:
        k += 1
    if k < listed:
        pairs[first + 2 * k + 1] = count
        if change < 0:
            # What is listed last may be less than what is not listed.
            return listed if k + 1 < listed and pairs[first + 2 * k + 3] < count else k
    elif change < 0:
        return listed
    place = k
    while place > 0 and pairs[first + 2 * place - 1] <= count:
        place -= 1
    return listed if place == k else place


@inlined
def answer_table(pool, tables, node, tally, ranks, answers, first, most):
    """The values that are most often in a table, and their counts."""
    if tables[node, BITS] > 0:
        pairs = pairs_of(pool)
        start = tables[node, START]
        end = start + _places(tables, node)
        if most <= LIST:
            if tables[node, LISTED] < min(most, tables[node, USED]):
                _make_list(pool, tables, node, tally, ranks)
            for k in range(min(most, tables[node, LISTED])):
                answers[first + k] = pairs[2 * (end + k)]
                answers[first + most + k] = pairs[2 * (end + k) + 1]
        else:
            collect(tally, pairs, start, end)
            most_frequent(tally, answers, first, 1, most, most, ranks)


@leaf
def clear(pool, places, tables, node):
    """Let a node have no table."""
    if tables[node, BITS] > 0:
        give_back(pool, places, tables[node, START], tables[node, BITS])
    tables[node, BITS] = 0
    tables[node, USED] = 0
    tables[node, LISTED] = 0
