"""Counts and sums: partial aggregates that add up, so a write changes every node that it reaches by the same amount.

An amount is a few words: how many values there are (if that is asked for), and their sum in digits of 32 bits, or in
one word while all sums fit it. Words are whole multiples of a power of two, so sums are exact, whatever came and went.
In which order and along how many paths an amount reaches a node does not matter: it is added or subtracted once for
each path.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.weigh import LIMBS, rounded
from graphtide.ego.kernels.nodes import FLAGS, IN, LAST, NEGATIVE, OUT, PUSH, SIZE, USERS, grow_stack
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
    high = -1
    for code in codes:
        whole, place = _split(code, is_float)
        if whole == 0:
            continue
        rest = abs(whole)
        if is_float:
            while rest & 1 == 0:
                rest >>= 1
                place += 1
        low = min(low, place)
        while rest > 0:
            rest >>= 1
            place += 1
        high = max(high, place)
    return (low, high) if high >= 0 else (0, 0)


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


@leaf
def _spread(heads, targets, states, width, node, amount, stack):
    """Add an amount to a node and to all that it reaches."""
    for j in range(width):
        states[node * width + j] += amount[j]
    stack[0] = node << 1
    top = 1
    while top > 0:
        top -= 1
        u = stack[top] >> 1
        flipped = stack[top] & 1
        start = np.int64(heads[u, OUT])
        end = start + heads[u, OUT + SIZE]
        if top + end - start > stack.shape[0]:
            stack = grow_stack(stack, top + end - start)
        if width == 1:
            plain = -amount[0] if flipped else amount[0]
            for k in range(start, end):
                entry = np.int64(targets[k])
                states[entry >> 2] += -plain if entry & NEGATIVE else plain
                if entry & LAST == 0:
                    stack[top] = ((entry >> 2) << 1) | (flipped ^ (entry & NEGATIVE))
                    top += 1
        else:
            for k in range(start, end):
                entry = np.int64(targets[k])
                at = (entry >> 2) * width
                negative = flipped ^ (entry & NEGATIVE)
                if negative:
                    for j in range(width):
                        states[at + j] -= amount[j]
                else:
                    for j in range(width):
                        states[at + j] += amount[j]
                if entry & LAST == 0:
                    stack[top] = ((entry >> 2) << 1) | negative
                    top += 1
    return stack


@leaf
def _gather(heads, inputs, states, width, node, out, stack):
    """Add up what a node that pulls stands for."""
    for j in range(width):
        out[j] = 0
    stack[0] = node << 1
    top = 1
    while top > 0:
        top -= 1
        v = stack[top] >> 1
        flipped = stack[top] & 1
        start = np.int64(heads[v, IN])
        end = start + heads[v, IN + SIZE]
        if top + end - start > stack.shape[0]:
            stack = grow_stack(stack, top + end - start)
        if width == 1:
            total = np.int64(0)
            for k in range(start, end):
                entry = np.int64(inputs[k])
                if entry & LAST or heads[entry >> 2, FLAGS] & PUSH:
                    state = states[entry >> 2]
                    total += -state if entry & NEGATIVE else state
                else:
                    stack[top] = ((entry >> 2) << 1) | (flipped ^ (entry & NEGATIVE))
                    top += 1
            out[0] += -total if flipped else total
        else:
            for k in range(start, end):
                entry = np.int64(inputs[k])
                negative = flipped ^ (entry & NEGATIVE)
                if entry & LAST or heads[entry >> 2, FLAGS] & PUSH:
                    at = (entry >> 2) * width
                    if negative:
                        for j in range(width):
                            out[j] -= states[at + j]
                    else:
                        for j in range(width):
                            out[j] += states[at + j]
                else:
                    stack[top] = ((entry >> 2) << 1) | negative
                    top += 1
    return stack


@kernel
def run(nodes, values, expiries, times, reads, heads, inputs, targets, contents, node_of, states, scale, answers):
    """Do writes and reads in their order: each read sees the writes before it. The amounts read are in `answers`."""
    width = scale[COUNTS] + scale[DIGITS]
    amount = np.zeros(width, np.int64)
    stack = np.empty(64, np.int64)
    timed = contents.most == 0
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if timed and times[i] > contents.marks[CLOCK]:
            clock = times[i]
            contents.marks[CLOCK] = clock
            entry = pop_due(contents, clock)
            while entry != NOTHING:
                amount[:] = 0
                _add_amount(scale, contents.value[entry], -1, amount)
                stack = _spread(heads, targets, states, width, node_of[contents.writer[entry]], amount, stack)
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                for j in range(width):
                    answers[answer, j] = states[node * width + j]
            else:
                stack = _gather(heads, inputs, states, width, node, answers[answer], stack)
            answer += 1
        elif reads[i] == 0:
            amount[:] = 0
            writer = np.int64(heads[node, IN])
            if timed:
                enter_value(contents, writer, values[i], expiries[i])
            else:
                falls, old = replace_oldest(contents, writer, values[i])
                if falls:
                    if old == values[i]:
                        continue
                    _add_amount(scale, old, -1, amount)
            _add_amount(scale, values[i], 1, amount)
            stack = _spread(heads, targets, states, width, node, amount, stack)


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
    stack = np.empty(64, np.int64)
    for node in nodes:
        stack = _gather(heads, inputs, states, width, node, states[node * width : (node + 1) * width], stack)


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
