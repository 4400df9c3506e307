"""Finding keys in a consolidated batch: a directory over the first column or two, then galloping.

The directory cuts the range of the first column into equal buckets of about eight rows and keeps
where each begins, so a far seek is one look-up and a short search, whatever the batch's size. Where the first
column has too few values for that, as in a relation between few vertices, each of its values is cut further by the
second column. A near seek gallops from where the last one ended. A skewed column costs a longer search, no more.
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
    SECOND_BITS,
    SECOND_HIGH,
    SECOND_LOW,
    SECOND_SHIFT,
    column,
    compare_data,
    data_width,
    range_of,
    row_mask,
    stride,
    value,
)
from graphtide.trace.kernels.radix import bit_length

__all__ = [
    "bound_all",
    "close_index",
    "finish",
    "group_end",
    "index_words",
    "is_coarse",
    "note_row",
    "note_rows",
    "plan_index",
    "second_range",
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
    return (1 << _bucket_bits(rows)) + 2


@leaf
def _bucket_bits(rows):
    """The number of buckets for so many rows, as a power of two."""
    return bit_length(np.uint64(rows)) - ROWS_PER_BUCKET_BITS


@leaf
def is_coarse(rows, low, high):
    """Whether keys in [low, high] are too few to tell the buckets of so many rows apart."""
    return rows >= FEWEST_INDEXED and bit_length(np.uint64(high) - np.uint64(low)) < _bucket_bits(rows)


@kernel
def second_range(batch):
    """The least and the greatest value of the second column."""
    if batch[INDEX] != 0 and batch[SECOND_BITS] > 0:
        return batch[SECOND_LOW], batch[SECOND_HIGH]
    return range_of(batch, 1)


@kernel
def plan_index(batch, rows, low, high, second_low, second_high, place):
    """Set up an empty directory at word `place` for about `rows` rows with keys in [low, high].

    If they are coarse, the range of the second column tells how to cut them further.
    """
    if rows < FEWEST_INDEXED:
        batch[INDEX] = 0
        return
    spread = np.uint64(high) - np.uint64(low)
    second = bit_length(np.uint64(second_high) - np.uint64(second_low))
    more = _bucket_bits(rows) - bit_length(spread)
    shift = max(0, -more)
    bits = min(max(0, more), second)
    batch[INDEX] = place
    batch[INDEX_SHIFT] = shift
    batch[INDEX_BASE] = low
    batch[INDEX_SIZE] = ((np.int64(spread >> np.uint64(shift)) + 1) << bits) + 1
    batch[SECOND_BITS] = bits
    batch[SECOND_SHIFT] = second - bits
    batch[SECOND_LOW] = second_low
    batch[SECOND_HIGH] = second_high


@leaf
def note_row(batch, i, bucket):
    """Enter row `i`; rows come in order, `bucket` is the next one to fill."""
    own = np.int64((np.uint64(value(batch, 0, i)) - np.uint64(batch[INDEX_BASE])) >> np.uint64(batch[INDEX_SHIFT]))
    if batch[SECOND_BITS] > 0:
        own = own << batch[SECOND_BITS] | _second(batch, value(batch, 1, i))
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
    if batch[SECOND_BITS] == 0:
        for row in range(first, first + rows):
            own = (np.uint64(keys[np.uint64(row) & mask]) - base) >> shift
            bucket = _begin_buckets(starts, bucket, np.int64(own), row)
        return bucket
    others = batch[column(batch, 1) :]
    other_mask = row_mask(batch, 1)
    bits = np.uint64(batch[SECOND_BITS])
    other_base = np.uint64(batch[SECOND_LOW])
    other_shift = np.uint64(batch[SECOND_SHIFT])
    for row in range(first, first + rows):
        own = (np.uint64(keys[np.uint64(row) & mask]) - base) >> shift
        other = (np.uint64(others[np.uint64(row) & other_mask]) - other_base) >> other_shift
        bucket = _begin_buckets(starts, bucket, np.int64(own << bits | other), row)
    return bucket


@leaf
def _begin_buckets(starts, bucket, own, row):
    """Let the buckets up to a row's own begin with it; the next one to fill."""
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
    low = batch[start]
    high = batch[start + rows - 1]
    second_low, second_high = second_range(batch) if data_width(batch) > 1 and is_coarse(rows, low, high) else (0, 0)
    plan_index(batch, rows, low, high, second_low, second_high, batch.shape[0] - index_words(rows))
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
        second = _second(batch, value(probe, 1, row)) if keys > 1 else 0
        low, high = _bucket(batch, value(probe, 0, row), second, low)
    else:
        while low + step < rows:
            if compare_data(batch, low + step, probe, row, keys) >= 0:
                high = low + step
                break
            low += step
            step *= 2
    return _search(batch, keys, probe, row, low, high)


@leaf
def _bucket(batch, key, second, low):
    """Where the directory says that the first row not below a key is: in (low, high], `low` being below it.

    `second` is what it tells apart of the second column, 0 if the key has none.
    """
    own = (np.uint64(key) - np.uint64(batch[INDEX_BASE])) >> np.uint64(batch[INDEX_SHIFT])
    if own >= np.uint64((batch[INDEX_SIZE] - 1) >> batch[SECOND_BITS]):
        # It is above every key: below the first it cannot be, `low` is below it.
        return batch[ROWS] - 1, batch[ROWS]
    place = batch[INDEX] + (np.int64(own) << batch[SECOND_BITS]) + second
    return max(low, batch[place] - 1), batch[place + 1]


