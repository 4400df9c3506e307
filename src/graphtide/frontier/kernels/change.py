"""Changing the edges by a batch: deletions, updates and insertions, in one call.

A batch has three *places* of rows, which say where rows are, how many, which of their columns are given, and where
to write renewed rows down as they were. All of it is checked before anything changes; then the kernel goes on until it
is done or an array is too short, and goes on at the same row when it is called again.

What a column holds is a *rule*: whether its words are floats, and the range that queries take as a weight.
"""

from __future__ import annotations

import numpy as np

from graphtide.frontier.kernels.adjacency import (
    AT,
    BEFORE,
    EDGE,
    EDGE_COUNT,
    ENTERING,
    ENTERING_COUNT,
    ENTRIES,
    ENTRY_COUNT,
    FIRST_COLUMN,
    FREE,
    KNOWN,
    LEAVING,
    LEAVING_COUNT,
    MOST_VERTICES,
    NAMES,
    OWN_SLOT,
    REASON,
    RENEWED,
    RENEWED_COUNT,
    ROW,
    RULES,
    UNUSED,
    VERTICES,
    WIDTH,
    arrays_of,
    write,
)
from graphtide.frontier.kernels.numbers import known_number, number_of
from graphtide.frontier.kernels.rooms import NOWHERE, fits, give_back, room_for, take
from graphtide.jit import borrowing, borrowing_leaf, kernel, leaf
from graphtide.memory import address_to_array, address_to_words

__all__ = [
    "BEGINNING",
    "COUNT",
    "DONE",
    "DONE_WITH_VERTICES",
    "GIVEN",
    "GREATEST",
    "IS_FLOAT",
    "IS_LIMITED",
    "LEAST",
    "NO_EDGES_LEFT",
    "NO_EDGE_LIKE_IT",
    "NO_SLOTS_LEFT",
    "NO_VERTICES_LEFT",
    "OUT_OF_RANGE",
    "PLACE_FIELDS",
    "ROWS",
    "RULE_FIELDS",
    "WAS",
    "change",
    "check",
]

# A place: the addresses of its rows, of which columns are given, and of the rows as they were.
ROWS = 0
COUNT = 1
GIVEN = 2
WAS = 3
PLACE_FIELDS = 4

# A rule.
IS_FLOAT = 0
IS_LIMITED = 1
LEAST = 2
GREATEST = 3
RULE_FIELDS = 4

# Why the kernel came back: all is done, without or with new vertices; a row is refused; an array is too short.
DONE = 0
DONE_WITH_VERTICES = 1
NO_EDGE_LIKE_IT = 2
OUT_OF_RANGE = 3
NO_SLOTS_LEFT = 4
NO_EDGES_LEFT = 5
NO_VERTICES_LEFT = 6

BEGINNING = -1  # no row of the batch has changed anything yet

_MINUS_ZERO = np.int64(-(2**63))


@kernel
def change(table, leaving, renewed, entering):
    """Find an edge for each row of `leaving` and `renewed`, none twice; take out the former, renew the latter; insert.

    An edge to take out has the row's ends and the values of the columns that are given, one to renew the row's ends;
    its columns that are given are new, and the row gets the others. New ends of inserted edges get numbers. All
    rows get numbers for their ends, and those of edges that are there after the batch get slots.

    A row that is refused is named in the table: counted through `leaving` and `renewed` for which no edge will do (the
    reason is how many will that differ in their columns, or -1 if an end has no number), or through `entering` and
    `renewed` if a weight is out of range (the reason is its column). Then nothing has changed.
    """
    all_ = arrays_of(table)
    gone, gone_given = _rows_at(table, leaving)
    now, now_given = _rows_at(table, renewed)
    come, come_given = _rows_at(table, entering)
    entries = address_to_words(table[ENTRIES], (table[ENTRY_COUNT], 2))
    if table[AT] == BEGINNING:
        rules = address_to_array(table[RULES], (table[WIDTH], RULE_FIELDS), np.float64)
        _settle_zeros(gone, rules)
        if not _check(table, now, now_given, come, come_given, rules):
            return OUT_OF_RANGE
        before = address_to_words(renewed[WAS], now.shape)
        if not _lose(table, gone, gone_given, now, now_given, before, all_, entries):
            return NO_EDGE_LIKE_IT
        table[AT], table[KNOWN] = 0, table[VERTICES]
        table[LEAVING], table[LEAVING_COUNT] = leaving[ROWS], gone.shape[0]
        table[RENEWED], table[BEFORE], table[RENEWED_COUNT] = renewed[ROWS], renewed[WAS], now.shape[0]
        table[ENTERING], table[ENTERING_COUNT] = entering[ROWS], come.shape[0]
        table[EDGE_COUNT] += come.shape[0] - gone.shape[0]
    names = address_to_words(table[NAMES], table[MOST_VERTICES])
    for row in range(table[AT], come.shape[0]):
        table[AT] = row
        source, target, vertices = come[row, 0], come[row, 1], table[VERTICES]
        if entries.shape[0] > 0:
            if vertices + 2 > table[MOST_VERTICES] and (
                known_number(source, entries) == NOWHERE or known_number(target, entries) == NOWHERE
            ):
                return NO_VERTICES_LEFT
            source, vertices = number_of(source, entries, names, vertices)
            target, vertices = number_of(target, entries, names, vertices)
            table[VERTICES] = vertices
        code = _insert(row, source, target, come, all_)
        if code != DONE:
            return code
    # Only now: a list that got longer may have moved.
    for row in range(come.shape[0]):
        _locate(row, come[row, EDGE], come, all_)
    for row in range(now.shape[0]):
        _locate(row, now[row, EDGE], now, all_)
    table[AT] = BEGINNING
    return DONE if table[VERTICES] == table[KNOWN] else DONE_WITH_VERTICES


