"""The heap as Python holds it: the table of memory blocks, freed when nobody needs it any more."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import CapacityError
from graphtide.trace.kernels import exchange, heap
from graphtide.trace.kernels.consolidate import consolidate

__all__ = ["Heap"]

# Rows of the table: pages that are never touched take no memory.
_SLOTS: Final = 1 << 20


class Heap:
    """Memory blocks by slot; kernels take its `table`."""

    def __init__(self, slots: int = _SLOTS) -> None:
        self.table: NDArray[np.int64] = np.zeros((heap.FIRST_SLOT + slots, heap.HEAP_FIELDS), np.int64)
        heap.open_heap(self.table)
        self._mapped: list[NDArray[np.int64]] = []
        # The table outlives the object until all its blocks are freed.
        weakref.finalize(self, heap.release_all, self.table)

    def put(self, columns: NDArray[np.int64], depth: int, owner: int = 0) -> int:
        """Store lines of data, times and diffs as a batch; its slot."""
        with _capacity():
            return int(exchange.load(self.table, owner, np.ascontiguousarray(columns), depth))

    def get(self, slot: int) -> NDArray[np.int64]:
        """A copy of a batch's lines: data, times, diff."""
        return exchange.dump(self.table, slot)

    def summed(self, rows: NDArray[np.int64], diffs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each row once and in order, a line to a column, with the sum of its diffs where that is not zero."""
        given = self.put(np.concatenate([rows, diffs[None]]), 0)
        slot = int(consolidate(self.table, 0, given, np.arange(len(rows))))
        self.release(given)
        if slot == 0:
            return rows[:, :0], diffs[:0]
        lines = self.get(slot)
        self.release(slot)
        return lines[:-1], lines[-1]

    def block(self, values: NDArray[np.int64], owner: int = 0) -> int:
        """Store plain words; their slot."""
        with _capacity():
            slot = int(heap.allocate(self.table, owner, len(values)))
        heap.fill(self.table, slot, np.ascontiguousarray(values, np.int64))
        return slot

    def save(self, slot: int, file: str | Path) -> None:
        """Write a batch, as it lies in memory, to a file."""
        heap.words(self.table, slot).tofile(file)

    def map(self, file: str | Path, owner: int = 0) -> int:
        """The slot of a batch that stays in its file; pages are read when they are looked at."""
        mapped = np.memmap(file, np.int64, mode="c")
        self._mapped.append(mapped)
        return int(heap.adopt(self.table, owner, mapped.ctypes.data, len(mapped)))

    def release(self, slot: int) -> None:
        """Give up one count of the slot."""
        heap.release(self.table, slot)

    def words(self, slot: int) -> NDArray[np.int64]:
        """A copy of a block of plain words."""
        return heap.words(self.table, slot).copy()

    @property
    def spare_bytes(self) -> int:
        """Bytes of blocks that are kept for reuse."""
        return 8 * int(self.table[0, heap.SPARE_WORDS])

    @property
    def nbytes(self) -> int:
        """Bytes in live blocks."""
        return 8 * int(self.table[0, heap.LIVE_WORDS])

    def bytes_by_owner(self, owners: int) -> NDArray[np.int64]:
        """Bytes in live blocks of each of the first `owners` owners."""
        totals = np.zeros(owners, np.int64)
        heap.owned_words(self.table, totals)
        return 8 * totals


class _capacity:  # noqa: N801 - reads as a statement
    """Turns a kernel's MemoryError into an error of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            raise CapacityError(str(error), hint="keep fewer or smaller collections in this dataflow") from error