@leaf
def _second(batch, key):
    """What the directory tells apart of a value of the second column, the nearest that there is."""
    if batch[SECOND_BITS] == 0:
        return 0
    inside = np.uint64(min(batch[SECOND_HIGH], max(batch[SECOND_LOW], key))) - np.uint64(batch[SECOND_LOW])
    return np.int64(inside >> np.uint64(batch[SECOND_SHIFT]))


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
        low, high = _bucket(batch, key, 0, low)
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
    starts = batch[batch[INDEX] :]
    one = np.uint64(1)
    is_cut = batch[SECOND_BITS] > 0
    sizes = np.empty(rows, np.int64)
    # How many rows are surely below the sought one, and how many from the last of them on are left to look at.
    # Indices are unsigned, so that none is taken from the end.
    if is_cut:
        _find_buckets(batch, keys, probe, found)
        for i in range(rows):
            if i + AHEAD < rows:
                prefetch(starts, found[i + AHEAD])
            bucket = np.uint64(found[i])
            found[i] = starts[bucket]
            sizes[i] = starts[bucket + one] - starts[bucket] + 1
    else:
        sought = probe[column(probe, 0) :]
        mask = row_mask(probe, 0)
        first = batch[INDEX_BASE]
        shift = np.uint64(batch[INDEX_SHIFT])
        last = np.uint64(batch[INDEX_SIZE] - 2)
        for i in range(rows):
            if i + AHEAD < rows:
                prefetch(starts, _bucket_of(sought[np.uint64(i + AHEAD) & mask], first, shift, last))
            bucket = _bucket_of(sought[np.uint64(i) & mask], first, shift, last)
            found[i] = starts[bucket]
            sizes[i] = starts[bucket + one] - starts[bucket] + 1
    # In a bucket that the second column cuts, all rows have one first value.
    compared = 1 if is_cut and keys > 1 else 0
    sought = probe[column(probe, compared) :]
    mask = row_mask(probe, compared)
    before = np.uint64(column(batch, compared) - 1)
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
    if is_cut:
        _mend_outside(batch, probe, found)
    if keys > compared + 1:
        start = np.int64(0)
        for i in range(rows):
            start = seek(batch, keys, probe, i, max(start, found[i]))
            found[i] = start
    return found


@leaf
def _bucket_of(key, first, shift, last):
    """The bucket of a key, the nearest one if it is outside the range of keys."""
    return min(last, (np.uint64(max(first, key)) - np.uint64(first)) >> shift)


@kernel
def _find_buckets(batch, keys, probe, found):
    """The bucket of each row of a probe in a directory that the second column cuts."""
    sought = probe[column(probe, 0) :]
    mask = row_mask(probe, 0)
    first = batch[INDEX_BASE]
    shift = np.uint64(batch[INDEX_SHIFT])
    bits = np.uint64(batch[SECOND_BITS])
    last = (np.uint64(batch[INDEX_SIZE] - 1) >> bits) - np.uint64(1)
    for i in range(found.shape[0]):
        found[i] = _bucket_of(sought[np.uint64(i) & mask], first, shift, last) << bits
    if keys == 1:
        return
    sought = probe[column(probe, 1) :]
    mask = row_mask(probe, 1)
    least = batch[SECOND_LOW]
    most = batch[SECOND_HIGH]
    shift = np.uint64(batch[SECOND_SHIFT])
    for i in range(found.shape[0]):
        key = min(most, max(least, sought[np.uint64(i) & mask]))
        found[i] += np.int64((np.uint64(key) - np.uint64(least)) >> shift)


@kernel
def _mend_outside(batch, probe, found):
    """Rows whose first column is outside the range of keys were looked for in the nearest bucket, one of several."""
    least = batch[INDEX_BASE]
    # Not one more and then one less, which would be beyond the largest number if that is a key.
    most = least + (((batch[INDEX_SIZE] - 1) >> batch[SECOND_BITS]) - 1)
    for i in range(probe[ROWS]):
        if value(probe, 0, i) < least:
            found[i] = 0
        elif value(probe, 0, i) > most:
            found[i] = batch[ROWS]


@kernel
def bound_all(batch, probe, ends):
    """Before which row of a batch the rows end that may have the key of each row of a probe.

    Gives how many leading columns need not be compared any more, of rows between where `seek_all` found the key and
    there: a directory that the second column cuts knows where each first value ends, so the first column is not read.
    """
    if batch[INDEX] == 0 or batch[SECOND_BITS] == 0:
        ends[:] = batch[ROWS]
        return 0
    starts = batch[batch[INDEX] :]
    sought = probe[column(probe, 0) :]
    mask = row_mask(probe, 0)
    base = np.uint64(batch[INDEX_BASE])
    bits = np.uint64(batch[SECOND_BITS])
    one = np.uint64(1)
    last = (np.uint64(batch[INDEX_SIZE] - 1) >> bits) - one
    for i in range(ends.shape[0]):
        own = np.uint64(sought[np.uint64(i) & mask]) - base
        ends[i] = starts[(min(own, last) + one) << bits] if own <= last else 0
    return 1


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
        step = 1
        while low + step < rows and batch[base + low + step] == key:
            low += step
            step *= 2
        # Halving without a branch that could be foreseen wrongly.
        size = min(step, rows - low)
        while size > 1:
            half = size >> 1
            low += half * (batch[base + low + half] == key)
            size -= half
        return low + 1
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
