"""Budgets: sizes, sharing, what is refused, what is set aside, and what comes back when there is room again."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import CapacityError, UsageError
from graphtide.frontier.kernels.marks import is_marked, set_mark
from graphtide.frontier.kernels.thinning import fold, unfold
from graphtide.frontier.query import KeptQuery
from graphtide.frontier.thin_steps import ThinSteps


def rows(count: int, seed: int = 1, vertices: int = 60) -> list[tuple[int, int, int]]:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, vertices, (count, 2))
    return [(int(u), int(v), int(w)) for (u, v), w in zip(ends, rng.integers(1, 50, count), strict=True)]


@pytest.fixture
def live() -> gt.LiveGraph:
    graph = gt.LiveGraph(length=int)
    graph.apply(insert=rows(400))
    return graph


def kept(query: gt.Query) -> KeptQuery:
    assert isinstance(query, KeptQuery)
    return query


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, 1),
        ("512KB", 512_000),
        ("2GB", 2 * 10**9),
        ("1.5 GiB", 3 << 29),
        ("10", 10),
        ("3 mib", 3 << 20),
        ("1kb", 1000),
    ],
)
def test_sizes(size: Any, expected: int) -> None:
    assert gt.Budget(size).bytes == expected


@pytest.mark.parametrize("size", ["", "2 PB", "many", "-1GB", "1.5.2GB", "2GB or so", 0, -5, 2.5, True, None, "0KB"])
def test_a_bad_size_is_refused(size: Any) -> None:
    with pytest.raises(UsageError, match=r"no size|no 0 bytes|no -5 bytes"):
        gt.Budget(size)


def test_with_room_for_all_nothing_is_dropped(live: gt.LiveGraph) -> None:
    budget = gt.Budget("1MB")
    query = kept(live.sssp(0, weight="length", maintain=budget))
    assert query.differences == live.sssp(0, weight="length").differences
    assert query.dropped == 0
    assert repr(budget) == f"<Budget of 1,000,000 bytes: 1 queries keep {query.nbytes:,}>"


def test_queries_of_one_graph_and_of_others_share_it(live: gt.LiveGraph) -> None:
    budget = gt.Budget(10_500)
    other = gt.LiveGraph(maintain=budget, length=int)
    other.apply(insert=rows(400, seed=2))
    queries = [live.sssp(0, weight="length", maintain=budget), other.sssp(0, weight="length"), other.wcc()]
    queries += [live.sssp(n, weight="length", maintain=budget) for n in (1, 2)]
    assert budget.queries == 5
    assert budget.used == sum(query.nbytes for query in queries) <= 10_500
    assert sum(kept(query).dropped for query in queries) > 0
    del other
    queries = [query for query in queries if query.nbytes and query in live.queries.values()]
    gc.collect()
    assert budget.queries == 3
    assert budget.used == sum(query.nbytes for query in queries)


def test_a_query_that_cannot_fit_is_refused_and_changes_nothing(live: gt.LiveGraph) -> None:
    budget = gt.Budget(5_000)
    one, two = (live.sssp(n, weight="length", maintain=budget) for n in (0, 1))
    state = one.nbytes, two.nbytes, kept(one).dropped, kept(two).dropped, live.vertices, live.batches
    for source in (2, 1_000):
        with pytest.raises(CapacityError, match=r"a query needs at least [\d,]+ bytes, and .* of 5,000 are left"):
            live.ife(gt.ife("add", initial={3: 0, source: 0}, weight="length"), maintain=budget)
    with pytest.raises(CapacityError):
        live.wcc(maintain=budget)
    assert state == (one.nbytes, two.nbytes, kept(one).dropped, kept(two).dropped, live.vertices, live.batches)
    assert list(live.queries.values()) == [one, two]
    live.apply(insert=[(0, 7, 1)])
    assert live.sssp(0, weight="length", maintain=gt.Scratch()).result().equals(one.result())


def test_a_source_that_is_not_there_yet_is_taken_if_it_fits(live: gt.LiveGraph) -> None:
    query = live.sssp(777, weight="length", maintain=gt.Budget("1MB"))
    live.apply(insert=[(777, 0, 2)])
    assert {"vertex": 0, "distance": 2} in query.result().to_pylist()


def test_a_query_that_fits_no_more_is_set_aside_and_comes_back() -> None:
    live = gt.LiveGraph(length=int)
    live.apply(insert=[(0, 1, 5)])
    budget = gt.Budget(1_600)
    query = kept(live.sssp(0, weight="length", maintain=budget, name="near"))
    far = [(n, n + 1, 1) for n in range(1, 60)]
    applied = live.apply(insert=far)
    assert query.steps.is_aside
    assert query.differences == 0
    assert query.nbytes <= budget.used <= 1_600
    assert applied["near"].num_rows == query.result().num_rows - 2 == 59
    assert query.path(60) == list(range(61))
    assert live.apply(update=[(0, 1, 7)])["near"].num_rows == 120
    assert live.apply()["near"].num_rows == 0
    assert live.apply(delete=[(1, 2)])["near"].num_rows == 59
    assert query.steps.is_aside  # heads of so many vertices are too long
    live.add_vertices([1_000])
    query.drop()
    assert budget.used == 0


def test_what_was_dropped_comes_back_when_there_is_room_and_it_pays(live: gt.LiveGraph) -> None:
    budget = gt.Budget(4_100)
    one, two = (kept(live.sssp(n, weight="length", maintain=budget)) for n in (0, 1))
    whole = live.sssp(0, weight="length")
    assert one.differences < whole.differences
    two.drop()
    assert budget.used == one.nbytes
    changing = rows(600, seed=5)
    for k in range(0, 600, 2):
        live.apply(insert=changing[k : k + 2])
        live.apply(delete=changing[k : k + 2])
        assert budget.used == one.nbytes <= 4_100
    assert one.recomputed > 0
    assert one.differences == whole.differences
    assert one.result().equals(whole.result())


def test_steps_that_nothing_asks_for_go_first(live: gt.LiveGraph) -> None:
    # A second part of the graph like the first one; only the first one changes.
    live.apply(insert=[(u + 100, v + 100, w) for u, v, w in rows(400)])
    free = gt.Budget("1MB")
    busy, idle = (kept(live.sssp(n, weight="length", maintain=free)) for n in (0, 100))
    assert busy.differences == idle.differences
    for k, row in enumerate(rows(100, seed=9)):
        live.apply(insert=[row], delete=[rows(400)[k]])
    assert isinstance(busy.steps, ThinSteps)
    assert isinstance(idle.steps, ThinSteps)
    for steps in (busy.steps, idle.steps):
        steps.thin(0)  # places that are free cost nothing
    free.bytes = free.used - 60
    assert free.fit(busy.steps)
    assert idle.dropped > 2 * busy.dropped
    assert free.used <= free.bytes


@given(st.sets(st.tuples(st.integers(0, 1000), st.integers(1, 50)), max_size=60), st.integers(1, 9))
def test_a_filter_unfolds_and_folds(steps: set[tuple[int, int]], words: int) -> None:
    marks = np.zeros(words, np.int64)
    for v, r in steps:
        set_mark(marks, 0, v, r)
    wider = unfold(marks)
    for v in range(0, 1000, 7):
        assert is_marked(wider, 0, v, 3) == is_marked(marks, 0, v, 3)
    assert all(is_marked(wider, 0, v, r) for v, r in steps)
    set_mark(wider, 0, 5, 5)
    folded = fold(wider)
    set_mark(marks, 0, 5, 5)
    assert np.array_equal(folded, marks)
