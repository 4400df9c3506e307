"""What a reduction puts out at a time, from its input alone: nothing of its output is looked up.

With f(t) the row that the input makes at a time t, what is put out there is f(t), less what all times before t have
put out. They were right, each of them, so that is a sum of f over the corners just below t: with two coordinates

    f(t) - f(below t in the first) - f(below t in the second) + f(below t in both),

and with more of them the like, signs changing with the number of coordinates below. A corner is a number of which bit d
says that it is below the time in coordinate d. All corners come from one walk through the key's history. And since a
later time has its corners too, whether anything is put out there is known when a change comes in.

Invariant: a time is called for if something is to be put out there, as far as the input is known.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import COORDINATES, LOWER
from graphtide.dataflow.kernels.rounds import CLOSED
from graphtide.jit import kernel, leaf
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ROWS,
    constant,
    new_batch,
    put,
    reserve,
    value,
    with_column,
)
from graphtide.trace.kernels.consolidate import seal_sorted
from graphtide.trace.kernels.heap import NONE, words
from graphtide.trace.kernels.index import seek_all

__all__ = [
    "CORNERS",
    "find_keys",
    "new_result",
    "put_row",
    "sealed",
    "sign",
    "this_round",
    "to_corners",
]

CORNERS = 1 << CLOSED


@kernel
def this_round(depth, state):
    """The time of the activation, as a list of one."""
    now = np.empty((1, depth), np.int64)
    now[0, 0] = state[LOWER]
    for d in range(1, depth):
        now[0, d] = state[COORDINATES + d]
    return now


@kernel
def find_keys(heap, slots, keys, probes):
    """Where the key of each row of a batch begins in each run, all looked up at once."""
    rows = words(heap, probes)[ROWS] if probes != NONE else 0
    places = np.empty((slots.shape[0], rows), np.int64)
    if rows > 0:
        for r in range(slots.shape[0]):
            places[r] = seek_all(words(heap, slots[r]), keys, words(heap, probes))
    return places


@leaf
def to_corners(numbers, depth):
    """From sums by the coordinates in which rows stand on a time, to sums at its corners.

    A row is missing from all corners that are below in one of these coordinates.
    """
    for d in range(depth):
        bit = 1 << d
        for corner in range(1 << depth):
            if corner & bit:
                below = numbers[corner ^ bit]
                numbers[corner ^ bit] += numbers[corner]
                numbers[corner] = below


@leaf
def sign(corner):
    """1 if a corner is below in an even number of coordinates, else -1."""
    return 1 - 2 * ((corner ^ (corner >> 1) ^ (corner >> 2)) & 1)


@kernel
def new_result(heap, operator, width, depth, capacity):
    """An empty batch whose rows are all of one time."""
    varying = with_column(0, width + depth)
    for c in range(width):
        varying = with_column(varying, c)
    return new_batch(heap, operator, width + depth + 1, depth, capacity, varying, 0)


@leaf
def put_row(heap, result, probe, row, keys, rows, at, values, diff):
    """Append a key with the values of one of `rows`."""
    out = words(heap, result)
    end = out[ROWS]
    if end == out[layout.CAPACITY]:
        reserve(heap, result, end + 1)
        out = words(heap, result)
    for c in range(keys):
        put(out, c, end, value(probe, c, row))
    for c in range(values):
        put(out, keys + c, end, rows[at, c])
    put(out, out[layout.WIDTH] - 1, end, diff)
    out[ROWS] = end + 1


@kernel
def sealed(heap, operator, result, width, now):
    """The result as a consolidated batch, for its rows were written in order; slot 0 if there are none."""
    out = words(heap, result)
    for d in range(now.shape[1]):
        constant(out, width + d, now[0, d])
    return seal_sorted(heap, operator, result)
