"""What dropping costs: the edges gone along to compute steps again, by the degree of their vertices."""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.degrees import degree_of
from graphtide.frontier.kernels.fields import DEGREES, WORK
from graphtide.jit import borrowing_leaf
from graphtide.trace.kernels.radix import bit_length

__all__ = ["count_work", "degree_class"]


@borrowing_leaf
def degree_class(degree):
    """The length of a degree in bits; very high ones have one in common."""
    return min(np.int64(bit_length(np.uint64(degree))), np.int64(DEGREES - 1))


@borrowing_leaf
def count_work(query, size, v):
    """Note that the edges into `v` are gone through because a step of it may have been dropped."""
    degree = degree_of(size, v)
    query[WORK + degree_class(degree)] += degree + 1
