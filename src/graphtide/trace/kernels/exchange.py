"""Batches in from NumPy arrays and out to them."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    ROWS,
    WIDTH,
    column,
    constant,
    new_batch,
    stride,
    with_column,
)
from graphtide.trace.kernels.heap import words

__all__ = ["dump", "load", "load_changes"]


@kernel
def load(heap, owner, columns, depth):
    """A batch of the given columns: data, times, diff, one line each."""
    width, rows = columns.shape
    slot = new_batch(heap, owner, width, depth, rows, ALL_VARY, 0)
    batch = words(heap, slot)
    for c in range(width):
        start = column(batch, c)
        for i in range(rows):
            batch[start + i] = columns[c, i]
    batch[ROWS] = rows
    return slot


@kernel
def load_changes(heap, owner, columns, epoch, diff):
    """A batch of data columns that all change by `diff` at `epoch`."""
    data, rows = columns.shape
    varying = 0
    for c in range(data):
        varying = with_column(varying, c)
    slot = new_batch(heap, owner, data + 2, 1, rows, varying, 0)
    batch = words(heap, slot)
    for c in range(data):
        start = column(batch, c)
        for i in range(rows):
            batch[start + i] = columns[c, i]
    constant(batch, data, epoch)
    constant(batch, data + 1, diff)
    batch[ROWS] = rows
    return slot


@kernel
def dump(heap, slot):
    """The columns of a batch, one line each."""
    batch = words(heap, slot)
    width = batch[WIDTH]
    rows = batch[ROWS]
    columns = np.empty((width, rows), np.int64)
    for c in range(width):
        start = column(batch, c)
        step = stride(batch, c)
        for i in range(rows):
            columns[c, i] = batch[start + i * step]
    return columns
