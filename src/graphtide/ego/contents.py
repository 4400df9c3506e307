"""What the windows of all writers hold, in arrays that grow."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels.windows import (
    CLOCK,
    FREE_ENTRY,
    LIVE,
    MARKS,
    NOTHING,
    QUEUE_FIRST,
    QUEUE_SIZE,
    Contents,
    due_writers,
)
from graphtide.ego.windows import Last, Window
from graphtide.rows import NULL

__all__ = ["WindowContents", "grown"]

_NO_WORDS = np.zeros(0, np.int64)
_NO_ENTRIES = np.zeros(0, np.int32)
_FEWEST = 64

_Element = TypeVar("_Element", bound=np.generic)


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
            np.zeros(writers * count, np.int64),
            np.zeros(writers, np.int64),
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
        if writers > len(arrays.written):
            size = max(writers, len(arrays.written) * 3 // 2)
            self.arrays = arrays._replace(
                ring=grown(arrays.ring, size * arrays.most),
                written=grown(arrays.written, size),
                first=arrays.first if arrays.most else grown(arrays.first, size, NOTHING),
            )

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
        return self.arrays.value if self.is_timed else self.arrays.ring

    def has_values(self) -> NDArray[np.bool_]:
        """By writer: whether its window has some value."""
        arrays = self.arrays
        return (arrays.first if self.is_timed else arrays.written)[: self.writers] != (NOTHING if self.is_timed else 0)

    def due(self, clock: int) -> NDArray[np.int64]:
        """The writers whose windows lose values when the clock gets there."""
        return np.unique(due_writers(self.arrays, clock)) if self.is_timed else _NO_WORDS

    def values_of(self, writer: int) -> list[int]:
        """The codes of the values of a writer, in no order."""
        arrays = self.arrays
        if not self.is_timed:
            size = min(int(arrays.written[writer]), arrays.most)
            return arrays.ring[writer * arrays.most :][:size].tolist()
        found: list[int] = []
        entry = int(arrays.first[writer])
        while entry != NOTHING:
            found.append(int(arrays.value[entry]))
            entry = int(arrays.following[entry])
        return found


def grown(array: NDArray[_Element], size: int, fill: Any = 0) -> NDArray[_Element]:
    """A longer array that begins as this one."""
    longer = (
        np.full((size, *array.shape[1:]), fill, array.dtype)
        if fill
        else np.zeros((size, *array.shape[1:]), array.dtype)
    )
    longer[: len(array)] = array
    return longer
