"""Operators that move differences without looking at them: concat, and the borders of loops."""

from __future__ import annotations

from graphtide.dataflow.kernels.layout import DEPTH, MOST_PRIORITY, PARAMETERS, PORT, ROUND_BITS
from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    WIDTH,
    cells,
    column,
    constant,
    copy_batch,
    copy_column,
    new_batch,
    put,
    reserve,
    rows_of,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.heap import COUNT, NONE, release, retain, words

__all__ = ["append", "concatenate", "delay", "enter", "enter_at", "leave", "leave_at", "together"]


@kernel
def concatenate(heap, operators, operator):
    """All differences of the inputs; a single input that has any is shared as it is."""
    inputs = words(heap, operators[operator, PARAMETERS])
    only = NONE
    filled = 0
    total = 0
    for k in range(inputs.shape[0]):
        source = operators[inputs[k], PORT]
        if source != NONE:
            only = source
            filled += 1
            total += words(heap, source)[ROWS]
    if filled <= 1:
        return retain(heap, only)
    first = words(heap, only)
    result = new_batch(heap, operator, first[WIDTH], first[layout.DEPTH], total, ALL_VARY, 0)
    for k in range(inputs.shape[0]):
        source = operators[inputs[k], PORT]
        if source != NONE:
            append(heap, result, source, 0)
    return result


@kernel
def append(heap, target, source, dropped):
    """Add the rows of `source`, without its last `dropped` time coordinates, which have the constants of `target`."""
    from_batch = words(heap, source)
    rows = from_batch[ROWS]
    into = words(heap, target)
    at = into[ROWS]
    if at + rows > into[layout.CAPACITY]:
        reserve(heap, target, at + rows)
        into = words(heap, target)
    width = into[WIDTH]
    for c in range(width):
        if stride(into, c) == 0:
            continue
        place = column(into, c) + at
        copy_column(into[place : place + rows], from_batch, _source_column(width, c, dropped))
    into[ROWS] = at + rows


@leaf
def _source_column(width, c, dropped):
    """The diff stands last in both; coordinates that are dropped stand just before it."""
    return c if c < width - 1 else c + dropped


@kernel
def _reshaped(heap, operator, source, dropped, added, capacity):
    """An empty batch for the rows of `source` with time coordinates dropped or added at the end."""
    batch = words(heap, source)
    width = batch[WIDTH] - dropped + added
    return new_batch(heap, operator, width, batch[layout.DEPTH] - dropped + added, capacity, ALL_VARY, 0)


@kernel
def together(heap, operator, first, second):
    """A batch with the rows of both, of which either may be slot 0. Takes the caller's counts of them."""
    if first == NONE:
        return second
    if second == NONE:
        return first
    total = words(heap, first)[ROWS] + words(heap, second)[ROWS]
    result = _reshaped(heap, operator, first, 0, 0, total)
    append(heap, result, first, 0)
    append(heap, result, second, 0)
    release(heap, first)
    release(heap, second)
    return result


@kernel
def leave(heap, operator, gathered, source):
    """What a loop has gathered so far, with the rows of one more round; the round itself is forgotten."""
    if gathered == NONE:
        gathered = _like(heap, operator, source)
    elif not _is_alike(words(heap, gathered), words(heap, source)):
        both = _reshaped(heap, operator, gathered, 0, 0, rows_of(heap, gathered) + rows_of(heap, source))
        append(heap, both, gathered, 0)
        release(heap, gathered)
        gathered = both
    append(heap, gathered, source, 1)
    return gathered


@inlined
def _like(heap, operator, source):
    """An empty batch for what leaves a loop: the epoch and the diff stay one word if they are one in a batch."""
    batch = words(heap, source)
    width = batch[WIDTH] - 1
    varying = 0
    for c in range(width):
        if c < layout.data_width(batch) or stride(batch, _source_column(width, c, 1)) == 1:
            varying = with_column(varying, c)
    slot = new_batch(heap, operator, width, batch[layout.DEPTH] - 1, batch[ROWS], varying, 0)
    for c in range(width):
        if stride(words(heap, slot), c) == 0:
            constant(words(heap, slot), c, value(batch, _source_column(width, c, 1), 0))
    return slot


