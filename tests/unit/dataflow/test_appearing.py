"""The set of a loop's rows in its first epoch: what is in the table of rows that were put out, and what comes of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphtide as gt
from graphtide.dataflow.kernels.seen import CELLS, has_room, make_table, strike
from graphtide.trace.heap import Heap
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import LIVE_WORDS, words
from graphtide.trace.kernels.spine import close_spine, new_spine, push_run

LARGEST = 2**63 - 1
RANGES = st.sampled_from(
    [(0, 0), (0, 7), (-20, 20), (0, 10**6), (-(2**40), 2**40), (LARGEST - 9, LARGEST), (-LARGEST - 1, LARGEST)]
)


def put(heap: Heap, rows: NDArray[np.int64]) -> int:
    """A consolidated batch of distinct rows, all there once at (0, 0)."""
    tail = np.zeros((3, len(rows)), np.int64)
    tail[2] = 1
    slot = heap.put(np.concatenate([rows.T, tail]), 2)
    result = int(consolidate(heap.table, 0, slot, np.arange(rows.shape[1])))
    heap.release(slot)
    return result


@given(
    st.integers(1, 4),
    st.lists(st.tuples(RANGES, st.integers(1, 300)), min_size=1, max_size=8),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_a_table_lets_each_row_pass_once(
    columns: int, batches: list[tuple[tuple[int, int], int]], seed: int, may_be_dense: bool
) -> None:
    rng = np.random.default_rng(seed)
    known: set[tuple[int, ...]] = set()
    heap = Heap(1000)
    spine = int(new_spine(heap.table, 0, columns + 3, 2, 0))
    table = 0
    for (low, high), size in batches:
        rows = np.unique(rng.integers(low, high, (size, columns), np.int64, endpoint=True), axis=0)
        slot = put(heap, rows)
        fresh = words(heap.table, slot)
        if table == 0 or words(heap.table, table)[CELLS] == 0 or not has_room(words(heap.table, table), fresh, columns):
            heap.release(table)
            table = int(make_table(heap.table, 0, words(heap.table, spine), fresh, columns, may_be_dense))
        expected = [tuple(row) not in known for row in rows.tolist()]
        if words(heap.table, table)[CELLS] == 0:
            everything = np.array([*known, *map(tuple, rows.tolist())]).reshape(-1, columns)
            bits = [int(int(column.max()) - int(column.min())).bit_length() for column in everything.T]
            assert sum(bits) > 63
        else:
            is_new = np.zeros(len(rows), np.bool_)
            strike(words(heap.table, table), fresh, columns, is_new)
            assert is_new.tolist() == expected
        heap.release(slot)
        known.update(map(tuple, rows.tolist()))
        if any(expected):
            push_run(heap.table, spine, put(heap, rows[np.array(expected)]))
    heap.release(table)
    close_spine(heap.table, spine)
    assert heap.table[0, LIVE_WORDS] == 0


def closure(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    following: dict[int, set[int]] = {}
    for a, b in edges:
        following.setdefault(a, set()).add(b)
    found: set[tuple[int, int]] = set()
    for start, first in following.items():
        waiting = list(first)
        reached: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached.add(node)
                waiting.extend(following.get(node, ()))
        found |= {(start, node) for node in reached}
    return found


@given(
    st.integers(12, 40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=25),
    st.sampled_from([1, -(10**6), 2**35, 2**57]),
    st.lists(st.integers(0, 1000), max_size=4),
)
def test_the_closure_of_a_long_path(length: int, more: list[tuple[int, int]], step: int, gone: list[int]) -> None:
    """Many rounds, and names of vertices that lie near or so far apart that a pair does not fit into a word."""
    numbers = {(at, at + 1) for at in range(length)} | set(more)
    edges = {(a * step, b * step) for a, b in numbers}
    rules = gt.Datalog("tc(X,Y) :- edge(X,Y).\ntc(X,Z) :- tc(X,Y), edge(Y,Z).")
    relation = rules["tc"]
    rules.insert("edge", sorted(edges))
    rules.commit()
    assert set(relation.rows()) == closure(edges)
    removed = {sorted(edges)[place % len(edges)] for place in gone}
    rules.delete("edge", sorted(removed))
    rules.commit()
    assert set(relation.rows()) == closure(edges - removed)
    rules.insert("edge", sorted(removed))
    rules.commit()
    assert set(relation.rows()) == closure(edges)
