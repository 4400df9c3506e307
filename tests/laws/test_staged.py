"""A checked input refuses a run in which some epoch would leave a row there fewer than zero times."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import NegativeMultiplicityError, PlanError

changes = st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2), st.integers(0, 3)), max_size=8)


@given(first=st.lists(st.integers(0, 2)), later=changes)
def test_no_epoch_of_a_run_may_leave_a_row_fewer_than_zero_times(
    first: list[int], later: list[tuple[int, int, int]]
) -> None:
    flow = gt.Dataflow()
    rows = flow.checked_input("rows", x=int)
    rows.arrange("x")
    out = rows.output("out", keep=None)
    rows.insert([(x,) for x in first])
    start = flow.commit() + 1
    rows.change([(x,) for x, _, _ in later], [d for _, d, _ in later], epochs=[start + e for _, _, e in later])
    flow.seal(4)
    held = Counter(first)
    by_epoch = list[Counter[int]]()
    for epoch in range(4):
        for x, diff, at in later:
            held[x] += diff if at == epoch else 0
        by_epoch.append(Counter(held))
    if any(count < 0 for counts in by_epoch for count in counts.values()):
        with pytest.raises(NegativeMultiplicityError, match='away from "rows"'):
            flow.run()
        assert Counter(x for (x,) in out.rows()) == Counter(first)
        return
    flow.run()
    for epoch, counts in enumerate(by_epoch):
        assert Counter(out.at(start + epoch)["x"].to_pylist()) == +counts


def test_nothing_can_be_taken_away_that_no_index_knows() -> None:
    flow = gt.Dataflow()
    rows = flow.checked_input("rows", x=int)
    rows.remove([(1,)])
    with pytest.raises(PlanError, match="of which nothing keeps an index"):
        flow.commit()


def test_a_row_that_comes_and_goes_before_a_commit_is_not_looked_at() -> None:
    flow = gt.Dataflow()
    rows = flow.input("rows", x=int)
    out = rows.select(y=gt.col("x") * 4).output("out")
    rows.insert([(2**62,), (5,)])
    rows.remove([(2**62,)])
    flow.commit()
    assert out.rows() == [(20,)]
