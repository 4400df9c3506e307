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
from graphtide.ego.kernels.nodes import FLAGS, IN, KEPT, LAST, NEGATIVE, OUT, PUSH, SIZE, USERS
from graphtide.ego.kernels.operations import READ, WRITE, look_ahead
from graphtide.ego.kernels.walks import begin, go_back, go_into
from graphtide.ego.kernels.windows import (
    CLOCK,
    NOTHING,
    first_place,
    next_place,
    pop_due,
    value_at,
    write_value,
)
from graphtide.jit import borrowing, inlined, kernel, leaf
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
def bits_of(codes, kinds, is_float):
    """Where the least binary digit of what is written is, and where the greatest ends; the same if all are 0."""
    low = 4096
    high = 0
    greatest = np.uint64(0)
    for i in range(codes.shape[0]):
        if kinds[i] != WRITE:
            continue
        whole, place = _split(codes[i], is_float)
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


@inlined
def _spread(heads, targets, stack, states, node, amount):
    """Add an amount of one word to all that a node reaches; nothing is added nowhere."""
    top = 0
    k = np.int64(heads[node, OUT])
    # Nothing foretells whether a value is the one before, but most lists are empty: one branch for both.
    end = k + heads[node, OUT + SIZE] * np.int64(amount != 0)
    while True:
        while k < end:
            entry = np.int64(targets[k])
            k += 1
            part = -amount if entry & NEGATIVE else amount
            states[entry >> 2] += part
            if entry & LAST == 0:
                stack[top + 2] = amount
                top, k, end = go_into(heads, OUT, entry >> 2, stack, top, k, end)
                amount = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        amount = stack[top + 2]


@inlined
def _spread_words(heads, targets, stack, states, node, amount):
    """Add an amount to all that a node reaches."""
    width = amount.shape[0]
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, OUT, node)
    while True:
        while k < end:
            entry = np.int64(targets[k])
            k += 1
            part = -sign if entry & NEGATIVE else sign
            at = (entry >> 2) * width
            for j in range(width):
                states[at + j] += part * amount[j]
            if entry & LAST == 0:
                stack[top + 2] = sign
                top, k, end = go_into(heads, OUT, entry >> 2, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@inlined
def _gather(heads, inputs, stack, states, node):
    """Add up amounts of one word that a node stands for."""
    total = np.int64(0)
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, IN, node)
    while True:
        while k < end:
            entry = np.int64(inputs[k])
            other = entry >> 2
            k += 1
            part = -sign if entry & NEGATIVE else sign
            if entry & KEPT:
                total += part * states[other]
            else:
                stack[top + 2] = sign
                top, k, end = go_into(heads, IN, other, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]
    return total


@inlined
def _gather_words(heads, inputs, stack, states, width, node, out, at):
    """Add what a node stands for to the words of `out` from `at` on."""
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, IN, node)
    while True:
        while k < end:
            entry = np.int64(inputs[k])
            other = entry >> 2
            k += 1
            part = -sign if entry & NEGATIVE else sign
            if entry & KEPT:
                for j in range(width):
                    out[at + j] += part * states[other * width + j]
            else:
                stack[top + 2] = sign
                top, k, end = go_into(heads, IN, other, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@leaf
def _word(scale, code):
    """A value as an amount of one word."""
    if scale[COUNTS] == 1:
        return np.int64(1)
    whole, place = _split(code, scale[IS_FLOAT] == 1)
    shift = place - scale[BASE]
    return whole << shift if shift >= 0 else whole >> -shift


@inlined
def _change(scale, gone, has_gone, come, has_come, heads, targets, stack, states, node, amount):
    """Take a value away from a writer and add another one, there and at all that it reaches."""
    width = amount.shape[0]
    if width == 1:
        change = np.int64(0)
        if has_gone:
            change -= _word(scale, gone)
        if has_come:
            change += _word(scale, come)
        states[node] += change
        _spread(heads, targets, stack, states, node, change)
    else:
        for j in range(width):
            amount[j] = 0
        if has_gone:
            _add_amount(scale, gone, -1, amount)
        if has_come:
            _add_amount(scale, come, 1, amount)
        for j in range(width):
            states[node * width + j] += amount[j]
        _spread_words(heads, targets, stack, states, node, amount)


@borrowing
def run(batch, lists, contents, node_of, states, scale, amount, answers):
    """Do writes and reads in their order: each read sees the writes before it.

    The amounts read are in `answers`, one after the other.
    """
    nodes, kinds, times = batch.nodes, batch.kinds, batch.times
    heads, inputs, targets, stack = lists
    width = amount.shape[0]
    most, marks = contents.most, contents.marks
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        look_ahead(i, nodes, kinds, heads, inputs, targets, contents, states, width)
        if most == 0 and times[i] > marks[CLOCK]:
            _expire(times[i], heads, targets, stack, contents, node_of, states, scale, amount)
        if kinds[i] == READ:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                for j in range(width):
                    answers[answer + j] = states[node * width + j]
            elif width == 1:
                answers[answer] = _gather(heads, inputs, stack, states, node)
            else:
                _gather_words(heads, inputs, stack, states, width, node, answers, answer)
            answer += width
        elif kinds[i] == WRITE:
            writer = np.int64(heads[node, IN])
            value = batch.values[i]
            falls, old = write_value(contents, writer, value, batch.expiries, i)
            if width == 1 or not falls or old != value:
                _change(scale, old, falls, value, True, heads, targets, stack, states, node, amount)


@borrowing
def _expire(clock, heads, targets, stack, contents, node_of, states, scale, amount):
    """Let the clock be there: what is due is taken away."""
    contents.marks[CLOCK] = clock
    entry = pop_due(contents, clock)
    while entry != NOTHING:
        of = node_of[contents.writer[entry]]
        gone = contents.value[entry]
        _change(scale, gone, True, gone, False, heads, targets, stack, states, of, amount)
        entry = pop_due(contents, clock)


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
def compute(nodes, heads, inputs, stack, states, scale):
    """The amounts of nodes whose inputs push, inputs before what stands on them."""
    width = scale[COUNTS] + scale[DIGITS]
    for node in nodes:
        states[node * width : (node + 1) * width] = 0
        _gather_words(heads, inputs, stack, states, width, node, states, node * width)


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
