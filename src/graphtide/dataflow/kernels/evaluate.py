"""Linear operators: a batch of differences mapped to another by a program of vector instructions.

A batch is taken in chunks that fit the first cache. Columns are read where they lie, each step
writes a register, a filter picks rows, and only what the outputs name is copied. The program's
words and the meaning of its steps are in `opcodes`.
"""

from __future__ import annotations

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
from graphtide.dataflow.kernels.steps import arithmetic, choose_rows, fails, in_set, row_step, vector
from graphtide.jit import kernel
from graphtide.memory import address_to_words
from graphtide.trace.kernels.batch import (
    CAPACITY,
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

__all__ = ["linear"]

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
    first_step = HEAD + program[COLUMNS] + program[CONSTANTS] + program[OUTPUTS]
    total = 0
    failed = 0
    start = 0
    while start < rows and failed == 0:
        n = min(size, rows - start)
        _read_from(batch, program, places, heap[slot, ADDRESS] + 8 * start)
        kept = n
        # One loop and no function for a chunk: every level of calls is compiled once more.
        for s in range(program[STEPS]):
            step = first_step + s * STEP
            op = program[step]
            second = program[step + 3]
            third = program[step + 4]
            out = address_to_words(places[max(program[step + 1], 0)], n)
            a = address_to_words(places[program[step + 2]], n)
            if op == IN_SET:
                in_set(out, a, program[second : second + third], n)
                continue
            if op == WITHIN:
                b = program[second : second + 2]
            else:
                b = address_to_words(places[max(second, 0)], n)
            c = address_to_words(places[max(third, 0)], n)
            if op <= LAST_FALLIBLE:
                if arithmetic(op, out, a, b, n) and fails(op, out, a, b, c, third != NOTHING, n):
                    failed = -1 - s
                    break
            elif op <= LAST_VECTOR:
                vector(op, out, a, b, c, n)
            elif op == FILTER:
                kept = choose_rows(a, chosen, n)
                if kept == 0:
                    break
            else:
                for i in range(n):
                    out[i] = row_step(op, a[i], b[i])
        if failed == 0 and kept > 0:
            _store(batch, words(heap, result), program, places, chosen, start, total, n, kept, sign)
            total += kept
        start += n
    release(heap, scratch)
    if failed < 0:
        release(heap, result)
        return failed
    return _finished(heap, owner, result, total)


@kernel
def _read_from(batch, program, places, address):
    """Let the places of columns begin at the row whose word in a column at 0 has this address."""
    for c in range(program[COLUMNS]):
        source = program[HEAD + c]
        if stride(batch, source) == 1:
            places[c] = address + 8 * column(batch, source)


@kernel
def _finished(heap, owner, slot, total):
    """The batch with its number of rows, in a smaller block if most of it is unused; NONE if it is empty."""
    if total == 0:
        release(heap, slot)
        return NONE
    batch = words(heap, slot)
    batch[ROWS] = total
    if 2 * total >= batch[CAPACITY]:
        return slot
    smaller = copy_batch(heap, owner, slot, 0)
    release(heap, slot)
    return smaller


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
