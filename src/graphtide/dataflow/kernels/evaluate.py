"""Linear operators: a batch of differences mapped to another by a program of vector instructions.

A batch is taken in chunks that fit the first cache. Columns are read where they lie, each step
writes a register, a filter picks rows, and only what the outputs name is copied. The program's
words and the meaning of its steps are in `opcodes`.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.opcodes import (
    COLUMNS,
    CONSTANTS,
    FILTER,
    HEAD,
    IN_SET,
    LAST_FALLIBLE,
    LAST_VECTOR,
    NOTHING,
    ORDERED,
    OUTPUTS,
    PLACES,
    STEP,
    STEPS,
    WITHIN,
)
from graphtide.dataflow.kernels.steps import arithmetic, choose_rows, fails, in_set, row_step, strays, vector
from graphtide.jit import kernel
from graphtide.memory import address_to_words
from graphtide.trace.kernels.batch import (
    DEPTH,
    FORM,
    LOWER,
    ROWS,
    UPPER,
    WIDTH,
    column,
    constant,
    copy_batch,
    new_batch,
    stride,
    with_column,
)
from graphtide.trace.kernels.heap import ADDRESS, NONE, allocate, release, words

__all__ = ["evaluate", "linear"]

# Rows to a chunk: a dozen registers of this size fit into the first cache.
CHUNK = 512


@kernel
def linear(heap, owner, slot, program, sign):
    """The image of a batch, its diffs times `sign`: a new slot, NONE if no row is left.

    A step that fails gives -(1 + its number), and nothing stays allocated.
    """
    if slot == NONE:
        return NONE
    batch = words(heap, slot)
    rows = batch[ROWS]
    if rows == 0:
        return NONE
    size = min(rows, CHUNK)
    count = program[PLACES]
    scratch = allocate(heap, owner, count + size + count * size)
    places = words(heap, scratch)
    chosen = places[count : count + size]
    _spread(batch, program, places, size, heap[scratch, ADDRESS] + 8 * (count + size))
    result = _new_image(heap, owner, batch, program)
    target = words(heap, result)
    total = 0
    start = 0
    while start < rows:
        n = min(size, rows - start)
        for c in range(program[COLUMNS]):
            source = program[HEAD + c]
            if stride(batch, source) == 1:
                places[c] = heap[slot, ADDRESS] + 8 * (column(batch, source) + start)
        kept = _run(program, places, chosen, n)
        if kept < 0:
            release(heap, scratch)
            release(heap, result)
            return kept
        if kept > 0:
            _store(batch, target, program, places, chosen, start, total, n, kept, sign)
            total += kept
        start += n
    release(heap, scratch)
    if total == 0:
        release(heap, result)
        return NONE
    target[ROWS] = total
    if 2 * total < rows:
        slack = result
        result = copy_batch(heap, owner, slack, 0)
        release(heap, slack)
    return result


@kernel
def evaluate(columns, program, out):
    """Fill the rows of `out` with the outputs of a program without filter over the rows of `columns`.

    Zero, or -(1 + the number of the step that failed).
    """
    rows = columns.shape[1]
    size = min(rows, CHUNK)
    count = program[PLACES]
    scratch = np.empty((count + 1, max(size, 1)), np.int64)
    places = np.empty(count, np.int64)
    first_constant = program[COLUMNS]
    for p in range(count):
        places[p] = scratch[p].ctypes.data
        if first_constant <= p < first_constant + program[CONSTANTS]:
            scratch[p] = program[HEAD + p]
    start = 0
    while start < rows:
        n = min(size, rows - start)
        for c in range(program[COLUMNS]):
            places[c] = columns[program[HEAD + c], start:].ctypes.data
        failed = _run(program, places, scratch[count], n)
        if failed < 0:
            return failed
        for o in range(program[OUTPUTS]):
            source = address_to_words(places[program[HEAD + program[COLUMNS] + program[CONSTANTS] + o]], n)
            for i in range(n):
                out[o, start + i] = source[i]
        start += n
    return 0


@kernel
def _spread(batch, program, places, size, address):
    """Give each place its row of scratch; fill those of constants and of columns that never change."""
    columns = program[COLUMNS]
    filled = columns + program[CONSTANTS]
    for p in range(program[PLACES]):
        places[p] = address + 8 * p * size
        if p < filled:
            v = program[HEAD + p]
            if p < columns:
                if stride(batch, v) == 1:
                    continue
                v = batch[column(batch, v)]
            row = address_to_words(places[p], size)
            for i in range(size):
                row[i] = v


@kernel
def _new_image(heap, owner, batch, program):
    """An empty batch for the outputs, with every column constant that is known to be."""
    columns = program[COLUMNS]
    filled = columns + program[CONSTANTS]
    outputs = program[OUTPUTS]
    tail = batch[DEPTH] + 1
    data = batch[WIDTH] - tail
    varying = 0
    for o in range(outputs):
        p = program[HEAD + filled + o]
        if p >= filled or (p < columns and stride(batch, program[HEAD + p]) == 1):
            varying = with_column(varying, o)
    for t in range(tail):
        if stride(batch, data + t) == 1:
            varying = with_column(varying, outputs + t)
    result = new_batch(heap, owner, outputs + tail, batch[DEPTH], batch[ROWS], varying, 0)
    target = words(heap, result)
    target[LOWER] = batch[LOWER]
    target[UPPER] = batch[UPPER]
    if program[ORDERED] == 1:
        target[FORM] = batch[FORM]
    return result


@kernel
def _store(batch, target, program, places, chosen, start, total, n, kept, sign):
    """Append a chunk's chosen rows to the image."""
    outputs = program[OUTPUTS]
    first_output = HEAD + program[COLUMNS] + program[CONSTANTS]
    tail = batch[DEPTH] + 1
    data = batch[WIDTH] - tail
    for o in range(outputs + tail):
        diff = o == outputs + tail - 1
        if o < outputs:
            source = address_to_words(places[program[first_output + o]], n)
        else:
            s = data + o - outputs
            source = batch[column(batch, s) + start * stride(batch, s) :]
        if stride(target, o) == 0:
            constant(target, o, source[0] * (sign if diff else 1))
            continue
        row = column(target, o) + total
        if kept == n:
            for i in range(n):
                target[row + i] = source[i]
        else:
            for i in range(kept):
                target[row + i] = source[chosen[i]]
        if diff and sign < 0:
            for i in range(row, row + kept):
                target[i] = -target[i]


