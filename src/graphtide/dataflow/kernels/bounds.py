"""How large or small a sum of differences can be at any time from this round on, without a plane of these times.

At a time after this round, the sum is what it is in this round and some of the differences that are not before it. Of
those with one outer coordinate, in the order of the inner one, it has the first few. So it is no less than the sum in
this round and the least sum of first ones on every such line, and no more than with the greatest. A row that moved
from one round to an earlier one, which is what most of a long history consists of, adds nothing to the former.

A line may be taken apart: bounds of its parts, such as its rows in several runs, add up to wider ones.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import leaf
from graphtide.trace.kernels.batch import column, row_mask

__all__ = ["add_bounds", "bounds_of"]

# A history has a column for each coordinate.
EVERY_ROW = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@leaf
def add_bounds(batch, first, end, data, now, bounds):
    """Add what rows [first, end) of a consolidated batch have to three numbers in `bounds`.

    They are the sum in this round, the first row of `now`, and how much less and how much more it can be later. Rows
    have `data` columns before their time, which has up to three coordinates; no epoch is later than that of the round.
    """
    outer = _outer(now)
    inner = now.shape[1] - 1
    diff = inner + 1
    total, less, more = _walk(
        batch[column(batch, data + outer) :], row_mask(batch, data + outer),
        batch[column(batch, data + inner) :], row_mask(batch, data + inner),
        batch[column(batch, data + diff) :], row_mask(batch, data + diff),
        first, end, now[0, outer], now[0, inner],
    )  # fmt: skip
    bounds[0] += total
    bounds[1] += less
    bounds[2] += more


@leaf
def bounds_of(history, first, end, now):
    """The least and the greatest sum that rows [first, end) of times and diffs can have, from this round on."""
    outer = _outer(now)
    inner = now.shape[1] - 1
    total, less, more = _walk(
        history[:, outer], EVERY_ROW, history[:, inner], EVERY_ROW, history[:, inner + 1], EVERY_ROW,
        first, end, now[0, outer], now[0, inner],
    )  # fmt: skip
    return total + less, total + more


@leaf
def _outer(now):
    """The coordinate before the last; where there is none the epoch, in which all rows are before this round."""
    return max(now.shape[1] - 2, 0)


@leaf
def _walk(outer, outer_mask, inner, inner_mask, diffs, diff_mask, first, end, this_outer, this_inner):
    """The sum in this round, and how much less and how much more it can be later."""
    total = 0
    less = 0
    more = 0
    # On the line, or the part of one, that the last row was on.
    partial = 0
    least = 0
    most = 0
    last_outer = np.int64(0)
    last_inner = np.int64(0)
    for row in range(first, end):
        i = np.uint64(row)
        a = outer[i & outer_mask]
        b = inner[i & inner_mask]
        diff = diffs[i & diff_mask]
        if a <= this_outer and b <= this_inner:
            total += diff
            continue
        if a != last_outer or b < last_inner:
            less += least
            more += most
            partial = 0
            least = 0
            most = 0
            last_outer = a
        last_inner = b
        partial += diff
        least = min(least, partial)
        most = max(most, partial)
    return total, less + least, more + most
