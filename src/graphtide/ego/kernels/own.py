"""Partial aggregates of a user's own making: a few words by node, and compiled functions.

A node that changes tells its targets what it was and what it is. A target takes the one out and merges the other in if
the aggregate can subtract; otherwise it merges all of its inputs anew. Each change of an input is followed by one of
these, so when the stack is empty all nodes are what their inputs make of them.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, KEPT, LAST, NEGATIVE, OUT, PUSH, SIZE, USERS, grow_stack
from graphtide.ego.kernels.windows import (
    CLOCK,
    NOTHING,
    first_place,
    next_place,
    pop_due,
    value_at,
    write_value,
)
from graphtide.functions import call_at
from graphtide.jit import kernel, leaf

__all__ = ["IS_FLOAT", "MERGE", "SETTINGS", "SUBTRACT", "UPDATE", "WORDS", "compute", "fill_writers", "run"]

# What a kernel is told of an aggregate.
UPDATE = 0  # addresses of functions
MERGE = 1
SUBTRACT = 2  # 0 if there is none
WORDS = 3  # of a state
IS_FLOAT = 4  # whether values are floats
SETTINGS = 5

ALL_BUT_SIGN = (1 << 63) - 1


@leaf
def _at(states, node, words):
    return states.ctypes.data + node * words * 8


@leaf
def _apply(function, one, other, out):
    """Call the function at an address on what is at two others."""
    call_at(function, (one, other, out))  # pyright: ignore[reportCallIssue] - numba fills in the context


@leaf
def _bits(code, is_float):
    """The bits of the number behind a code."""
    return code ^ ((code >> 63) & ALL_BUT_SIGN) if is_float else code


@kernel
def _of_window(contents, writer, settings, initial, states, node):
    """Make the state of a writer anew."""
    words = settings[WORDS]
    own = _at(states, node, words)
    states[node * words : (node + 1) * words] = initial
    place = first_place(contents, writer)
    while place != NOTHING:
        bits = _bits(value_at(contents, place), settings[IS_FLOAT] == 1)
        _apply(settings[UPDATE], own, bits, own)
        place = next_place(contents, writer, place)


@kernel
def _gather(heads, inputs, settings, initial, states, node, out, stack, later):
    """Merge what a node stands for into `out`; what is subtracted comes last."""
    words = settings[WORDS]
    out[:] = initial
    own = out.ctypes.data
    stack[0] = node << 1
    top = 1
    waiting = 0
    while top > 0:
        top -= 1
        v = stack[top] >> 1
        flipped = stack[top] & 1
        size = heads[v, IN + SIZE]
        stack = grow_stack(stack, top + size)
        for k in range(heads[v, IN], heads[v, IN] + size):
            entry = np.int64(inputs[k])
            u = entry >> 2
            negative = flipped ^ (entry & NEGATIVE)
            if entry & KEPT == 0:
                stack[top] = (u << 1) | negative
                top += 1
            elif negative:
                later = grow_stack(later, waiting + 1)
                later[waiting] = u
                waiting += 1
            else:
                _apply(settings[MERGE], own, _at(states, u, words), own)
    for k in range(waiting):
        _apply(settings[SUBTRACT], own, _at(states, later[k], words), own)
    return stack, later


@leaf
def _differ(one, other, words):
    for j in range(words):
        if one[j] != other[j]:
            return True
    return False


@kernel
def _tell(heads, inputs, targets, settings, initial, states, node, old, stack, later, changes):
    """Bring all that stands on a node up to date, after it has changed.

    `changes` is a stack of what nodes were and are.
    """
    words = settings[WORDS]
    row = 1 + 2 * words
    changes = grow_stack(changes, row)
    changes[0] = node
    changes[1 : 1 + words] = old
    changes[1 + words : row] = states[node * words : (node + 1) * words]
    top = 1
    had = np.empty(words, np.int64)
    change = np.empty(row, np.int64)
    while top > 0:
        top -= 1
        change[:] = changes[top * row : (top + 1) * row]
        u = change[0]
        before = change.ctypes.data + 8
        after = before + words * 8
        for k in range(heads[u, OUT], heads[u, OUT] + heads[u, OUT + SIZE]):
            entry = np.int64(targets[k])
            v = entry >> 2
            state = states[v * words : (v + 1) * words]
            had[:] = state
            own = _at(states, v, words)
            if settings[SUBTRACT] == 0:
                stack, later = _gather(heads, inputs, settings, initial, states, v, state, stack, later)
            elif entry & NEGATIVE:
                _apply(settings[MERGE], own, before, own)
                _apply(settings[SUBTRACT], own, after, own)
            else:
                _apply(settings[SUBTRACT], own, before, own)
                _apply(settings[MERGE], own, after, own)
            if entry & LAST == 0 and _differ(had, state, words):
                changes = grow_stack(changes, (top + 1) * row)
                changes[top * row] = v
                changes[top * row + 1 : top * row + 1 + words] = had
                changes[top * row + 1 + words : (top + 1) * row] = state
                top += 1
    return stack, later, changes


@kernel
def run(
    nodes,
    values,
    expiries,
    times,
    reads,
    heads,
    inputs,
    targets,
    contents,
    node_of,
    states,
    settings,
    initial,
    answers,
):
    """Do writes and reads in their order: each read sees the writes before it. The states read are in `answers`."""
    words = settings[WORDS]
    stack = np.empty(64, np.int64)
    later = np.empty(16, np.int64)
    changes = np.empty(64, np.int64)
    old = np.empty(words, np.int64)
    timed = contents.most == 0
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if timed and times[i] > contents.marks[CLOCK]:
            clock = times[i]
            contents.marks[CLOCK] = clock
            entry = pop_due(contents, clock)
            while entry != NOTHING:
                writer = np.int64(contents.writer[entry])
                of = node_of[writer]
                old[:] = states[of * words : (of + 1) * words]
                _of_window(contents, writer, settings, initial, states, of)
                stack, later, changes = _tell(
                    heads, inputs, targets, settings, initial, states, of, old, stack, later, changes
                )
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                answers[answer] = states[node * words : (node + 1) * words]
            else:
                stack, later = _gather(heads, inputs, settings, initial, states, node, answers[answer], stack, later)
            answer += 1
        elif reads[i] == 0:
            writer = np.int64(heads[node, IN])
            old[:] = states[node * words : (node + 1) * words]
            falls, _ = write_value(contents, writer, values[i], expiries, i)
            if falls:
                _of_window(contents, writer, settings, initial, states, node)
            else:
                own = _at(states, node, words)
                _apply(settings[UPDATE], own, _bits(values[i], settings[IS_FLOAT] == 1), own)
            stack, later, changes = _tell(
                heads, inputs, targets, settings, initial, states, node, old, stack, later, changes
            )


@kernel
def fill_writers(contents, node_of, states, settings, initial):
    """The states of all writers, from their windows."""
    for writer in range(node_of.shape[0]):
        _of_window(contents, writer, settings, initial, states, node_of[writer])


@kernel
def compute(nodes, heads, inputs, states, settings, initial):
    """The states of nodes whose inputs push, inputs before what stands on them."""
    words = settings[WORDS]
    stack = np.empty(64, np.int64)
    later = np.empty(16, np.int64)
    for node in nodes:
        out = states[node * words : (node + 1) * words]
        stack, later = _gather(heads, inputs, settings, initial, states, node, out, stack, later)
