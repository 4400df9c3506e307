"""A list of the most frequent values is right as far as it goes, whatever counts change in between."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphtide.ego.kernels import tables, tally
from graphtide.jit import kernel

NO_RANKS = np.zeros(0, np.int64)
changes = st.tuples(st.integers(0, 12), st.booleans())
steps = st.lists(st.one_of(changes, st.just(None)), max_size=120)


@kernel
def change(pool, places, table, value, by):
    count = tables.count_value(pool, places, table, 0, value, by)
    tables.keep_list(pool, table, 0, value, count, by)


@kernel
def answer(pool, table, tallied, found, most):
    tables.answer_table(pool, table, 0, tallied, NO_RANKS, found, 0, most)


@given(steps=steps, most=st.integers(1, 10))
def test_a_list_is_right_as_far_as_it_goes(steps, most):
    """None is a read; the other steps count a value up or, if it is there, down."""
    pool = np.zeros(tables.POOL, np.int64)
    tables.grow(pool, 64)
    places = np.full(tables.CLASSES, -1, np.int64)
    places[-1] = 0
    table = np.zeros((1, tables.TABLE), np.int64)
    tallied = np.zeros(tally.TALLY, np.int64)
    wanted: Counter[int] = Counter()
    for step in steps:
        if step is not None:
            value, is_less = step
            by = -1 if is_less and wanted[value] > 0 else 1
            wanted[value] += by
            change(pool, places, table, value, by)
        ranked = sorted((-count, value) for value, count in wanted.items() if count)
        if step is None:
            found = np.zeros(2 * most, np.int64)
            answer(pool, table, tallied, found, most)
            there = [(-found[most + k], found[k]) for k in range(most) if found[most + k]]
            assert there == ranked[:most]
        start, bits, used, listed = table[0].tolist()
        assert used == len(ranked)
        behind = tables.pairs_of(pool).reshape(-1, 2)[start + (1 << bits if bits else 0) :][:listed]
        assert [(-count, value) for value, count in behind.tolist()] == ranked[:listed]
    tables.discard(pool)
    tally.discard_tally(tallied)
