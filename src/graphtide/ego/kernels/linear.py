"""Counts and sums: partial aggregates that add up, so a write changes every node that it reaches by the same amount.

An amount is a few words: how many values there are (if that is asked for), and their sum in digits of 32 bits, or in
one word while all sums fit it. Words are whole multiples of a power of two, so sums are exact, whatever came and went.
In which order and along how many paths an amount reaches a node does not matter: it is added or subtracted once for
each path.
"""

from __future__ import annotations

import numpy as np

from graphtide.bits import lowest
from graphtide.dataflow.kernels.weigh import LIMBS, rounded
from graphtide.ego.kernels.nodes import FLAGS, IN, LAST, NEGATIVE, OUT, PUSH, SIZE, USERS
from graphtide.ego.kernels.windows import (
    CLOCK,
    NOTHING,
    enter_value,
    first_place,
    next_place,
    pop_due,
    replace_oldest,
    value_at,
)
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels.radix import bit_length

__all__ = ["BASE", "COUNTS", "DIGITS", "IS_FLOAT", "SCALE", "bits_of", "compute", "fill_writers", "round_digits", "run"]

# The scale of amounts.
COUNTS = 0  # 1 if the first word is the number of values
DIGITS = 1  # words of the sum: 0 if there is none
BASE = 2  # what the least digit weighs: 2 ** BASE for ints, 2 ** (BASE - 1074) for floats
IS_FLOAT = 3
SCALE = 4

MANTISSA_BITS = 52
IMPLICIT_BIT = 1 << 52
DIGIT_MASK = (1 << 32) - 1
EXPONENT_MASK = 0x7FF


@leaf
def _split(code, is_float):
    """A value as a whole number times a power of two: both; of floats, the power counts from the least float."""
    if not is_float:
        return code, 0
    bits = code if code >= 0 else ~code  # the same float without its sign
    exponent = (bits >> MANTISSA_BITS) & EXPONENT_MASK
    mantissa = bits & (IMPLICIT_BIT - 1)
    place = 0
    if exponent > 0:
        mantissa |= IMPLICIT_BIT
        place = exponent - 1
    return (mantissa if code >= 0 else -mantissa), place


@kernel
def bits_of(codes, is_float):
    """Where the least binary digit of any of these values is, and where the greatest ends; the same if all are 0."""
    low = 4096
    high = 0
    greatest = np.uint64(0)
    for code in codes:
        whole, place = _split(code, is_float)
        if not is_float:
            # No bit above that of some value is set.
            greatest |= np.uint64(abs(whole))
        elif whole != 0:
            digits = np.uint64(abs(whole))
            low = min(low, place + np.int64(lowest(digits)))
            high = max(high, place + np.int64(bit_length(digits)))
    if not is_float:
        return 0, np.int64(bit_length(greatest))
    return (low, high) if high > 0 else (0, 0)


@leaf
def _add_amount(scale, code, sign, amount):
    """Add or subtract a value."""
    at = scale[COUNTS]
    if at == 1:
        amount[0] += sign
    digits = scale[DIGITS]
    if digits == 0:
        return
    whole, place = _split(code, scale[IS_FLOAT] == 1)
    shift = place - scale[BASE]
    if shift < 0:
        # The digits that fall off are zeros: no value has any below the base.
        whole >>= -shift
        shift = 0
    if digits == 1:
        amount[at] += sign * (whole << shift)
        return
    if scale[IS_FLOAT] == 0:
        amount[at] += sign * (whole & DIGIT_MASK)
        amount[at + 1] += sign * (whole >> 32)
        return
    if whole < 0:
        whole = -whole
        sign = -sign
    at += shift >> 5
    shift &= 31
    room = 32 - shift
    amount[at] += sign * ((whole & ((1 << room) - 1)) << shift)
    rest = whole >> room
    if rest > 0:
        amount[at + 1] += sign * (rest & DIGIT_MASK)
        if rest >> 32 > 0:
            amount[at + 2] += sign * (rest >> 32)


@kernel
def _spread(heads, targets, states, node, amount):
    """Add an amount of one word to all that a node reaches."""
    start = np.int64(heads[node, OUT])
    for k in range(start, start + heads[node, OUT + SIZE]):
        entry = np.int64(targets[k])
        part = -amount if entry & NEGATIVE else amount
        states[entry >> 2] += part
        if entry & LAST == 0:
            _spread(heads, targets, states, entry >> 2, part)


@kernel
def _spread_words(heads, targets, states, node, amount, sign):
    """Add an amount to all that a node reaches, or subtract it."""
    width = amount.shape[0]
    start = np.int64(heads[node, OUT])
    for k in range(start, start + heads[node, OUT + SIZE]):
        entry = np.int64(targets[k])
        part = -sign if entry & NEGATIVE else sign
        at = (entry >> 2) * width
        for j in range(width):
            states[at + j] += part * amount[j]
        if entry & LAST == 0:
            _spread_words(heads, targets, states, entry >> 2, amount, part)


