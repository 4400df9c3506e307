"""Dropping steps of a first answer, before it is laid out."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.degrees import degree_of
from graphtide.frontier.kernels.marks import is_chosen, set_mark
from graphtide.jit import kernel

__all__ = ["drop_some"]


@kernel
def drop_some(log_vertices, log_rounds, log_states, count, sizes, size, low, high, chance, marks, width):
    """Take chosen steps out of a log and mark them, but for those of round 0 and the last one of each vertex.

    Gives how many are left and how many were chosen. Without marks they are only counted.
    """
    seen = np.zeros(sizes.shape[0], np.int32)
    left = 0
    chosen = 0
    for k in range(count):
        v = np.int64(log_vertices[k])
        seen[v] += 1
        degree = degree_of(size, v)
        if seen[v] < sizes[v] and log_rounds[k] > 0 and is_chosen(v, log_rounds[k], degree, low, high, chance):
            chosen += 1
            if marks.shape[0] > 0:
                set_mark(marks, width, v, log_rounds[k])
                continue
        log_vertices[left] = log_vertices[k]
        log_rounds[left] = log_rounds[k]
        log_states[left] = log_states[k]
        left += 1
    return left, chosen
