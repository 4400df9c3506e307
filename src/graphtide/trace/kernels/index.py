"""Finding keys in a consolidated batch: a directory over the first column, then galloping.

The directory cuts the range of the first column into equal buckets of about eight rows and keeps
where each begins, so a far seek is one look-up and a short search, whatever the batch's size. A
near seek gallops from where the last one ended. A skewed column costs a longer search, no more.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.memory import prefetch
from graphtide.trace.kernels.batch import (
    CONSOLIDATED,
    FORM,
    INDEX,
    INDEX_BASE,
    INDEX_SHIFT,
    INDEX_SIZE,
    ROWS,
    column,
    compare_data,
    data_width,
    row_mask,
    stride,
    value,
)
from graphtide.trace.kernels.radix import bit_length

__all__ = [
    "close_index",
    "finish",
    "group_end",
    "index_words",
    "note_row",
    "note_rows",
    "plan_index",
    "seek",
    "seek_all",
]

# Smaller batches are found by galloping alone.
FEWEST_INDEXED = 256
ROWS_PER_BUCKET_BITS = 3
# Steps that a gallop takes before it asks the directory.
NEAR = 16
# A batch that is so many times smaller than what is looked for in it is better walked through.
FEW = 4
# Keys whose rows are asked of the memory while others are looked at.
AHEAD = 32


@leaf
def index_words(rows):
    """Words to leave for the directory of a batch of `rows` rows."""
    if rows < FEWEST_INDEXED:
        return 0
    buckets = 1 << (bit_length(np.uint64(rows)) - ROWS_PER_BUCKET_BITS)
    return buckets + 2


@kernel
def plan_index(batch, rows, low, high, place):
    """Set up an empty directory at word `place` for about `rows` rows with keys in [low, high]."""
    if rows < FEWEST_INDEXED:
        batch[INDEX] = 0
        return
    spread = np.uint64(high) - np.uint64(low)
    shift = max(0, bit_length(spread) - (bit_length(np.uint64(rows)) - ROWS_PER_BUCKET_BITS))
    batch[INDEX] = place
    batch[INDEX_SHIFT] = shift
    batch[INDEX_BASE] = low
    batch[INDEX_SIZE] = np.int64(spread >> np.uint64(shift)) + 2


@leaf
def note_row(batch, i, key, bucket):
    """Enter row `i` with first column `key`; rows come in order, `bucket` is the next one to fill."""
    own = np.int64((np.uint64(key) - np.uint64(batch[INDEX_BASE])) >> np.uint64(batch[INDEX_SHIFT]))
    place = batch[INDEX]
    while bucket <= own:
        batch[place + bucket] = i
        bucket += 1
    return bucket


@kernel
def note_rows(batch, first, rows, bucket):
    """Enter `rows` rows from `first` on, as `note_row` does."""
    keys = batch[column(batch, 0) :]
    mask = row_mask(batch, 0)
    starts = batch[batch[INDEX] :]
    base = np.uint64(batch[INDEX_BASE])
    shift = np.uint64(batch[INDEX_SHIFT])
    for row in range(first, first + rows):
        own = np.int64((np.uint64(keys[np.uint64(row) & mask]) - base) >> shift)
        # Written for every row, so that only an empty bucket, which is rare, is a branch.
        starts[np.uint64(bucket)] = row
        bucket += np.int64(bucket <= own)
        while bucket <= own:
            starts[np.uint64(bucket)] = row
            bucket += 1
    return bucket


@kernel
def finish(batch, rows):
    """Declare the batch consolidated with `rows` rows, and index it."""
    batch[ROWS] = rows
    batch[FORM] = CONSOLIDATED
    batch[INDEX] = 0
    if rows < FEWEST_INDEXED or data_width(batch) == 0 or stride(batch, 0) == 0:
        return
    start = column(batch, 0)
    plan_index(batch, rows, batch[start], batch[start + rows - 1], batch.shape[0] - index_words(rows))
    close_index(batch, note_rows(batch, 0, rows, 0))


@kernel
def close_index(batch, bucket):
    """Let every bucket past the last row end at the last row."""
    place = batch[INDEX]
    while bucket < batch[INDEX_SIZE]:
        batch[place + bucket] = batch[ROWS]
        bucket += 1


@leaf
def seek(batch, keys, probe, row, start):
    """The first row at or after `start` whose key is not below row `row` of `probe`.

    `keys` leading columns make the key, in both. The rows before `start` must be below it.
    """
    if keys == 1 and stride(batch, 0) == 1:
        return _seek_word(batch, value(probe, 0, row), start)
    rows = batch[ROWS]
    if start >= rows or compare_data(batch, start, probe, row, keys) >= 0:
        return start
    # From here on row `low` is below the probe.
    low = start
    step = 1
    while step <= NEAR:
        if low + step >= rows:
            return _search(batch, keys, probe, row, low, rows)
        if compare_data(batch, low + step, probe, row, keys) >= 0:
            return _search(batch, keys, probe, row, low, low + step)
        low += step
        step *= 2
    high = rows
    if batch[INDEX] != 0:
        low, high = _bucket(batch, value(probe, 0, row), low)
    else:
        while low + step < rows:
            if compare_data(batch, low + step, probe, row, keys) >= 0:
                high = low + step
                break
            low += step
            step *= 2
    return _search(batch, keys, probe, row, low, high)


@leaf
def _bucket(batch, key, low):
    """Where the directory says that the first row not below `key` is: in (low, high], `low` being below it."""
    bucket = np.int64((np.uint64(key) - np.uint64(batch[INDEX_BASE])) >> np.uint64(batch[INDEX_SHIFT]))
    if bucket < 0 or bucket >= batch[INDEX_SIZE] - 1:
        # It is above every key: below the first it cannot be, `low` is below it.
        return batch[ROWS] - 1, batch[ROWS]
    place = batch[INDEX] + bucket
    return max(low, batch[place] - 1), batch[place + 1]


@leaf
def _seek_word(batch, key, start):
    """`seek` for a key of one column, the first one."""
    rows = batch[ROWS]
    base = column(batch, 0)
    if start >= rows or batch[base + start] >= key:
        return start
    if start + 1 == rows or batch[base + start + 1] >= key:
        return start + 1
    low = start + 1
    high = rows
    if batch[INDEX] != 0:
        low, high = _bucket(batch, key, low)
    else:
        step = 2
        while low + step < rows:
            if batch[base + low + step] >= key:
                high = low + step
                break
            low += step
            step *= 2
    # Halving without a branch that could be foreseen wrongly.
    size = high - low
    while size > 1:
        half = size >> 1
        low += half * (batch[base + low + half] < key)
        size -= half
    return low + 1


@kernel
def seek_all(batch, keys, probe):
    """`seek` for every row of a consolidated probe.

    Where there is a directory, all buckets are looked up first, and memory is asked ahead for the next ones. A bucket
    is halved as often as one of usual size needs: a loop of a known length has no branch to be foreseen wrongly. A
    longer key is then sought among the rows that are equal in the first column.
    """
    rows = probe[ROWS]
    found = np.empty(rows, np.int64)
    if keys == 0 or stride(batch, 0) == 0 or batch[INDEX] == 0 or FEW * batch[ROWS] < rows:
        at = 0
        for i in range(rows):
            at = seek(batch, keys, probe, i, at)
            found[i] = at
        return found
    sought = probe[column(probe, 0) :]
    mask = row_mask(probe, 0)
    starts = batch[batch[INDEX] :]
    first = batch[INDEX_BASE]
    shift = np.uint64(batch[INDEX_SHIFT])
    last = np.uint64(batch[INDEX_SIZE] - 2)
    one = np.uint64(1)
    sizes = np.empty(rows, np.int64)
    # How many rows are surely below the sought one, and how many from the last of them on are left to look at.
    # Indices are unsigned, so that none is taken from the end.
    for i in range(rows):
        if i + AHEAD < rows:
            prefetch(starts, _bucket_of(sought[np.uint64(i + AHEAD) & mask], first, shift, last))
        bucket = _bucket_of(sought[np.uint64(i) & mask], first, shift, last)
        low = starts[bucket]
        found[i] = low
        sizes[i] = starts[bucket + one] - low + 1
    before = np.uint64(column(batch, 0) - 1)
    for i in range(rows):
        if i + AHEAD < rows:
            prefetch(batch, before + np.uint64(found[i + AHEAD] + 1))
            prefetch(batch, before + np.uint64(found[i + AHEAD] + sizes[i + AHEAD]))
        key = sought[np.uint64(i) & mask]
        at = before + np.uint64(found[i])
        size = np.uint64(sizes[i])
        for _ in range(ROWS_PER_BUCKET_BITS + 1):
            half = size >> one
            at += half * np.uint64(batch[at + half] < key)
            size -= half
        while size > one:
            half = size >> one
            at += half * np.uint64(batch[at + half] < key)
            size -= half
        found[i] = at - before
    if keys > 1:
        start = np.int64(0)
        for i in range(rows):
            start = seek(batch, keys, probe, i, max(start, found[i]))
            found[i] = start
    return found


@leaf
def _bucket_of(key, first, shift, last):
    """The bucket of a key, the nearest one if it is outside the range of keys."""
    return min(last, (np.uint64(max(first, key)) - np.uint64(first)) >> shift)


@leaf
def _search(batch, keys, probe, row, low, high):
    """The least position in (low, high] not below the probe, `low` being below it and `high` not."""
    while high - low > 1:
        middle = (low + high) >> 1
        if compare_data(batch, middle, probe, row, keys) < 0:
            low = middle
        else:
            high = middle
    return high


@leaf
def group_end(batch, keys, start):
    """One past the last row with the key of row `start`."""
    rows = batch[ROWS]
    low = start
    if keys == 1 and stride(batch, 0) == 1:
        base = column(batch, 0)
        key = batch[base + start]
        if start + 1 == rows or batch[base + start + 1] != key:
            return start + 1
    step = 1
    while low + step < rows and compare_data(batch, low + step, batch, start, keys) == 0:
        low += step
        step *= 2
    high = min(low + step, rows)
    while high - low > 1:
        middle = (low + high) >> 1
        if compare_data(batch, middle, batch, start, keys) == 0:
            low = middle
        else:
            high = middle
    return high
