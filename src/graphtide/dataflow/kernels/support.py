"""The set of a collection's rows in a monotone loop: a row stays in the round in which it came while that supports it.

A row of a recursive relation is derived from others, and its *support* is a derivation from rows of earlier rounds.
Which round that is does not matter to the result, so a row is not moved to an earlier round when a shorter derivation
comes, and to a later one only when the last derivation from rows before it is gone. What follows from a row that stays
stays, too, where a set that is exact in each round would move all of it (`counting`). New rows come in rounds behind
all that were used, and those with `GAP` others between them: a row that loses its support there mostly finds another
one in the rounds between, before anything that follows from it would miss it.

Differences are put out for later rounds as soon as they are known, and only decisions wait: a row is taken away, or
comes, in the round that it concerns, when all that is derived from earlier ones is known. A row without any derivation
need not wait while no row of an earlier round may find another support: nothing can give it one back in time.

Invariant: when a run ends, every row that is there has a derivation from rows of rounds before its own, so all of them
follow from the facts, by induction; and every row that has a derivation is there, so all that follows is.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.calendar import post_batch, post_row
from graphtide.dataflow.kernels.corners import new_result, put_row, this_round
from graphtide.dataflow.kernels.histories import gather_histories
from graphtide.dataflow.kernels.layout import (
    AHEAD,
    COORDINATES,
    DOUBT,
    GAINED,
    INPUT,
    KEYS,
    LOWER,
    SCOPE,
    SPINE,
    UPPER,
    WAITING,
)
from graphtide.dataflow.kernels.linear import together
from graphtide.dataflow.kernels.visits import next_key, open_runs, take_carry
from graphtide.jit import borrowing, kernel, leaf
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, WIDTH, constant, new_batch, put, range_of, rows_of, value
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.spine import FRESH, merge_for
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK

__all__ = ["GAP", "NEVER", "next_for_new", "support"]

# Rounds from one in which new rows come to the next.
GAP = 16
# Rounds that no row has: of one that is not there but was before this epoch, and of one that was not.
NEVER = 1 << 62
NOT_YET = NEVER + 1
# Times in a monotone loop: an epoch and a round.
DEPTH = 2

# What a visit is for, in units that add up where several call for one: a row that is there in that round and has lost
# all its derivations, or may have lost its support; or one that was there and may come back then. In the first round
# for new rows the visits of those count their derivations, which are fewer than a RETURN.
END = 1
LOSS = 1 << 16
RETURN = 1 << 32


@kernel
def support(heap, operators, operator, calendar, state, scopes):
    """What changes in the set in this round; slot 0 if nothing does.

    Rows that were not there before this epoch wait for round WAITING of the scope, after all rounds of those that were;
    none do if it is below 0.
    """
    scope = scopes[operators[operator, SCOPE]]
    index = operators[operators[operator, INPUT], SPINE]
    keys = operators[operator, KEYS]
    new = words(heap, index)[FRESH]
    carry = take_carry(heap, operators, operator, keys)
    if new == NONE and carry == NONE:
        return NONE
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    now = this_round(DEPTH, state)
    if new != NONE and range_of(words(heap, new), keys + DEPTH)[1] > 0:
        operators[operator, GAINED] = state[UPPER]
    has_gained = operators[operator, GAINED] == state[UPPER]
    rounds = np.empty(new_rows + carried_rows, np.int64)
    result = new_result(heap, operator, keys, DEPTH, new_rows + carried_rows)
    doubtful = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, new_rows + carried_rows, ALL_VARY, 0)
    coming = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, new_rows, ALL_VARY, 0)
    looked_up = carry if carry != NONE and _may_return(words(heap, carry)) else NONE
    merge_for(heap, operators[operator, SPINE], ROWS_OF_A_LOOK * (new_rows + rows_of(heap, looked_up)))
    slots, _, _ = open_runs(words(heap, operators[operator, SPINE]), NONE)
    of_new, starts_of_new = gather_histories(heap, slots, keys, DEPTH, new)
    of_carried, starts_of_carried = gather_histories(heap, slots, keys, DEPTH, looked_up)
    note = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, 1, ALL_VARY, 0)
    ended = NONE
    _sort_out(
        heap, operator, calendar, scope, new, carry, of_new, starts_of_new, of_carried, starts_of_carried, now,
        keys, has_gained, result, doubtful, coming, rounds, note,
    )  # fmt: skip
    release(heap, carry)
    if words(heap, doubtful)[ROWS] > 0:
        merge_for(heap, index, ROWS_OF_A_LOOK * words(heap, doubtful)[ROWS])
        slots, _, _ = open_runs(words(heap, index), new)
        history, starts = gather_histories(heap, slots, keys, DEPTH, doubtful)
        ended = new_batch(heap, operator, keys + DEPTH + 1, DEPTH, words(heap, doubtful)[ROWS], ALL_VARY, 0)
        _decide(
            heap, operator, calendar, scope, words(heap, doubtful), rounds, history, starts, now, keys, result, ended,
            note,
        )  # fmt: skip
        _put_off(heap, operator, calendar, scope, words(heap, ended), now, keys, note)
    release(heap, note)
    release(heap, doubtful)
    if words(heap, coming)[ROWS] > 0:
        following = scope[WAITING] if now[0, 1] < scope[WAITING] else next_for_new(now[0, 1])
        post_batch(heap, calendar, DEPTH, np.array([following]), operator, coming)
    else:
        release(heap, coming)
    out = words(heap, result)
    constant(out, keys, state[LOWER])
    constant(out, keys + 1, state[COORDINATES + 1])
    result = together(heap, operator, result, ended)
    fresh = consolidate(heap, operator, result, np.arange(keys))
    release(heap, result)
    return fresh


@kernel
def _may_return(carry):
    """Whether some visit is for a row of which only the output can say where it is."""
    diff = carry[WIDTH] - 1
    for j in range(carry[ROWS]):
        if value(carry, diff, j) % RETURN == 0:
            return True
    return False


@borrowing
def _sort_out(
    heap, operator, calendar, scope, new, carry, of_new, starts_of_new, of_carried, starts_of_carried, now,
    keys, has_gained, result, doubtful, coming, rounds, note,
):  # fmt: skip
    """Decide what the output and what came in suffice for; rows whose derivations must be counted are `doubtful`."""
    first_new = scope[WAITING]
    is_ahead = scope[AHEAD] == 1
    new_rows = words(heap, new)[ROWS] if new != NONE else 0
    carried_rows = words(heap, carry)[ROWS] if carry != NONE else 0
    epoch = now[0, 0]
    last = now[0, 1]
    is_looked_up = starts_of_carried.shape[0] > 1
    i = 0
    j = 0
    while i < new_rows or j < carried_rows:
        probe, row, i_end, j_end = next_key(heap, new, i, new_rows, carry, j, carried_rows, keys)
        is_new = i < i_end
        is_called_for = j < j_end
        # The row is in one round or in none: in all others its diffs add up to zero.
        is_there = 0
        was_there = 0
        place = 0
        if is_new or is_looked_up:
            history = of_new if is_new else of_carried
            starts = starts_of_new if is_new else starts_of_carried
            for n in range(starts[row], starts[row + 1]):
                is_there += history[n, 2]
                place += history[n, 1] * history[n, 2]
                was_there += history[n, 2] if history[n, 0] < epoch else 0
        elif last != first_new:
            # Nothing but this visit can take it away.
            if not has_gained and value(probe, keys + DEPTH, row) % LOSS != 0:
                put_row(heap, result, probe, row, keys, of_new, 0, 0, -1)
                j = j_end
                continue
            is_there = 1
            place = last
        limit = place if is_there > 0 else last
        total = 0
        gain = 0
        comes = False
        loses = False
        for n in range(i, i_end):
            diff = value(probe, keys + DEPTH, n)
            total += diff
            comes |= diff > 0
            loses |= diff < 0
            gain += diff if value(probe, keys + 1, n) <= limit else 0
        if is_called_for and last == first_new and value(words(heap, carry), keys + DEPTH, j) % RETURN != 0:
            gain += value(words(heap, carry), keys + DEPTH, j)
            is_called_for = False
            comes = True
            loses = False
        i = i_end
        j = j_end
        if not is_called_for:
            if is_there > 0:
                if gain >= 0:
                    continue
                if place > last and not is_ahead:
                    # Most rows that lose a derivation where facts are replaced are gone, or get another one until then.
                    _call(heap, operator, calendar, scope, now, place, probe, row, keys, note, LOSS)
                    continue
            elif was_there == 0 and last < first_new:
                _copy_key(words(heap, coming), probe, row, keys, epoch, first_new, total)
                continue
            elif not comes:
                continue
            elif gain > 0 and not loses:
                if was_there > 0 or last % GAP == 0:
                    put_row(heap, result, probe, row, keys, of_new, 0, 0, 1)
                else:
                    _copy_key(words(heap, coming), probe, row, keys, epoch, next_for_new(last), RETURN)
                continue
        rounds[words(heap, doubtful)[ROWS]] = place if is_there > 0 else NEVER if was_there > 0 else NOT_YET
        _copy_key(words(heap, doubtful), probe, row, keys, epoch, last, 1)


@leaf
def _copy_key(target, probe, row, keys, epoch, coordinate, diff):
    """Append a key at a time; there is room."""
    at = target[ROWS]
    for c in range(keys):
        put(target, c, at, value(probe, c, row))
    put(target, keys, at, epoch)
    put(target, keys + 1, at, coordinate)
    put(target, keys + DEPTH, at, diff)
    target[ROWS] = at + 1


@borrowing
def _decide(
    heap, operator, calendar, scope, probe, rounds, history, starts, now, keys, result, ended, note,
):  # fmt: skip
    """Take rows away that lost their support in this round, let those come that have some, and call for the others.

    Those that have lost all their derivations and are in later rounds are written to `ended`.
    """
    last = now[0, 1]
    for row in range(probe[ROWS]):
        place = rounds[row]
        start = starts[row]
        end = starts[row + 1]
        limit = last if place >= NEVER else place
        derived = 0
        total = 0
        for n in range(start, end):
            total += history[n, 2]
            derived += history[n, 2] if history[n, 1] <= limit else 0
        if derived > 0 and place >= NEVER:
            if place == NEVER or last % GAP == 0:
                put_row(heap, result, probe, row, keys, history, 0, 0, 1)
            else:
                _call(heap, operator, calendar, scope, now, next_for_new(last), probe, row, keys, note, RETURN)
            continue
        if derived > 0:
            continue
        if last < place < NEVER and total == 0:
            _copy_key(words(heap, ended), probe, row, keys, now[0, 0], place, -1)
            continue
        if last < place < NEVER:
            _call(heap, operator, calendar, scope, now, place, probe, row, keys, note, LOSS)
            continue
        if place < NEVER:
            put_row(heap, result, probe, row, keys, history, 0, 0, -1)
        following = _next_supported(history, start, end, limit, derived)
        if following != NEVER:
            if place == NOT_YET:
                following = next_for_new(following)
            _call(heap, operator, calendar, scope, now, following, probe, row, keys, note, RETURN)


@borrowing
def _put_off(heap, operator, calendar, scope, ended, now, keys, note):
    """Of rows without derivations, keep those that can get none before their rounds; call for the others then."""
    kept = 0
    for row in range(ended[ROWS]):
        place = value(ended, keys + 1, row)
        if place <= scope[DOUBT]:
            for c in range(keys + DEPTH):
                put(ended, c, kept, value(ended, c, row))
            kept += 1
        else:
            _call(heap, operator, calendar, scope, now, place, ended, row, keys, note, END)
    ended[ROWS] = kept


@leaf
def next_for_new(coordinate):
    """The first round for new rows from one on."""
    return (coordinate + GAP - 1) // GAP * GAP


@leaf
def _call(heap, operator, calendar, scope, now, coordinate, probe, row, keys, note, what):
    """Let a row be visited in a later round; `note` is a batch of one row to write it on."""
    if what != END:
        scope[DOUBT] = min(scope[DOUBT], coordinate)
    words(heap, note)[ROWS] = 0
    _copy_key(words(heap, note), probe, row, keys, now[0, 0], coordinate, what)
    now[1, 1] = coordinate
    post_row(heap, calendar, DEPTH, now[1, 1:], operator, words(heap, note), 0, operator)


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
