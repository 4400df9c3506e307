"""Equal rows of the edge boolean matrix, found by hashing.

A row is its mask: view j is bit j % 64 of word j // 64. The table holds numbers of groups; a group knows the
row where it was first seen, so no mask is copied before all of them are known.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf

__all__ = ["group_rows"]

FIRST_SLOTS = 1 << 10
GROWTH = 4
FREE = -1


@kernel
def group_rows(words, counts):
    """The distinct rows of `words` in the order in which they first appear, and the sum of `counts` for each."""
    rows, width = words.shape
    slots = FIRST_SLOTS
    seen_at = np.empty(slots // 2, np.int64)
    sums = np.empty(slots // 2, np.int64)
    table = np.full(slots, FREE, np.int64)
    row, groups = _enter(words, counts, 0, table, seen_at, sums, 0)
    while row < rows:
        slots *= GROWTH
        seen_at = _longer(seen_at, slots // 2)
        sums = _longer(sums, slots // 2)
        table = np.full(slots, FREE, np.int64)
        _enter_groups(words, table, seen_at, groups)
        row, groups = _enter(words, counts, row, table, seen_at, sums, groups)
    distinct = np.empty((groups, width), np.uint64)
    for g in range(groups):
        for c in range(width):
            distinct[g, c] = words[seen_at[g], c]
    return distinct, sums[:groups].copy()


@kernel
def _enter(words, counts, row, table, seen_at, sums, groups):
    """Enter rows from `row` on until all are or the table is half full: the next row and the number of groups."""
    last = table.shape[0] - 1
    while row < words.shape[0] and groups < seen_at.shape[0]:
        slot = np.int64(_hash(words, row) & np.uint64(last))
        while table[slot] != FREE and not _equal(words, row, seen_at[table[slot]]):
            slot = (slot + 1) & last
        group = table[slot]
        if group == FREE:
            table[slot] = groups
            seen_at[groups] = row
            sums[groups] = counts[row]
            groups += 1
        else:
            sums[group] += counts[row]
        row += 1
    return row, groups


@kernel
def _enter_groups(words, table, seen_at, groups):
    last = table.shape[0] - 1
    for g in range(groups):
        slot = np.int64(_hash(words, seen_at[g]) & np.uint64(last))
        while table[slot] != FREE:
            slot = (slot + 1) & last
        table[slot] = g


@leaf
def _hash(words, row):
    mixed = np.uint64(0)
    for c in range(words.shape[1]):
        mixed = (mixed ^ words[row, c]) * np.uint64(0x9E3779B97F4A7C15)
        # The table takes the low bits, which a product alone fills from the low bits of the mask.
        mixed ^= mixed >> np.uint64(32)
    return mixed


@leaf
def _equal(words, a, b):
    for c in range(words.shape[1]):
        if words[a, c] != words[b, c]:
            return False
    return True


@kernel
def _longer(values, length):
    longer = np.empty(length, np.int64)
    longer[: values.shape[0]] = values
    return longer
