"""What the windows of all writers hold, in arrays that grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels.windows import (
    CLOCK,
    FREE_ENTRY,
    HEAP_SIZE,
    LIVE,
    MARKS,
    NOTHING,
    QUEUE_FIRST,
    QUEUE_SIZE,
    Contents,
    due_entries,
    enter_all,
    forget,
)
from graphtide.ego.lines import WINDOWS, grown, lined_up
from graphtide.ego.windows import Last, Window
from graphtide.errors import CapacityError
from graphtide.rows import NULL
from graphtide.rows.codes import Codes

__all__ = ["Undo", "WindowContents"]

_NO_WORDS = np.zeros(0, np.int64)
_NO_ROWS = np.zeros((0, 3), np.int64)
_NO_ENTRIES = np.zeros(0, np.int32)
_FEWEST = 64


class Undo(NamedTuple):
    """What it takes to have windows as they were before some writes."""

    writers: NDArray[np.int64]  # of the writes
    rings: NDArray[np.int64]  # of these writers: what was in their rings
    written: NDArray[np.int64]  # with windows of time: values of the writes and when they expire, in rows
    expired: NDArray[np.int64]  # with windows of time: writers, values and expiries of what the writes let go
    clock: int


class WindowContents:
    """The values of each writer that count, and the clock.

    Invariant: with windows of time there is a free entry for each value that is announced by `reserve`.
    """

    def __init__(self, window: Window, writers: int) -> None:
        self.window = window
        count = window.count if isinstance(window, Last) else 0
        marks = np.zeros(MARKS, np.int64)
        marks[FREE_ENTRY] = NOTHING
        marks[CLOCK] = NULL
        self.arrays = Contents(
            count,
            _with_room(window, lambda: lined_up((writers * (count + 1),), np.int64, WINDOWS)),
            _NO_WORDS,
            _NO_WORDS,
            _NO_ENTRIES,
            _NO_ENTRIES,
            _NO_ENTRIES,
            np.full(0 if count else writers, NOTHING, np.int32),
            np.zeros(1, np.int32),
            _NO_ENTRIES,
            marks,
        )
        self.writers = writers

    @property
    def is_timed(self) -> bool:
        """Whether time decides what counts."""
        return self.arrays.most == 0

    @property
    def clock(self) -> int:
        """The code of the latest time that was seen; NULL if there was none."""
        return int(self.arrays.marks[CLOCK])

    @property
    def most_values(self) -> int:
        """No more values than these are in all windows."""
        return int(self.arrays.marks[LIVE]) if self.is_timed else self.arrays.most * self.writers

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays[1:])

    def add_writers(self, writers: int) -> None:
        """Let there be so many writers."""
        self.writers = writers
        arrays = self.arrays
        room = len(arrays.rings) // (arrays.most + 1)
        if writers > room:
            size = max(writers, room * 3 // 2)
            self.arrays = arrays._replace(
                rings=_with_room(self.window, lambda: grown(arrays.rings, size * (arrays.most + 1))),
                first=arrays.first if arrays.most else grown(arrays.first, size, NOTHING),
            )

    def forget(self, writers: NDArray[np.int64]) -> None:
        """Let the windows of writers be empty, as if these had never written."""
        forget(self.arrays, writers)

    def reserve(self, writes: int) -> None:
        """Have room for so many more values."""
        arrays, marks = self.arrays, self.arrays.marks
        if not self.is_timed or marks[LIVE] + writes <= len(arrays.value):
            return
        old = len(arrays.value)
        size = 1 << max(int(marks[LIVE]) + writes, 2 * old, _FEWEST).bit_length()
        following = grown(arrays.following, size)
        following[old:] = np.arange(old + 1, size + 1)
        following[-1] = marks[FREE_ENTRY]
        marks[FREE_ENTRY] = old
        waiting = int(marks[QUEUE_SIZE])
        queue = np.zeros(size, np.int32)
        queue[:waiting] = arrays.queue[(marks[QUEUE_FIRST] + np.arange(waiting)) % len(arrays.queue)]
        marks[QUEUE_FIRST] = 0
        self.arrays = arrays._replace(
            value=grown(arrays.value, size),
            expiry=grown(arrays.expiry, size),
            writer=grown(arrays.writer, size),
            following=following,
            preceding=grown(arrays.preceding, size),
            queue=queue,
            heap=grown(arrays.heap, size),
        )

    def codes(self) -> NDArray[np.int64]:
        """The codes of all values that count, and perhaps of some that do not any more."""
        return self.arrays.value if self.is_timed else self._rows()[:, 1:].reshape(-1)

    def has_values(self) -> NDArray[np.bool_]:
        """By writer: whether its window has some value."""
        return self.arrays.first[: self.writers] != NOTHING if self.is_timed else self.written() > 0

    def written(self) -> NDArray[np.int64]:
        """How many values each writer wrote, ever."""
        return self._rows()[: self.writers, 0]

    def _rows(self) -> NDArray[np.int64]:
        """A ring in a row."""
        return self.arrays.rings.reshape(-1, self.arrays.most + 1)

    def due(self, clock: int) -> NDArray[np.int64]:
        """The writers whose windows lose values when the clock gets there."""
        if not self.is_timed:
            return _NO_WORDS
        return np.unique(self.arrays.writer[due_entries(self.arrays, clock)]).astype(np.int64)

    def undo_of(self, writers: Codes, values: Codes, expiries: Codes, clock: int) -> Undo:
        """How to take back writes that are about to be done, and the clock's going as far as that."""
        now = self.clock
        if not self.is_timed:
            return Undo(writers, self._rows()[writers], _NO_ROWS, _NO_ROWS, now)
        expired = self._entered(due_entries(self.arrays, clock))
        return Undo(writers, _NO_ROWS, np.column_stack([writers, values, expiries]), expired, now)

    def _entered(self, entries: NDArray[Any]) -> NDArray[np.int64]:
        """The writers, values and expiries of entries, in rows."""
        arrays = self.arrays
        columns = arrays.writer[entries], arrays.value[entries], arrays.expiry[entries]
        return np.column_stack(columns).astype(np.int64)

    def take_back(self, undo: Undo, writes: int) -> None:
        """Let windows and the clock be as they were, after so many of the writes were done.

        Values of a writer may then be in another order, which they have none of.
        """
        if not self.is_timed:
            self._rows()[undo.writers] = undo.rings
            return
        arrays, marks = self.arrays, self.arrays.marks
        waiting = (marks[QUEUE_FIRST] + np.arange(marks[QUEUE_SIZE])) % len(arrays.queue)
        entries = np.concatenate([arrays.queue[waiting], arrays.heap[: marks[HEAP_SIZE]]])
        rows = self._entered(entries[arrays.writer[entries] != NOTHING])
        # What expires later than now was not taken out; what does not is known. Equal rows are alike.
        kept, done = (_rows_of(each[each[:, 2] > self.clock]) for each in (rows, undo.written[:writes]))
        expired = undo.expired[undo.expired[:, 2] <= self.clock]
        rows = np.array([*(kept - done).elements(), *expired.tolist()], np.int64).reshape(-1, 3)
        written = arrays.rings.copy()
        np.subtract.at(written, undo.writers[:writes], 1)
        arrays.first[:] = NOTHING
        arrays.following[:] = np.arange(1, len(arrays.following) + 1)
        arrays.following[-1:] = NOTHING
        marks[:] = 0
        marks[FREE_ENTRY] = 0 if len(arrays.following) else NOTHING
        marks[CLOCK] = undo.clock
        enter_all(arrays, rows[np.argsort(rows[:, 2], kind="stable")])
        arrays.rings[:] = written

    def values_of(self, writer: int) -> list[int]:
        """The codes of the values of a writer, in no order."""
        arrays = self.arrays
        if not self.is_timed:
            written, *values = self._rows()[writer].tolist()
            return values[:written]
        found: list[int] = []
        entry = int(arrays.first[writer])
        while entry != NOTHING:
            found.append(int(arrays.value[entry]))
            entry = int(arrays.following[entry])
        return found


def _with_room(window: Window, make: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rings, or an error that says for what there is no memory."""
    try:
        return make()
    except (MemoryError, OSError, OverflowError) as error:
        raise CapacityError(
            f"there is no memory for {window!r} of each vertex", hint="take a shorter window"
        ) from error


def _rows_of(rows: NDArray[np.int64]) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, rows.tolist()))
