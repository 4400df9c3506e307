"""What ego aggregates say to arguments that mean nothing, of which nothing is applied, and columns that come once."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.ego import AdaptiveMining, AllPush, FixedMining, NegativeMining, OverlappingMining
from graphtide.errors import CapacityError, GraphtideError, SchemaError, UsageError
from graphtide.frontier import LiveGraph


@pytest.fixture
def live():
    graph = LiveGraph()
    graph.apply(insert=[(1, 3), (2, 3), (3, 4), (4, 1), (1, 2)])
    return graph


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"function": None}, ["no aggregate None", '"sum"', "TopK(k)", "Aggregate(...)"]),
        ({"function": ["sum"]}, ["no aggregate ['sum']"]),
        ({"window": 10}, ["window=10 is not a window", "Last("]),
        ({"window": "x"}, ["window='x'"]),
        ({"window": gt.Within}, ["is not a window"]),
        ({"window": gt.Last(10**12)}, ["no memory for Last(1000000000000)"]),
        ({"window": gt.Last(10**30)}, ["no memory for Last("]),
        ({"overlay": "x"}, ["overlay='x'"]),
        ({"overlay": FixedMining}, ["does not say how an overlay is made"]),
        # There is nothing to subtract and nothing to count twice on this graph: it is the method that does not fit.
        ({"function": "max", "overlay": NegativeMining()}, ["subtracts, which max cannot"]),
        ({"overlay": OverlappingMining()}, ["sum is not duplicate-insensitive"]),
        ({"decide": "x"}, ["decide='x'"]),
        ({"decide": AllPush}, ["does not say what is kept"]),
        ({"costs": 3}, ["costs=3"]),
        ({"rates": 3}, ["rates=3"]),
        ({"rates": (1, 2, 3)}, ["rates=(1, 2, 3)"]),
        ({"rates": ({1: "x"}, 1)}, ["rate of writes at vertex 1 cannot be 'x'"]),
        ({"rates": (math.nan, 1)}, ["rate of writes cannot be nan"]),
        ({"rates": (1, -1)}, ["rate of reads cannot be -1"]),
        ({"rates": (1, {2: math.inf})}, ["rate of reads at vertex 2 cannot be inf"]),
        ({"readers": 5}, ["cannot read at 5", "list of ids"]),
        ({"neighbours": 5}, ["cannot take in 5"]),
        ({"along": ["in"]}, ["cannot go along ['in']"]),
        ({"hops": [1]}, ["cannot look [1] hops far"]),
        ({"edges": 5}, ["5 is not a condition"]),
    ],
)
def test_bad_queries_are_named_and_not_registered(live, arguments, words):
    with pytest.raises((UsageError, CapacityError)) as raised:
        live.ego(**({"function": "sum"} | arguments))
    assert all(word in str(raised.value) for word in words), str(raised.value)
    assert raised.value.hint
    assert not any(kind.startswith("ego") for kind in live.memory()["kind"].to_pylist())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda ego: ego.run([1, 3], [1, 2], ["write", "read"]), ["'write'", "bool"]),
        (lambda ego: ego.run([1, 3], [1, 2], [0, 1]), ["row 0", "bool"]),
        (lambda ego: ego.run([1, 3], [1, 2], True), ["is_read", "True"]),
        (lambda ego: ego.run([1, 2], [1], [False, True]), ["1 values for 2 operations"]),
        (lambda ego: ego.run([1, 2], [1, 2], [False]), ["2 values for 1 operations"]),
        (lambda ego: ego.run([1, 2], [1], [False]), ["2 vertices for 1 operations"]),
        (lambda ego: ego.run([1, 3], 5, [False, True]), ["5 is not a column"]),
        (lambda ego: ego.run([1, 3], None, [False, True]), ["None is not a column"]),
        (lambda ego: ego.run([1, 3], "xy", [False, True]), ["'xy' is not a column"]),
        (lambda ego: ego.write_many(np.array([[1, 2]]), [1]), ['"vertex"', "2 dimensions"]),
        (lambda ego: ego.read_many(np.array([[1, 2]])), ['"vertex"', "2 dimensions"]),
        (lambda ego: ego.read_many(np.array(1)), ['"vertex"', "0 dimensions"]),
        (lambda ego: ego.write_many([1, 2], np.array([[1, 2], [3, 4]])), ['"value"', "2 dimensions"]),
        (lambda ego: ego.write_many([1, 2], [1, 2.5]), ["row 1", "values=float", "int(...)"]),
        (lambda ego: ego.write_many([1, 2], [1, None]), ["row 1", "leave out what is missing"]),
    ],
)
def test_bad_columns_are_named_and_not_applied(live, call, words):
    ego = live.ego("sum")
    ego.write_many([1, 2], [10, 20])
    before = ego.table()
    with pytest.raises(GraphtideError) as raised:
        call(ego)
    assert all(word in str(raised.value) for word in words), str(raised.value)
    assert "declare the column" not in str(raised.value)
    assert ego.table().equals(before)


def test_a_first_batch_of_several_types_is_named_by_row(live):
    ego = live.ego("sum")
    with pytest.raises(SchemaError, match="row 1: 'x' is a str, and 1 in row 0 is an int"):
        ego.write_many([1, 2], [1, "x"])
    ego.write_many([1, 2], [1, 2])
    assert ego.read(3) == 3


def test_infinite_times_are_refused_and_later_ones_are_not(live):
    ego = live.ego("sum", window=gt.Within(5))
    ego.write(1, 7, at=1.0)
    for late in (lambda: ego.write(2, 7, at=math.inf), lambda: ego.advance(math.inf)):
        with pytest.raises(SchemaError, match="inf is not a time"):
            late()
    ego.write(2, 1, at=2.0)
    assert ego.read(3) == 8
    with pytest.raises(SchemaError, match="nan"):
        ego.write_many([1, 2], [1, 2], [3.0, math.nan])


@pytest.mark.parametrize("nothing", [list, lambda: np.zeros(0), lambda: pa.array([], pa.int64()), lambda: iter(())])
def test_an_empty_first_batch_decides_no_type(live, nothing):
    ego = live.ego("sum", window=gt.Within(5))
    ego.write_many(nothing(), nothing(), nothing())
    assert ego.run([], nothing(), [], nothing()).to_pylist() == []
    ego.write(1, 2.5, at=3)
    assert ego.read(3) == 2.5
    with pytest.raises(SchemaError, match="0 values for 1 writes"):
        live.ego("sum").write_many([1], [])


def test_columns_that_come_once_are_taken_whole(live):
    ego = live.ego("sum", window=gt.Within(5))
    ego.write_many((v for v in [1, 2]), (v for v in [4, 5]), (t for t in [1, 2]))
    assert ego.read(3) == 9
    found = ego.run(iter([1, 3]), iter([6, None]), iter([False, True]), iter([3, 3]))
    assert found.to_pylist() == [15]


@pytest.mark.parametrize(
    ("finalize", "answer"),
    [(lambda s: {s: "x"}, {0: "x"}), (lambda _s: 1j, 1j), (lambda _s: "\ud800", "\ud800")],
)
def test_answers_that_no_column_holds_can_be_read_one_by_one(live, finalize, answer):
    own = gt.Aggregate(
        initialize=lambda: 0, update=lambda s, v: s + v, merge=lambda one, other: one + other, finalize=finalize
    )
    ego = live.ego(own)
    with pytest.raises(SchemaError, match="no column holds what finalize of the aggregate gives") as raised:
        ego.table()
    assert "read one vertex after the other" in raised.value.hint
    assert ego.read(3) == answer


def test_a_long_window_is_calibrated_as_a_shorter_one(live):
    ego = live.ego("sum", window=gt.Last(20_000))
    ego.write_many([1] * 30_000, np.ones(30_000, np.int64))
    assert ego.read(3) == 20_000


def test_a_method_that_does_not_fit_is_refused_before_the_graph_changes():
    live = LiveGraph()
    live.add_vertices(range(40))
    with pytest.raises(UsageError, match="subtracts, which max cannot"):
        live.ego("max", overlay=NegativeMining())
    ego = live.ego("max", overlay=AdaptiveMining())
    # Neighbourhoods alike but for one vertex, which is where something would be subtracted.
    live.apply(insert=[(w, 20 + r) for r in range(12) for w in range(12) if w != r])
    ego.rebuild()
    ego.write_many(range(12), range(12))
    assert ego.read_many([20, 31]).to_pylist() == [11, 10]
