"""The set of a collection's rows in a monotone loop: a row stays in the round in which it came while that supports it.

A row of a recursive relation is derived from others, and its *support* is a derivation from rows of earlier rounds.
Which round that is does not matter to the result, so a row is not moved to an earlier round when a shorter derivation
comes, and to a later one only when the last derivation from rows before it is gone. What follows from a row that stays
stays, too, where a set that is exact in each round would move all of it (`counting`). New rows come in rounds behind
all that were used, and those with `GAP` others between them: a row that loses its support there mostly finds another
one in the rounds between, before anything that follows from it would miss it.

Differences are put out for later rounds as soon as they are known, and only decisions wait: a row is taken away, or
comes, in the round that it concerns, when all that is derived from earlier ones is known.

Invariant: when a run ends, every row that is there has a derivation from rows of rounds before its own, so all of them
follow from the facts, by induction; and every row that has a derivation is there, so all that follows is.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.calendar import post_batch
from graphtide.dataflow.kernels.corners import new_result, put_row, this_round
from graphtide.dataflow.kernels.histories import gather_histories
from graphtide.dataflow.kernels.layout import COORDINATES, INPUT, KEYS, LOWER, SPINE
from graphtide.dataflow.kernels.visits import next_key, open_runs, post, take_carry
from graphtide.jit import borrowing, kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, constant, new_batch, put, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH, merge_for
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK

__all__ = ["GAP", "support"]

# Rounds from one in which new rows come to the next.
GAP = 16
# A round that no row has.
NEVER = 1 << 62
# Times in a monotone loop: an epoch and a round.
DEPTH = 2

# What is known of a row that has to be looked at: where it stands now, whether it was there before this epoch.
ROUND = 0
WAS_THERE = 1


@kernel
def support(heap, operators, operator, calendar, state, first_new):
    """What changes in the set in this round; slot 0 if nothing does. New rows come from round `first_new` on."""
    index = operators[operators[operator, INPUT], SPINE]
    keys = operators[operator, KEYS]
    new = words(heap, index)[FRESH]
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    merge_for(heap, operators[operator, SPINE], ROWS_OF_A_LOOK * (new_rows + carried_rows))
    slots, _, _ = open_runs(words(heap, operators[operator, SPINE]), NONE)
    result = new_result(heap, operator, keys, DEPTH, new_rows + carried_rows)
    doubtful = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, new_rows + carried_rows, ALL_VARY, 0)
    coming = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, new_rows, ALL_VARY, 0)
    known = np.empty((new_rows + carried_rows, 2), np.int64)
    of_new, starts_of_new = gather_histories(heap, slots, keys, DEPTH, new)
    of_carried, starts_of_carried = gather_histories(heap, slots, keys, DEPTH, carry)
    now = this_round(DEPTH, state)
    _sort_out(
        heap, new, carry, of_new, starts_of_new, of_carried, starts_of_carried, now, keys, first_new,
        result, doubtful, coming, known,
    )  # fmt: skip
    release(heap, carry)
    if words(heap, doubtful)[ROWS] > 0:
        merge_for(heap, index, ROWS_OF_A_LOOK * words(heap, doubtful)[ROWS])
        slots, _, _ = open_runs(words(heap, index), new)
        history, starts = gather_histories(heap, slots, keys, DEPTH, doubtful)
        note = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, 1, ALL_VARY, 0)
        _decide(
            heap, operator, calendar, words(heap, doubtful), known, history, starts, now, keys, first_new, result, note
        )
        release(heap, note)
    release(heap, doubtful)
    if words(heap, coming)[ROWS] > 0:
        post_batch(heap, calendar, DEPTH, np.array([first_new]), operator, coming)
    else:
        release(heap, coming)
    out = words(heap, result)
    constant(out, keys, state[LOWER])
    constant(out, keys + 1, state[COORDINATES + 1])
    fresh = consolidate(heap, operator, result, np.arange(keys))
    release(heap, result)
    return fresh


@borrowing
def _sort_out(
    heap, new, carry, of_new, starts_of_new, of_carried, starts_of_carried, now, keys, first_new,
    result, doubtful, coming, known,
):  # fmt: skip
    """Decide what the output and what came in suffice for; the rows whose derivations must be counted are `doubtful`."""
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    epoch = now[0, 0]
    last = now[0, 1]
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        is_called_for = j < j_end
        history = of_new if is_new else of_carried
        start = starts_of_new[row] if is_new else starts_of_carried[row]
        end = starts_of_new[row + 1] if is_new else starts_of_carried[row + 1]
        # The row is in one round or in none: in all others its diffs add up to zero.
        is_there = 0
        was_there = 0
        place = 0
        for n in range(start, end):
            is_there += history[n, 2]
            place += history[n, 1] * history[n, 2]
            was_there += history[n, 2] if history[n, 0] < epoch else 0
        gain = 0
        loses = False
        limit = place if is_there > 0 else last
        comes = False
        for n in range(i, i_end):
            diff = value(probe, keys + DEPTH, n)
            loses |= diff < 0
            comes |= diff > 0
            gain += diff if value(probe, keys + 1, n) <= limit else 0
        i = i_end
        j = j_end
        if not is_called_for:
            if is_there > 0:
                if gain >= 0:
                    continue
            elif not comes:
                continue
            elif was_there == 0 and last < first_new:
                _copy_key(words(heap, coming), probe, row, keys, epoch, first_new)
                continue
            elif gain > 0 and not loses:
                put_row(heap, result, probe, row, keys, known, 0, 0, 1)
                continue
        n = words(heap, doubtful)[ROWS]
        known[n, ROUND] = place if is_there > 0 else NEVER
        known[n, WAS_THERE] = was_there
        _copy_key(words(heap, doubtful), probe, row, keys, epoch, last)


@leaf
def _copy_key(target, probe, row, keys, epoch, coordinate):
    """Append a key at a time; there is room."""
    at = target[ROWS]
    for c in range(keys):
        put(target, c, at, value(probe, c, row))
    put(target, keys, at, epoch)
    put(target, keys + 1, at, coordinate)
    put(target, keys + DEPTH, at, 1)
    target[ROWS] = at + 1


@borrowing
def _decide(heap, operator, calendar, probe, known, history, starts, now, keys, first_new, result, note):
    """Take rows away that lost their support in this round, let those come that have some, and call for the others."""
    last = now[0, 1]
    for row in range(probe[ROWS]):
        place = known[row, ROUND]
        start = starts[row]
        end = starts[row + 1]
        limit = last if place == NEVER else place
        derived = 0
        for n in range(start, end):
            derived += history[n, 2] if history[n, 1] <= limit else 0
        if place != NEVER:
            if derived > 0:
                continue
            if place > last:
                _call(heap, operator, calendar, now, place, probe, row, keys, note)
                continue
            put_row(heap, result, probe, row, keys, known, 0, 0, -1)
        elif derived > 0:
            if known[row, WAS_THERE] == 0 and last < first_new:
                _call(heap, operator, calendar, now, first_new, probe, row, keys, note)
            else:
                put_row(heap, result, probe, row, keys, known, 0, 0, 1)
            continue
        following = _next_supported(history, start, end, limit, derived)
        if following != NEVER:
            if known[row, WAS_THERE] == 0:
                following = max(following, first_new)
            _call(heap, operator, calendar, now, following, probe, row, keys, note)


@leaf
def _call(heap, operator, calendar, now, coordinate, probe, row, keys, note):
    now[1, 0] = now[0, 0]
    now[1, 1] = coordinate
    post(heap, operator, calendar, now, 1, probe, row, keys, note)


@leaf
def _next_supported(history, start, end, limit, derived):
    """The first round after `limit` up to which there are derivations, as far as is known; NEVER if there is none."""
    while derived <= 0:
        following = NEVER
        for n in range(start, end):
            if history[n, 1] > limit:
                following = min(following, history[n, 1])
        if following == NEVER:
            return NEVER
        limit = following
        for n in range(start, end):
            derived += history[n, 2] if history[n, 1] == limit else 0
    return limit
