"""Times inside batches: rows of coordinates, ordered coordinate by coordinate.

A batch's time columns start at `first`. Where two traces of different depth meet, the shallower
one stands outside the loops of the deeper, and its missing coordinates are the least ones.
"""

from __future__ import annotations

from graphtide.jit import leaf
from graphtide.trace.kernels.batch import DEPTH, WIDTH, stride, value

__all__ = ["advance", "coordinate", "coordinate_stride", "is_at_most", "same_times"]


@leaf
def coordinate(batch, d, i):
    """Coordinate `d` of a row's time; the least one if the batch stands outside that loop."""
    depth = batch[DEPTH]
    if d >= depth:
        return 0
    return value(batch, batch[WIDTH] - 1 - depth + d, i)


@leaf
def coordinate_stride(batch, d):
    """1 if coordinate `d` may differ from row to row, 0 if it is the same in all."""
    depth = batch[DEPTH]
    if d >= depth:
        return 0
    return stride(batch, batch[WIDTH] - 1 - depth + d)


@leaf
def is_at_most(batch, first, depth, i, time):
    """Whether the time of row `i` is at or before `time`."""
    for d in range(depth):
        if value(batch, first + d, i) > time[d]:
            return False
    return True


@leaf
def advance(time, depth, since):
    """Replace `time` by its representative for readers at or after the frontier `since`.

    `since` holds the number of its elements, then their coordinates. The representative is the
    meet over the elements f of (time join f); an empty frontier leaves the time alone.
    """
    elements = since[0]
    for d in range(depth):
        t = time[d]
        best = t
        for f in range(elements):
            joined = max(t, since[1 + f * depth + d])
            best = joined if f == 0 else min(best, joined)
        time[d] = best


@leaf
def same_times(times, i, j, depth):
    """Whether rows `i` and `j` of a list of times are equal."""
    for d in range(depth):
        if times[i, d] != times[j, d]:
            return False
    return True
