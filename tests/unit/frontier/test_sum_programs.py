"""Programs that sum: what they take, what they refuse, what they keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import graphtide as gt
from graphtide.errors import CapacityError, SchemaError, UsageError
from graphtide.frontier.query import SumQuery


def share(rank: Any, _: Any, degree: Any) -> Any:
    return rank / degree


def same(state: Any) -> Any:
    return state


# What the type checker refuses, too.
ife: Any = gt.ife


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ife(same, aggregate="sum", initial=1), "needs rounds"),
        (lambda: ife(same, aggregate="sum", rounds=3), "needs initial states"),
        (lambda: ife(same, aggregate="sum", initial=1, rounds=0), "cannot sum for 0 rounds"),
        (lambda: ife(same, aggregate="sum", initial=1, rounds=2**15), "cannot sum for 32768 rounds"),
        (lambda: ife("add", aggregate="sum", initial=1, rounds=1), "no message 'add'"),
        (lambda: ife(lambda: 1, aggregate="sum", initial=1, rounds=1), "cannot be called with a state"),
        (lambda: ife(same, aggregate="sum", initial=1, rounds=1, weight="w"), "and the weight of an edge"),
        (lambda: ife(same, aggregate="sum", initial=float("nan"), rounds=1), "cannot begin with nan"),
        (lambda: ife(same, aggregate="sum", initial=1, rounds=1, finish=lambda: 1), "an initial state and a sum"),
        (lambda: ife(same, initial={1: 1}, finish=same), "nothing to finish"),
        (lambda: ife(same, initial=1), "begins at vertices, not with 1"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_a_graph_refuses_what_it_cannot_keep() -> None:
    live = gt.LiveGraph(w=int)
    live.apply(insert=[(1, 2, 3)])
    with pytest.raises(SchemaError, match='no property "v"'):
        live.ife(gt.ife(lambda state, weight: state * weight, aggregate="sum", initial=1, rounds=1, weight="v"))
    with pytest.raises(UsageError, match="cannot be compiled for int: "):
        live.ife(gt.ife(lambda state: state.size, aggregate="sum", initial=1, rounds=1))
    assert live.queries == {}


def test_pagerank_is_a_program_of_a_few_lines() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(n, (7 * n + 1) % 50) for n in range(100)])
    own = gt.ife(
        share, aggregate="sum", initial=1.0, rounds=10, finish=lambda _, total: 1.0 - 0.85 + 0.85 * total, state="rank"
    )
    kept, built_in = live.ife(own), live.pagerank()
    live.apply(insert=[(3, 4)], delete=[(0, 1)])
    assert kept.result().equals(built_in.result())
    with pytest.raises(UsageError, match="keeps no path"):
        kept.path(3)


def test_walks_are_counted() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)])
    walks = live.ife(gt.ife(same, aggregate="sum", initial={0: 1}, rounds=2, finish=lambda _, total: total))
    assert walks.result().to_pylist() == [{"vertex": v, "state": 2 if v == 3 else 0} for v in range(4)]
    live.apply(insert=[(1, 3)])
    assert walks.changes().to_pylist() == [
        {"vertex": 3, "state": 2, "diff": -1},
        {"vertex": 3, "state": 3, "diff": 1},
    ]


def test_only_rounds_that_change_a_state_are_kept() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(n, n + 1) for n in range(10)])
    query = live.pagerank(20)
    assert isinstance(query, SumQuery)
    assert [[r for r, _ in query.sums.trace(v)] for v in range(11)] == [[v + 1] for v in range(11)]
    live.apply(insert=[(10, 0)])  # a cycle, and so the rank of all is 1
    assert {row["rank"] for row in query.result().to_pylist()} == {1.0}
    assert query.differences == 0


@pytest.mark.parametrize("drop", [gt.DeterministicDrop, gt.ProbabilisticDrop])
def test_dropped_differences_are_counted(drop: Any) -> None:
    rng = np.random.default_rng(5)
    live = gt.LiveGraph()
    live.apply(insert=rng.integers(0, 60, (200, 2)))
    whole, few = live.pagerank(8), live.pagerank(8, maintain=drop(gt.Random(1.0)))
    assert isinstance(few, SumQuery)
    assert few.differences + few.dropped == whole.differences
    assert few.nbytes < whole.nbytes + few.steps.marks.nbytes
    for _ in range(20):
        live.apply(insert=rng.integers(0, 70, (3, 2)))
        assert few.result().equals(whole.result())
    assert few.recomputed > 0


def test_scratch_memory_is_shared_and_let_go_of() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(n, n + 1) for n in range(100)])
    before = live.nbytes
    one, other = live.pagerank(5), live.pagerank(7)
    assert live.nbytes < before + one.nbytes + 2 * other.nbytes + 200 * 101
    one.drop()
    other.drop()
    assert live.nbytes == before


def test_ranks_that_do_not_fit_a_budget_are_set_aside_and_come_back() -> None:
    budget = gt.Budget(3_000)
    live = gt.LiveGraph(maintain=budget)
    live.apply(insert=[(1, 2), (2, 1)])
    ranks, near = live.pagerank(3, name="ranks"), live.k_hop(1, 2, name="near")
    assert isinstance(ranks, SumQuery)
    applied = live.apply(insert=[(n, n + 1) for n in range(2, 300)])
    assert ranks.sums.is_aside
    assert applied["ranks"].filter(pc.field("diff") == 1).num_rows >= 298
    assert budget.used == ranks.nbytes + near.nbytes <= 3_000
    with pytest.raises(CapacityError, match="a query needs at least"):
        live.ife(gt.ife(same, aggregate="sum", initial={777: 1}, rounds=2), name="more")
    assert live.vertices == 300
    assert list(live.queries) == ["ranks", "near"]
    near.drop()
    assert live.apply()["ranks"].num_rows == 0
    assert not ranks.sums.is_aside
    assert live.apply(delete=[(2, 3)])["ranks"].num_rows > 0
    ranks.drop()
    assert budget.used == 0
