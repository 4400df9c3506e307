"""Keeping programs that sum as the graph changes: states are computed again where an in-neighbour changed.

Rounds are gone through in ascending order; those before are final, of those after, the steps are still the old ones.
A vertex whose state *moved* at the round before may lose or need a step though its state is what it was.

An old state that was dropped is not known any more, since the graph is the new one: the vertex then counts as moved.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.degrees import degree_of
from graphtide.frontier.kernels.exact import may_have_lost
from graphtide.frontier.kernels.fields import (
    CHANCE,
    DROPPED,
    HIGH_DEGREE,
    LAST_ROUND,
    LOW_DEGREE,
    MARK_WIDTH,
    MARK_WORDS,
    RECOMPUTED,
    SIDES,
    SPURIOUS,
    STEPS,
    USES_DEGREE,
)
from graphtide.frontier.kernels.marks import clear_mark, is_chosen, is_marked, set_mark
from graphtide.frontier.kernels.rooms import NOWHERE, room_for
from graphtide.frontier.kernels.stairs import (
    find_step,
    last_round,
    most_rounds,
    read_steps,
    state_at,
    steps_from,
    write_steps,
)
from graphtide.frontier.kernels.sums import (
    AT_ROUND,
    BATCH,
    CHOSEN,
    LOOKS,
    MOVED,
    NOTED,
    TICK,
    computed,
    exact,
    last_dropped,
)
from graphtide.jit import borrowing_leaf, kernel, leaf

__all__ = ["WORTH_NO_MORE", "follow"]

WORTH_NO_MORE = np.int64(-1)


@kernel
def follow(query, run, kept, graph, weights, lost, gained, scratch, rest, known, vertices, patience):
    """Bring a query up to date with edges lost and gained, rows that begin with (source, target).

    Vertices from number `known` on are new. Gives the places that the pool lacks for the next round, 0 if it is done,
    or WORTH_NO_MORE if it would go along more than `patience` edges.
    """
    if run[AT_ROUND] == 0:
        run[TICK] += 1
        run[BATCH] = run[TICK]
        run[NOTED] = 0
        run[MOVED] = 0
        for v in range(known, vertices):
            _note(run, kept, scratch, v, rest)
        _choose(query, run, graph, lost, gained, scratch, known, vertices)
        run[AT_ROUND] = 1
        run[LOOKS] = 0
    while run[AT_ROUND] <= query[LAST_ROUND]:
        # What moves at a round mostly moves those after it, too.
        left = query[LAST_ROUND] - run[AT_ROUND] + 1
        if run[LOOKS] + left * _edges_into(query, run, graph, scratch) > patience:
            return WORTH_NO_MORE
        need = _room(query, run, kept, scratch)
        if kept.free[0] + need > kept.states.shape[0]:
            return need
        moved = np.int64(0)
        for k in range(run[CHOSEN]):
            moved = _settle(query, run, kept, graph, weights, scratch, np.int64(scratch.chosen[k]), True, moved, rest)
        for k in range(run[MOVED]):
            v = np.int64(scratch.moved[run[AT_ROUND] & 1, k])
            if scratch.chosen_at[v] != run[TICK]:
                moved = _settle(query, run, kept, graph, weights, scratch, v, False, moved, rest)
        run[MOVED] = moved
        run[AT_ROUND] += 1
        _choose(query, run, graph, lost, gained, scratch, known, vertices)
    need = _room(query, run, kept, scratch)
    if kept.free[0] + need > kept.states.shape[0]:
        return need
    if query[MARK_WORDS] > 0:
        for k in range(run[NOTED]):
            _complete(query, run, kept, graph, weights, scratch, np.int64(scratch.noted[k]), rest)
    run[AT_ROUND] = 0
    return np.int64(0)


@leaf
def _edges_into(query, run, graph, scratch):
    """Edges along which those that are chosen get messages."""
    count = np.int64(0)
    for k in range(run[CHOSEN]):
        v = np.int64(scratch.chosen[k])
        for side in range(2):
            if query[SIDES] >> side & 1:
                count += graph.size[2 * v + 1 - side]
    return count


@leaf
def _choose_one(run, scratch, v):
    if scratch.chosen_at[v] != run[TICK]:
        scratch.chosen_at[v] = run[TICK]
        scratch.chosen[run[CHOSEN]] = v
        run[CHOSEN] += 1


@leaf
def _choose_after(query, run, graph, scratch, u):
    """Choose those that get messages of `u`."""
    for side in range(2):
        if query[SIDES] >> side & 1:
            own = 2 * u + side
            for slot in range(graph.start[own], graph.start[own] + graph.size[own]):
                _choose_one(run, scratch, np.int64(graph.other[slot]))


@borrowing_leaf
def _choose(query, run, graph, lost, gained, scratch, known, vertices):
    """Choose those whose state may be another one at the next round.

    They are new, or at the end of a changed edge, or get messages of one that moved or has another degree.
    """
    run[TICK] += 1
    run[CHOSEN] = 0
    for v in range(known, vertices):
        _choose_one(run, scratch, v)
    for way in range(2):
        edges = lost if way == 0 else gained
        for k in range(edges.shape[0]):
            for side in range(2):
                if query[SIDES] >> side & 1:
                    _choose_one(run, scratch, edges[k, 1 - side])
                    if query[USES_DEGREE] == 1:
                        _choose_after(query, run, graph, scratch, edges[k, side])
    for k in range(run[MOVED]):
        _choose_after(query, run, graph, scratch, np.int64(scratch.moved[run[AT_ROUND] & 1, k]))


@borrowing_leaf
def _room(query, run, kept, scratch):
    """Places that are enough for what this round may do to steps; at the end of the rounds, for the last ones."""
    need = np.int64(0)
    if run[AT_ROUND] > query[LAST_ROUND]:
        for k in range(run[NOTED]):
            need += _room_of(query, kept, np.int64(scratch.noted[k]))
        return need
    for k in range(run[CHOSEN]):
        need += _room_of(query, kept, np.int64(scratch.chosen[k]))
    for k in range(run[MOVED]):
        need += _room_of(query, kept, np.int64(scratch.moved[run[AT_ROUND] & 1, k]))
    return need


@leaf
def _room_of(query, kept, v):
    """Places that a step more or less of `v` may need: none if its room stays."""
    count = np.int64(steps_from(kept.head, kept.rounds, v, 0))
    own = room_for(count)
    if query[MARK_WORDS] > 0 or room_for(count + 1) != own:
        return room_for(count + 1)
    return own if count > 0 and room_for(count - 1) != own else np.int64(0)


@borrowing_leaf
def _settle(query, run, kept, graph, weights, scratch, v, is_chosen_now, moved, rest):
    """Give `v` its step of this round; how many have moved, with it.

    One that is not chosen has the state that it had, but that of the round before is another one.
    """
    r = run[AT_ROUND]
    before = exact(query, run, kept, graph, weights, scratch, v, r - 1, rest)
    old = before
    is_known = True
    # Those that moved at the round before did so one tick ago.
    if scratch.moved_at[v] == run[TICK] - 1:
        old = scratch.was[v]
        is_known = scratch.was_known[v]
    step = find_step(kept.head, kept.rounds, v, r)
    if step != NOWHERE:
        old = kept.states[step]
        is_known = True
    elif may_have_lost(query, kept, v, r):
        query[RECOMPUTED] += 1
        is_known = False
    if is_chosen_now or not is_known:
        new = computed(query, run, kept, graph, weights, scratch, v, r, rest)
    else:
        new = old
    if is_chosen_now and (not is_known or new != old):
        scratch.moved_at[v] = run[TICK]
        scratch.was[v] = old
        scratch.was_known[v] = is_known
        # The next round reads what this one writes.
        scratch.moved[(r + 1) & 1, moved] = v
        moved += 1
    has_new = new != before
    if has_new != (step != NOWHERE) or (has_new and kept.states[step] != new) or not is_known:
        _note(run, kept, scratch, v, rest)
        _write(query, kept, graph, scratch, v, r, has_new, new)
    return moved


@leaf
def _write(query, kept, graph, scratch, v, r, has_new, new):
    """Let the step of `v` at round `r` be the new one, or none; chosen steps up to there are dropped."""
    rounds, states = scratch.rounds, scratch.states
    count = read_steps(kept.head, kept.states, kept.rounds, v, rounds, states)
    at = 0
    while at < count and rounds[at] < r:
        at += 1
    behind = at + 1 if at < count and rounds[at] == r else at
    shift = at - behind + has_new
    if shift > 0:
        for k in range(count - 1, behind - 1, -1):
            rounds[k + 1] = rounds[k]
            states[k + 1] = states[k]
    elif shift < 0:
        for k in range(behind, count):
            rounds[k - 1] = rounds[k]
            states[k - 1] = states[k]
    if has_new:
        rounds[at] = r
        states[at] = new
    left = count + shift
    if query[MARK_WORDS] > 0:
        clear_mark(kept.marks, query[MARK_WIDTH], v, r)
        left = _drop(query, kept, graph, v, r, left, rounds, states)
    write_steps(kept.head, kept.states, kept.rounds, kept.free, v, count, left, rounds, states)
    query[STEPS] += left - count


@leaf
def _drop(query, kept, graph, v, r, count, rounds, states):
    """Take chosen steps up to round `r` out of a list, but for round 0 and the last step; how many are left."""
    degree = degree_of(graph.size, v)
    left = 0
    for k in range(count):
        if (
            k < count - 1
            and 0 < rounds[k] <= r
            and is_chosen(v, rounds[k], degree, query[LOW_DEGREE], query[HIGH_DEGREE], query[CHANCE])
        ):
            set_mark(kept.marks, query[MARK_WIDTH], v, rounds[k])
            query[DROPPED] += 1
        else:
            rounds[left] = rounds[k]
            states[left] = states[k]
            left += 1
    return left


@leaf
def _note(run, kept, scratch, v, rest):
    """Keep the last state that a vertex had before this batch: its last step is always there."""
    if scratch.noted_at[v] != run[BATCH]:
        scratch.noted_at[v] = run[BATCH]
        scratch.noted[run[NOTED]] = v
        most = most_rounds(kept.rounds)
        scratch.last_was[run[NOTED]] = state_at(kept.head, kept.states, kept.rounds, v, most, rest)
        run[NOTED] += 1


@borrowing_leaf
def _complete(query, run, kept, graph, weights, scratch, v, rest):
    """Keep the last step of a vertex whose last kept step was lost."""
    begin = last_round(kept.head, kept.rounds, v)
    d = last_dropped(query, run, kept, scratch, v, query[LAST_ROUND])
    while d > begin:
        if is_marked(kept.marks, query[MARK_WIDTH], v, d):
            query[RECOMPUTED] += 1
            last = computed(query, run, kept, graph, weights, scratch, v, d, rest)
            if last != exact(query, run, kept, graph, weights, scratch, v, d - 1, rest):
                rounds, states = scratch.rounds, scratch.states
                count = read_steps(kept.head, kept.states, kept.rounds, v, rounds, states)
                rounds[count] = d
                states[count] = last
                write_steps(kept.head, kept.states, kept.rounds, kept.free, v, count, count + 1, rounds, states)
                query[STEPS] += 1
                clear_mark(kept.marks, query[MARK_WIDTH], v, d)
                return
            query[SPURIOUS] += 1
        d -= 1
