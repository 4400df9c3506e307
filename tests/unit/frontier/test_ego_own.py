"""What happens when users' aggregates fail, and what is said of it."""

from __future__ import annotations

import math

import pytest

import graphtide as gt
from graphtide.ego.own import OwnObjects
from graphtide.ego.own_compiled import OwnWords
from graphtide.errors import CapacityError, UsageError, UserFunctionError
from graphtide.frontier import LiveGraph


@pytest.fixture
def live():
    graph = LiveGraph()
    graph.apply(insert=[(1, 3), (2, 3), (3, 4), (4, 1), (1, 2)])
    return graph


def adding(**more):
    functions = {
        "initialize": lambda: 0,
        "update": lambda state, value: state + value,
        "merge": lambda one, other: one + other,
        "finalize": lambda state: state,
    }
    return gt.Aggregate(**(functions | more))


def test_a_sum_that_begins_with_an_int_is_not_cut(live):
    ego = live.ego(adding())
    ego.write_many([1, 2], [1.5, 2.25])
    assert ego.read(3) == 3.75


@pytest.mark.parametrize("window", [gt.Last(), gt.Within(9)])
def test_what_python_refuses_is_refused_and_states_stay_compiled(live, window):
    ego = live.ego(adding(update=lambda state, value: state + 100 // value), window=window)
    times = [1, 2] if isinstance(window, gt.Within) else None
    ego.write_many([1, 2], [5, 10], times)
    with pytest.raises(UserFunctionError, match=r"update of the aggregate failed on \(0, 0\): ZeroDivision") as raised:
        ego.write_many([1, 2], [1, 0], times and [3, 4])
    assert raised.value.hint == "nothing of the call was applied"
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert ego.read(3) == 30
    assert isinstance(ego.plan.partials, OwnWords)


def test_what_is_compiled_does_not_lose_truth(live):
    known = adding(
        initialize=lambda: False,
        update=lambda state, value: state or value > 2,
        merge=lambda one, other: one or other,
        finalize=lambda state: [state],
    )
    ego = live.ego(known)
    ego.write(1, 7)
    assert isinstance(ego.plan.partials, OwnWords)
    assert ego.read(3)[0] is True
    assert ego.read(4)[0] is False


def test_a_compiled_function_is_python_when_ints_get_too_long(live):
    ego = live.ego(adding(update=lambda state, value: state + int(value), initialize=lambda: 0))
    ego.write(1, 1e30)
    assert ego.read(3) == int(1e30)
    assert isinstance(ego.plan.partials, OwnObjects)


def test_a_finalize_that_fails_says_that_writes_are_applied(live):
    ego = live.ego(adding(finalize=lambda state: 100 // (state - 9)))
    ego.write(1, 1)
    with pytest.raises(UserFunctionError, match="finalize of the aggregate failed on") as raised:
        ego.run([1, 3], [9, None], [False, True])
    assert raised.value.hint == "the writes of this call are applied"
    with pytest.raises(UserFunctionError) as raised:
        ego.read(3)
    assert raised.value.hint is None


def test_a_sum_that_is_too_long_says_that_writes_are_applied(live):
    ego = live.ego("sum")
    ego.write(1, 2**62)
    with pytest.raises(CapacityError, match="a sum is") as raised:
        ego.run([2, 3], [2**62, 0], [False, True])
    assert raised.value.hint.endswith("the writes of this call are applied")
    ego.write(1, 0)
    assert ego.read(3) == 2**62


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        (
            {"update": lambda state, value: state + 1 // (value - 2)},
            UserFunctionError,
            "update of the aggregate failed",
        ),
        ({"update": lambda state: state}, UserFunctionError, "takes 1 positional argument"),
        ({"update": lambda _, value: None}, UsageError, "gives None for (0, 2)"),  # noqa: ARG005 - it is called so
        ({"merge": lambda one, _: one // 0}, UserFunctionError, "merge of the aggregate failed on (2, 2)"),
        ({"initialize": lambda: 1 // 0}, UserFunctionError, "initialize of the aggregate failed on ()"),
    ],
)
def test_functions_that_fail_at_once_are_told_in_the_users_terms(live, more, error, words):
    with pytest.raises(error) as raised:
        live.ego(adding(**more)).write_many([1, 2], [2, 3])
    assert words in str(raised.value)


def test_an_average_is_finite_where_the_sum_is_not(live):
    ego = live.ego("avg")
    ego.write_many([1, 2], [1e308, 1.7e308])
    assert ego.read(3) == 1.35e308
    ego.write_many([1, 2], [-1e308, -1.7e308])
    assert ego.read(3) == -1.35e308


@pytest.mark.parametrize("function", ["max", gt.TopK(2)], ids=repr)
def test_nan_over_nan_is_no_change(live, function):
    ego = live.ego(function)
    ego.write(1, math.nan)
    heard = []
    ego.on_change(heard.append)
    ego.write(1, math.nan)
    assert heard == []
    ego.write(1, 2.0)
    assert len(heard) == 1