@leaf
def _rows_at(table, place):
    """The rows of a place, and which of their columns are given."""
    rows = address_to_words(place[ROWS], (place[COUNT], FIRST_COLUMN + table[WIDTH]))
    return rows, address_to_array(place[GIVEN], table[WIDTH], np.uint8)


@kernel
def check(table, renewed, entering):
    """Whether all weights are in range; otherwise the table names the row, counted through `entering` and `renewed`."""
    now, now_given = _rows_at(table, renewed)
    come, come_given = _rows_at(table, entering)
    rules = address_to_array(table[RULES], (table[WIDTH], RULE_FIELDS), np.float64)
    return _check(table, now, now_given, come, come_given, rules)


@leaf
def _check(table, now, now_given, come, come_given, rules):
    _settle_zeros(now, rules)
    _settle_zeros(come, rules)
    bad, column = _out_of_range(come, come_given, rules)
    if bad == come.shape[0]:
        row, column = _out_of_range(now, now_given, rules)
        bad += row
    table[ROW], table[REASON] = bad, column
    return bad == come.shape[0] + now.shape[0]


@borrowing_leaf
def _settle_zeros(rows, rules):
    """Zero has one sign, as it has in columns of codes."""
    for c in range(rules.shape[0]):
        if rules[c, IS_FLOAT] != 0:
            for row in range(rows.shape[0]):
                if rows[row, FIRST_COLUMN + c] == _MINUS_ZERO:
                    rows[row, FIRST_COLUMN + c] = 0


@leaf
def _out_of_range(rows, given, rules):
    """The first row with a weight that queries do not take, or how many rows there are, and its column."""
    first, column = rows.shape[0], NOWHERE
    for c in range(rules.shape[0]):
        if rules[c, IS_LIMITED] == 0 or not given[c]:
            continue
        numbers = address_to_array(np.int64(rows.ctypes.data), rows.shape, np.float64)
        for row in range(first):
            bits = rows[row, FIRST_COLUMN + c]
            number = numbers[row, FIRST_COLUMN + c] if rules[c, IS_FLOAT] != 0 else np.float64(bits)
            if not rules[c, LEAST] <= number <= rules[c, GREATEST]:
                first, column = row, c
                break
    return first, column


@borrowing_leaf
def _lose(table, leaving, leaving_given, renewed, renewed_given, before, all_, entries):
    """Take edges out and renew others; False if that cannot be, and then nothing has changed."""
    gone, changed = leaving.shape[0], renewed.shape[0]
    for k in range(gone + changed):
        if k < gone:
            unlike = _claim(k, leaving, leaving_given, leaving_given.shape[0], all_, entries)
        else:
            unlike = _claim(k - gone, renewed, renewed_given, 0, all_, entries)
        if unlike != 0 or (leaving[k, EDGE] if k < gone else renewed[k - gone, EDGE]) == NOWHERE:
            for i in range(k):
                all_.marks[leaving[i, EDGE] if i < gone else renewed[i - gone, EDGE]] = 0
            table[ROW], table[REASON] = k, unlike
            return False
    for k in range(changed):
        edge = renewed[k, EDGE]
        _note(k, edge, before, all_)
        all_.marks[edge] = 0
        for c in range(all_.columns.shape[0]):
            if renewed_given[c]:
                for side in range(2):
                    all_.columns[c, all_.place[side, edge]] = renewed[k, FIRST_COLUMN + c]
            else:
                renewed[k, FIRST_COLUMN + c] = before[k, FIRST_COLUMN + c]
    for k in range(gone):
        edge = leaving[k, EDGE]
        _note(k, edge, leaving, all_)
        all_.marks[edge] = 0
        _remove(edge, all_)
    return True


@borrowing_leaf
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


@borrowing_leaf
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


@borrowing_leaf
def _note(row, edge, noted, all_):
    """Write down an edge as it is, but for its slots."""
    noted[row, 0] = all_.other[all_.place[1, edge]]
    noted[row, 1] = all_.other[all_.place[0, edge]]
    for c in range(all_.columns.shape[0]):
        noted[row, FIRST_COLUMN + c] = all_.columns[c, all_.place[0, edge]]


@borrowing_leaf
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


@borrowing_leaf
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
        write(slot, edge, source if side else target, rows, row, all_.other, all_.number, all_.columns)
        place[side, edge] = slot
    return DONE


@borrowing
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


@borrowing_leaf
def _locate(row, edge, rows, all_):
    for side in range(2):
        slot = all_.place[side, edge]
        rows[row, 1 - side] = all_.other[slot]
        rows[row, OWN_SLOT + side] = slot
