"""The edges of a changing graph, at both of their ends.

List 2v holds the edges out of vertex v and list 2v + 1 those into it. An element of a list is a *slot*: the
vertex at the other end, the edge's number, and a copy of its columns, so that going along a list reads
memory in order. An edge knows its two slots, so it is taken out of a list of any length in a few steps.

Kernels that are called for every batch take the arrays as a table of their addresses: an argument each would cost
more than the work on one edge. Edges come and go as *rows* (source, target, slot at the source, slot at the target,
columns): who brings them names the ends and the columns, and gets them back with numbers for the ends and with slots.
The table also says where the rows of the last batch are, for those who follow it (see `change`).

Invariant: `place[side, e]` is the slot of edge e in the list of its source (side 0) and of its target (side 1);
a list of size s lies in the slots from `start` on, and `room` of them are its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels.rooms import FREE_FIELDS, room_for
from graphtide.frontier.kernels.shapes import Ints, Lists, Small
from graphtide.jit import kernel, leaf
from graphtide.memory import address_to_array, address_to_words

__all__ = [
    "AT",
    "BEFORE",
    "COLUMNS",
    "EDGE",
    "EDGES",
    "EDGE_COUNT",
    "ENTERING",
    "ENTERING_COUNT",
    "ENTRIES",
    "ENTRY_COUNT",
    "FIRST_COLUMN",
    "FREE",
    "FREE_PLACES",
    "KNOWN",
    "LEAVING",
    "LEAVING_COUNT",
    "LISTS",
    "MARKS",
    "MOST_EDGES",
    "MOST_VERTICES",
    "NAMES",
    "NUMBER",
    "OTHER",
    "OWN_SLOT",
    "PLACE",
    "REASON",
    "RENEWED",
    "RENEWED_COUNT",
    "ROOM",
    "ROW",
    "RULES",
    "SIZE",
    "SLOTS",
    "START",
    "TABLE_FIELDS",
    "UNUSED",
    "VERTICES",
    "WIDTH",
    "Adjacent",
    "arrays_of",
    "extremes",
    "list_all",
    "lists_of",
    "load",
    "some_slots",
    "weights_of",
    "write",
]

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
RULES = 14  # what columns hold: see `change`
# Numbers of vertices by the codes of their ids; without entries the ends of rows are numbers.
ENTRIES = 15
ENTRY_COUNT = 16
NAMES = 17
MOST_VERTICES = 18
VERTICES = 19
EDGE_COUNT = 20
# The batch: how far it is, the row that is refused and why, and where its rows are.
AT = 21
KNOWN = 22  # vertices before it
ROW = 23
REASON = 24
LEAVING = 25
LEAVING_COUNT = 26  # so many rows
RENEWED = 27
BEFORE = 28  # the renewed rows as they were
RENEWED_COUNT = 29
ENTERING = 30
ENTERING_COUNT = 31
TABLE_FIELDS = 32


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
            write(slot, e, rows[e, 1 - side], rows, e, other, number, columns)
            place[side, e] = slot
            rows[e, OWN_SLOT + side] = slot
    edges[UNUSED] = count


@leaf
def write(slot, edge, end, rows, row, other, number, columns):
    """Fill a slot with an edge, the vertex at its other end, and the columns of a row."""
    other[slot] = end
    number[slot] = edge
    for c in range(columns.shape[0]):
        columns[c, slot] = rows[row, FIRST_COLUMN + c]


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
