"""The edges of a changing graph, at both of their ends.

List 2v holds the edges out of vertex v and list 2v + 1 those into it. An element of a list is a *slot*: the
vertex at the other end, the edge's number, and a copy of its columns, so that going along a list reads
memory in order. An edge knows its two slots, so it is taken out of a list of any length in a few steps.

Kernels that are called for every batch take the arrays as a table of their addresses: an argument each would cost
more than the work on one edge. Edges come and go as *rows* (source, target, slot at the source, slot at the target,
columns): who brings them names the ends and the columns, and gets them back with numbers for the ends and with slots.

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
    "FIRST_COLUMN",
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
    "enter_some",
    "extremes",
    "list_all",
    "lists_of",
    "load",
    "locate",
    "lose",
    "some_slots",
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


# A row: its ends, its slots, its columns. Until it has slots, the first of them is the number of the edge.
OWN_SLOT = 2
EDGE = 2
FIRST_COLUMN = 4


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
    return Adjacent(
        address_to_words(table[START], table[LISTS]),
        address_to_array(table[SIZE], table[LISTS], np.int32),
        address_to_array(table[ROOM], table[LISTS], np.int32),
        address_to_array(table[OTHER], table[SLOTS], np.int32),
        address_to_array(table[NUMBER], table[SLOTS], np.int32),
        address_to_array(table[COLUMNS], (table[WIDTH], table[SLOTS]), np.int64),
        address_to_array(table[PLACE], (2, table[MOST_EDGES]), np.int32),
        address_to_array(table[MARKS], table[MOST_EDGES], np.uint8),
        address_to_words(table[FREE_PLACES], FREE_FIELDS),
        address_to_words(table[EDGES], 2),
    )


@leaf
def lists_of(table):
    """The arrays that queries go along."""
    return Lists(
        address_to_words(table[START], table[LISTS]),
        address_to_array(table[SIZE], table[LISTS], np.int32),
        address_to_array(table[OTHER], table[SLOTS], np.int32),
    )


@leaf
def weights_of(table, column, like):
    """A column by slot, as numbers of the type that `like` has; none if the column is -1."""
    if column < 0:
        return address_to_array(table[COLUMNS], 0, like)
    return address_to_array(table[COLUMNS] + 8 * table[SLOTS] * column, table[SLOTS], like)


@kernel
def load(rows, start, size, room, other, number, columns, place, free, edges):
    """Put many edges into empty lists with places enough; the ends are numbers."""
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
            rows[e, OWN_SLOT + side] = slot
    edges[UNUSED] = count


@leaf
def _write(slot, edge, end, rows, row, other, number, columns):
    other[slot] = end
    number[slot] = edge
    for c in range(columns.shape[0]):
        columns[c, slot] = rows[row, FIRST_COLUMN + c]


@kernel
def enter_some(rows, first, table, entries, names, vertices):
    """Insert edges from row `first` on, numbering vertices that are new; without entries the ends are numbers.

    There are places for new vertices. Gives the row at which it stopped, why (everything is in, or there is no place
    left for slots or edges) and how many vertices there are.
    """
    all_ = arrays_of(table)
    for row in range(first, rows.shape[0]):
        source, target = rows[row, 0], rows[row, 1]
        if entries.shape[0] > 0:
            source, vertices = number_of(source, entries, names, vertices)
            target, vertices = number_of(target, entries, names, vertices)
        reason = _insert(row, source, target, rows, all_)
        if reason != DONE:
            return row, reason, vertices
    # Only now: a list that got longer may have moved.
    for row in range(rows.shape[0]):
        _locate(row, rows[row, EDGE], rows, all_)
    return rows.shape[0], DONE, vertices


@leaf
def _insert(row, source, target, rows, all_):
    """Insert one edge and note its number; why it could not be, or DONE."""
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
    rows[row, EDGE] = edge
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


@kernel
def lose(leaving, leaving_given, renewed, renewed_given, lost, table, entries):
    """Find an edge for each row, no edge twice; take out those of `leaving`, give those of `renewed` other columns.

    An edge of `leaving` has the row's ends and the values of the columns that are given, one of `renewed` the row's
    ends; its columns that are given are new, and the row gets the others. Without entries the ends are numbers. `lost`
    gets the edges as they were, but for slots: first those that are renewed. It may be `leaving` if nothing is.

    Gives the row that failed, counted through both, or how many rows there are, and how many edges would do for it
    that differ in their columns, or -1 if an end has no number; then nothing has changed.
    """
    all_ = arrays_of(table)
    gone, changed = leaving.shape[0], renewed.shape[0]
    for k in range(gone + changed):
        if k < gone:
            unlike = _claim(k, leaving, leaving_given, leaving_given.shape[0], all_, entries)
        else:
            unlike = _claim(k - gone, renewed, renewed_given, 0, all_, entries)
        if unlike != 0 or (leaving[k, EDGE] if k < gone else renewed[k - gone, EDGE]) == NOWHERE:
            for i in range(k):
                all_.marks[leaving[i, EDGE] if i < gone else renewed[i - gone, EDGE]] = 0
            return k, unlike
    for k in range(changed):
        edge = renewed[k, EDGE]
        _note(k, edge, lost, all_)
        all_.marks[edge] = 0
        for c in range(all_.columns.shape[0]):
            if renewed_given[c]:
                for side in range(2):
                    all_.columns[c, all_.place[side, edge]] = renewed[k, FIRST_COLUMN + c]
            else:
                renewed[k, FIRST_COLUMN + c] = lost[k, FIRST_COLUMN + c]
    for k in range(gone):
        edge = leaving[k, EDGE]
        _note(changed + k, edge, lost, all_)
        all_.marks[edge] = 0
        _remove(edge, all_)
    return gone + changed, 0


@leaf
def _claim(row, rows, given, compared, all_, entries):
    """Find an edge for a row, mark it and note its number, or NOWHERE; how many are unlike it, -1 if an end is new."""
    source, target = rows[row, 0], rows[row, 1]
    if entries.shape[0] > 0:
        source, target = known_number(source, entries), known_number(target, entries)
        if source == NOWHERE or target == NOWHERE:
            return -1
    edge, unlike = _find(row, source, target, rows, given, compared, all_)
    rows[row, EDGE] = edge
    if edge != NOWHERE and unlike == 0:
        all_.marks[edge] = 1
    return unlike


@leaf
def _find(row, source, target, rows, given, compared, all_):
    """An edge for a row, or NOWHERE, and how many unlike it there are.

    Of its first `compared` columns, those that are given are the row's.
    """
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
        for c in range(compared):
            fitting &= not given[c] or columns[c, slot] == rows[row, FIRST_COLUMN + c]
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


@leaf
def _note(row, edge, lost, all_):
    """Write down an edge as it is, but for its slots."""
    lost[row, 0] = all_.other[all_.place[1, edge]]
    lost[row, 1] = all_.other[all_.place[0, edge]]
    for c in range(all_.columns.shape[0]):
        lost[row, FIRST_COLUMN + c] = all_.columns[c, all_.place[0, edge]]


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
def locate(rows, table):
    """Give rows, which have the numbers of their edges, the ends and the slots that these have now."""
    all_ = arrays_of(table)
    for row in range(rows.shape[0]):
        _locate(row, rows[row, EDGE], rows, all_)


@leaf
def _locate(row, edge, rows, all_):
    for side in range(2):
        slot = all_.place[side, edge]
        rows[row, 1 - side] = all_.other[slot]
        rows[row, OWN_SLOT + side] = slot


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
