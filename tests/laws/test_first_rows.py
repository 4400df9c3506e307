"""The first rows of a key: as many as are asked for, none behind one that is left out, the same ones by every way."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import PlanError

ROWS = st.tuples(st.integers(0, 2), st.sampled_from("abcdef"), st.integers(0, 3) | st.none(), st.sampled_from("xyz"))
BATCHES = st.lists(st.lists(st.tuples(ROWS, st.booleans()), max_size=8), min_size=1, max_size=4)


def rank(value):
    return (value is not None, value)


@given(batches=BATCHES, k=st.integers(1, 4))
def test_first_rows_follow_their_order(batches, k) -> None:
    flow = gt.Dataflow()
    rows = flow.input("rows", key=int, name=str, by=int | None, other=str)
    rows.arrange("name")
    first = rows.group_by("key").first_k(k, ["by"]).output("first")
    held: Counter = Counter()
    for batch in batches:
        for row, is_insertion in batch:
            if is_insertion:
                rows.insert([row])
                held[row] += 1
            elif held[row] > 0:
                rows.remove([row])
                held[row] -= 1
        flow.commit()
        found = Counter(first.rows())
        assert not found - held
        for key in range(3):
            there = sorted((rank(row[2]) for row in held.elements() if row[0] == key), key=lambda r: (r[0], r[1] or 0))
            chosen = sorted(
                (rank(row[2]) for row in found.elements() if row[0] == key), key=lambda r: (r[0], r[1] or 0)
            )
            assert chosen == there[:k]
    late = rows.group_by("key").first_k(k, ["by"]).output("again")
    flow.commit()
    assert sorted(map(repr, late.rows())) == sorted(map(repr, first.rows()))


def test_what_has_no_order_is_refused() -> None:
    rows = gt.Dataflow().input("rows", key=int, name=str)
    with pytest.raises(PlanError, match="codes have no order"):
        rows.group_by("key").first_k(1, ["name"])
    with pytest.raises(PlanError, match="first 0 rows"):
        rows.group_by("name").first_k(0, ["key"])
