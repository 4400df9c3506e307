"""How often each value is there among what a read merges: counts that are made, looked at and forgotten.

Values are *entered* one after the other, each with how many times it counts, and then counted at once: each adds to a
slot by its hash, and a second pass over them takes from each slot what has come together there. No step waits for what
became of the one before it, and none is a branch: nothing would foretell whether a value is new, and to be wrong takes
longer than all the rest. Slots are so many that two values seldom have the same one; whether some had is seen in the
second pass, and only then are they counted again, by open addressing.

Invariant: before and after a count all slots are empty.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import inlined, kernel, leaf
from graphtide.memory import address_to_words, copy_words, free, malloc
from graphtide.trace.kernels.radix import bit_length

__all__ = [
    "TALLY",
    "add_pairs",
    "add_value",
    "add_values",
    "begin_tally",
    "bytes_of",
    "collect",
    "count_tally",
    "counts_of",
    "discard_tally",
    "distinct",
    "golden",
    "most_frequent",
    "values_of",
]

# A tally: where its memory is, for how many values it has room, the bits of how many slots there are, how many values
# were entered, and how many different ones were found.
ADDRESS = 0
ROOM = 1
SLOT_BITS = 2
ENTERED = 3
FOUND = 4
TALLY = 5

# For each value that there is room for: it, how many times it counts, the place of its slot; a value that was found,
# and its count.
WORDS = 5
# A slot: a value, and how often that is there. While slots are searched for values, a used one has no count of 0.
SLOT = 2
USED = 1 << 60

FEWEST = 16
# With n values there are 4 n * n slots, but no more than these, or four times as many as values.
MOST_BITS = 14
SPARE_BITS = 2
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@leaf
def golden(value, bits):
    """A hash of so many bits."""
    return np.int64((np.uint64(value) * GOLDEN) >> np.uint64(64 - bits))


@leaf
def _words(tally, which):
    """One of the arrays that have a word for each value."""
    return address_to_words(tally[ADDRESS] + 8 * which * tally[ROOM], tally[ROOM])


@leaf
def values_of(tally):
    """The different values that were found."""
    return _words(tally, 3)


@leaf
def counts_of(tally):
    """How often each of them is there; never 0."""
    return _words(tally, 4)


@leaf
def _slots(tally):
    """All slots, one after the other."""
    return address_to_words(tally[ADDRESS] + 8 * WORDS * tally[ROOM], np.int64(SLOT) << tally[SLOT_BITS])


@leaf
def bytes_of(tally):
    """How many bytes its memory has."""
    if tally[ADDRESS] == 0:
        return np.int64(0)
    return 8 * (WORDS * tally[ROOM] + (np.int64(SLOT) << tally[SLOT_BITS]))


@leaf
def _bits_for(values):
    """The bits of how many slots so many values want."""
    bits = np.int64(bit_length(np.uint64(max(values, 1) - 1)))
    return max(min(2 * bits, MOST_BITS), bits) + SPARE_BITS


@kernel
def discard_tally(tally):
    """Give the memory back."""
    free(tally[ADDRESS])
    tally[:] = 0


@kernel
def _have_room(tally, values):
    """Have room for so many values, and keep those that were entered."""
    room = np.int64(FEWEST)
    while room < values:
        room *= 2
    slots = np.int64(SLOT) << _bits_for(room)
    address = malloc(8 * (WORDS * room + slots))
    if tally[ADDRESS] != 0:
        copy_words(address, tally[ADDRESS], tally[ENTERED])
        copy_words(address + 8 * room, tally[ADDRESS] + 8 * tally[ROOM], tally[ENTERED])
        free(tally[ADDRESS])
    tally[ADDRESS] = address
    tally[ROOM] = room
    tally[SLOT_BITS] = _bits_for(room)
    empty = _slots(tally)
    for k in range(slots):
        empty[k] = 0


@inlined
def begin_tally(tally, values):
    """Begin anew. About so many values will come."""
    tally[ENTERED] = 0
    if tally[ROOM] < values or tally[ADDRESS] == 0:
        _have_room(tally, values)


@inlined
def add_value(tally, value, change):
    """Enter a value that counts so many times."""
    at = tally[ENTERED]
    if at == tally[ROOM]:
        _have_room(tally, at + 1)
    _words(tally, 0)[at] = value
    _words(tally, 1)[at] = change
    tally[ENTERED] = at + 1


@inlined
def add_values(tally, many, first, end, change):
    """As `add_value` for one value after the other, from place to place of an array."""
    at = tally[ENTERED] - first
    if at + end > tally[ROOM]:
        _have_room(tally, at + end)
    values, changes = _words(tally, 0), _words(tally, 1)
    for place in range(first, end):
        values[at + place] = many[place]
        changes[at + place] = change
    tally[ENTERED] = at + end


@inlined
def add_pairs(tally, pairs, first, end, sign):
    """Enter pairs of a value and a count, those from place to place of which the count is not 0."""
    at = tally[ENTERED]
    if at + end - first > tally[ROOM]:
        _have_room(tally, at + end - first)
    values, changes = _words(tally, 0), _words(tally, 1)
    for place in range(first, end):
        # Nothing foretells which these are.
        values[at] = pairs[2 * place]
        changes[at] = sign * pairs[2 * place + 1]
        at += np.int64(pairs[2 * place + 1] != 0)
    tally[ENTERED] = at


@inlined
def count_tally(tally):
    """Count what was entered."""
    entered = tally[ENTERED]
    # Fewer values take fewer slots: these are nearer.
    bits = _bits_for(entered)
    values, changes, places = _words(tally, 0), _words(tally, 1), _words(tally, 2)
    found, counts, slots = values_of(tally), counts_of(tally), _slots(tally)
    for k in range(entered):
        at = SLOT * golden(values[k], bits)
        places[k] = at
        slots[at] = values[k]
        slots[at + 1] += changes[k]
    different = 0
    clash = False
    for k in range(entered):
        at = places[k]
        count = slots[at + 1]
        clash |= slots[at] != values[k]
        slots[at + 1] = 0
        found[different] = values[k]
        counts[different] = count
        different += np.int64(count != 0)
    tally[FOUND] = different
    if clash:
        _count_again(tally, bits)


@kernel
def _count_again(tally, bits):
    """Count what was entered, where different values have the same slot: a value has the next one that is free."""
    values, changes, places = _words(tally, 0), _words(tally, 1), _words(tally, 2)
    found, counts, slots = values_of(tally), counts_of(tally), _slots(tally)
    end = np.int64(SLOT) << bits
    for k in range(tally[ENTERED]):
        at = places[k]
        while slots[at + 1] != 0 and slots[at] != values[k]:
            at = at + SLOT if at + SLOT < end else 0
        slots[at] = values[k]
        slots[at + 1] = (slots[at + 1] if slots[at + 1] != 0 else np.int64(USED)) + changes[k]
        places[k] = at
    different = 0
    for k in range(tally[ENTERED]):
        at = places[k]
        if slots[at + 1] != 0 and slots[at + 1] != USED:
            found[different] = values[k]
            counts[different] = slots[at + 1] - USED
            different += 1
        slots[at + 1] = 0
    tally[FOUND] = different


@inlined
def distinct(tally):
    """How many different values were found."""
    return tally[FOUND]


@kernel
def collect(tally, pairs, start, end):
    """Let a tally have found the values of a table that are there."""
    begin_tally(tally, end - start)
    values, counts = values_of(tally), counts_of(tally)
    different = 0
    for at in range(start, end):
        values[different] = pairs[2 * at]
        counts[different] = pairs[2 * at + 1]
        different += pairs[2 * at + 1] != 0
    tally[FOUND] = different


@kernel
def most_frequent(tally, out, first, step, behind, most, ranks):
    """The values that are there most often, of equally frequent ones the least first; how many there are.

    Value k gets to `first + k * step`, its count so many words behind.
    """
    values, counts = values_of(tally), counts_of(tally)
    found = 0
    least = np.int64(1)  # what a count must be to matter
    for number in range(tally[FOUND]):
        count = counts[number]
        if count < least:
            continue
        value = values[number]
        k = found
        while k > 0:
            before = first + (k - 1) * step
            other = out[before + behind]
            if count < other:
                break
            if count == other:
                its = out[before]
                if (ranks[value] > ranks[its]) if ranks.shape[0] > 0 else value > its:
                    break
            if k < most:
                out[before + step] = out[before]
                out[before + step + behind] = other
            k -= 1
        if k < most:
            out[first + k * step] = value
            out[first + k * step + behind] = count
            found = min(found + 1, most)
        if found == most:
            least = out[first + (most - 1) * step + behind]
    return found
