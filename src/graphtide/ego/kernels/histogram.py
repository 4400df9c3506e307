"""Histograms as partial aggregates: behind counts of distinct values and the most frequent ones.

Each node that is kept has a table of counts (`kernels.tables`). A writer needs none: its window is its histogram.
Counts add up as sums do, so negative edges subtract.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, KEPT, LAST, NEGATIVE, OUT, PUSH, SIZE, USERS, WRITER
from graphtide.ego.kernels.operations import READ, WRITE, look_ahead
from graphtide.ego.kernels.tables import (
    BITS,
    CLASSES,
    FEWEST_BITS,
    USED,
    answer_from,
    clear,
    count_value,
    keep_list,
    merge,
    resize,
    wipe,
)
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
from graphtide.memory import prefetch
from graphtide.trace.kernels.radix import bit_length

__all__ = ["compute", "run"]

# How many targets ahead a table is asked for.
AHEAD = 4


@inlined
def _spread(heads, targets, stack, pool, places, tables, node, gone, has_gone, come, has_come):
    """Take a value away and add another one at all that a node reaches."""
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, OUT, node)
    while True:
        while k < end:
            entry = np.int64(targets[k])
            v = entry >> 2
            k += 1
            if k + AHEAD < end:
                prefetch(tables, targets[k + AHEAD] >> 2)
            part = -sign if entry & NEGATIVE else sign
            if has_gone:
                count = count_value(pool, places, tables, v, gone, -part)
                keep_list(pool, tables, v, count, -part)
            if has_come:
                count = count_value(pool, places, tables, v, come, part)
                keep_list(pool, tables, v, count, part)
            if entry & LAST == 0:
                stack[top + 2] = sign
                top, k, end = go_into(heads, OUT, v, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@inlined
def _gather(heads, inputs, stack, contents, plain, pool, places, tables, node, into):
    """Add what a node stands for to the table of another one, or of itself."""
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, IN, node)
    while True:
        while k < end:
            entry = np.int64(inputs[k])
            u = entry >> 2
            k += 1
            part = -sign if entry & NEGATIVE else sign
            if u < plain and contents.most == 1:
                # The writers of the first overlay have their numbers as nodes.
                if contents.written[u] > 0:
                    count_value(pool, places, tables, into, contents.ring[u], part)
            elif u < plain or heads[u, FLAGS] & WRITER:
                _add_window(contents, u if u < plain else np.int64(heads[u, IN]), pool, places, tables, into, part)
            elif entry & KEPT:
                merge(pool, places, tables, u, into, part)
            else:
                stack[top + 2] = sign
                top, k, end = go_into(heads, IN, u, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@kernel
def _add_window(contents, writer, pool, places, tables, into, sign):
    """Add the values of a writer to a table."""
    place = first_place(contents, writer)
    while place != NOTHING:
        count_value(pool, places, tables, into, value_at(contents, place), sign)
        place = next_place(contents, writer, place)


@inlined
def _make_room(heads, inputs, most, plain, pool, places, tables, node, first_scratch):
    """A table of scratch that is large enough for what a node's inputs have, and not much larger."""
    values = np.int64(0)
    start = np.int64(heads[node, IN])
    for k in range(start, start + heads[node, IN + SIZE]):
        entry = np.int64(inputs[k])
        if entry >> 2 < plain:
            values += max(most, 1)
        elif entry & KEPT:
            values += tables[entry >> 2, USED]
        else:
            values += np.int64(heads[entry >> 2, IN + SIZE])
    bits = max(np.int64(bit_length(np.uint64(values + (values >> 1)))), np.int64(FEWEST_BITS))
    scratch = first_scratch + bits
    if tables[scratch, BITS] == 0:
        resize(pool, places, tables, scratch, bits)
    return scratch


@borrowing
def run(batch, lists, contents, node_of, plain, pool, places, tables, ranks, most_frequent, answers):
    """Do writes and reads in their order: each read sees the writes before it.

    `plain` are the writers whose nodes have the same numbers. An answer is the most frequent values and then their
    counts, or how many values there are.
    """
    nodes, kinds, times = batch.nodes, batch.kinds, batch.times
    heads, inputs, targets, stack = lists
    most, marks = contents.most, contents.marks
    first_scratch = tables.shape[0] - CLASSES
    answer = 0
    width = max(2 * most_frequent, 1)
    for i in range(nodes.shape[0]):
        node = nodes[i]
        look_ahead(i, nodes, kinds, heads, inputs, targets, contents, tables, 1)
        if most == 0 and times[i] > marks[CLOCK]:
            _expire(times[i], heads, targets, stack, contents, node_of, pool, places, tables)
        if kinds[i] == READ:
            heads[node, USERS] += 1
            table = node
            if heads[node, FLAGS] & PUSH == 0:
                table = _make_room(heads, inputs, most, plain, pool, places, tables, node, first_scratch)
                _gather(heads, inputs, stack, contents, plain, pool, places, tables, node, table)
            if most_frequent == 0:
                answers[answer] = tables[table, USED]
            else:
                answer_from(pool, tables, table, table == node, ranks, answers, answer, most_frequent)
            if table >= first_scratch:
                wipe(pool, tables, table)
            answer += width
        elif kinds[i] == WRITE:
            writer = np.int64(heads[node, IN])
            value = batch.values[i]
            falls, old = write_value(contents, writer, value, batch.expiries, i)
            if not falls or old != value:
                _spread(heads, targets, stack, pool, places, tables, node, old, falls, value, True)


@borrowing
def _expire(clock, heads, targets, stack, contents, node_of, pool, places, tables):
    """Let the clock be there: what is due is taken away."""
    contents.marks[CLOCK] = clock
    entry = pop_due(contents, clock)
    while entry != NOTHING:
        of = node_of[contents.writer[entry]]
        gone = contents.value[entry]
        _spread(heads, targets, stack, pool, places, tables, of, gone, True, gone, False)
        entry = pop_due(contents, clock)


@kernel
def compute(nodes, heads, inputs, stack, contents, plain, pool, places, tables):
    """The tables of nodes whose inputs push, inputs before what stands on them."""
    for node in nodes:
        clear(pool, places, tables, node)
        _gather(heads, inputs, stack, contents, plain, pool, places, tables, node, node)
