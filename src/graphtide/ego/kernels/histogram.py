"""How often each value is there: partial aggregates behind counts of distinct values and the most frequent ones.

Each node that is kept has a table by open addressing, all in one pool of pairs (value, count), with as many places as
a power of two; where the count is 0, the place is free. A writer needs none: its window is its histogram. Counts add up
as sums do, so negative edges subtract, and in which order changes come does not matter; on their way they may be below
0.
"""

from __future__ import annotations

import numpy as np

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

__all__ = ["BITS", "CLASSES", "START", "TABLE", "USED", "clear", "compute", "count_of", "run"]

# Columns of a node's table: where it starts in the pool, how many bits its size has, how many places are used.
START = 0
BITS = 1
USED = 2
TABLE = 3

# Free places of the pool by bits of their size, linked through their first value; the last word is where its unused end
# is.
CLASSES = 40
END = CLASSES - 1

FEWEST_BITS = 2
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@leaf
def _home(value, bits):
    return np.int64((np.uint64(value) * GOLDEN) >> np.uint64(64 - bits))


@leaf
def _take(pool, free, bits):
    """A place for a table of that size, all counts 0; the pool, which is another one if it was full."""
    size = np.int64(1) << bits
    start = free[bits]
    if start >= 0:
        free[bits] = pool[start, 0]
    else:
        start = free[END]
        if start + size > pool.shape[0]:
            grown = np.zeros((max(2 * pool.shape[0], start + size), 2), np.int64)
            grown[: pool.shape[0]] = pool
            pool = grown
        free[END] = start + size
    for k in range(start, start + size):
        pool[k, 1] = 0
    return pool, start


@leaf
def _give_back(pool, free, start, bits):
    pool[start, 0] = free[bits]
    free[bits] = start


@leaf
def _find(pool, start, bits, value):
    """The place of a value in a table, or where it would be."""
    mask = (np.int64(1) << bits) - 1
    at = _home(value, bits)
    while pool[start + at, 1] != 0 and pool[start + at, 0] != value:
        at = (at + 1) & mask
    return at


@leaf
def _remove(pool, start, bits, at):
    """Empty a place; those behind it move up, as far as they were displaced (Knuth, 6.4, algorithm R)."""
    mask = (np.int64(1) << bits) - 1
    hole = at
    k = at
    while True:
        k = (k + 1) & mask
        if pool[start + k, 1] == 0:
            break
        home = _home(pool[start + k, 0], bits)
        if ((k - home) & mask) >= ((k - hole) & mask):
            pool[start + hole, 0] = pool[start + k, 0]
            pool[start + hole, 1] = pool[start + k, 1]
            hole = k
    pool[start + hole, 1] = 0


@kernel
def _resize(pool, free, tables, node, bits):
    """Give a node a table of another size."""
    pool, start = _take(pool, free, bits)
    old, old_bits = tables[node, START], tables[node, BITS]
    if old_bits > 0:
        for k in range(old, old + (np.int64(1) << old_bits)):
            if pool[k, 1] != 0:
                at = start + _find(pool, start, bits, pool[k, 0])
                pool[at, 0] = pool[k, 0]
                pool[at, 1] = pool[k, 1]
        _give_back(pool, free, old, old_bits)
    tables[node, START] = start
    tables[node, BITS] = bits
    return pool


@leaf
def _count(pool, free, tables, node, value, change):
    """Add to how often a value is there."""
    bits = tables[node, BITS]
    if bits > 0:
        start = tables[node, START]
        at = _find(pool, start, bits, value)
        count = pool[start + at, 1]
        if count != 0:
            pool[start + at, 1] = count + change
            if count + change == 0:
                _remove(pool, start, bits, at)
                tables[node, USED] -= 1
            return pool
    # A quarter stays free.
    if bits == 0 or 4 * (tables[node, USED] + 1) > 3 << bits:
        pool = _resize(pool, free, tables, node, max(bits + 1, np.int64(FEWEST_BITS)))
        bits = tables[node, BITS]
    start = tables[node, START]
    at = start + _find(pool, start, bits, value)
    pool[at, 0] = value
    pool[at, 1] = change
    tables[node, USED] += 1
    return pool


@leaf
def count_of(pool, tables, node, value):
    """How often a value is there."""
    bits = tables[node, BITS]
    if bits == 0:
        return np.int64(0)
    start = tables[node, START]
    return pool[start + _find(pool, start, bits, value), 1]


@leaf
def _spread(heads, targets, pool, free, tables, node, gone, has_gone, come, has_come, stack):
    """Take a value away and add another one at all that a writer reaches."""
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
        for k in range(start, end):
            entry = np.int64(targets[k])
            negative = flipped ^ (entry & NEGATIVE)
            change = -1 if negative else 1
            if has_gone:
                pool = _count(pool, free, tables, entry >> 2, gone, -change)
            if has_come:
                pool = _count(pool, free, tables, entry >> 2, come, change)
            if entry & LAST == 0:
                stack[top] = ((entry >> 2) << 1) | negative
                top += 1
    return pool, stack


