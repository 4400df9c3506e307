"""How often each value is there among what a read merges: counts that are made, looked at and forgotten.

Values are numbered as they come, and lie one after the other with their counts. A slot by a hash of a value has it, its
number, and in which tally it got that: one of an earlier tally is free, so nothing need be wiped. Of the slots, so few
are used that the first is nearly always the right one, and whether a value is new is no branch: nothing would foretell
it, and to be wrong takes longer than all the rest. Nor does a value wait for what became of the one before it, as it
would if a slot were known to be free by what has its number.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import inlined, kernel, leaf
from graphtide.memory import address_to_words, copy_words, free, malloc

__all__ = [
    "NUMBERED",
    "TALLY",
    "add_pairs",
    "add_value",
    "add_values",
    "begin_tally",
    "collect",
    "counts_of",
    "discard_tally",
    "distinct",
    "golden",
    "most_frequent",
    "values_of",
]

# A tally: where its memory is, the bits of how many values it has room for, those of the slots that are in use, how
# many values have numbers, and how often it was begun.
ADDRESS = 0
ROOM_BITS = 1
SLOT_BITS = 2
NUMBERED = 3
BEGUN = 4
TALLY = 5

# A slot: its value, in which tally it got that, and the number of the value there.
VALUE = 0
SINCE = 1
OF_VALUE = 2
SLOT = 3

FEWEST_BITS = 4
# There are four times as many slots as values, at least.
SPARE_BITS = 2
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@leaf
def golden(value, bits):
    """A hash of so many bits."""
    return np.int64((np.uint64(value) * GOLDEN) >> np.uint64(64 - bits))


@leaf
def values_of(tally):
    """The values by number."""
    return address_to_words(tally[ADDRESS], np.int64(1) << tally[ROOM_BITS])


@leaf
def counts_of(tally):
    """The counts by number."""
    room = np.int64(1) << tally[ROOM_BITS]
    return address_to_words(tally[ADDRESS] + 8 * room, room)


@leaf
def _slots(tally):
    """All slots, one after the other."""
    room = np.int64(1) << tally[ROOM_BITS]
    return address_to_words(tally[ADDRESS] + 16 * room, SLOT * (room << SPARE_BITS))


@kernel
def discard_tally(tally):
    """Give the memory back."""
    free(tally[ADDRESS])
    tally[ADDRESS] = 0


@kernel
def _have_room(tally, bits):
    """Have room for as many values as a number of so many bits says, and keep those that have numbers."""
    room = np.int64(1) << bits
    address = malloc(8 * room * (2 + (SLOT << SPARE_BITS)))
    if tally[ADDRESS] != 0:
        copy_words(address, tally[ADDRESS], tally[NUMBERED])
        copy_words(address + 8 * room, tally[ADDRESS] + (8 << tally[ROOM_BITS]), tally[NUMBERED])
        free(tally[ADDRESS])
    tally[ADDRESS] = address
    tally[ROOM_BITS] = bits
    slots = _slots(tally)
    for k in range(slots.shape[0]):
        slots[k] = 0


@inlined
def begin_tally(tally, values):
    """Begin anew. About so many values will come: the fewer slots, the nearer they are."""
    bits = np.int64(FEWEST_BITS)
    while values > np.int64(1) << bits:
        bits += 1
    tally[NUMBERED] = 0
    tally[BEGUN] += 1
    if tally[ADDRESS] == 0 or bits > tally[ROOM_BITS]:
        _have_room(tally, bits)
    tally[SLOT_BITS] = bits + SPARE_BITS


@kernel
def _have_more_slots(tally):
    """Let there be twice as many slots."""
    bits = tally[SLOT_BITS] + 1
    if bits - SPARE_BITS > tally[ROOM_BITS]:
        _have_room(tally, bits - SPARE_BITS)
    tally[SLOT_BITS] = bits
    tally[BEGUN] += 1
    values, slots = values_of(tally), _slots(tally)
    for number in range(tally[NUMBERED]):
        at = SLOT * golden(values[number], bits)
        while slots[at + SINCE] == tally[BEGUN]:
            at = _next_slot(at, bits)
        slots[at + VALUE] = values[number]
        slots[at + SINCE] = tally[BEGUN]
        slots[at + OF_VALUE] = number


@leaf
def _next_slot(at, bits):
    """Where the slot behind one is; the first comes after the last."""
    at += SLOT
    return at if at < SLOT << bits else np.int64(0)


@inlined
def _enter(values, counts, slots, bits, begun, numbered, value, change):
    """Add to how often a value is there; how many have numbers then."""
    at = SLOT * golden(value, bits)
    while (slots[at + SINCE] == begun) & (slots[at + VALUE] != value):
        at = _next_slot(at, bits)
    is_new = np.int64(slots[at + SINCE] != begun)
    number = slots[at + OF_VALUE]
    known = number + (numbered - number) * is_new
    slots[at + VALUE] = value
    slots[at + SINCE] = begun
    slots[at + OF_VALUE] = known
    values[known] = value
    counts[known] = (counts[known] & (is_new - 1)) + change
    return numbered + is_new


@inlined
def _have_slots(tally, many):
    """Have slots for so many values more."""
    while tally[NUMBERED] + many > np.int64(1) << (tally[SLOT_BITS] - SPARE_BITS):
        _have_more_slots(tally)


@inlined
def add_value(tally, value, change):
    """Add to how often a value is there."""
    _have_slots(tally, 1)
    values, counts, slots = values_of(tally), counts_of(tally), _slots(tally)
    tally[NUMBERED] = _enter(
        values, counts, slots, tally[SLOT_BITS], tally[BEGUN], tally[NUMBERED], value, np.int64(change)
    )


@inlined
def add_values(tally, many, first, end, change):
    """As `add_value` for one value after the other, from place to place of an array."""
    _have_slots(tally, end - first)
    bits, begun, numbered = tally[SLOT_BITS], tally[BEGUN], tally[NUMBERED]
    values, counts, slots = values_of(tally), counts_of(tally), _slots(tally)
    for place in range(first, end):
        numbered = _enter(values, counts, slots, bits, begun, numbered, many[place], change)
    tally[NUMBERED] = numbered


@kernel
def add_pairs(tally, pairs, first, end, used, sign):
    """Add so many pairs of a value and a count, those from place to place of which the count is not 0.

    Nothing foretells which these are: first all are put behind the values that have numbers, each in the place of the
    one before it if that is none.
    """
    _have_slots(tally, 2 * used + 1)
    bits, begun, numbered = tally[SLOT_BITS], tally[BEGUN], tally[NUMBERED]
    values, counts, slots = values_of(tally), counts_of(tally), _slots(tally)
    at = values.shape[0] - 1
    for place in range(first, end):
        values[at] = pairs[2 * place]
        counts[at] = pairs[2 * place + 1]
        at -= np.int64(pairs[2 * place + 1] != 0)
    for place in range(at + 1, values.shape[0]):
        numbered = _enter(values, counts, slots, bits, begun, numbered, values[place], sign * counts[place])
    tally[NUMBERED] = numbered


@inlined
def distinct(tally):
    """How many values are there."""
    counts = counts_of(tally)
    found = np.int64(0)
    for k in range(tally[NUMBERED]):
        found += counts[k] != 0
    return found


@kernel
def collect(tally, pairs, start, end):
    """Let a tally have the values of a table that are there; no more can be added."""
    begin_tally(tally, end - start)
    values, counts = values_of(tally), counts_of(tally)
    found = 0
    for at in range(start, end):
        values[found] = pairs[2 * at]
        counts[found] = pairs[2 * at + 1]
        found += pairs[2 * at + 1] != 0
    tally[NUMBERED] = found


@kernel
def most_frequent(tally, out, first, step, behind, most, ranks):
    """The values that are there most often, of equally frequent ones the least first; how many there are.

    Value k gets to `first + k * step`, its count so many words behind.
    """
    values, counts = values_of(tally), counts_of(tally)
    found = 0
    least = np.int64(1)  # what a count must be to matter
    for number in range(tally[NUMBERED]):
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
