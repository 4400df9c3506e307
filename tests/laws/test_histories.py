"""Histories of many keys looked up at once, against rows that are compared one by one."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphtide.dataflow.kernels.histories import gather_histories
from graphtide.trace.heap import Heap
from graphtide.trace.kernels.consolidate import consolidate

Lines = NDArray[np.int64]

LARGEST = 2**63 - 1
DEPTH = 2
# Few first values, so that directories are cut by the second column, and ranges at the ends of what a word holds.
KEYS = st.sampled_from(
    [
        ((0, 40),),
        ((0, 5), (0, 300)),
        ((-3, 3), (LARGEST - 50, LARGEST)),
        ((-LARGEST, -LARGEST + 4), (-9, 90)),
        ((7, 7), (0, 60)),
        ((0, 3), (0, 9), (0, 12)),
    ]
)
SIZES = st.sampled_from([1, 17, 255, 400, 900])


def _rows(seed: int, keys: tuple[tuple[int, int], ...], size: int) -> Lines:
    random = np.random.default_rng(seed)
    data = [random.integers(low, high, size, np.int64, endpoint=True) for low, high in keys]
    return np.array([*data, np.zeros(size), random.integers(0, 4, size), random.choice([-1, 1], size)], np.int64)


def _consolidated(heap: Heap, lines: Lines) -> int:
    loaded = heap.put(lines, DEPTH)
    slot = int(consolidate(heap.table, 0, loaded, np.arange(len(lines) - DEPTH - 1)))
    heap.release(loaded)
    return slot


@given(KEYS, st.lists(SIZES, min_size=1, max_size=3), SIZES, st.integers(0, 2**32), st.booleans())
def test_the_first_row_of_each_key_has_its_history_and_the_others_none(
    keys: tuple[tuple[int, int], ...], sizes: list[int], size: int, seed: int, is_of_itself: bool
) -> None:
    heap, width = Heap(1000), len(keys)
    runs = [_rows(seed + n, keys, each) for n, each in enumerate(sizes)]
    # Keys that are there, and some that are not: around the ends of each range.
    sought = np.concatenate([runs[0][:, ::3], _rows(seed + 9, keys, size)], axis=1)
    sought[0, ::5] = np.where(sought[0, ::5] < LARGEST - 3, sought[0, ::5] + 3, sought[0, ::5])
    sought[0, 1::11] = np.where(sought[0, 1::11] > -LARGEST + 3, sought[0, 1::11] - 3, sought[0, 1::11])
    slots = [slot for run in runs if (slot := _consolidated(heap, run))]
    probes = _consolidated(heap, sought)
    if not probes:
        return
    if is_of_itself:
        slots.append(probes)
    expected: dict[tuple[int, ...], list[list[int]]] = defaultdict(list)
    for slot in slots:
        for row in heap.get(slot).T.tolist():
            expected[tuple(row[:width])].append(row[width:])
    histories, starts = gather_histories(heap.table, np.array(slots, np.int64), width, DEPTH, probes)
    seen: set[tuple[int, ...]] = set()
    for i, row in enumerate(heap.get(probes)[:width].T.tolist()):
        found = sorted(histories[starts[i] : starts[i + 1]].tolist())
        assert found == ([] if tuple(row) in seen else sorted(expected[tuple(row)]))
        seen.add(tuple(row))
