"""Greatest values: a node's is that of its inputs', and is looked for again when the one that it had is lost.

Values are codes; those of strings compare by their ranks. A sign turns the order around, for least values.

A node that changes is put on a stack with the value that it had, and later tells its targets: (old, new), where new is
what it is then. *Why no order is needed*: a target is never less than an input that has told it all. It is more only if
it still has the value of an input that has changed since, and that input is still to tell it so with this very value as
the old one: then the target looks at all of its inputs again. When the stack is empty, all have told.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, LAST, OUT, PUSH, SIZE, USERS, grow_stack
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


@leaf
def _gather(heads, inputs, states, node, ranks, sign, stack):
    """The greatest value that a node that pulls stands for."""
    best = np.int64(NULL)
    stack[0] = node
    top = 1
    while top > 0:
        top -= 1
        v = stack[top]
        start = np.int64(heads[v, IN])
        end = start + heads[v, IN + SIZE]
        if top + end - start > stack.shape[0]:
            stack = grow_stack(stack, top + end - start)
        for k in range(start, end):
            entry = np.int64(inputs[k])
            if entry & LAST or heads[entry >> 2, FLAGS] & PUSH:
                state = states[entry >> 2]
                if _rank(state, ranks, sign) > _rank(best, ranks, sign):
                    best = state
            else:
                stack[top] = entry >> 2
                top += 1
    return best, stack


@leaf
def _tell(heads, inputs, targets, states, node, old, ranks, sign, stack):
    """Bring all that stands on a node up to date, after it has changed."""
    stack[0] = node
    stack[1] = old
    top = 2
    while top > 0:
        top -= 2
        u = stack[top]
        before = stack[top + 1]
        now = states[u]
        if now == before:
            continue
        now_rank = _rank(now, ranks, sign)
        start = np.int64(heads[u, OUT])
        end = start + heads[u, OUT + SIZE]
        if top + 2 * (end - start) > stack.shape[0]:
            stack = grow_stack(stack, top + 2 * (end - start))
        for k in range(start, end):
            entry = np.int64(targets[k])
            v = entry >> 2
            had = states[v]
            if now_rank > _rank(had, ranks, sign):
                states[v] = now
            elif had == before:
                states[v] = _of_inputs(heads, inputs, states, v, ranks, sign)
            if states[v] != had and entry & LAST == 0:
                stack[top] = v
                stack[top + 1] = had
                top += 2
    return stack


@kernel
def run(nodes, values, expiries, times, reads, heads, inputs, targets, contents, node_of, states, ranks, sign, answers):
    """Do writes and reads in their order: each read sees the writes before it. The codes read are in `answers`."""
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
                writer = np.int64(contents.writer[entry])
                of = node_of[writer]
                old = states[of]
                if contents.value[entry] == old:
                    states[of] = _of_window(contents, writer, ranks, sign)
                    if states[of] != old:
                        stack = _tell(heads, inputs, targets, states, of, old, ranks, sign, stack)
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                answers[answer, 0] = states[node]
            else:
                answers[answer, 0], stack = _gather(heads, inputs, states, node, ranks, sign, stack)
            answer += 1
        elif reads[i] == 0:
            writer = np.int64(heads[node, IN])
            value = values[i]
            old = states[node]
            if timed:
                enter_value(contents, writer, value, expiries[i])
                falls, fallen = False, np.int64(NULL)
            else:
                falls, fallen = replace_oldest(contents, writer, value)
            if _rank(value, ranks, sign) > _rank(old, ranks, sign):
                states[node] = value
            elif falls and fallen == old and fallen != value:
                states[node] = _of_window(contents, writer, ranks, sign)
            if states[node] != old:
                stack = _tell(heads, inputs, targets, states, node, old, ranks, sign, stack)


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