@kernel
def _gather(heads, inputs, states, node):
    """Add up amounts of one word that a node stands for."""
    total = np.int64(0)
    start = np.int64(heads[node, IN])
    for k in range(start, start + heads[node, IN + SIZE]):
        entry = np.int64(inputs[k])
        other = entry >> 2
        if entry & LAST or heads[other, FLAGS] & PUSH:
            part = states[other]
        else:
            part = _gather(heads, inputs, states, other)
        total += -part if entry & NEGATIVE else part
    return total


@kernel
def _gather_words(heads, inputs, states, width, node, sign, out):
    """Add what a node stands for to `out`, or subtract it."""
    start = np.int64(heads[node, IN])
    for k in range(start, start + heads[node, IN + SIZE]):
        entry = np.int64(inputs[k])
        other = entry >> 2
        part = -sign if entry & NEGATIVE else sign
        if entry & LAST or heads[other, FLAGS] & PUSH:
            for j in range(width):
                out[j] += part * states[other * width + j]
        else:
            _gather_words(heads, inputs, states, width, other, part, out)


@leaf
def _word(scale, code):
    """A value as an amount of one word."""
    if scale[COUNTS] == 1:
        return np.int64(1)
    whole, place = _split(code, scale[IS_FLOAT] == 1)
    shift = place - scale[BASE]
    return whole << shift if shift >= 0 else whole >> -shift


@leaf
def _change(scale, gone, has_gone, come, has_come, heads, targets, states, node, amount):
    """Take a value away from a writer and add another one, there and at all that it reaches."""
    width = amount.shape[0]
    if width == 1:
        change = np.int64(0)
        if has_gone:
            change -= _word(scale, gone)
        if has_come:
            change += _word(scale, come)
        states[node] += change
        if change != 0 and heads[node, OUT + SIZE] > 0:
            _spread(heads, targets, states, node, change)
        return
    for j in range(width):
        amount[j] = 0
    if has_gone:
        _add_amount(scale, gone, -1, amount)
    if has_come:
        _add_amount(scale, come, 1, amount)
    for j in range(width):
        states[node * width + j] += amount[j]
    _spread_words(heads, targets, states, node, amount, 1)


@kernel
def run(nodes, values, expiries, times, reads, heads, inputs, targets, contents, node_of, states, scale, answers):
    """Do writes and reads in their order: each read sees the writes before it. The amounts read are in `answers`."""
    width = scale[COUNTS] + scale[DIGITS]
    amount = np.zeros(width, np.int64)
    ring, written, most, marks = contents.ring, contents.written, contents.most, contents.marks
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if most == 0 and times[i] > marks[CLOCK]:
            clock = times[i]
            marks[CLOCK] = clock
            entry = pop_due(contents, clock)
            while entry != NOTHING:
                of = node_of[contents.writer[entry]]
                gone = contents.value[entry]
                _change(scale, gone, True, gone, False, heads, targets, states, of, amount)
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                for j in range(width):
                    answers[answer, j] = states[node * width + j]
            elif width == 1:
                answers[answer, 0] = _gather(heads, inputs, states, node)
            else:
                _gather_words(heads, inputs, states, width, node, 1, answers[answer])
            answer += 1
        elif reads[i] == 0:
            writer = np.int64(heads[node, IN])
            value = values[i]
            if most == 0:
                enter_value(contents, writer, value, expiries[i])
                _change(scale, value, False, value, True, heads, targets, states, node, amount)
            else:
                falls, old = replace_oldest(ring, written, most, writer, value)
                if not falls or old != value:
                    _change(scale, old, falls, value, True, heads, targets, states, node, amount)


@kernel
def fill_writers(contents, node_of, states, scale):
    """The amounts of all writers, from their windows."""
    width = scale[COUNTS] + scale[DIGITS]
    for writer in range(node_of.shape[0]):
        amount = states[node_of[writer] * width : (node_of[writer] + 1) * width]
        amount[:] = 0
        place = first_place(contents, writer)
        while place != NOTHING:
            _add_amount(scale, value_at(contents, place), 1, amount)
            place = next_place(contents, writer, place)


@kernel
def compute(nodes, heads, inputs, states, scale):
    """The amounts of nodes whose inputs push, inputs before what stands on them."""
    width = scale[COUNTS] + scale[DIGITS]
    for node in nodes:
        states[node * width : (node + 1) * width] = 0
        _gather_words(heads, inputs, states, width, node, 1, states[node * width : (node + 1) * width])


@kernel
def round_digits(words, scale, codes):
    """The codes of the floats nearest to sums of digits."""
    limbs = np.zeros(LIMBS, np.int64)
    first = scale[BASE] >> 5
    for i in range(words.shape[0]):
        limbs[:] = 0
        for j in range(scale[DIGITS]):
            limbs[first + j] = words[i, scale[COUNTS] + j]
        codes[i] = rounded(limbs)
