"""The edges of a live graph: arrays that grow, and the kernels that work on them."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.delta import Delta, Rows
from graphtide.frontier.kernels import adjacency as kernels
from graphtide.frontier.kernels import change as changes
from graphtide.frontier.kernels.rooms import new_free
from graphtide.frontier.kernels.shapes import Lists
from graphtide.frontier.kernels.surroundings import edges_of
from graphtide.frontier.numbers import Numbers
from graphtide.rows.codes import Codes

__all__ = ["Adjacency"]

_FEWEST = 64

_Element = TypeVar("_Element", np.int64, np.int32, np.uint8)


class Adjacency:
    """Edges by number, in lists at both of their ends, with columns of eight bytes each.

    Rows name ends by numbers, or by ids if there are `numbers` for these.
    """

    def __init__(self, columns: int, numbers: Numbers | None = None) -> None:
        self.vertices = 0
        self._ids = numbers
        self._start = np.zeros(0, np.int64)
        self._size = np.zeros(0, np.int32)
        self._room = np.zeros(0, np.int32)
        self._other = np.zeros(_FEWEST, np.int32)
        self._number = np.zeros(_FEWEST, np.int32)
        self._columns = np.zeros((columns, _FEWEST), np.int64)
        self._place = np.zeros((2, _FEWEST), np.int32)
        self._marks = np.zeros(_FEWEST, np.uint8)
        self._free = new_free()
        self._numbers = np.array([0, -1])
        self.rules = np.zeros((columns, changes.RULE_FIELDS))  # what columns hold: see `kernels.change`
        self.none_given = np.zeros(columns, np.bool_)
        self.nothing = Rows("", self.new_rows(0), self.none_given)
        self._batch = self.nothing, self.nothing, self.nothing
        self.table = np.zeros(kernels.TABLE_FIELDS, np.int64)  # what kernels find all of it by
        self.table[kernels.AT] = changes.BEGINNING
        self._tell()

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return int(self.table[kernels.EDGE_COUNT])

    @property
    def delta(self) -> Delta:
        """What the last batch did."""
        return Delta.of(*self._batch)

    @property
    def lists(self) -> Lists:
        """What kernels go along."""
        return Lists(self._start, self._size, self._other)

    def column(self, c: int) -> Codes:
        """A column by slot."""
        return self._columns[c]

    def add_vertices(self, vertices: int) -> None:
        """Let there be so many vertices; new ones have no edges."""
        self._make_lists(vertices)
        self.vertices = vertices
        self.table[kernels.VERTICES] = vertices
        self._tell()

    def _make_lists(self, vertices: int) -> None:
        if 2 * vertices > len(self._start):
            size = max(2 * vertices, len(self._start) + len(self._start) // 2)
            self._start = _grown(self._start, size)
            self._size = _grown(self._size, size)
            self._room = _grown(self._room, size)

    def change(self, leaving: Rows, renewed: Rows, entering: Rows) -> int:
        """Take edges out, give others new columns, insert: a code of `kernels.change` that says it is done, or why not.

        If it is not, nothing has changed, and the table names the row.
        """
        if entering.count > _FEWEST and self.edges == 0 and leaving.count == renewed.count == 0:
            code = self._load(entering)
        else:
            code = changes.change(self.table, leaving.place, renewed.place, entering.place)
        while code > changes.OUT_OF_RANGE:
            self._provide(code, entering.count)
            code = changes.change(self.table, leaving.place, renewed.place, entering.place)
        if code == changes.DONE_WITH_VERTICES:
            self._see_vertices()
        if code <= changes.DONE_WITH_VERTICES:
            self._batch = leaving, renewed, entering
        return code

    @property
    def refused(self) -> tuple[int, int]:
        """The row that was refused, and why: see `kernels.change`."""
        return int(self.table[kernels.ROW]), int(self.table[kernels.REASON])

    def _see_vertices(self) -> None:
        self.vertices = int(self.table[kernels.VERTICES])
        if self._ids is not None:
            self._ids.count = self.vertices

    def new_rows(self, count: int) -> Codes:
        """Rows of so many edges, to be filled in."""
        return np.empty((count, kernels.FIRST_COLUMN + len(self._columns)), np.int64)

    def list_all(self) -> Codes:
        """Rows (source, target, slot at the source) of all edges."""
        rows = np.empty((self.edges, 3), np.int64)
        kernels.list_all(self.vertices, self._start, self._size, self._other, rows)
        return rows

    def edges_at(self, vertices: Codes) -> Codes:
        """Rows (source, target, slot at one of them) of the edges at vertices, each edge once."""
        rows = edges_of(vertices, 0, 1, *self.lists)
        _, first = np.unique(self._number[rows[:, 2]], return_index=True)
        return rows[first]

    def some_slots(self, most: int) -> Codes:
        """The slots of at most so many edges, of vertices that lie apart."""
        slots = np.empty(most, np.int64)
        return slots[: kernels.some_slots(self.vertices, self._start, self._size, slots)]

    def extremes(self, column: NDArray[np.int64] | NDArray[np.float64]) -> tuple[float, float]:
        """The least and the greatest value of a column by slot."""
        return kernels.extremes(self.vertices, self._start, self._size, column)

    @property
    def nbytes(self) -> int:
        """Bytes of all lists."""
        arrays = (
            self._start,
            self._size,
            self._room,
            self._other,
            self._number,
            self._columns,
            self._place,
            self._marks,
            self._free,
        )
        return sum(array.nbytes for array in arrays)

    def check_invariants(self) -> None:
        """Lists lie apart in their rooms; every edge is once in a list at each end, with the same columns."""
        lists = range(2 * self.vertices)
        assert (self._size[: len(lists)] <= self._room[: len(lists)]).all()
        owned = sorted((int(self._start[at]), int(self._room[at])) for at in lists if self._room[at])
        assert all(start + room <= after for (start, room), (after, _) in pairwise(owned))
        assert not owned or sum(owned[-1]) <= self._free[0] <= len(self._other)
        ends: list[dict[int, tuple[int, ...]]] = [{}, {}]
        for at in lists:
            for slot in range(self._start[at], self._start[at] + self._size[at]):
                side, edge = at & 1, int(self._number[slot])
                assert self._place[side, edge] == slot
                pair = (at >> 1, int(self._other[slot]))
                ends[side][edge] = (*(pair[::-1] if side else pair), *self._columns[:, slot].tolist())
        assert ends[0] == ends[1]
        assert len(ends[0]) == self.edges
        assert not self._marks.any()

    def _load(self, entering: Rows) -> int:
        """The first edges, all at once: lists lie in the order of vertices."""
        if not changes.check(self.table, self.nothing.place, entering.place):
            return changes.OUT_OF_RANGE
        rows, count = entering.table, entering.count
        if self._ids is not None:
            rows[:, :2] = self._ids.of_new(np.ascontiguousarray(rows[:, :2]).ravel()).reshape(-1, 2)
            self.add_vertices(len(self._ids))
        self._free = new_free()
        self._numbers[:] = 0, -1
        self._size[:] = 0
        # A room is at most half larger than its list.
        slots = 3 * count + 1
        self._other = np.zeros(slots, np.int32)
        self._number = np.zeros(slots, np.int32)
        self._columns = np.zeros((len(self._columns), slots), np.int64)
        self._place = np.zeros((2, count + count // 8 + _FEWEST), np.int32)
        self._marks = np.full(self._place.shape[1], 0, np.uint8)  # touched here: no deletion pays for fresh pages
        kernels.load(
            rows,
            self._start,
            self._size,
            self._room,
            self._other,
            self._number,
            self._columns,
            self._place,
            self._free,
            self._numbers,
        )
        self._tell()
        table = self.table
        table[kernels.LEAVING_COUNT] = table[kernels.RENEWED_COUNT] = 0
        table[kernels.ENTERING], table[kernels.ENTERING_COUNT] = entering.place[: changes.COUNT + 1]
        table[kernels.EDGE_COUNT] = count
        return changes.DONE_WITH_VERTICES

    def _provide(self, code: int, coming: int) -> None:
        """Lengthen what was too short."""
        if code == changes.NO_VERTICES_LEFT:
            assert self._ids is not None, "who names ends by numbers has added them"
            self._ids.count = int(self.table[kernels.VERTICES])
            most = self._ids.count + 2
            self._ids.make_room(most)
            self._make_lists(most)
        elif code == changes.NO_EDGES_LEFT:
            most = self._place.shape[1]
            self._place = _grown(self._place, max(most * 3 // 2, most + coming))
            self._marks = _grown(self._marks, self._place.shape[1])
        else:
            size = len(self._other) * 3 // 2 + int(self._room.max()) * 2
            self._other = _grown(self._other, size)
            self._number = _grown(self._number, size)
            self._columns = _grown(self._columns, size)
        self._tell()

    def _tell(self) -> None:
        """Write down where the arrays are."""
        arrays = {
            kernels.START: self._start,
            kernels.SIZE: self._size,
            kernels.ROOM: self._room,
            kernels.OTHER: self._other,
            kernels.NUMBER: self._number,
            kernels.COLUMNS: self._columns,
            kernels.PLACE: self._place,
            kernels.MARKS: self._marks,
            kernels.FREE_PLACES: self._free,
            kernels.EDGES: self._numbers,
            kernels.RULES: self.rules,
        }
        if self._ids is not None:
            arrays |= {kernels.ENTRIES: self._ids.entries, kernels.NAMES: self._ids.names}
            self.table[kernels.ENTRY_COUNT] = len(self._ids.entries)
            self.table[kernels.MOST_VERTICES] = min(self._ids.room, len(self._start) // 2)
        for at, array in arrays.items():
            self.table[at] = array.ctypes.data
        self.table[kernels.LISTS] = len(self._start)
        self.table[kernels.SLOTS] = len(self._other)
        self.table[kernels.MOST_EDGES] = self._place.shape[1]
        self.table[kernels.WIDTH] = len(self._columns)


def _grown(array: NDArray[_Element], size: int) -> NDArray[_Element]:
    """A longer array that begins as this one."""
    longer = np.zeros((*array.shape[:-1], size), array.dtype)
    longer[..., : array.shape[-1]] = array
    return longer
