"""The staircases of one query: for each vertex the rounds at which its state got better, and its states from there on.

`head[v]` is where the steps of v begin in the pool, or NOWHERE. `rounds` has a bit for the last step of a
vertex; the pool's rooms follow from the number of steps (see `rooms`).

Invariant: within a vertex rounds rise and states fall, both strictly.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.rooms import NOWHERE, fits, give_back, new_free, room_for, take
from graphtide.jit import borrowing_leaf, kernel

__all__ = [
    "final_states",
    "find_step",
    "holds",
    "last_round",
    "last_round_up_to",
    "lay_out",
    "most_rounds",
    "read_steps",
    "room_of_all",
    "state_at",
    "steps_from",
    "write_steps",
]


@borrowing_leaf
def most_rounds(rounds):
    """The highest round that the array can hold; what is above it is the bit of the last step."""
    return (np.int64(1) << (8 * rounds.itemsize - 1)) - 1


@borrowing_leaf
def holds(states, state):
    """Whether the array can hold a state: small ints take four bytes."""
    return states.itemsize == 8 or -(1 << 31) < state < 1 << 31


@borrowing_leaf
def state_at(head, states, rounds, v, r, rest):
    """The state of `v` at round `r`; `rest` before its first step."""
    at = head[v]
    if at == NOWHERE:
        return rest
    most = most_rounds(rounds)
    state = rest
    while True:
        word = np.int64(rounds[at])
        if word & most > r:
            return state
        state = states[at]
        if word > most:
            return state
        at += 1


@borrowing_leaf
def find_step(head, rounds, v, r):
    """Where the step of `v` at round `r` is, or NOWHERE."""
    at = head[v]
    if at == NOWHERE:
        return np.int64(NOWHERE)
    most = most_rounds(rounds)
    while True:
        word = np.int64(rounds[at])
        if word & most >= r:
            return np.int64(at) if word & most == r else np.int64(NOWHERE)
        if word > most:
            return np.int64(NOWHERE)
        at += 1


@borrowing_leaf
def last_round(head, rounds, v):
    """The round of the last step of `v`, 0 if it has none."""
    return last_round_up_to(head, rounds, v, most_rounds(rounds))


@borrowing_leaf
def last_round_up_to(head, rounds, v, r):
    """The round of the last step of `v` up to round `r`, 0 if it has none."""
    at = head[v]
    found = np.int64(0)
    if at == NOWHERE:
        return found
    most = most_rounds(rounds)
    while True:
        word = np.int64(rounds[at])
        if word & most > r:
            return found
        found = word & most
        if word > most:
            return found
        at += 1


@borrowing_leaf
def steps_from(head, rounds, v, r):
    """How many steps of `v` are at round `r` or later."""
    at = head[v]
    if at == NOWHERE:
        return 0
    most = most_rounds(rounds)
    count = 0
    while True:
        word = np.int64(rounds[at])
        count += word & most >= r
        if word > most:
            return count
        at += 1


@borrowing_leaf
def read_steps(head, states, rounds, v, to_rounds, to_states):
    """Copy the steps of `v`; how many there are."""
    at = head[v]
    if at == NOWHERE:
        return 0
    most = most_rounds(rounds)
    count = 0
    while True:
        word = np.int64(rounds[at])
        to_rounds[count] = word & most
        to_states[count] = states[at]
        count += 1
        if word > most:
            return count
        at += 1


@borrowing_leaf
def write_steps(head, states, rounds, free, v, before, count, from_rounds, from_states):
    """Give `v`, which has `before` steps, `count` others; False if the pool has no place, and then nothing is done."""
    room = room_for(count)
    held = room_for(before)
    place = np.int64(head[v])
    if room != held:
        if not fits(free, states, room):
            return False
        if before > 0:
            give_back(free, states, place, held)
        place = take(free, states, room)
        head[v] = place
    for k in range(count):
        rounds[place + k] = from_rounds[k]
        states[place + k] = from_states[k]
    if count > 0:
        rounds[place + count - 1] = from_rounds[count - 1] | (most_rounds(rounds) + 1)
    return True


@kernel
def room_of_all(vertices, log_vertices, count):
    """How many steps each vertex has in a log of them, and the places that all need."""
    sizes = np.zeros(vertices, np.int32)
    for k in range(count):
        sizes[log_vertices[k]] += 1
    total = np.int64(0)
    for v in range(vertices):
        total += room_for(np.int64(sizes[v]))
    return sizes, total


@kernel
def lay_out(log_vertices, log_rounds, log_states, count, sizes, head, states, rounds):
    """Fill an empty pool from a log in the order of rounds; the state of its places."""
    free = new_free()
    end = np.int64(0)
    for v in range(sizes.shape[0]):
        head[v] = NOWHERE
        if sizes[v] > 0:
            head[v] = end
            end += room_for(np.int64(sizes[v]))
    free[0] = end
    # A head goes along its steps while they are written, and then back.
    for k in range(count):
        v = log_vertices[k]
        at = head[v]
        head[v] = at + 1
        states[at] = log_states[k]
        rounds[at] = log_rounds[k]
    for v in range(sizes.shape[0]):
        if sizes[v] > 0:
            rounds[head[v] - 1] |= most_rounds(rounds) + 1
            head[v] -= sizes[v]
    return free


@kernel
def final_states(head, states, rounds, vertices, own, names, nothing, out):
    """The last state of each of the first `vertices` vertices."""
    most = most_rounds(rounds)
    for v in range(vertices):
        at = head[v]
        if at == NOWHERE:
            out[v] = names[v] if own else nothing
            continue
        while np.int64(rounds[at]) <= most:
            at += 1
        out[v] = states[at]
