"""Histograms as partial aggregates: behind counts of distinct values and the most frequent ones.

Each node that is kept has a table of counts (`kernels.tables`). What a node stands for that is not kept is counted
when it is read (`kernels.tally`). A writer needs neither: its window is its histogram. Counts add up as sums do, so
negative edges subtract.
"""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, KEPT, LAST, NEGATIVE, OUT, PUSH, USERS, WRITER
from graphtide.ego.kernels.operations import READ, WRITE, look_ahead
from graphtide.ego.kernels.tables import (
    START,
    USED,
    add_table,
    answer_table,
    ask_for_list,
    ask_for_value,
    clear,
    count_value,
    keep_list,
    pairs_of,
    settle,
)
from graphtide.ego.kernels.tally import add_value, add_values, begin_tally, count_tally, distinct, most_frequent
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

__all__ = ["compute", "run"]

# How many targets ahead a table is asked for, and what is in it; how many inputs ahead their windows.
AHEAD = 8
SOON = 3


@inlined
def _spread(heads, targets, stack, pool, places, tables, node, gone, has_gone, come, has_come):
    """Take a value away and add another one at all that a node reaches."""
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, OUT, node)
    for ahead in range(k, min(k + AHEAD, end)):
        prefetch(tables, targets[ahead] >> 2)
    while True:
        while k < end:
            entry = np.int64(targets[k])
            v = entry >> 2
            k += 1
            if k + AHEAD < end:
                prefetch(tables, targets[k + AHEAD] >> 2)
            if k + SOON < end:
                ask_for_value(pool, tables, targets[k + SOON] >> 2, gone)
                ask_for_value(pool, tables, targets[k + SOON] >> 2, come)
            part = -sign if entry & NEGATIVE else sign
            if has_gone:
                count = count_value(pool, places, tables, v, gone, -part)
                keep_list(pool, tables, v, gone, count, -part)
            if has_come:
                count = count_value(pool, places, tables, v, come, part)
                keep_list(pool, tables, v, come, count, part)
            if entry & LAST == 0:
                stack[top + 2] = sign
                top, k, end = go_into(heads, OUT, v, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@inlined
def _ask_for(contents, plain, tables, node):
    """Have what a writer wrote in the cache soon, where it begins and where it ends; else where a node's table is."""
    if node < plain:
        first = node * (contents.most + 1)
        prefetch(contents.rings, first)
        if contents.most > 1:
            prefetch(contents.rings, first + contents.most)
    else:
        prefetch(tables, node)


@inlined
def _gather(heads, inputs, stack, contents, plain, pool, tables, node, tally):
    """Count what a node stands for."""
    top = 0
    sign = np.int64(1)
    k, end = begin(heads, IN, node)
    begin_tally(tally, (end - k) * max(contents.most, 1))
    for ahead in range(k, min(k + AHEAD, end)):
        _ask_for(contents, plain, tables, np.int64(inputs[ahead]) >> 2)
    while True:
        while k < end:
            entry = np.int64(inputs[k])
            u = entry >> 2
            k += 1
            part = -sign if entry & NEGATIVE else sign
            if k + AHEAD < end:
                _ask_for(contents, plain, tables, np.int64(inputs[k + AHEAD]) >> 2)
            if k + SOON < end and inputs[k + SOON] >> 2 >= plain:
                prefetch(pairs_of(pool), 2 * tables[inputs[k + SOON] >> 2, START])
            if u < plain and contents.most == 1:
                # The writers of the first overlay have their numbers as nodes. Which of them have written is no branch.
                add_value(tally, contents.rings[2 * u + 1], part * np.int64(contents.rings[2 * u] > 0))
            elif u < plain and contents.most > 1:
                first = u * (contents.most + 1) + 1
                add_values(tally, contents.rings, first, first + min(contents.rings[first - 1], contents.most), part)
            elif u < plain or heads[u, FLAGS] & WRITER:
                _add_window(contents, u if u < plain else np.int64(heads[u, IN]), tally, part)
            elif entry & KEPT:
                add_table(pool, tables, u, tally, part)
            else:
                stack[top + 2] = sign
                top, k, end = go_into(heads, IN, u, stack, top, k, end)
                sign = part
        if top == 0:
            break
        top, k, end = go_back(stack, top)
        sign = stack[top + 2]


@kernel
def _add_window(contents, writer, tally, sign):
    """Count the values of a writer."""
    place = first_place(contents, writer)
    while place != NOTHING:
        add_value(tally, value_at(contents, place), sign)
        place = next_place(contents, writer, place)


@borrowing
def run(batch, lists, contents, node_of, plain, pool, places, tables, tally, ranks, most, answers):
    """Do writes and reads in their order: each read sees the writes before it.

    `plain` are the writers whose nodes have the same numbers. An answer is the `most` most frequent values and then
    their counts, or how many values there are.
    """
    nodes, kinds, times = batch.nodes, batch.kinds, batch.times
    heads, inputs, targets, stack = lists
    is_timed, marks = contents.most == 0, contents.marks
    answer = 0
    width = max(2 * most, 1)
    for i in range(nodes.shape[0]):
        node = nodes[i]
        look_ahead(i, nodes, kinds, heads, inputs, targets, contents, tables, 1)
        if i + SOON < nodes.shape[0]:
            # Of writes, which have no list, always the same one.
            ask_for_list(pool, tables, nodes[i + SOON] * (kinds[i + SOON] == READ))
        if is_timed and times[i] > marks[CLOCK]:
            _expire(times[i], heads, targets, stack, contents, node_of, pool, places, tables)
        if kinds[i] == READ:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH == 0:
                _gather(heads, inputs, stack, contents, plain, pool, tables, node, tally)
                count_tally(tally)
                if most == 0:
                    answers[answer] = distinct(tally)
                else:
                    most_frequent(tally, answers, answer, 1, most, most, ranks)
            elif most == 0:
                answers[answer] = tables[node, USED]
            else:
                answer_table(pool, tables, node, tally, ranks, answers, answer, most)
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
def compute(nodes, heads, inputs, stack, contents, plain, pool, places, tables, tally):
    """What nodes keep whose inputs push, inputs before what stands on them."""
    for node in nodes:
        clear(pool, places, tables, node)
        _gather(heads, inputs, stack, contents, plain, pool, tables, node, tally)
        count_tally(tally)
        settle(pool, places, tables, node, tally)