@kernel
def _gather(heads, inputs, contents, pool, free, tables, node, scratch, stack):
    """Count what a node stands for in the table `scratch`."""
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
        for k in range(start, end):
            entry = np.int64(inputs[k])
            u = entry >> 2
            negative = flipped ^ (entry & NEGATIVE)
            change = -1 if negative else 1
            if entry & LAST:
                writer = np.int64(heads[u, IN])
                place = first_place(contents, writer)
                while place != NOTHING:
                    pool = _count(pool, free, tables, scratch, value_at(contents, place), change)
                    place = next_place(contents, writer, place)
            elif heads[u, FLAGS] & PUSH:
                if tables[u, BITS] > 0:
                    for at in range(tables[u, START], tables[u, START] + (np.int64(1) << tables[u, BITS])):
                        if pool[at, 1] != 0:
                            pool = _count(pool, free, tables, scratch, pool[at, 0], change * pool[at, 1])
            else:
                stack[top] = (u << 1) | negative
                top += 1
    return pool, stack


@leaf
def _answer(pool, tables, node, ranks, out):
    """The values that are there most often, of equally frequent ones the least; all are NULL where there are no more.

    Without a place for values: how many there are.
    """
    bits = tables[node, BITS]
    most = out.shape[0] >> 1
    found = 0
    start = tables[node, START]
    end = start + (np.int64(1) << bits) if bits > 0 else start
    for at in range(start, end):
        count = pool[at, 1]
        if count <= 0:
            continue
        if most == 0:
            found += 1
            continue
        value = pool[at, 0]
        k = found
        while k > 0:
            other = out[most + k - 1]
            if count < other:
                break
            if count == other:
                mine = ranks[value] if ranks.shape[0] > 0 else value
                its = ranks[out[k - 1]] if ranks.shape[0] > 0 else out[k - 1]
                if mine > its:
                    break
            if k < most:
                out[k] = out[k - 1]
                out[most + k] = out[most + k - 1]
            k -= 1
        if k < most:
            out[k] = value
            out[most + k] = count
            found = min(found + 1, most)
    if most == 0:
        out[0] = found
    return found


@leaf
def clear(pool, free, tables, node):
    """Let a node have no table."""
    if tables[node, BITS] > 0:
        _give_back(pool, free, tables[node, START], tables[node, BITS])
    tables[node, BITS] = 0
    tables[node, USED] = 0


@leaf
def _wipe(pool, free, tables, node):
    """Let the table of scratch be empty, and not too large to be looked through by the next read."""
    bits = tables[node, BITS]
    if bits > 5:
        clear(pool, free, tables, node)
    elif bits > 0:
        for at in range(tables[node, START], tables[node, START] + (np.int64(1) << bits)):
            pool[at, 1] = 0
        tables[node, USED] = 0


@kernel
def run(
    nodes, values, expiries, times, reads, heads, inputs, targets, contents, node_of, pool, free, tables, ranks, answers
):
    """Do writes and reads in their order: each read sees the writes before it.

    An answer is the most frequent values and then their counts, or how many values there are. The pool may be another
    one.
    """
    stack = np.empty(64, np.int64)
    timed = contents.most == 0
    scratch = tables.shape[0] - 1
    answer = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if timed and times[i] > contents.marks[CLOCK]:
            clock = times[i]
            contents.marks[CLOCK] = clock
            entry = pop_due(contents, clock)
            while entry != NOTHING:
                of = node_of[contents.writer[entry]]
                gone = contents.value[entry]
                pool, stack = _spread(heads, targets, pool, free, tables, of, gone, True, gone, False, stack)
                entry = pop_due(contents, clock)
        if reads[i] == 1:
            heads[node, USERS] += 1
            if heads[node, FLAGS] & PUSH:
                _answer(pool, tables, node, ranks, answers[answer])
            else:
                pool, stack = _gather(heads, inputs, contents, pool, free, tables, node, scratch, stack)
                _answer(pool, tables, scratch, ranks, answers[answer])
                _wipe(pool, free, tables, scratch)
            answer += 1
        elif reads[i] == 0:
            writer = np.int64(heads[node, IN])
            if timed:
                enter_value(contents, writer, values[i], expiries[i])
                falls, old = False, values[i]
            else:
                falls, old = replace_oldest(contents, writer, values[i])
                if falls and old == values[i]:
                    continue
            pool, stack = _spread(heads, targets, pool, free, tables, node, old, falls, values[i], True, stack)
    return pool


@kernel
def compute(nodes, heads, inputs, contents, pool, free, tables):
    """The tables of nodes whose inputs push, inputs before what stands on them; the pool, which may be another one."""
    stack = np.empty(64, np.int64)
    for node in nodes:
        clear(pool, free, tables, node)
        pool, stack = _gather(heads, inputs, contents, pool, free, tables, node, node, stack)
    return pool
