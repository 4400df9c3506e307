"""Programs over columns that stand in no batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.kernels.evaluate import linear
from graphtide.dataflow.kernels.opcodes import OUTPUTS
from graphtide.trace.heap import Heap

__all__ = ["evaluate"]


def evaluate(
    program: NDArray[np.int64], columns: Sequence[NDArray[np.int64]], rows: int
) -> tuple[NDArray[np.int64], int]:
    """The outputs of a program, one line each, and zero; or nothing, and -(1 + the step that failed)."""
    heap = Heap(slots=8)
    # Every row counts once, at no time.
    slot = heap.put(np.stack([*columns, np.ones(rows, np.int64)]), depth=0)
    result = int(linear(heap.table, 0, slot, program, 1))
    if result <= 0:
        return np.empty((int(program[OUTPUTS]), 0), np.int64), result
    return heap.get(result)[:-1], 0
