"""Traces against dicts: whatever the kernels do to batches, each row adds up to the same at every time.

A batch is lines of int64: data columns, time coordinates, diff. Its meaning is a dict from (data, time) to
the sum of its diffs; a spine's meaning at a time is a dict from data to the sum over times at or before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests import strategies as gen

from graphtide.time import Antichain, Time
from graphtide.trace.heap import Heap
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.consolidate import consolidate, keep_before
from graphtide.trace.kernels.heap import LIVE_WORDS, adopt, words
from graphtide.trace.kernels.index import group_end, seek, seek_all
from graphtide.trace.kernels.lookup import count_held
from graphtide.trace.kernels.spine import (
    EAGER,
    MOST_RUNS,
    RUNS,
    close_spine,
    end_epoch,
    forget_from,
    merge_all,
    merge_for,
    new_spine,
    push_run,
    run_slot,
    set_fresh,
    set_since,
    snapshot,
    spine_rows,
)

Lines: TypeAlias = NDArray[np.int64]
Meaning: TypeAlias = dict[tuple[int, ...], int]

LARGEST = 2**63 - 1
# Around the sizes at which the kernels change their way: sorting, indexing, merging in parts.
SIZES = st.integers(0, 20) | st.sampled_from([47, 48, 49, 64, 130, 255, 256, 257, 700])


@dataclass(frozen=True)
class Shape:
    """Data columns by the range of their values, and time coordinates."""

    ranges: tuple[tuple[int, int], ...]
    depth: int

    @property
    def width(self) -> int:
        return len(self.ranges)


EFFORTS = st.sampled_from([0, 1, 4, EAGER])
RANGES = st.sampled_from([(0, 0), (-7, -7), (0, 3), (0, 40), (-5, 10**6), (-LARGEST, LARGEST), (LARGEST - 9, LARGEST)])
SHAPES = st.builds(Shape, st.lists(RANGES, min_size=0, max_size=4).map(tuple), st.integers(1, 3))
WIDE_SHAPES = st.builds(Shape, st.lists(RANGES, min_size=60, max_size=70).map(tuple), st.integers(1, 3))


@st.composite
def lines(draw: st.DrawFn, shape: Shape, epochs: tuple[int, int] = (0, 3)) -> Lines:
    """Rows of a shape, from a seed: hundreds of drawn numbers would tell no more."""
    rows = draw(SIZES)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    data = [random.integers(low, high, rows, np.int64, endpoint=True) for low, high in shape.ranges]
    times = [random.integers(*epochs, rows, np.int64, endpoint=True)]
    times += [random.integers(0, 3, rows) for _ in range(shape.depth - 1)]
    diffs = random.integers(*draw(st.sampled_from([(1, 2), (-2, 3), (-(2**40), 2**40)])), rows)
    return np.array([*data, *times, diffs], np.int64)


def meaning(columns: Lines) -> Meaning:
    """Rows with their times, equal ones added up."""
    result: Meaning = {}
    for *row, diff in columns.T.tolist():
        result[tuple(row)] = result.get(tuple(row), 0) + diff
    return {row: diff for row, diff in result.items() if diff}


def without_times(columns: Lines, shape: Shape) -> Lines:
    return np.delete(columns, range(shape.width, shape.width + shape.depth), 0)


def at(parts: list[Lines], shape: Shape, time: Time) -> Meaning:
    """What all parts come to at a time."""
    columns = np.concatenate([np.empty((shape.width + shape.depth + 1, 0), np.int64), *parts], axis=1)
    there = (columns[shape.width : -1] <= np.array(time)[:, None]).all(axis=0)
    return meaning(without_times(columns[:, there], shape))


@contextmanager
def heap_without_leaks(slots: int = 1000) -> Iterator[Heap]:
    heap = Heap(slots)
    yield heap
    assert heap.table[0, LIVE_WORDS] == 0


def consolidated(heap: Heap, columns: Lines, depth: int) -> int:
    """The slot of a consolidated batch, 0 if nothing is left."""
    slot = heap.put(columns, depth)
    result = int(consolidate(heap.table, 0, slot, np.arange(len(columns) - depth - 1)))
    heap.release(slot)
    return result


def content(heap: Heap, slot: int, width: int) -> Lines:
    return heap.get(slot) if slot else np.empty((width, 0), np.int64)


# --------------------------------------------------------------------------------------- batches


@given(st.data())
def test_consolidation_adds_up_and_sorts(data: st.DataObject) -> None:
    shape = data.draw(SHAPES | WIDE_SHAPES)
    columns = data.draw(lines(shape))
    order = data.draw(st.permutations(range(shape.width)))
    turned = np.concatenate([columns[list(order)], columns[shape.width :]])
    with heap_without_leaks() as heap:
        slot = heap.put(columns, shape.depth)
        result = int(consolidate(heap.table, 0, slot, np.array(order, np.int64)))
        found = content(heap, result, len(columns))
        heap.release(slot)
        heap.release(result)
    assert meaning(found) == meaning(turned)
    rows = [tuple(row) for row in found[:-1].T.tolist()]
    assert rows == sorted(meaning(turned))


# The values below a gap, where it ends, the values above it, and whether bits of the gap are set, in all rows.
GAPS = st.tuples(
    st.sampled_from([1, 2, 40]), st.sampled_from([6, 31, 32, 58]), st.sampled_from([1, 2, 9, 16]), st.booleans()
)


@given(st.integers(0, 2**32), st.sampled_from([17, 64, 300]), st.lists(GAPS, min_size=2, max_size=5), st.booleans())
def test_consolidation_of_columns_with_gaps_adds_up_and_sorts(
    seed: int, rows: int, gaps: list[tuple[int, int, int, bool]], is_negative: bool
) -> None:
    """As coordinates have them: without the gaps the columns fit into one word, and with them they may not."""
    random = np.random.default_rng(seed)
    data = [
        random.integers(1, above + 1, rows) << end
        | random.integers(0, min(below, 1 << (end - 1)), rows)
        | filled << end - 1
        for below, end, above, filled in gaps
    ]
    if is_negative:
        data[-1] = data[-1] * random.choice([-1, 1], rows)
    zeros = np.zeros(rows, np.int64)
    columns = np.array([*data, zeros, random.integers(-2, 3, rows)], np.int64)
    with heap_without_leaks() as heap:
        result = consolidated(heap, columns, 1)
        found = content(heap, result, len(columns))
        heap.release(result)
    assert meaning(found) == meaning(columns)
    assert [tuple(row) for row in found[:-1].T.tolist()] == sorted(meaning(columns))


@given(st.data())
def test_consolidating_twice_gives_the_same_batch(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    columns = data.draw(lines(shape))
    with heap_without_leaks() as heap:
        once = consolidated(heap, columns, shape.depth)
        twice = int(consolidate(heap.table, 0, once, np.arange(shape.width)))
        assert twice == once
        heap.release(once)
        heap.release(twice)


@given(st.data())
def test_keeping_what_is_before_an_epoch(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    columns = data.draw(lines(shape))
    epoch = data.draw(st.integers(0, 4))
    with heap_without_leaks() as heap:
        slot = consolidated(heap, columns, shape.depth)
        kept = int(keep_before(heap.table, 0, slot, epoch)) if slot else 0
        assert meaning(content(heap, kept, len(columns))) == meaning(columns[:, columns[shape.width] < epoch])
        heap.release(slot)
        heap.release(kept)


@given(st.data())
def test_seeking_is_bisection(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(lambda each: each.width > 0))
    keys = data.draw(st.integers(1, shape.width))
    columns = data.draw(lines(shape))
    # Probes that are there, near what is there, and anywhere.
    probes = np.concatenate([columns, columns + 1, data.draw(lines(shape))], axis=1)
    with heap_without_leaks() as heap:
        slot = consolidated(heap, columns, shape.depth)
        probe_slot = heap.put(probes, shape.depth)
        rows = content(heap, slot, len(columns))[:keys].T.tolist()
        if slot:
            batch, probe = words(heap.table, slot), words(heap.table, probe_slot)
            for i in range(0, probes.shape[1], 1 + probes.shape[1] // 40):
                expected = bisect_left(rows, probes[:keys, i].tolist())
                starts = {0, expected, expected // 2, max(0, expected - data.draw(st.integers(1, 40)))}
                assert {int(seek(batch, keys, probe, i, start)) for start in starts} == {expected}
            for i in range(0, len(rows), 1 + len(rows) // 40):
                assert group_end(batch, keys, i) == bisect_right(rows, rows[i])
        heap.release(slot)
        heap.release(probe_slot)


@given(st.data())
def test_seeking_all_at_once_is_bisection(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(lambda each: each.width > 0))
    keys = data.draw(st.integers(1, shape.width))
    columns = data.draw(lines(shape))
    probes = np.concatenate([columns[:, ::7], columns[:, ::5] + 1, data.draw(lines(shape))[:, :30]], axis=1)
    with heap_without_leaks() as heap:
        slot, probe_slot = consolidated(heap, columns, shape.depth), consolidated(heap, probes, shape.depth)
        if slot and probe_slot:
            rows = heap.get(slot)[:keys].T.tolist()
            sought = heap.get(probe_slot)[:keys].T.tolist()
            found = seek_all(words(heap.table, slot), keys, words(heap.table, probe_slot))
            assert found.tolist() == [bisect_left(rows, each) for each in sought]
        heap.release(slot)
        heap.release(probe_slot)


@given(st.data())
def test_rows_and_keys_that_are_held_are_counted(data: st.DataObject) -> None:
    shape = Shape(data.draw(st.lists(RANGES, min_size=1, max_size=4).map(tuple)), 1)
    keys = data.draw(st.integers(1, shape.width))
    parts = data.draw(st.lists(lines(shape), max_size=3))
    sought = np.concatenate([*(part[:, ::3] for part in parts), data.draw(lines(shape))], axis=1)
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + 2, 1, data.draw(EFFORTS)))
        for part in parts:
            slot = consolidated(heap, part, 1)
            if slot:
                set_fresh(heap.table, spine, slot, 0, 4)
        probe = consolidated(heap, sought, 1)
        if probe:
            held = at(parts, shape, (10,))
            rows, groups = np.zeros((2, heap.get(probe).shape[1]), np.int64)
            count_held(heap.table, spine, probe, keys, rows, groups)
            for i, row in enumerate(heap.get(probe)[: shape.width].T.tolist()):
                assert rows[i] == held.get(tuple(row), 0)
                assert groups[i] == sum(n for each, n in held.items() if list(each[:keys]) == row[:keys])
        heap.release(probe)
        close_spine(heap.table, spine)


@given(st.data())
def test_a_batch_is_the_same_when_it_is_mapped_from_a_file(tmp_path_factory: Any, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    columns = data.draw(lines(shape))
    file: Path = tmp_path_factory.mktemp("batches") / "batch"
    with heap_without_leaks() as heap:
        slot = consolidated(heap, columns, shape.depth)
        if not slot:
            return
        words(heap.table, slot).tofile(file)
        mapped = np.memmap(file, np.int64, "r")
        again = int(adopt(heap.table, 0, mapped.ctypes.data, len(mapped)))
        assert np.array_equal(heap.get(again), heap.get(slot))
        # It is as good as any other run of a spine, though it cannot be written.
        spine = int(new_spine(heap.table, 0, len(columns), shape.depth, data.draw(EFFORTS)))
        push_run(heap.table, spine, again)
        push_run(heap.table, spine, slot)
        latest = (3,) * shape.depth
        assert read(heap, spine, shape, latest) == at([columns, columns], shape, latest)
        close_spine(heap.table, spine)
    assert np.array_equal(mapped, np.fromfile(file, np.int64))


# ---------------------------------------------------------------------------------------- spines


def read(heap: Heap, spine: int, shape: Shape, time: Time) -> Meaning:
    """What a spine holds at a time."""
    slot = int(snapshot(heap.table, spine, 0, np.array(time)))
    found = content(heap, slot, shape.width + shape.depth + 1)
    heap.release(slot)
    return meaning(without_times(found, shape))


def times(shape: Shape, since: Antichain) -> list[Time]:
    """All times that can be read."""
    return [time for time in product(range(4), repeat=shape.depth) if since.covers(time)]


SMALL_SHAPES = st.builds(
    Shape, st.lists(st.sampled_from([(0, 0), (0, 3), (-LARGEST, LARGEST)]), max_size=2).map(tuple), st.integers(1, 2)
)


@given(st.data())
def test_a_spine_adds_up_at_every_time_in_advance_of_since(data: st.DataObject) -> None:
    shape = data.draw(SMALL_SHAPES)
    since = Antichain([(0,) * shape.depth])
    pushed: list[Lines] = []
    ended = 0  # epochs: what was pushed before waits no longer
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, data.draw(EFFORTS)))
        for step in data.draw(
            st.lists(st.sampled_from(["push", "push", "since", "look", "end", "merge"]), max_size=10)
        ):
            if step == "push":
                pushed.append(data.draw(lines(shape)))
                set_fresh(heap.table, spine, consolidated(heap, pushed[-1], shape.depth), ended, ended + 4)
            elif step == "since":
                # A frontier never goes back, and may have several elements.
                since = since.join(Antichain(data.draw(st.lists(gen.times(shape.depth, 3), min_size=1, max_size=3))))
                set_since(heap.table, spine, np.array(list(since), np.int64))
            elif step == "look":
                merge_for(heap.table, spine, data.draw(st.integers(0, 2000)))
            elif step == "end":
                ended += 1
                end_epoch(heap.table, spine, 0, ended)
            else:
                merge_all(heap.table, spine)
            for time in times(shape, since):
                assert read(heap, spine, shape, time) == at(pushed, shape, time)
        close_spine(heap.table, spine)


@given(st.integers(0, 2**32 - 1), st.integers(40, 150), st.sampled_from([3, 50, 400]), EFFORTS)
def test_a_spine_of_many_batches_adds_up_in_few_runs(seed: int, batches: int, largest: int, effort: int) -> None:
    shape = Shape(((0, 999),), 1)
    rng = np.random.default_rng(seed)
    pushed: list[Lines] = []
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, effort))
        for epoch in range(batches):
            size = int(rng.integers(1, largest + 1))
            diffs = rng.choice([-1, 1], size)
            pushed.append(np.stack([rng.integers(0, 1000, size), np.full(size, epoch), diffs]))
            set_since(heap.table, spine, np.array([[max(0, epoch - 1)]]))
            set_fresh(heap.table, spine, consolidated(heap, pushed[-1], shape.depth), epoch, epoch + 1)
            assert words(heap.table, spine)[RUNS] <= MOST_RUNS
        for time in (batches - 1, batches):
            assert read(heap, spine, shape, (time,)) == at(pushed, shape, (time,))
        close_spine(heap.table, spine)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 140), min_size=1, max_size=3), st.data())
def test_what_the_rounds_of_an_epoch_add_waits_and_is_gathered(
    seed: int, epochs: list[int], data: st.DataObject
) -> None:
    shape = Shape(((0, 30), (0, 30)), 2)
    rng = np.random.default_rng(seed)
    effort, largest = data.draw(EFFORTS), data.draw(st.sampled_from([2, 40, 300]))
    pushed: list[Lines] = []
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, effort))
        for epoch, rounds in enumerate(epochs):
            for number in range(rounds):
                size = int(rng.integers(1, largest + 1))
                data_lines = rng.integers(0, 31, (2, size))
                pushed.append(
                    np.stack([*data_lines, np.full(size, epoch), np.full(size, number), rng.choice([-1, 1], size)])
                )
                set_fresh(heap.table, spine, consolidated(heap, pushed[-1], shape.depth), epoch, epoch + 1)
                assert words(heap.table, spine)[RUNS] <= MOST_RUNS
            end_epoch(heap.table, spine, epoch, epoch + 1)
            for time in ((epoch, 0), (epoch, rounds // 2), (epoch, max(epochs))):
                assert read(heap, spine, shape, time) == at(pushed, shape, time)
        assert effort == 0 or words(heap.table, spine)[RUNS] <= 24
        close_spine(heap.table, spine)


@given(st.data())
def test_seeking_in_what_was_merged_is_bisection(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(lambda each: each.width > 0))
    keys = data.draw(st.integers(1, shape.width))
    parts = [data.draw(lines(shape)) for _ in range(2)]
    # Of several epochs, or of one: two ways of merging.
    for part in parts if data.draw(st.booleans()) else ():
        part[shape.width] = 1
    probes = np.concatenate([*parts, data.draw(lines(shape))], axis=1)[:, ::3]
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, EAGER))
        for part in parts:
            if slot := consolidated(heap, part, shape.depth):
                push_run(heap.table, spine, slot)
        merge_all(heap.table, spine)
        probe_slot = consolidated(heap, probes, shape.depth)
        if words(heap.table, spine)[RUNS] and probe_slot:
            slot = int(run_slot(words(heap.table, spine), 0))
            rows = heap.get(slot)[:keys].T.tolist()
            sought = heap.get(probe_slot)[:keys].T.tolist()
            found = seek_all(words(heap.table, slot), keys, words(heap.table, probe_slot))
            assert found.tolist() == [bisect_left(rows, key) for key in sought]
        heap.release(probe_slot)
        close_spine(heap.table, spine)


@given(st.integers(1, 5), st.data())
def test_rows_that_agree_in_many_columns_are_merged_in_order(width: int, data: st.DataObject) -> None:
    shape = Shape(((0, 1),) * width, 2)
    parts = [data.draw(lines(shape, epochs=(0, 0))) for _ in range(3)]
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, width + 3, 2, 1))
        for part in parts:
            slot = consolidated(heap, part, 2)
            if slot:
                push_run(heap.table, spine, slot)
        merge_all(heap.table, spine)
        table = words(heap.table, spine)
        slot = int(run_slot(table, 0)) if table[RUNS] else 0
        merged = content(heap, slot, width + 3).T.tolist()
        expected = meaning(np.concatenate(parts, axis=1))
        assert merged == [[*row, diff] for row, diff in sorted(expected.items())]
        close_spine(heap.table, spine)


@given(st.data())
def test_a_compacted_spine_keeps_only_what_readers_can_tell_apart(data: st.DataObject) -> None:
    shape = data.draw(SMALL_SHAPES)
    pushed = [data.draw(lines(shape)) for _ in range(data.draw(st.integers(1, 4)))]
    last = (3,) * shape.depth
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, data.draw(EFFORTS)))
        for part in pushed:
            set_fresh(heap.table, spine, consolidated(heap, part, shape.depth), 0, 4)
        set_fresh(heap.table, spine, 0, 0, 0)
        set_since(heap.table, spine, np.array([last]))
        merge_all(heap.table, spine)
        assert spine_rows(heap.table, spine) == len(at(pushed, shape, last))
        close_spine(heap.table, spine)


@given(st.data())
def test_forgetting_brings_back_what_was_before(data: st.DataObject) -> None:
    """Runs of epochs before 2 are committed and compacted to 1, those from 2 on are undone."""
    shape = data.draw(SMALL_SHAPES)
    least = (1, *(0,) * (shape.depth - 1))
    committed = [data.draw(lines(shape, epochs=(0, 1))) for _ in range(data.draw(st.integers(0, 4)))]
    undone = [data.draw(lines(shape, epochs=(2, 3))) for _ in range(data.draw(st.integers(0, 4)))]
    with heap_without_leaks() as heap:
        spine = int(new_spine(heap.table, 0, shape.width + shape.depth + 1, shape.depth, data.draw(EFFORTS)))
        for part in committed:
            set_fresh(heap.table, spine, consolidated(heap, part, shape.depth), 0, 2)
        set_since(heap.table, spine, np.array([least]))
        for part in undone:
            set_fresh(heap.table, spine, consolidated(heap, part, shape.depth), 2, 4)
        merge_for(heap.table, spine, data.draw(st.integers(0, 2000)))
        forget_from(heap.table, spine, 2)
        for time in times(shape, Antichain([least])):
            assert read(heap, spine, shape, time) == at(committed, shape, time)
        close_spine(heap.table, spine)


# ------------------------------------------------------------------------------------------ heap


@given(st.lists(st.tuples(st.sampled_from(["put", "release"]), st.integers(0, 30)), max_size=40))
def test_a_heap_counts_the_words_of_what_is_live(steps: list[tuple[str, int]]) -> None:
    live: list[tuple[int, int]] = []
    with heap_without_leaks(64) as heap:
        for step, number in steps:
            if step == "put":
                live.append((heap.block(np.arange(number)), number))
            elif live:
                slot, size = live.pop(number % len(live))
                assert heap.words(slot).tolist() == list(range(size))
                heap.release(slot)
            assert heap.nbytes == 8 * sum(size for _, size in live)
        for slot, _ in live:
            heap.release(slot)


def test_a_batch_says_how_wide_it_is() -> None:
    with heap_without_leaks() as heap:
        slot = heap.put(np.zeros((5, 3), np.int64), 2)
        batch = words(heap.table, slot)
        assert (batch[layout.ROWS], batch[layout.WIDTH], layout.data_width(batch)) == (3, 5, 2)
        heap.release(slot)


def test_a_full_heap_is_an_error() -> None:
    heap = Heap(2)
    heap.block(np.arange(1))
    heap.block(np.arange(1))
    with pytest.raises(Exception, match="the heap has no free slot"):
        heap.block(np.arange(1))
