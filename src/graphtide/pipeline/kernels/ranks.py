"""Ranks of values among the literals that they are compared with, and what tables say of ranks."""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["look_up", "ranks_of"]

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def ranks_of(codes, thresholds):
    """For each code 1, plus the number of thresholds below it, plus the number not above it.

    Thresholds ascend and none is there twice: threshold i has rank 2i + 2, what lies before it 2i + 1.
    """
    ranks = np.empty(codes.shape[0], np.int32)
    for i in range(codes.shape[0]):
        below = _how_many_below(thresholds, codes[i])
        is_there = below < thresholds.shape[0] and thresholds[below] == codes[i]
        ranks[i] = 2 * below + 1 + is_there
    return ranks


@leaf
def _how_many_below(thresholds, code):
    # The number of steps depends on the thresholds alone, so that there is no branch to guess.
    below = 0
    left = thresholds.shape[0]
    while left > 0:
        half = (left + 1) // 2
        below += half if thresholds[below + half - 1] < code else 0
        left -= half
    return below


@kernel
def look_up(ranks, tables, starts, sizes, alternatives, width):
    """Words by line and edge: the union over all alternatives of what the tables of all columns have in common.

    The table of column c begins at starts[c] and has, for each alternative and each of sizes[c] ranks, `width` words.
    """
    columns, edges = ranks.shape
    words = np.zeros((width, edges), np.uint64)
    places = np.empty(columns, np.int64)
    for e in range(edges):
        for a in range(alternatives):
            for c in range(columns):
                places[c] = starts[c] + (a * sizes[c] + ranks[c, e]) * width
            for w in range(width):
                common = ALL_ONES
                for c in range(columns):
                    common &= tables[places[c] + w]
                words[w, e] |= common
    return words
