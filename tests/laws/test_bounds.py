"""The law of bounds: no sum of a history is outside of them, at any time from a round on."""

from itertools import product

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from graphtide.dataflow.kernels.bounds import add_bounds, bounds_of
from graphtide.trace.heap import Heap
from graphtide.trace.kernels.heap import words

Row = tuple[tuple[int, ...], int]
Case = tuple[list[Row], tuple[int, ...]]  # a history, and a round

MOST = 3
DEPTHS = st.integers(1, 3)
EPOCH = 2  # of the round; none in a history is later


def times(depth: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(st.integers(0, EPOCH), *[st.integers(0, MOST)] * (depth - 1))


def sums_from(history: list[Row], now: tuple[int, ...]) -> list[int]:
    """The sum at each time of the round's epoch that is not before the round, with that in the round first."""
    later = product((EPOCH,), *(range(coordinate, MOST + 1) for coordinate in now[1:]))
    return [sum(diff for at, diff in history if all(a <= b for a, b in zip(at, t, strict=True))) for t in later]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    depth = draw(DEPTHS)
    rows = st.tuples(times(depth), st.sampled_from([-2, -1, 1, 2]))
    return draw(st.lists(rows, max_size=10)), (EPOCH, *draw(times(depth))[1:])


def as_array(rows: list[Row], depth: int) -> np.ndarray:
    return np.array([(*at, diff) for at, diff in rows], np.int64).reshape(len(rows), depth + 1)


@given(cases())
@example(([((2, 1, 3), 1), ((2, 1, 2), -1)], (2, 0, 0)))  # a line whose rows come from two runs
def test_no_sum_is_outside_of_the_bounds_whatever_the_order_of_rows(case: Case) -> None:
    history, now = case
    array = as_array(history, len(now))
    least, most = bounds_of(array, 0, len(history), np.array([now, now], np.int64))
    sums = sums_from(history, now)
    assert least <= min(sums)
    assert max(sums) <= most


@given(cases())
def test_bounds_of_one_line_in_order_are_reached(case: Case) -> None:
    history, now = case
    line = sorted((at, diff) for at, diff in history if at[:-1] == (EPOCH, *now[1:-1]))
    line = list({at: (at, diff) for at, diff in line}.values())
    least, most = bounds_of(as_array(line, len(now)), 0, len(line), np.array([now, now], np.int64))
    sums = sums_from(line, now)
    assert (least, most) == (min(sums), max(sums))


@given(cases(), st.integers(0, 10))
def test_bounds_of_a_batch_are_those_of_its_rows(case: Case, split: int) -> None:
    """And those of its parts add up to no narrower ones."""
    history, now = case
    if not history:
        return
    depth = len(now)
    both = np.array([now, now], np.int64)
    rows = as_array(sorted(history), depth)
    heap = Heap(1000)
    slot = heap.put(np.concatenate([np.zeros((1, len(rows)), np.int64), rows.T]), depth)
    batch = words(heap.table, slot)
    whole, parts = np.zeros(3, np.int64), np.zeros(3, np.int64)
    add_bounds(batch, 0, len(rows), 1, both, whole)
    for first, end in ((0, min(split, len(rows))), (min(split, len(rows)), len(rows))):
        add_bounds(batch, first, end, 1, both, parts)
    heap.release(slot)
    sums = sums_from(history, now)
    assert whole[0] == parts[0] == sums[0]
    assert (whole[0] + whole[1], whole[0] + whole[2]) == bounds_of(rows, 0, len(rows), both)
    assert parts[1] <= whole[1]
    assert whole[2] <= parts[2]