@kernel
def _run(program, places, chosen, n):
    """Take every step over one chunk: the number of rows chosen, or -(1 + the step that failed)."""
    kept = n
    step = HEAD + program[COLUMNS] + program[CONSTANTS] + program[OUTPUTS]
    for s in range(program[STEPS]):
        op = program[step]
        second = program[step + 3]
        third = program[step + 4]
        a = _at(places, program[step + 2], n)
        out = _at(places, program[step + 1], n)
        if op <= LAST_FALLIBLE:
            guard = _at(places, third, n)
            if op == WITHIN:
                if strays(a, program[second], program[second + 1], guard, n):
                    return -1 - s
            else:
                b = _at(places, second, n)
                if arithmetic(op, out, a, b, n) and fails(op, out, a, b, guard, n):
                    return -1 - s
        elif op <= LAST_VECTOR:
            vector(op, out, a, _at(places, second, n), _at(places, third, n), n)
        elif op == FILTER:
            kept = choose_rows(a, chosen, n)
            if kept == 0:
                return 0
        elif op == IN_SET:
            in_set(out, a, program[second : second + third], n)
        else:
            b = _at(places, second, n)
            for i in range(n):
                out[i] = row_step(op, a[i], b[i])
        step += STEP
    return kept


@kernel
def _at(places, place, n):
    """The rows of a place; none if there is no place."""
    if place == NOTHING:
        return address_to_words(places[0], 0)
    return address_to_words(places[place], n)
