"""What ego aggregates say to bad input, of which nothing is applied; users' own aggregates, pictures and reports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.ego import AllPull, AllPush, Direct, NegativeMining, OverlappingMining
from graphtide.ego.own import OwnObjects
from graphtide.ego.own_compiled import OwnWords
from graphtide.errors import CapacityError, CatalogueError, SchemaError, UsageError, UserFunctionError
from graphtide.frontier import LiveGraph

EDGES = [("ann", "cid"), ("bob", "cid"), ("cid", "dan"), ("ann", "dan")]


@pytest.fixture
def live():
    graph = LiveGraph(ids=str)
    graph.apply(insert=EDGES)
    return graph


def spread(**more):
    functions = {
        "initialize": lambda: (1e300, -1e300),
        "update": lambda state, value: (min(state[0], value), max(state[1], value)),
        "merge": lambda one, other: (min(one[0], other[0]), max(one[1], other[1])),
        "finalize": lambda state: state[1] - state[0],
    }
    return gt.Aggregate(**(functions | more))


# -- bad input, each with nothing applied


def unchanged(ego, before):
    return ego.table().equals(before)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda ego: ego.write("eve", 1), CatalogueError, ["write at vertex 'eve'", "no such vertex"]),
        (lambda ego: ego.read("eve"), CatalogueError, ["read at vertex 'eve'"]),
        (lambda ego: ego.write_many(["ann", "eve"], [1, 2]), CatalogueError, ["'eve'"]),
        (lambda ego: ego.write_many(["ann", "bob"], [1]), SchemaError, ["1 values for 2 writes"]),
        (lambda ego: ego.write_many(["ann", "bob"], [1, "two"]), SchemaError, ["'two'", "row 1"]),
        (lambda ego: ego.write("ann", None), SchemaError, ["None"]),
        (lambda ego: ego.write("ann", 1, at=3), UsageError, ["Last(1) does not look at times"]),
        (lambda ego: ego.advance(3), UsageError, ["Last(1) has no clock"]),
        (lambda ego: ego.run(["ann", "eve"], [1, None], [False, True]), CatalogueError, ["'eve'"]),
        (lambda ego: ego.write(7, 1), SchemaError, ["7"]),
    ],
)
def test_bad_operations_are_named_and_not_applied(live, call, error, words):
    ego = live.ego("sum")
    ego.write_many(["ann", "bob"], [10, 20])
    before = ego.table()
    with pytest.raises(error) as raised:
        call(ego)
    assert all(word in str(raised.value) for word in words), str(raised.value)
    assert unchanged(ego, before)
    ego.write("ann", 5)
    assert ego.read("cid") == 25


@pytest.mark.parametrize(("value", "words"), [("four", "'four'"), (True, "True"), (float("nan"), "nan")])
def test_a_sum_takes_finite_numbers_alone(live, value, words):
    ego = live.ego("sum")
    with pytest.raises(SchemaError, match="cannot add up") as raised:
        ego.write("ann", value)
    assert words in str(raised.value)
    ego.write("ann", 4)
    assert ego.read("cid") == 4


def test_a_write_beyond_the_window_is_refused_and_one_within_it_counts(live):
    ego = live.ego("sum", window=gt.Within(10))
    ego.write("ann", 1, at=20)
    ego.write("bob", 2, at=11)
    before = ego.table()
    with pytest.raises(SchemaError, match=r"row 1: a write at 10 comes too late: the clock is at 20, and Within\(10\)"):
        ego.write_many(["ann", "ann"], [5, 6], [20, 10])
    assert unchanged(ego, before)
    assert ego.read("cid") == 3
    ego.advance(21)
    assert ego.read("cid") == 1
    ego.advance(30)
    assert ego.read("cid") == 0


def test_times_are_needed_where_they_count(live):
    ego = live.ego("count", window=gt.Within(timedelta(hours=1)))
    with pytest.raises(UsageError, match="needs the time of each write"):
        ego.write("ann", 1)
    with pytest.raises(SchemaError, match="times are int"):
        ego.write("ann", 1, at=5)
    start = datetime(2024, 5, 1, 12, tzinfo=UTC)
    ego.write("ann", 1, at=start)
    ego.advance(start + timedelta(minutes=59))
    assert ego.read("cid") == 1
    ego.advance(start + timedelta(minutes=60))
    assert ego.read("cid") == 0


def test_readers_are_those_that_were_selected(live):
    ego = live.ego("sum", readers=["cid"])
    assert ego.table()["vertex"].to_pylist() == ["cid"]
    with pytest.raises(UsageError, match="cannot read at vertex 'dan'"):
        ego.read("dan")
    with pytest.raises(CatalogueError, match="'eve'"):
        live.ego("sum", readers=["eve"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"function": "median"}, "there is no aggregate 'median'"),
        ({"function": "maxx"}, 'did you mean "max"'),
        ({"function": "sum", "hops": 3}, "cannot look 3 hops far"),
        ({"function": "sum", "along": "up"}, "cannot go along 'up'"),
        ({"function": "max", "overlay": NegativeMining()}, "subtracts, which max cannot"),
        ({"function": "sum", "overlay": OverlappingMining()}, "sum is not duplicate-insensitive"),
    ],
)
def test_bad_queries_are_named_and_not_registered(arguments, words):
    live = LiveGraph()
    # Neighbourhoods alike but for one vertex: there is something to subtract, and something to count twice.
    rows = [(w, 100 + r) for r in range(12) for w in range(12) if w != r]
    live.apply(insert=rows)
    with pytest.raises(UsageError) as raised:
        live.ego(**arguments)
    assert words in str(raised.value)
    assert "ego" not in str(live.memory()["kind"].to_pylist())


@pytest.mark.parametrize("make", [lambda: gt.Last(0), lambda: gt.Within(0), lambda: gt.TopK(0), lambda: gt.Last(1.5)])
def test_windows_and_counts_are_positive(make):
    with pytest.raises(UsageError):
        make()


# -- users' own


def _add_value(state, value):
    return state[0] + value, state[1] + value


def _add(one, other):
    return one[0] + other[0], one[1] + other[1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"merge": lambda one, other: ((one[0] + other[0]) / 2, 0.0)}, "merge is not associative: of"),
        ({"merge": lambda one, _other: one}, "merge is not commutative"),
        ({"initialize": lambda: (1.0, 1.0), "update": _add_value, "merge": _add}, "initialize() is not neutral"),
        ({"subtract": lambda whole, _part: whole}, "subtract does not undo merge"),
    ],
)
def test_an_aggregate_that_cannot_be_computed_in_parts_is_refused_with_a_counterexample(live, more, words):
    with pytest.raises(UsageError) as raised:
        live.ego(spread(**more), values=float)
    assert words in str(raised.value)
    ego = live.ego(spread(**more))
    with pytest.raises(UsageError):
        ego.write("ann", 4.0)


def test_duplicates_are_checked_too(live):
    adding = gt.Aggregate(
        initialize=lambda: 0,
        update=lambda state, value: state + value,
        merge=lambda one, other: one + other,
        finalize=lambda state: state,
        duplicate_insensitive=True,
    )
    with pytest.raises(UsageError, match="merge is not duplicate-insensitive"):
        live.ego(adding, values=int)


def test_numbers_are_compiled_and_other_values_are_not(live):
    ego = live.ego(spread(duplicate_insensitive=True))
    ego.write_many(["ann", "bob"], [4.0, 1.5])
    assert isinstance(ego.plan.partials, OwnWords)
    assert ego.read("cid") == 2.5
    words = gt.Aggregate(
        initialize=frozenset, update=lambda state, value: state | {value}, merge=frozenset.union, finalize=sorted
    )
    ego = live.ego(words)
    ego.write_many(["ann", "bob"], ["x", "y"])
    assert isinstance(ego.plan.partials, OwnObjects)
    assert ego.read("cid") == ["x", "y"]


@pytest.mark.parametrize("decide", [AllPush(), AllPull()])
def test_an_int_that_gets_too_long_is_a_python_object_from_then_on(live, decide):
    squares = gt.Aggregate(
        initialize=lambda: 0,
        update=lambda state, value: state + value**2,
        merge=lambda one, other: one + other,
        finalize=lambda state: state,
    )
    ego = live.ego(squares, decide=decide)
    ego.write_many(["ann", "bob"], [2**31, 3])
    assert isinstance(ego.plan.partials, OwnWords)
    assert ego.read("cid") == 2**62 + 9
    with pytest.raises(CapacityError, match="64 bits do not hold") as raised:
        ego.run(["bob", "cid"], [2**32, None], [False, True])
    assert "the writes of this call are applied" in str(raised.value.hint)
    assert isinstance(ego.plan.partials, OwnObjects)
    assert ego.read("cid") == 2**62 + 2**64
    with pytest.raises(CapacityError, match="64 bits do not hold"):
        ego.read_many(["cid"])
    ego.write("bob", 1)
    assert ego.read_many(["cid"]).to_pylist() == [2**62 + 1]


@pytest.mark.parametrize("window", [gt.Last(2), gt.Within(5)])
def test_a_function_that_fails_leaves_everything_as_it_was(live, window):
    def merge(one, other):
        if "bad" in one + other:
            raise ValueError("no")
        return tuple(sorted(one + other))

    listing = gt.Aggregate(
        initialize=tuple, update=lambda state, value: tuple(sorted((*state, value))), merge=merge, finalize=list
    )
    ego = live.ego(listing, window=window, overlay=Direct(), decide=AllPush())
    times = [1, 2] if isinstance(window, gt.Within) else None
    ego.write_many(["ann", "bob"], ["x", "y"], times)
    with pytest.raises(UserFunctionError, match="ValueError: no"):
        ego.write_many(["ann", "bob"], ["z", "bad"], None if times is None else [3, 4])
    assert ego.read("cid") == ["x", "y"]
    ego.plan.check_invariants()


# -- faces


@pytest.mark.parametrize("column", [list, np.array, pa.array, pd.Series])
def test_columns_of_every_make_are_taken(live, column):
    ego = live.ego("sum")
    ego.write_many(column(["ann", "bob"]), column([1.5, 2.0]))
    assert ego.read_many(column(["cid", "dan"])).to_pylist() == [3.5, 1.5]
    found = ego.run(column(["ann", "cid", "bob", "cid"]), column([2.5, 0.0, 3.0, 0.0]), [False, True, False, True])
    assert found.to_pylist() == [4.5, 5.5]


def test_explain_says_what_the_overlay_is():
    live = LiveGraph()
    live.apply(insert=[(w, 10 + r) for w in range(6) for r in range(6)])
    ego = live.ego("sum", rates=(1, 100))
    explained = ego.explain()
    assert (explained.writers, explained.readers, explained.pairs) == (12, 12, 36)
    assert explained.pushed + explained.pulled == explained.readers + explained.partials
    assert explained.cost <= min(explained.cost_of_all_push, explained.cost_of_all_pull)
    assert "sharing index" in str(explained)
    assert "12 writers" in repr(ego)


@pytest.mark.parametrize("vertices", [5, 300])
def test_plot_writes_a_picture(tmp_path, vertices):
    live = LiveGraph()
    live.apply(insert=[(n, (n * 7 + 1) % vertices) for n in range(vertices)])
    file = tmp_path / "overlay.png"
    live.ego("sum").plot(file)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_observed_rates_flip_decisions():
    live = LiveGraph()
    live.apply(insert=[(w, 99) for w in range(50)])
    ego = live.ego("sum", rates=(100, 1), readers=[99])
    assert ego.explain().pushed == 0
    ego.write_many(np.arange(50), np.ones(50))
    for _ in range(20):
        ego.read_many(np.full(10_000, 99))
        ego.adapt()
    assert ego.explain().pushed == 1
    assert ego.explain().flips >= 1
    assert ego.read(99) == 50


def test_a_dropped_aggregate_answers_no_more(live):
    ego = live.ego("sum", name="total")
    kept = live.nbytes
    with pytest.raises(CatalogueError, match="already"):
        live.sssp("ann", name="total")
    ego.drop()
    assert live.nbytes < kept
    with pytest.raises(UsageError, match="was dropped"):
        ego.read("cid")
    live.apply(insert=[("bob", "dan")])
    live.ego("sum", name="total")


def test_a_watch_can_be_dropped(live):
    ego = live.ego("max")
    heard = []
    watch = ego.on_change(heard.append)
    ego.write("ann", 3)
    watch.drop()
    ego.write("ann", 4)
    assert [changes.to_pylist() for changes in heard] == [
        [{"vertex": "cid", "before": None, "after": 3}, {"vertex": "dan", "before": None, "after": 3}]
    ]
