"""The edges of a live graph: arrays that grow, and the kernels that work on them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels import adjacency as kernels
from graphtide.frontier.kernels.rooms import new_free
from graphtide.frontier.kernels.shapes import Lists
from graphtide.frontier.numbers import Numbers
from graphtide.rows.codes import Codes

__all__ = ["Adjacency"]

_FEWEST = 64
_NO_ENTRIES = np.empty((0, 2), np.int64)
_NO_NAMES = np.empty(0, np.int64)

_Element = TypeVar("_Element", np.int64, np.int32, np.uint8)


class Adjacency:
    """Edges by number, in lists at both of their ends, with columns of eight bytes each."""

    def __init__(self, columns: int) -> None:
        self.vertices = 0
        self.edges = 0
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
        self.table = np.zeros(kernels.TABLE_FIELDS, np.int64)  # what kernels find all of it by
        self._tell()

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

    def _make_lists(self, vertices: int) -> None:
        if 2 * vertices > len(self._start):
            size = max(2 * vertices, len(self._start) + len(self._start) // 2)
            self._start = _grown(self._start, size)
            self._size = _grown(self._size, size)
            self._room = _grown(self._room, size)
            self._tell()

    def enter(self, rows: Codes, numbers: Numbers | None = None) -> None:
        """Insert edges. The rows, which have ends and columns, get numbers for the ends and slots; see `kernels`.

        The ends are numbers, or ids: those that are new are numbered.
        """
        count = len(rows)
        if self.edges == 0 and count > _FEWEST:
            if numbers is not None:
                rows[:, :2] = numbers.of_new(np.ascontiguousarray(rows[:, :2]).ravel()).reshape(-1, 2)
                self.add_vertices(len(numbers))
            self._load(rows)
            return
        entries, names, vertices = _NO_ENTRIES, _NO_NAMES, self.vertices
        if numbers is not None:
            most = vertices + 2 * count
            if most > numbers.room:
                numbers.make_room(most)
            if 2 * most > len(self._start):
                self._make_lists(most)
            entries, names = numbers.entries, numbers.names
        at, reason, vertices = kernels.enter_some(rows, 0, self.table, entries, names, vertices)
        while reason != kernels.DONE:
            self._provide(int(reason), count)
            at, reason, vertices = kernels.enter_some(rows, at, self.table, entries, names, vertices)
        self.edges += count
        self.vertices = vertices
        if numbers is not None:
            numbers.count = vertices

    def lose(
        self,
        leaving: Codes,
        given: NDArray[np.bool_],
        renewed: Codes,
        new: NDArray[np.bool_],
        numbers: Numbers | None = None,
    ) -> tuple[Codes, int, int]:
        """Take edges out and give others new columns, an edge for each row of ends and columns; rows of what was there.

        An edge to take out must have the columns that are given. One to renew gets those that are new, and its row the
        others and the number of the edge. The ends are numbers, or ids that have numbers.

        Also the row for which there was no edge, or more than one that differ in their columns (how many more; -1 if
        an id has no number), if any, counted through both. Then nothing has changed.
        """
        lost = leaving if not len(renewed) else np.empty((len(leaving) + len(renewed), leaving.shape[1]), np.int64)
        entries = _NO_ENTRIES if numbers is None else numbers.entries
        row, unlike = kernels.lose(leaving, given, renewed, new, lost, self.table, entries)
        if row == len(lost):
            self.edges -= len(leaving)
        return lost, row, unlike

    def locate(self, rows: Codes) -> None:
        """Give rows, which have the numbers of their edges, ends and slots."""
        kernels.locate(rows, self.table)

    def new_rows(self, count: int) -> Codes:
        """Rows of so many edges, to be filled in."""
        return np.empty((count, kernels.FIRST_COLUMN + len(self._columns)), np.int64)

    def list_all(self) -> Codes:
        """Rows (source, target, slot at the source) of all edges."""
        rows = np.empty((self.edges, 3), np.int64)
        kernels.list_all(self.vertices, self._start, self._size, self._other, rows)
        return rows

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

    def _load(self, rows: Codes) -> None:
        """The first edges, all at once: lists lie in the order of vertices."""
        count = len(rows)
        self._free = new_free()
        self._numbers[:] = 0, -1
        self._size[:] = 0
        # A room is at most half larger than its list.
        slots = 3 * count + 1
        self._other = np.zeros(slots, np.int32)
        self._number = np.zeros(slots, np.int32)
        self._columns = np.zeros((len(self._columns), slots), np.int64)
        self._place = np.zeros((2, count + count // 8 + _FEWEST), np.int32)
        self._marks = np.zeros(self._place.shape[1], np.uint8)
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
        self.edges = count
        self._tell()

    def _provide(self, reason: int, coming: int) -> None:
        """Lengthen what was too short."""
        if reason == kernels.NO_EDGES_LEFT:
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
        }
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
