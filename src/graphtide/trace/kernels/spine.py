"""The history of an arranged collection: runs of growing size, the newest last, and the fresh batch.

What an activation adds stays apart as the *fresh* batch until the next one, so that a join can tell
new differences from old ones. Then it becomes a run. Two neighbours of comparable size are merged,
and every insertion pays for merging in proportion to its own size and to how many runs there are:
half of `effort` rows per row inserted and run (counting two more, for spines of few). Newer merges,
which are smaller, are served first; large ones take what is left, so that every insertion pays about
the same. A reduction pays as well, before it looks keys up. Readers see the runs of an unfinished merge until
it is done. Where nobody looks keys up, merges only bound the number of runs: those neighbours are merged that
have the fewest rows.

In a loop, what the rounds of an epoch add *waits* (`waiting`): its runs are gathered into one when the epoch ends, when
there are many of them, or when so many keys are looked up that it pays.

Invariant: runs stand in the order of insertion, each consolidated and not empty; a run that is being
merged is merged with one neighbour only; the frontier `since` never goes back.
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import inlined, kernel, leaf
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    LOWER,
    ROWS,
    UPPER,
    new_batch,
    put,
    rows_of,
    value,
)
from graphtide.trace.kernels.consolidate import consolidate, keep_before
from graphtide.trace.kernels.heap import NONE, allocate, release, words
from graphtide.trace.kernels.merge import merge_some, start_merge
from graphtide.trace.kernels.runs import (
    BULK,
    EFFORT,
    FRESH,
    MERGED,
    MOST_RUNS,
    OPEN,
    OWNER,
    PROGRESS,
    RUN_FIELDS,
    RUN_TABLE,
    RUNS,
    SINCE,
    SLOT,
    SPINE_DEPTH,
    SPINE_WIDTH,
    run_slot,
)
from graphtide.trace.kernels.times import is_at_most
from graphtide.trace.kernels.waiting import MOST_WAITING, comparable, gather, gather_for, waits

__all__ = [
    "DEFAULT",
    "EAGER",
    "EFFORT",
    "FRESH",
    "IDLE",
    "LAZY",
    "MOST_RUNS",
    "OWNER",
    "RUNS",
    "RUN_FIELDS",
    "RUN_TABLE",
    "SINCE",
    "SPINE_DEPTH",
    "SPINE_WIDTH",
    "close_spine",
    "end_epoch",
    "everything",
    "forget_from",
    "merge_all",
    "merge_for",
    "new_spine",
    "push_run",
    "run_slot",
    "set_fresh",
    "set_since",
    "settle",
    "snapshot",
    "spine_rows",
]

# Efforts: all at once, in good time, late, and only to bound the number of runs.
EAGER = 1 << 60
DEFAULT = 2
LAZY = 1
IDLE = 0
# Runs that an idle spine may have while the largest has most of its rows; into how many parts the merges of those too
# many are dealt out, of which an insertion does one; and the rows it reads for each of its own at most, unless there
# are more times as many as the largest run has: merges fall behind then, which is how it is where most rows go again.
IDLE_RUNS = 192
IDLE_PARTS = 16
MOST_READ = 8
# So many are merged two by two in the time of a sort.
FEW_RUNS = 8
# The merges under way read at least this many rows at each insertion, so that small ones end at once.
LEAST_FUEL = 64


@kernel
def new_spine(heap, owner, width, depth, effort):
    """An empty spine, compacted to nothing yet."""
    slot = allocate(heap, owner, RUN_TABLE + MOST_RUNS * RUN_FIELDS)
    since = allocate(heap, owner, 1 + depth)
    spine = words(heap, slot)
    spine[:] = 0
    spine[OWNER] = owner
    spine[SPINE_WIDTH] = width
    spine[SPINE_DEPTH] = depth
    spine[EFFORT] = effort
    spine[SINCE] = since
    frontier = words(heap, since)
    frontier[:] = 0
    frontier[0] = 1
    return slot


@kernel
def close_spine(heap, slot):
    """Let go of everything the spine holds, and of the spine."""
    spine = words(heap, slot)
    for r in range(spine[RUNS]):
        release(heap, spine[RUN_TABLE + r * RUN_FIELDS + SLOT])
        release(heap, spine[RUN_TABLE + r * RUN_FIELDS + MERGED])
    release(heap, spine[FRESH])
    release(heap, spine[SINCE])
    release(heap, slot)


@kernel
def set_since(heap, slot, elements):
    """Let later merges compact to the frontier given as rows of coordinates."""
    spine = words(heap, slot)
    count = elements.shape[0]
    depth = spine[SPINE_DEPTH]
    release(heap, spine[SINCE])
    since = allocate(heap, spine[OWNER], 1 + count * depth)
    frontier = words(heap, since)
    frontier[0] = count
    for f in range(count):
        for d in range(depth):
            frontier[1 + f * depth + d] = elements[f, d]
    spine[SINCE] = since


@kernel
def set_fresh(heap, slot, batch, lower, upper):
    """Give the spine the batch of this activation (none is 0); the spine takes the caller's count.

    The batch speaks of the epochs from `lower` on and before `upper`.
    """
    spine = words(heap, slot)
    settle(heap, slot)
    spine[FRESH] = batch
    if batch != NONE:
        header = words(heap, batch)
        header[LOWER] = lower
        header[UPPER] = upper


@inlined
def settle(heap, slot):
    """Make the fresh batch a run."""
    spine = words(heap, slot)
    fresh = spine[FRESH]
    if fresh != NONE:
        spine[FRESH] = NONE
        push_run(heap, slot, fresh)


@kernel
def push_run(heap, slot, batch):
    """Append a consolidated, non-empty batch and work on the merges it pays for."""
    spine = words(heap, slot)
    if spine[RUNS] == MOST_RUNS:
        _work(heap, slot, EAGER)
    r = spine[RUNS]
    base = RUN_TABLE + r * RUN_FIELDS
    spine[base + SLOT] = batch
    spine[base + MERGED] = NONE
    spine[RUNS] = r + 1
    rows = rows_of(heap, batch)
    if waits(heap, spine, r) and spine[EFFORT] != EAGER:
        if r >= MOST_WAITING and waits(heap, spine, r - MOST_WAITING):
            gather(heap, slot, comparable(heap, spine))
        return
    if spine[EFFORT] == IDLE:
        # Now and then: to count the rows of all runs would be most of the work for a batch of one.
        if spine[RUNS] % FEW_RUNS == 0:
            _begin_cheapest(heap, slot, _excess(heap, spine))
        fuel = min(_unread(heap, spine) // IDLE_PARTS, rows * max(MOST_READ, spine[BULK]))
    else:
        fuel = _fuel(spine, rows)
    _work(heap, slot, max(LEAST_FUEL, fuel))


@leaf
def _fuel(spine, rows):
    """How many rows are read for merges when so many have come in."""
    if spine[EFFORT] == EAGER:
        return EAGER
    return max(LEAST_FUEL, spine[EFFORT] * rows * (spine[RUNS] + 2) // 2)


@kernel
def end_epoch(heap, slot, epoch, following):
    """Let the spine be compacted to `epoch`; what is before `following` waits no longer, and is merged like all runs.

    The few runs of a first epoch are left as they are: what comes later pays for merging them.
    """
    spine = words(heap, slot)
    first = spine[RUNS]
    rows = 0
    while first > 0 and waits(heap, spine, first - 1):
        first -= 1
        rows += rows_of(heap, run_slot(spine, first))
    if rows > 0 and (first > 0 or spine[RUNS] > FEW_RUNS):
        gather(heap, slot, comparable(heap, spine))
    frontier = words(heap, spine[SINCE])
    frontier[1] = max(frontier[1], epoch)
    spine[OPEN] = following
    if rows > 0 and first > 0 and spine[EFFORT] != IDLE:
        _work(heap, slot, _fuel(spine, rows))


@leaf
def _under_way(spine):
    """How many merges have begun and not ended."""
    count = 0
    for r in range(spine[RUNS]):
        count += spine[RUN_TABLE + r * RUN_FIELDS + MERGED] != NONE
    return count


@leaf
def _unread(heap, spine):
    """How many rows the merges under way have still to read."""
    unread = np.int64(0)
    for r in range(spine[RUNS]):
        base = RUN_TABLE + r * RUN_FIELDS
        if spine[base + MERGED] != NONE:
            unread += rows_of(heap, run_slot(spine, r)) + rows_of(heap, run_slot(spine, r + 1))
            unread -= spine[base + PROGRESS] + spine[base + PROGRESS + 1]
    return unread


@leaf
def _excess(heap, spine):
    """How many runs an idle spine has too many; it remembers its bulk.

    The more rows there are beside the largest run, the fewer runs they may lie in: most may be void by then, and they
    are to be one before there are as many of them.
    """
    largest = np.int64(0)
    total = np.int64(0)
    for r in range(spine[RUNS]):
        rows = rows_of(heap, run_slot(spine, r))
        largest = max(largest, rows)
        total += rows
    spine[BULK] = total // largest
    room = min(largest, max(0, 2 * (2 * largest - total)))
    return max(0, spine[RUNS] - max(FEW_RUNS, IDLE_RUNS * room // largest))


@kernel
def merge_all(heap, slot):
    """Merge everything into one run, compacted to the frontier; the fresh batch stays apart."""
    spine = words(heap, slot)
    _work(heap, slot, EAGER)
    while spine[RUNS] > 1:
        _begin(heap, slot, spine[RUNS] - 2)
        _advance_merge(heap, slot, spine[RUNS] - 2, EAGER)
    if spine[RUNS] == 1:
        _compact_single(heap, slot)


@kernel
def merge_for(heap, slot, fuel):
    """Merge neighbours of few rows, reading so many, before keys are looked up in every run.

    Who looks says what it is worth; it spares later looks, too, the runs that are gone.
    """
    spine = words(heap, slot)
    fuel = gather_for(heap, slot, fuel)
    while True:
        cheapest = -1
        fewest = fuel
        for r in range(spine[RUNS] - 1):
            rows = rows_of(heap, run_slot(spine, r)) + rows_of(heap, run_slot(spine, r + 1))
            if rows < fewest and (spine[RUN_TABLE + r * RUN_FIELDS + MERGED] != NONE or _can_merge(heap, spine, r)):
                cheapest = r
                fewest = rows
        if cheapest < 0:
            return
        fuel -= fewest
        if spine[RUN_TABLE + cheapest * RUN_FIELDS + MERGED] == NONE:
            _begin(heap, slot, cheapest)
        _advance_merge(heap, slot, cheapest, EAGER)


@kernel
def _compact_single(heap, slot):
    """A lone run has no partner to be merged with: pass it through a merge with nothing."""
    spine = words(heap, slot)
    batch = run_slot(spine, 0)
    empty = allocate(heap, spine[OWNER], words(heap, batch).shape[0])
    source = words(heap, batch)
    nothing = words(heap, empty)
    nothing[:] = source
    nothing[ROWS] = 0
    result = start_merge(heap, spine[OWNER], batch, batch, words(heap, spine[SINCE]))
    progress = np.zeros(3, np.int64)
    merge_some(heap, batch, empty, result, progress, words(heap, spine[SINCE]), EAGER)
    release(heap, empty)
    release(heap, batch)
    spine[RUN_TABLE + SLOT] = result
    if rows_of(heap, result) == 0:
        release(heap, result)
        spine[RUNS] = 0


@kernel
def _work(heap, slot, fuel):
    """Read `fuel` rows for the merges under way, from the newest to the oldest, starting those that are due."""
    spine = words(heap, slot)
    begins = spine[EFFORT] != IDLE or fuel == EAGER
    r = spine[RUNS] - 2
    while r >= 0 and fuel > 0:
        base = RUN_TABLE + r * RUN_FIELDS
        if begins and _due(heap, spine, r):
            _begin(heap, slot, r)
        if spine[base + MERGED] != NONE:
            unread = rows_of(heap, run_slot(spine, r)) + rows_of(heap, run_slot(spine, r + 1))
            unread -= spine[base + PROGRESS] + spine[base + PROGRESS + 1]
            if _advance_merge(heap, slot, r, fuel):
                # The merged run may now be due with either neighbour: look from its right again.
                r = min(r + 1, spine[RUNS] - 1)
            fuel -= unread
        r -= 1


@inlined
def _due(heap, spine, r):
    """Whether runs `r` and `r + 1` are of comparable size and can be merged."""
    return rows_of(heap, run_slot(spine, r)) <= 2 * rows_of(heap, run_slot(spine, r + 1)) and _can_merge(heap, spine, r)


@kernel
def _begin_cheapest(heap, slot, excess):
    """Begin merges of the neighbours with the fewest rows, until so many are under way."""
    spine = words(heap, slot)
    excess -= _under_way(spine)
    while excess > 0:
        cheapest = -1
        fewest = np.int64(0)
        for r in range(spine[RUNS] - 1):
            rows = rows_of(heap, run_slot(spine, r)) + rows_of(heap, run_slot(spine, r + 1))
            if (cheapest < 0 or rows < fewest) and _can_merge(heap, spine, r):
                cheapest = r
                fewest = rows
        if cheapest < 0:
            return
        _begin(heap, slot, cheapest)
        excess -= 1


@inlined
def _can_merge(heap, spine, r):
    """Whether no merge is under way for runs `r` and `r + 1` and both are of committed epochs or both not.

    Runs of the epochs in progress stay apart: they can be undone, and their epochs cannot be told from
    committed ones after a merge would have advanced those.
    """
    if spine[RUN_TABLE + r * RUN_FIELDS + MERGED] != NONE:
        return False
    after = RUN_TABLE + (r + 1) * RUN_FIELDS
    if r + 2 <= spine[RUNS] - 1 and spine[after + MERGED] != NONE:
        return False
    if r > 0 and spine[RUN_TABLE + (r - 1) * RUN_FIELDS + MERGED] != NONE:
        return False
    committed = words(heap, spine[SINCE])[1] + 1
    return (words(heap, run_slot(spine, r))[UPPER] <= committed) == (
        words(heap, run_slot(spine, r + 1))[UPPER] <= committed
    )


@inlined
def _begin(heap, slot, r):
    spine = words(heap, slot)
    base = RUN_TABLE + r * RUN_FIELDS
    since = words(heap, spine[SINCE])
    spine[base + MERGED] = start_merge(heap, spine[OWNER], run_slot(spine, r), run_slot(spine, r + 1), since)
    for k in range(3):
        spine[base + PROGRESS + k] = 0


@inlined
def _advance_merge(heap, slot, r, fuel):
    """Work on the merge of run `r` with the next; True if it ended and the two runs became one or none."""
    spine = words(heap, slot)
    base = RUN_TABLE + r * RUN_FIELDS
    result = spine[base + MERGED]
    progress = spine[base + PROGRESS : base + PROGRESS + 3]
    left = run_slot(spine, r)
    right = run_slot(spine, r + 1)
    if not merge_some(heap, left, right, result, progress, words(heap, spine[SINCE]), fuel):
        return False
    release(heap, left)
    release(heap, right)
    spine[base + SLOT] = result
    spine[base + MERGED] = NONE
    gone = 1
    if rows_of(heap, result) == 0:
        release(heap, result)
        gone = 2
    first = r + 2 - gone
    for w in range(RUN_TABLE + first * RUN_FIELDS, RUN_TABLE + (spine[RUNS] - gone) * RUN_FIELDS):
        spine[w] = spine[w + gone * RUN_FIELDS]
    spine[RUNS] -= gone
    return True


@kernel
def spine_rows(heap, slot):
    """How many differences the spine keeps, the fresh ones included."""
    spine = words(heap, slot)
    total = rows_of(heap, spine[FRESH])
    for r in range(spine[RUNS]):
        total += rows_of(heap, run_slot(spine, r))
    return total


@kernel
def forget_from(heap, slot, epoch):
    """Undo everything at or after `epoch`: what a run that failed has left behind."""
    spine = words(heap, slot)
    settle(heap, slot)
    runs = spine[RUNS]
    kept = 0
    for r in range(runs):
        base = RUN_TABLE + r * RUN_FIELDS
        release(heap, spine[base + MERGED])
        batch = spine[base + SLOT]
        if words(heap, batch)[UPPER] > epoch:
            earlier = keep_before(heap, spine[OWNER], batch, epoch)
            release(heap, batch)
            batch = earlier
        if batch != NONE:
            spine[RUN_TABLE + kept * RUN_FIELDS + SLOT] = batch
            spine[RUN_TABLE + kept * RUN_FIELDS + MERGED] = NONE
            kept += 1
    spine[RUNS] = kept


@kernel
def snapshot(heap, slot, owner, time):
    """The collection as it is at `time`: a consolidated batch whose rows all bear that time."""
    return _gathered(heap, slot, owner, time, False)


@inlined
def everything(heap, slot, owner, time):
    """All differences of the collection, those before `time` advanced to it."""
    return _gathered(heap, slot, owner, time, True)


@kernel
def _gathered(heap, slot, owner, time, with_later):
    spine = words(heap, slot)
    depth = spine[SPINE_DEPTH]
    width = spine[SPINE_WIDTH]
    data = width - depth - 1
    gathered = new_batch(heap, owner, width, depth, spine_rows(heap, slot), ALL_VARY, 0)
    out = words(heap, gathered)
    at = 0
    for r in range(spine[RUNS] + 1):
        source = spine[FRESH] if r == spine[RUNS] else run_slot(spine, r)
        if source == NONE:
            continue
        batch = words(heap, source)
        for i in range(batch[ROWS]):
            if with_later or is_at_most(batch, data, depth, i, time):
                for c in range(width):
                    put(out, c, at, value(batch, c, i))
                for d in range(depth):
                    put(out, data + d, at, max(time[d], value(batch, data + d, i)))
                at += 1
    out[ROWS] = at
    result = consolidate(heap, owner, gathered, np.arange(data))
    release(heap, gathered)
    return result