@inlined
def _is_alike(gathered, source):
    """Whether the columns of one value have that in another batch, too."""
    width = gathered[WIDTH]
    for c in range(width):
        from_column = _source_column(width, c, 1)
        if stride(gathered, c) == 0 and (
            stride(source, from_column) == 1 or value(source, from_column, 0) != value(gathered, c, 0)
        ):
            return False
    return True


@kernel
def leave_at(heap, operator, gathered, source):
    """As `leave`, for all differences of a dimension: its coordinate becomes the last data column."""
    batch = words(heap, source)
    rows = batch[ROWS]
    data = layout.data_width(batch)
    width = batch[WIDTH]
    if gathered == NONE:
        gathered = new_batch(heap, operator, width, batch[layout.DEPTH] - 1, rows, ALL_VARY, 0)
    target = words(heap, gathered)
    at = target[ROWS]
    if at + rows > target[layout.CAPACITY]:
        reserve(heap, gathered, at + rows)
        target = words(heap, gathered)
    for c in range(width):
        # The coordinate stands last among the times, just before the diff.
        from_column = c if c < data or c == width - 1 else width - 2 if c == data else c - 1
        place = column(target, c) + at
        out = target[place : place + rows]
        copy_column(out, batch, from_column)
        for i in range(rows if c == data else 0):
            out[i] >>= ROUND_BITS
    target[ROWS] = at + rows
    return gathered


@kernel
def enter(heap, operators, operator, source):
    """The batch as it is inside the loop: at the first round of each loop entered."""
    batch = words(heap, source)
    rows = batch[ROWS]
    added = operators[operator, DEPTH] - batch[layout.DEPTH]
    last = batch[WIDTH] - 1
    varying = 0
    for c in range(last):
        if stride(batch, c) == 1:
            varying = with_column(varying, c)
    if stride(batch, last) == 1:
        varying = with_column(varying, last + added)
    result = new_batch(heap, operator, batch[WIDTH] + added, operators[operator, DEPTH], rows, varying, 0)
    inside = words(heap, result)
    for c in range(last):
        _copy_column(batch, c, inside, c, rows)
    _copy_column(batch, last, inside, last + added, rows)
    inside[ROWS] = rows
    inside[layout.FORM] = batch[layout.FORM]
    return result


@leaf
def _copy_column(source, from_column, target, to_column, rows):
    if stride(target, to_column) == 0:
        constant(target, to_column, value(source, from_column, 0))
        return
    copy_column(cells(target, to_column, rows), source, from_column)


@kernel
def enter_at(heap, operator, source):
    """The batch inside a prioritized loop: its last data column, left behind, says when each row enters.

    Returns -1 if a priority is out of range.
    """
    batch = words(heap, source)
    rows = batch[ROWS]
    data = layout.data_width(batch) - 1
    outside = batch[layout.DEPTH]
    result = new_batch(heap, operator, batch[WIDTH], outside + 1, rows, ALL_VARY, 0)
    inside = words(heap, result)
    for c in range(data):
        _copy_column(batch, c, inside, c, rows)
    for d in range(outside):
        _copy_column(batch, data + 1 + d, inside, data + d, rows)
    for i in range(rows):
        priority = value(batch, data, i)
        if priority < 0 or priority > MOST_PRIORITY:
            release(heap, result)
            return -1
        put(inside, data + outside, i, priority << ROUND_BITS)
    _copy_column(batch, batch[WIDTH] - 1, inside, batch[WIDTH] - 1, rows)
    inside[ROWS] = rows
    return result


@kernel
def delay(heap, operator, source):
    """The batch one round later; takes the caller's count of `source`, which is changed if nobody else holds it."""
    result = source
    if heap[source, COUNT] > 1:
        result = copy_batch(heap, operator, source, 0)
        release(heap, source)
    later = words(heap, result)
    c = later[WIDTH] - 2
    if stride(later, c) == 0:
        constant(later, c, value(later, c, 0) + 1)
    else:
        rounds = cells(later, c, later[ROWS])
        for i in range(later[ROWS]):
            rounds[i] += 1
    return result
