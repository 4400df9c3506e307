"""Keeping the staircases of selective programs as the graph changes (docs/design/06).

Rounds are gone through in ascending order; what is to be done at a round is a list of *calls*. A *look*
names an edge that may better a vertex's state, a *doubt* a step that may have lost its support. States of the
rounds before are final when a call is answered, and messages are computed then, so no call is ever stale;
one that comes to nothing, or comes twice, does no harm.

The kernel stops where an array is too short, names it, and goes on at the same place when it is called again.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.adjacency import TABLE_FIELDS, lists_of, weights_of
from graphtide.frontier.kernels.degrees import degree_along, degree_of
from graphtide.frontier.kernels.exact import (
    bound,
    compute_again,
    end_of_dropped,
    exact_state,
    last_dropped,
    may_have_lost,
)
from graphtide.frontier.kernels.fields import (
    ADJACENT,
    ANSWERED,
    ANSWERING,
    ASIDE,
    AT,
    CALLS,
    CHAIN,
    CHANCE,
    CHANGED,
    COLLECTING,
    COLUMN,
    COMPLETING,
    DONE,
    DOUBT_FLAG,
    DOUBTED,
    DROPPED,
    ENDLESS,
    FIRST,
    FREE_PLACES,
    HEAD,
    HIGH_DEGREE,
    HIGHEST,
    KIND,
    LABEL_COUNT,
    LABELS,
    LAST,
    LAST_ROUND,
    LOOKS,
    LOW_DEGREE,
    MARK_WIDTH,
    MARK_WORDS,
    MARKS,
    MOST,
    NEED,
    NEXT,
    OUT,
    PLACES,
    POSITION,
    QUERIES,
    QUERY_FIELDS,
    RECOMPUTED,
    REPORTING,
    ROUND,
    ROUNDS,
    SCRATCH,
    SEEDING,
    SIDES,
    SLOT,
    SOURCE,
    SPURIOUS,
    STAGE,
    STATES,
    STEPS,
    STUCK,
    TICK,
    TOO_FEW_CALLS,
    TOO_FEW_CHANGES,
    TOO_FEW_PLACES,
    TOO_FEW_ROUNDS,
    TOO_NARROW_MARKS,
    TOO_NARROW_ROUNDS,
    TOO_NARROW_STATES,
    TOP,
    TOUCHED,
    VERTEX,
    VERTICES,
    WIDEST_ROUND,
)
from graphtide.frontier.kernels.marks import clear_mark, is_chosen, set_mark
from graphtide.frontier.kernels.messages import message, weight_of
from graphtide.frontier.kernels.offers import all_offers, support
from graphtide.frontier.kernels.region import is_outside
from graphtide.frontier.kernels.rooms import FREE_FIELDS, NOWHERE, fits, fits_up_to, room_for
from graphtide.frontier.kernels.seeding import call, may_support, seed
from graphtide.frontier.kernels.shapes import SCRATCH_FIELDS, Kept, changes_of, scratch_of
from graphtide.frontier.kernels.stairs import (
    find_step,
    holds,
    last_round_up_to,
    most_rounds,
    read_steps,
    write_steps,
)
from graphtide.frontier.kernels.work import count_work
from graphtide.jit import borrowing_leaf, kernel, leaf
from graphtide.memory import address_to_array, address_to_words

__all__ = ["maintain"]


@kernel
def maintain(control, like_rounds, like_states, nothing):
    """Bring queries up to date with the last batch of the edges; the graph is as it is after it.

    `control` says which and where to go on; when all is done it is ready for the next batch. An unreached vertex has
    the state `nothing`. Weights and states are numbers of one type.
    """
    queries = address_to_words(control[QUERIES], (control[LAST], QUERY_FIELDS))
    adjacent = address_to_words(control[ADJACENT], TABLE_FIELDS)
    graph = lists_of(adjacent)
    weights = weights_of(adjacent, control[COLUMN], nothing)
    table = address_to_words(control[SCRATCH], SCRATCH_FIELDS)
    scratch = scratch_of(table, address_to_words(control[LABELS], control[LABEL_COUNT]), nothing)
    changes = changes_of(table, nothing)
    while control[POSITION] < control[LAST]:
        query = queries[control[POSITION]]
        if query[ASIDE] == 1:
            _note_doubt(query, control)
            changes.ends[control[POSITION]] = control[OUT]
            control[POSITION] += 1
            continue
        kept = Kept(
            address_to_array(query[HEAD], query[VERTICES], np.int32),
            address_to_array(query[STATES], query[PLACES], like_states),
            address_to_array(query[ROUNDS], query[PLACES], like_rounds),
            address_to_words(query[FREE_PLACES], FREE_FIELDS),
            address_to_words(query[MARKS], query[MARK_WORDS]),
        )
        if control[STAGE] == SEEDING:
            if not seed(query, control, kept, adjacent, weights, scratch, nothing):
                return TOO_FEW_CALLS if control[NEED] > 0 else TOO_FEW_ROUNDS
            if control[CALLS] == 0:
                # Nothing of this query changes: the common case of many queries.
                _note_doubt(query, control)
                changes.ends[control[POSITION]] = control[OUT]
                control[POSITION] += 1
                continue
            control[STAGE] = COLLECTING
        while control[STAGE] < COMPLETING:
            if control[STAGE] == COLLECTING:
                code = _collect(query, control, kept, graph, weights, scratch, nothing)
                if code != DONE:
                    return code
            if control[STAGE] == ANSWERING:
                code = _answer(query, control, kept, graph, weights, scratch, nothing)
                if code != DONE:
                    return code
        if control[STAGE] == COMPLETING:
            if query[MARK_WORDS] > 0 and not _complete(query, control, kept, graph, weights, scratch, nothing):
                return TOO_FEW_PLACES if control[NEED] > 0 else TOO_NARROW_STATES
            control[STAGE] = REPORTING
        if not _report(query, control, kept, scratch, changes, nothing):
            return TOO_FEW_CHANGES
        _note_doubt(query, control)
        control[STAGE] = SEEDING
        control[POSITION] += 1
    control[POSITION] = control[FIRST]
    control[OUT] = 0
    return DONE


@leaf
def _note_doubt(query, control):
    """Note that the function of the query under way made an int that is too long."""
    if control[DOUBT_FLAG] != 0:
        flag = address_to_words(control[DOUBT_FLAG], 1)
        query[DOUBTED] |= flag[0]
        flag[0] = 0


@kernel
def _collect(query, control, kept, graph, weights, scratch, nothing):
    """Bring together the calls of a round, vertex by vertex; at the end of the rounds turn to what they leave to do."""
    due, calls, where, touched = scratch.due, scratch.calls, scratch.where, scratch.touched
    best, doubted = scratch.best, scratch.doubted
    while control[ROUND] <= control[TOP] and due[control[ROUND]] == NOWHERE:
        control[ROUND] += 1
    r = control[ROUND]
    if r > control[TOP]:
        control[STAGE] = COMPLETING
        control[AT] = 0
        return DONE
    if r > control[MOST] and query[LAST_ROUND] == ENDLESS:
        return STUCK
    if r > most_rounds(kept.rounds):
        return TOO_NARROW_ROUNDS
    if query[MARK_WIDTH] > 0 and r >= query[MARK_WIDTH]:
        return TOO_NARROW_MARKS
    highest = max(query[HIGHEST], r)
    if due.shape[0] < highest + 3:
        control[WIDEST_ROUND] = highest + 3
        return TOO_FEW_ROUNDS
    kind = query[KIND]
    count = 0
    at = np.int64(due[r])
    while at != NOWHERE:
        v = calls[at, VERTEX]
        k = where[v]
        if k >= count or touched[k] != v:
            k = count
            where[v] = k
            touched[k] = v
            best[k] = nothing
            doubted[k] = 0
            calls[at, CHAIN] = NOWHERE
            count += 1
        else:
            calls[at, CHAIN] = doubted[k] >> 1
        # The last call for the vertex, and whether one is a doubt.
        doubted[k] = at << 1 | (doubted[k] & 1)
        slot = calls[at, SLOT]
        if slot < 0:
            doubted[k] |= 1
        else:
            u = np.int64(calls[at, SOURCE])
            state = exact_state(query, control, kept, graph, weights, scratch, u, r - 1, nothing)
            if state != nothing:
                best[k] = min(best[k], message(kind, state, weight_of(weights, slot)))
        at = np.int64(calls[at, NEXT])
    due[r] = NOWHERE
    control[TOUCHED] = count
    query[ANSWERED] += count
    control[AT] = 0
    control[STAGE] = ANSWERING
    return DONE


@kernel
def _answer(query, control, kept, graph, weights, scratch, nothing):
    """Find the new step of every vertex that was called for at this round, and call for what follows from it."""
    size = graph.size
    head, states, rounds = kept.head, kept.states, kept.rounds
    calls, touched, best, doubted = scratch.calls, scratch.touched, scratch.best, scratch.doubted
    buffer_rounds, buffer_states = scratch.rounds, scratch.states
    r = control[ROUND]
    goes_on = r < query[LAST_ROUND]
    while control[AT] < control[TOUCHED]:
        k = control[AT]
        v = np.int64(touched[k])
        before = exact_state(query, control, kept, graph, weights, scratch, v, r - 1, nothing)
        count = read_steps(head, states, rounds, v, buffer_rounds, buffer_states)
        at = 0
        while at < count and buffer_rounds[at] < r:
            at += 1
        has_old = at < count and buffer_rounds[at] == r
        was_kept = has_old
        old = buffer_states[at] if has_old else nothing
        is_known = True
        later = np.int64(0)
        # What was dropped came before the last step, until the batch changes that.
        may_be_dropped = at < count or scratch.stamp[v] == control[TICK]
        if not has_old and may_be_dropped and may_have_lost(query, kept, v, r):
            query[RECOMPUTED] += 1
            count_work(query, size, v)
            new, others, later = all_offers(
                query, control, kept, graph, weights, scratch, v, r, doubted[k] >> 1, nothing
            )
            if doubted[k] & 1 == 0 and scratch.stamp[v] != control[TICK]:
                # Who called has no older step to lose, and the others have not changed: they still give what they gave.
                old = others
                has_old = others < before
                query[SPURIOUS] += not has_old
            else:
                has_old = True
                is_known = False
        else:
            new = min(best[k], old)
            if has_old and doubted[k] & 1 and new == old:
                new, later = support(query, control, kept, graph, weights, scratch, v, r, old, nothing)
        has_new = new < before
        if is_known and has_new == has_old and (new == old or not has_new):
            control[AT] += 1
            continue
        # Those after it that are no better than the new step go.
        behind = at + 1 if was_kept else at
        after = behind
        while has_new and after < count and buffer_states[after] >= new:
            after += 1
        got_worse = not is_known or (has_old and not (has_new and new < old))
        room = count - (after - at) + has_new
        need = degree_along(size, v, query[SIDES]) * (2 + after - behind) + (later if got_worse else 0)
        if control[CALLS] + need > calls.shape[0]:
            control[NEED] = control[CALLS] + need
            return TOO_FEW_CALLS
        if has_new and not holds(states, new):
            return TOO_NARROW_STATES
        # How many of the steps are dropped, and so which room they need, is not known yet.
        drops = query[MARK_WORDS] > 0
        control[NEED] = room_for(room)
        if drops and not fits_up_to(kept.free, states, room_for(room)):
            return TOO_FEW_PLACES
        if not drops and not fits(kept.free, states, room_for(room)):
            return TOO_FEW_PLACES
        _note(query, control, kept, scratch, v, nothing)
        removed = buffer_states[behind:after].copy()
        removed_rounds = buffer_rounds[behind:after].copy()
        _replace(buffer_rounds, buffer_states, count, at, after, has_new, r, new)
        if drops and not was_kept:
            clear_mark(kept.marks, query[MARK_WIDTH], v, r)
        left = _drop(query, kept, graph, v, r, room, buffer_rounds, buffer_states) if drops else room
        write_steps(head, states, rounds, kept.free, v, count, left, buffer_rounds, buffer_states)
        query[STEPS] += left - count
        if has_new:
            query[HIGHEST] = max(query[HIGHEST], r)
        if goes_on:
            _call_on(
                query, control, kept, graph, weights, scratch, v, r, has_old, is_known, old, has_new, new,
                removed_rounds, removed, nothing,
            )  # fmt: skip
            if got_worse:
                _recall(query, control, kept, graph, weights, scratch, v, r, nothing)
        control[AT] += 1
    control[ROUND] += 1
    control[STAGE] = COLLECTING
    return DONE


@borrowing_leaf
def _replace(rounds, states, count, at, after, has_new, r, new):
    """In a list of steps, let the new step, if there is one, stand in place of those from `at` to `after`."""
    shift = has_new + at - after
    if shift > 0:
        for i in range(count - 1, after - 1, -1):
            rounds[i + shift] = rounds[i]
            states[i + shift] = states[i]
    elif shift < 0:
        for i in range(after, count):
            rounds[i + shift] = rounds[i]
            states[i + shift] = states[i]
    if has_new:
        rounds[at] = r
        states[at] = new


@borrowing_leaf
def _drop(query, kept, graph, v, r, count, rounds, states):
    """Take chosen steps up to round `r` out of a list, but for round 0 and the last step; how many are left."""
    degree = degree_of(graph.size, v)
    left = 0
    for i in range(count):
        if (
            i < count - 1
            and 0 < rounds[i] <= r
            and is_chosen(v, rounds[i], degree, query[LOW_DEGREE], query[HIGH_DEGREE], query[CHANCE])
        ):
            set_mark(kept.marks, query[MARK_WIDTH], v, rounds[i])
            query[DROPPED] += 1
        else:
            rounds[left] = rounds[i]
            states[left] = states[i]
            left += 1
    return left


@kernel
def _call_on(
    query, control, kept, graph, weights, scratch, v, r, has_old, is_known, old, has_new, new,
    removed_rounds, removed, nothing,
):  # fmt: skip
    """Call along the edges out of `v` for what its changed step, and those that went with it, mean to others."""
    start, size, other = graph.start, graph.size, graph.other
    kind = query[KIND]
    for side in range(2):
        if not query[SIDES] >> side & 1:
            continue
        own = 2 * v + side
        control[LOOKS] += size[own]
        for slot in range(start[own], start[own] + size[own]):
            t = np.int64(other[slot])
            if is_outside(query, t):
                continue
            weight = weight_of(weights, slot)
            if not is_known:
                if find_step(kept.head, kept.rounds, t, r + 1) != NOWHERE or may_have_lost(query, kept, t, r + 1):
                    call(scratch, control, r + 1, t, v, -1)
            elif has_old and may_support(query, kept, t, r + 1, message(kind, old, weight)):
                call(scratch, control, r + 1, t, v, -1)
            if has_new:
                offer = message(kind, new, weight)
                if offer < bound(query, kept, scratch, t, r + 1, nothing):
                    call(scratch, control, r + 1, t, v, slot)
            for i in range(removed.shape[0]):
                if may_support(query, kept, t, removed_rounds[i] + 1, message(kind, removed[i], weight)):
                    call(scratch, control, removed_rounds[i] + 1, t, v, -1)


@kernel
def _recall(query, control, kept, graph, weights, scratch, v, r, nothing):
    """Call for the steps of in-neighbours, from round `r` on, that better `v` now that its state got worse."""
    start, size, other = graph.start, graph.size, graph.other
    head, states, rounds = kept.head, kept.states, kept.rounds
    most = most_rounds(rounds)
    for side in range(2):
        if not query[SIDES] >> side & 1:
            continue
        own = 2 * v + 1 - side
        control[LOOKS] += size[own]
        for slot in range(start[own], start[own] + size[own]):
            u = np.int64(other[slot])
            for q in range(r, min(end_of_dropped(query, control, kept, scratch, u), query[LAST_ROUND])):
                if may_have_lost(query, kept, u, q):
                    call(scratch, control, q + 1, v, u, slot)
            at = np.int64(head[u])
            if at == NOWHERE:
                continue
            while True:
                word = np.int64(rounds[at])
                q = word & most
                if q >= query[LAST_ROUND]:
                    break
                if q >= r:
                    offer = message(query[KIND], states[at], weight_of(weights, slot))
                    if offer < bound(query, kept, scratch, v, q + 1, nothing):
                        call(scratch, control, q + 1, v, u, slot)
                if word > most:
                    break
                at += 1


@borrowing_leaf
def _note(query, control, kept, scratch, v, nothing):
    """Keep the last state that a vertex had before this batch: its last step is always there."""
    stamp, changed, was = scratch.stamp, scratch.changed, scratch.was
    if stamp[v] != control[TICK]:
        stamp[v] = control[TICK]
        changed[control[CHANGED]] = v
        was[control[CHANGED]] = bound(query, kept, scratch, v, most_rounds(kept.rounds), nothing)
        control[CHANGED] += 1


@kernel
def _complete(query, control, kept, graph, weights, scratch, nothing):
    """Keep the last steps of vertices whose last kept step was lost; False if the pool cannot take one."""
    rounds, states = scratch.rounds, scratch.states
    while control[AT] < control[CHANGED]:
        v = np.int64(scratch.changed[control[AT]])
        d = last_dropped(query, control, kept, scratch, v, query[HIGHEST])
        if d >= 0:
            last = compute_again(query, control, kept, graph, weights, scratch, v, d, nothing)
            if last < bound(query, kept, scratch, v, query[HIGHEST], nothing):
                # The first round at which it is that; a filter may have told of later ones.
                begin = last_round_up_to(kept.head, kept.rounds, v, query[HIGHEST])
                for q in range(d - 1, begin, -1):
                    if may_have_lost(query, kept, v, q):
                        if compute_again(query, control, kept, graph, weights, scratch, v, q, nothing) != last:
                            break
                        d = q
                count = read_steps(kept.head, kept.states, kept.rounds, v, rounds, states)
                control[NEED] = room_for(count + 1) if holds(kept.states, last) else 0
                if control[NEED] == 0:
                    return False
                rounds[count] = d
                states[count] = last
                if not write_steps(kept.head, kept.states, kept.rounds, kept.free, v, count, count + 1, rounds, states):
                    return False
                query[STEPS] += 1
                clear_mark(kept.marks, query[MARK_WIDTH], v, d)
        control[AT] += 1
    return True


@kernel
def _report(query, control, kept, scratch, changes, nothing):
    """Write the vertices whose last state is another one now; False if there is no place for so many."""
    count = control[CHANGED]
    out = control[OUT]
    if out + count > changes.vertices.shape[0]:
        return False
    for k in range(count):
        v = np.int64(scratch.changed[k])
        now = bound(query, kept, scratch, v, most_rounds(kept.rounds), nothing)
        if now != scratch.was[k]:
            changes.vertices[out] = v
            changes.before[out] = scratch.was[k]
            changes.after[out] = now
            out += 1
    control[OUT] = out
    changes.ends[control[POSITION]] = out
    return True
