"""Greatest values: a node's is that of its inputs', and is looked for again when the one that it had is lost.

Values are codes; those of strings compare by their ranks. A sign turns the order around, for least values.

A node that changes tells its targets at once what it was and what it is. *Why no order is needed*: a target is never
less than an input that has told it all. It is more only if it still has the value of an input that has changed since,
and that input is still to tell it so, with this very value as the one that it was: then the target looks at all of its
inputs again. At the end all have told.

A node also counts the inputs that have its value: while there is another one, it need not look for it. When the last
is *lost*, a partial aggregate looks at its inputs at once. A reader, on which nothing stands, does so when it is read;
until then no input is greater than the value that it had, so one that comes to it or above is the greatest. In an
overlapping overlay one write can reach a node twice, which may look at its inputs before the second path has told
it: so nothing is counted there.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, KEPT, LAST, OUT, PUSH, SIZE, USERS
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
from graphtide.jit import borrowing, inlined, kernel

__all__ = ["LOST", "compute", "fill_writers", "run"]

NULL = -(1 << 63)
# In the place of how many inputs have the value of a reader: it is lost.
LOST = -1


@inlined
def _rank(code, ranks, sign):
    """What compares as the value behind a code; nothing is less than all values."""
    rank = code
    if code != NULL:
        rank = sign * (ranks[code] if ranks.shape[0] > 0 else code)
    return rank


@kernel
def _of_window(contents, writer, ranks, sign):
    best = np.int64(NULL)
    place = first_place(contents, writer)
    while place != NOTHING:
        value = value_at(contents, place)
        if _rank(value, ranks, sign) > _rank(best, ranks, sign):
            best = value
        place = next_place(contents, writer, place)
    return best


@inlined
def _gather(heads, inputs, stack, states, node, ranks, sign):
    """The greatest value that a node stands for, by what its inputs keep."""
    best = np.int64(NULL)
    rank = np.int64(NULL)
    top = 0
    k, end = begin(heads, IN, node)
    while True:
        while k < end:
            entry = np.int64(inputs[k])
            k += 1
            if entry & KEPT:
                state = states[entry >> 2]
                its = _rank(state, ranks, sign)
                if its > rank:
                    best = state
                    rank = its
            else:
                top, k, end = go_into(heads, IN, entry >> 2, stack, top, k, end)
        if top == 0:
            break
        top, k, end = go_back(stack, top)
    return best


@kernel
def _look_again(heads, inputs, states, counts, node, ranks, sign):
    """The greatest of the inputs of a node that pushes, and how many of them have it."""
    best = np.int64(NULL)
    rank = np.int64(NULL)
    count = 0
    start = np.int64(heads[node, IN])
    for k in range(start, start + heads[node, IN + SIZE]):
        state = states[np.int64(inputs[k]) >> 2]
        its = _rank(state, ranks, sign)
        if its > rank:
            best = state
            rank = its
            count = 1
        elif its == rank and state != NULL:
            count += 1
    states[node] = best
    counts[node] = count


@inlined
def _tell(heads, inputs, targets, stack, states, counts, counted, node, before, ranks, sign):
    """Bring all that stands on a node up to date, after it has changed."""
    top = 0
    now = states[node]
    k, end = begin(heads, OUT, node)
    while True:
        rank = _rank(now, ranks, sign)
        while k < end:
            entry = np.int64(targets[k])
            v = entry >> 2
            k += 1
            had = states[v]
            if rank > _rank(had, ranks, sign):
                states[v] = now
                counts[v] = 1
            elif had == before:
                counts[v] -= 1
                if counts[v] <= 0 or not counted:
                    if entry & LAST:
                        counts[v] = LOST
                    else:
                        _look_again(heads, inputs, states, counts, v, ranks, sign)
            elif had == now:
                counts[v] = max(counts[v], 0) + 1
            if entry & LAST == 0 and states[v] != had:
                stack[top + 2], stack[top + 3] = now, before
                top, k, end = go_into(heads, OUT, v, stack, top, k, end)
                now, before = states[v], had
                rank = _rank(now, ranks, sign)
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        now, before = stack[top + 2], stack[top + 3]


@borrowing
def run(batch, lists, contents, node_of, states, counts, counted, ranks, sign, answers):
    """Do writes and reads in their order: each read sees the writes before it. The codes read are in `answers`."""
    nodes, kinds, times = batch.nodes, batch.kinds, batch.times
    heads, inputs, targets, stack = lists
    most, marks = contents.most, contents.marks
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        look_ahead(i, nodes, kinds, heads, inputs, targets, contents, states, 1)
        if most == 0 and times[i] > marks[CLOCK]:
            _expire(times[i], heads, inputs, targets, stack, contents, node_of, states, counts, counted, ranks, sign)
        if kinds[i] == READ:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                if counts[node] < 0:
                    _look_again(heads, inputs, states, counts, node, ranks, sign)
                answers[answer] = states[node]
            else:
                answers[answer] = _gather(heads, inputs, stack, states, node, ranks, sign)
            answer += 1
        elif kinds[i] == WRITE:
            writer = np.int64(heads[node, IN])
            value = batch.values[i]
            old = states[node]
            falls, fallen = write_value(contents, writer, value, batch.expiries, i)
            now = old
            if most == 1 or _rank(value, ranks, sign) > _rank(old, ranks, sign):
                now = value
            elif falls and fallen == old and fallen != value:
                now = _of_window(contents, writer, ranks, sign)
            if now != old:
                states[node] = now
                _tell(heads, inputs, targets, stack, states, counts, counted, node, old, ranks, sign)


@borrowing
def _expire(clock, heads, inputs, targets, stack, contents, node_of, states, counts, counted, ranks, sign):
    """Let the clock be there: what is due is taken away."""
    contents.marks[CLOCK] = clock
    entry = pop_due(contents, clock)
    while entry != NOTHING:
        writer = np.int64(contents.writer[entry])
        of = node_of[writer]
        old = states[of]
        if contents.value[entry] == old:
            states[of] = _of_window(contents, writer, ranks, sign)
            if states[of] != old:
                _tell(heads, inputs, targets, stack, states, counts, counted, of, old, ranks, sign)
        entry = pop_due(contents, clock)


@kernel
def fill_writers(contents, node_of, states, ranks, sign):
    """The greatest values of all writers, from their windows."""
    for writer in range(node_of.shape[0]):
        states[node_of[writer]] = _of_window(contents, writer, ranks, sign)


@kernel
def compute(nodes, heads, inputs, states, counts, ranks, sign):
    """The greatest values of nodes whose inputs push, inputs before what stands on them."""
    for node in nodes:
        _look_again(heads, inputs, states, counts, node, ranks, sign)
