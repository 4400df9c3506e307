"""The edges of a changing graph, at both of their ends.

List 2v holds the edges out of vertex v and list 2v + 1 those into it. An element of a list is a *slot*: the
vertex at the other end, the edge's number, and a copy of its columns, so that going along a list reads
memory in order. An edge knows its two slots, so it is taken out of a list of any length in a few steps.

Kernels that are called for every batch take the arrays as a table of their addresses: an argument each would cost
more than the work on one edge.

Invariant: `place[side, e]` is the slot of edge e in the list of its source (side 0) and of its target (side 1);
a list of size s lies in the slots from `start` on, and `room` of them are its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels.numbers import known_number, number_of
from graphtide.frontier.kernels.rooms import FREE_FIELDS, NOWHERE, fits, give_back, room_for, take
from graphtide.frontier.kernels.shapes import Ints, Lists, Small
from graphtide.jit import kernel, leaf
from graphtide.memory import address_to_array, address_to_words

__all__ = [
    "COLUMNS",
    "DONE",
    "EDGES",
    "FREE_PLACES",
    "LISTS",
    "MARKS",
    "MOST_EDGES",
    "NO_EDGES_LEFT",
    "NO_SLOTS_LEFT",
    "NUMBER",
    "OTHER",
    "PLACE",
    "ROOM",
    "SIZE",
    "SLOTS",
    "START",
    "TABLE_FIELDS",
    "WIDTH",
    "Adjacent",
    "arrays_of",
    "claim",
    "claim_known",
    "enter_some",
    "extremes",
    "insert_some",
    "list_all",
    "lists_of",
    "load",
    "locate",
    "renew",
    "some_slots",
    "take_out",
    "weights_of",
]

DONE = -1
NO_SLOTS_LEFT = 0
NO_EDGES_LEFT = 1
# Of `edges`: where unused numbers begin, then the first free number; the others follow through `place[0]`.
UNUSED = 0
FREE = 1


# The table: addresses and lengths of the arrays, the number of columns.
START = 0
SIZE = 1
ROOM = 2
OTHER = 3
NUMBER = 4
COLUMNS = 5
PLACE = 6
MARKS = 7
FREE_PLACES = 8
EDGES = 9
LISTS = 10  # how many there may be
SLOTS = 11
MOST_EDGES = 12
WIDTH = 13
TABLE_FIELDS = 14


class Adjacent(NamedTuple):
    """All arrays of the edges."""

    start: Ints
    size: Small
    room: Small
    other: Small
    number: Small
    columns: Ints
    place: Small
    marks: NDArray[np.uint8]
    free: Ints
    edges: Ints


@leaf
def arrays_of(table):
    """The arrays behind a table."""
    small = np.empty(0, np.int32)
    words = np.empty(0, np.int64)
    return Adjacent(
        address_to_words(table[START], table[LISTS]),
        address_to_array(table[SIZE], table[LISTS], small),
        address_to_array(table[ROOM], table[LISTS], small),
        address_to_array(table[OTHER], table[SLOTS], small),
        address_to_array(table[NUMBER], table[SLOTS], small),
        address_to_array(table[COLUMNS], (table[WIDTH], table[SLOTS]), words),
        address_to_array(table[PLACE], (2, table[MOST_EDGES]), small),
        address_to_array(table[MARKS], table[MOST_EDGES], np.empty(0, np.uint8)),
        address_to_words(table[FREE_PLACES], FREE_FIELDS),
        address_to_words(table[EDGES], 2),
    )


@leaf
def lists_of(table):
    """The arrays that queries go along."""
    small = np.empty(0, np.int32)
    return Lists(
        address_to_words(table[START], table[LISTS]),
        address_to_array(table[SIZE], table[LISTS], small),
        address_to_array(table[OTHER], table[SLOTS], small),
    )


@leaf
def weights_of(table, column, like):
    """A column by slot, as numbers of the type that `like` has; none if the column is -1."""
    if column < 0:
        return address_to_array(table[COLUMNS], 0, like)
    return address_to_array(table[COLUMNS] + 8 * table[SLOTS] * column, table[SLOTS], like)


@kernel
def load(rows, start, size, room, other, number, columns, place, free, edges):
    """Put many edges, rows of two numbers and the columns, into empty lists with places enough."""
    count = rows.shape[0]
    for e in range(count):
        size[2 * rows[e, 0]] += 1
        size[2 * rows[e, 1] + 1] += 1
    end = np.int64(0)
    for at in range(start.shape[0]):
        room[at] = room_for(np.int64(size[at]))
        start[at] = end
        end += room[at]
        size[at] = 0
    free[0] = end
    for e in range(count):
        for side in range(2):
            at = 2 * rows[e, side] + side
            slot = start[at] + size[at]
            size[at] += 1
            _write(slot, e, rows[e, 1 - side], rows, e, other, number, columns)
            place[side, e] = slot
    edges[UNUSED] = count


@leaf
def _write(slot, edge, end, rows, row, other, number, columns):
    other[slot] = end
    number[slot] = edge
    for c in range(columns.shape[0]):
        columns[c, slot] = rows[row, 2 + c]


@kernel
def insert_some(rows, first, entered, table):
    """Insert edges, rows of two numbers and the columns, from row `first` on, noting their numbers in `entered`.

    Gives the row at which it stopped, and why: everything is in, or there is no place left for slots or edges.
    """
    all_ = arrays_of(table)
    for row in range(first, rows.shape[0]):
        reason = _insert(row, rows[row, 0], rows[row, 1], rows, entered, all_)
        if reason != DONE:
            return row, reason
    return rows.shape[0], DONE


@kernel
def enter_some(rows, first, entered, gained, table, keys, numbers, names, vertices):
    """Insert edges, rows of two ids and the columns, numbering vertices that are new.

    There are places for new vertices. Gives the row at which it stopped, why, and how many vertices there are; `gained`
    gets rows (source, target, slot at the source, slot at the target) if everything is in.
    """
    all_ = arrays_of(table)
    for row in range(first, rows.shape[0]):
        source, vertices = number_of(rows[row, 0], keys, numbers, names, vertices)
        target, vertices = number_of(rows[row, 1], keys, numbers, names, vertices)
        reason = _insert(row, source, target, rows, entered, all_)
        if reason != DONE:
            return row, reason, vertices
    _locate(entered, gained, all_)
    return rows.shape[0], DONE, vertices


@leaf
def _insert(row, source, target, rows, entered, all_):
    """Insert one edge; why it could not be, or DONE."""
    edges, place = all_.edges, all_.place
    if edges[FREE] == NOWHERE and edges[UNUSED] == place.shape[1]:
        return NO_EDGES_LEFT
    for side in range(2):
        at = 2 * (target if side else source) + side
        if all_.size[at] == all_.room[at] and not _make_room(
            at, side, all_.start, all_.size, all_.room, all_.other, all_.number, all_.columns, place, all_.free
        ):
            return NO_SLOTS_LEFT
    edge = edges[FREE]
    if edge != NOWHERE:
        edges[FREE] = place[0, edge]
    else:
        edge = edges[UNUSED]
        edges[UNUSED] += 1
    entered[row] = edge
    for side in range(2):
        at = 2 * (target if side else source) + side
        slot = all_.start[at] + all_.size[at]
        all_.size[at] += 1
        _write(slot, edge, source if side else target, rows, row, all_.other, all_.number, all_.columns)
        place[side, edge] = slot
    return DONE


@kernel
def _make_room(at, side, start, size, room, other, number, columns, place, free):
    """Move a list to a place for half as many elements again; whether there was one."""
    wanted = room_for(np.int64(room[at]) + 1)
    if not fits(free, other, wanted):
        return False
    target = take(free, other, wanted)
    source = start[at]
    for k in range(size[at]):
        other[target + k] = other[source + k]
        number[target + k] = number[source + k]
        for c in range(columns.shape[0]):
            columns[c, target + k] = columns[c, source + k]
        place[side, number[target + k]] = target + k
    give_back(free, other, source, np.int64(room[at]))
    start[at] = target
    room[at] = wanted
    return True


@leaf
def _remove(edge, all_):
    """Take an edge out of both lists; the last element of each takes its slot."""
    place, other, number, columns = all_.place, all_.other, all_.number, all_.columns
    source = np.int64(other[place[1, edge]])
    target = np.int64(other[place[0, edge]])
    for side in range(2):
        at = 2 * (source if side == 0 else target) + side
        slot = place[side, edge]
        all_.size[at] -= 1
        last = all_.start[at] + all_.size[at]
        other[slot] = other[last]
        number[slot] = number[last]
        for c in range(columns.shape[0]):
            columns[c, slot] = columns[c, last]
        place[side, number[slot]] = slot
    place[0, edge] = all_.edges[FREE]
    all_.edges[FREE] = edge


@kernel
def claim(rows, given, claimed, table):
    """Find an edge for each row of two numbers and the columns, no edge twice; `marks` has those that are taken.

    An edge has the row's ends and, in the columns that are `given`, its values. Gives the row that failed, or how
    many rows there are, and how many edges would do for it that differ in their columns; then nothing is marked.
    """
    all_ = arrays_of(table)
    for row in range(rows.shape[0]):
        claimed[row], unlike = _find(row, rows[row, 0], rows[row, 1], rows, given, all_)
        if claimed[row] == NOWHERE or unlike > 0:
            _unclaim(row, claimed, all_)
            return row, unlike
        all_.marks[claimed[row]] = 1
    return rows.shape[0], 0


@kernel
def claim_known(rows, given, claimed, table, keys, numbers):
    """As `claim`, for rows of two ids and the columns; an id without a number counts as -1 edges that differ."""
    all_ = arrays_of(table)
    for row in range(rows.shape[0]):
        source, target = known_number(rows[row, 0], keys, numbers), known_number(rows[row, 1], keys, numbers)
        if source == NOWHERE or target == NOWHERE:
            _unclaim(row, claimed, all_)
            return row, -1
        claimed[row], unlike = _find(row, source, target, rows, given, all_)
        if claimed[row] == NOWHERE or unlike > 0:
            _unclaim(row, claimed, all_)
            return row, unlike
        all_.marks[claimed[row]] = 1
    return rows.shape[0], 0


@leaf
def _unclaim(count, claimed, all_):
    for k in range(count):
        all_.marks[claimed[k]] = 0


@leaf
def _find(row, source, target, rows, given, all_):
    """An edge for a row, or NOWHERE, and how many unlike it there are."""
    start, size, other, columns = all_.start, all_.size, all_.other, all_.columns
    forth = 2 * source
    back = 2 * target + 1
    at, end = (forth, target) if size[forth] <= size[back] else (back, source)
    found = np.int64(NOWHERE)
    chosen = np.int64(NOWHERE)
    unlike = 0
    for slot in range(start[at], start[at] + size[at]):
        if other[slot] != end or all_.marks[all_.number[slot]]:
            continue
        fitting = True
        for c in range(columns.shape[0]):
            fitting &= not given[c] or columns[c, slot] == rows[row, 2 + c]
        if not fitting:
            continue
        if found == NOWHERE:
            found = np.int64(all_.number[slot])
            chosen = slot
            continue
        for c in range(columns.shape[0]):
            if columns[c, slot] != columns[c, chosen]:
                unlike += 1
                break
    return found, unlike


@kernel
def take_out(claimed, ends, values, table):
    """Remove claimed edges, noting their ends and columns."""
    all_ = arrays_of(table)
    for k in range(claimed.shape[0]):
        edge = claimed[k]
        ends[k, 0] = all_.other[all_.place[1, edge]]
        ends[k, 1] = all_.other[all_.place[0, edge]]
        for c in range(all_.columns.shape[0]):
            values[k, c] = all_.columns[c, all_.place[0, edge]]
        all_.marks[edge] = 0
        _remove(edge, all_)


@kernel
def renew(claimed, given, new, old, table):
    """Give claimed edges the values of the columns that are given, noting those before; `new` rows get the others."""
    all_ = arrays_of(table)
    columns, place = all_.columns, all_.place
    for k in range(claimed.shape[0]):
        edge = claimed[k]
        all_.marks[edge] = 0
        for c in range(columns.shape[0]):
            old[k, c] = columns[c, place[0, edge]]
            if given[c]:
                for side in range(2):
                    columns[c, place[side, edge]] = new[k, 2 + c]
            else:
                new[k, 2 + c] = old[k, c]


@kernel
def locate(claimed, out, table):
    """Rows (source, target, slot at the source, slot at the target) of edges."""
    _locate(claimed, out, arrays_of(table))


@leaf
def _locate(claimed, out, all_):
    for k in range(claimed.shape[0]):
        edge = claimed[k]
        out[k, 0] = all_.other[all_.place[1, edge]]
        out[k, 1] = all_.other[all_.place[0, edge]]
        out[k, 2] = all_.place[0, edge]
        out[k, 3] = all_.place[1, edge]


@kernel
def list_all(vertices, start, size, other, rows):
    """Rows (source, target, slot at the source) of all edges."""
    at = 0
    for v in range(vertices):
        for slot in range(start[2 * v], start[2 * v] + size[2 * v]):
            rows[at, 0] = v
            rows[at, 1] = other[slot]
            rows[at, 2] = slot
            at += 1


@kernel
def some_slots(vertices, start, size, slots):
    """Fill in slots of edges out of vertices that lie apart; how many."""
    count = 0
    for k in range(min(vertices, slots.shape[0])):
        v = k * vertices // slots.shape[0] if vertices > slots.shape[0] else k
        if size[2 * v] > 0:
            slots[count] = start[2 * v] + k % size[2 * v]
            count += 1
    return count


@kernel
def extremes(vertices, start, size, column):
    """The least and the greatest value of a column over all edges; the first of them that is not a number twice."""
    least = column.dtype.type(0)
    greatest = column.dtype.type(0)
    is_first = True
    for v in range(vertices):
        for slot in range(start[2 * v], start[2 * v] + size[2 * v]):
            value = column[slot]
            if value != value:
                return value, value
            least = value if is_first else min(least, value)
            greatest = value if is_first else max(greatest, value)
            is_first = False
    return least, greatest
