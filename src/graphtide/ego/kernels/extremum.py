"""Greatest values: a node's is that of its inputs', and is looked for again when the one that it had is lost.

Values are codes; those of strings compare by their ranks. A sign turns the order around, for least values.

A node that changes tells its targets at once what it was and what it is. *Why no order is needed*: a target is never
less than an input that has told it all. It is more only if it still has the value of an input that has changed since,
and that input is still to tell it so, with this very value as the one that it was: then the target looks at all of its
inputs again. At the end all have told.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, LAST, OUT, PUSH, SIZE, USERS
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

__all__ = ["compute", "fill_writers", "run"]

NULL = -(1 << 63)


@leaf
def _rank(code, ranks, sign):
    """What compares as the value behind a code; nothing is less than all values."""
    if code == NULL:
        return code
    return sign * (ranks[code] if ranks.shape[0] > 0 else code)


@leaf
def _of_window(contents, writer, ranks, sign):
    best = np.int64(NULL)
    place = first_place(contents, writer)
    while place != NOTHING:
        value = value_at(contents, place)
        if _rank(value, ranks, sign) > _rank(best, ranks, sign):
            best = value
        place = next_place(contents, writer, place)
    return best


@leaf
def _of_inputs(heads, inputs, states, node, ranks, sign):
    """The greatest of the inputs of a node that pushes."""
    best = np.int64(NULL)
    start = np.int64(heads[node, IN])
    if ranks.shape[0] == 0:
        top = np.int64(NULL)
        for k in range(start, start + heads[node, IN + SIZE]):
            state = states[np.int64(inputs[k]) >> 2]
            if state != NULL:
                top = max(top, sign * state)
        return sign * top if top != NULL else top
    for k in range(start, start + heads[node, IN + SIZE]):
        state = states[np.int64(inputs[k]) >> 2]
        if _rank(state, ranks, sign) > _rank(best, ranks, sign):
            best = state
    return best


@kernel
def _gather(heads, inputs, states, node, ranks, sign):
    """The greatest value that a node that pulls stands for."""
    best = np.int64(NULL)
    start = np.int64(heads[node, IN])
    for k in range(start, start + heads[node, IN + SIZE]):
        entry = np.int64(inputs[k])
        other = entry >> 2
        if entry & LAST or heads[other, FLAGS] & PUSH:
            state = states[other]
        else:
            state = _gather(heads, inputs, states, other, ranks, sign)
        if _rank(state, ranks, sign) > _rank(best, ranks, sign):
            best = state
    return best


@kernel
def _tell(heads, inputs, targets, states, node, before, ranks, sign):
    """Bring all that stands on a node up to date, after it has changed."""
    now = states[node]
    rank = _rank(now, ranks, sign)
    start = np.int64(heads[node, OUT])
    for k in range(start, start + heads[node, OUT + SIZE]):
        entry = np.int64(targets[k])
        v = entry >> 2
        had = states[v]
        if rank > _rank(had, ranks, sign):
            states[v] = now
        elif had == before:
            states[v] = _of_inputs(heads, inputs, states, v, ranks, sign)
        if entry & LAST == 0 and states[v] != had:
            _tell(heads, inputs, targets, states, v, had, ranks, sign)


@kernel
def run(nodes, values, expiries, times, reads, heads, inputs, targets, contents, node_of, states, ranks, sign, answers):
    """Do writes and reads in their order: each read sees the writes before it. The codes read are in `answers`."""
    ring, written, most, marks = contents.ring, contents.written, contents.most, contents.marks
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if most == 0 and times[i] > marks[CLOCK]:
            clock = times[i]
            marks[CLOCK] = clock
            entry = pop_due(contents, clock)
            while entry != NOTHING:
                writer = np.int64(contents.writer[entry])
                of = node_of[writer]
                old = states[of]
                if contents.value[entry] == old:
                    states[of] = _of_window(contents, writer, ranks, sign)
                    if states[of] != old:
                        _tell(heads, inputs, targets, states, of, old, ranks, sign)
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                answers[answer, 0] = states[node]
            else:
                answers[answer, 0] = _gather(heads, inputs, states, node, ranks, sign)
            answer += 1
        elif reads[i] == 0:
            writer = np.int64(heads[node, IN])
            value = values[i]
            old = states[node]
            if most == 0:
                enter_value(contents, writer, value, expiries[i])
                falls, fallen = False, np.int64(NULL)
            else:
                falls, fallen = replace_oldest(ring, written, most, writer, value)
            if _rank(value, ranks, sign) > _rank(old, ranks, sign):
                states[node] = value
            elif falls and fallen == old and fallen != value:
                states[node] = _of_window(contents, writer, ranks, sign)
            if states[node] != old:
                _tell(heads, inputs, targets, states, node, old, ranks, sign)


@kernel
def fill_writers(contents, node_of, states, ranks, sign):
    """The greatest values of all writers, from their windows."""
    for writer in range(node_of.shape[0]):
        states[node_of[writer]] = _of_window(contents, writer, ranks, sign)


@kernel
def compute(nodes, heads, inputs, states, ranks, sign):
    """The greatest values of nodes whose inputs push, inputs before what stands on them."""
    for node in nodes:
        states[node] = _of_inputs(heads, inputs, states, node, ranks, sign)
