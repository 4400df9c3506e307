"""Messages that users write: what is compiled, what is refused, and what becomes of a query that does not settle."""

from __future__ import annotations

import math
from typing import Any

import pytest

import graphtide as gt
from graphtide.errors import CapacityError, NotConvergedError, SchemaError, UsageError
from graphtide.frontier import vanilla


@pytest.fixture
def pipes() -> gt.LiveGraph:
    live = gt.LiveGraph(ids=str, width=int, works=float)
    live.apply(insert=[("a", "b", 5, 0.5), ("b", "c", 3, 0.9), ("a", "c", 2, 0.25)])
    return live


def states(query: gt.Query) -> dict[Any, Any]:
    return {row["vertex"]: row[query.column] for row in query.result().to_pylist()}


def shrinking(state: Any, weight: Any) -> Any:
    return state - weight


def failing(state: Any, weight: Any) -> Any:
    if weight < 0:
        raise ValueError(weight)
    return state


def shouting(state: Any, weight: Any) -> Any:
    return state + "!" * weight


def pair(state: Any, weight: Any) -> Any:
    return state, weight


def unknown(state: Any, weight: Any) -> Any:
    return nowhere(state, weight)  # noqa: F821 # pyright: ignore[reportUndefinedVariable]


@pytest.mark.parametrize(
    ("function", "weight", "expected"),
    [
        (min, "width", {"a": 10, "b": 5, "c": 3}),
        (lambda state, weight: state * weight, "works", {"a": 1.0, "b": 0.5, "c": 0.45}),
        (lambda state, weight: state - math.log2(weight), "works", {"a": 0.0, "b": 1.0, "c": 2.0}),
        (lambda state: state - 1, None, {"a": 9, "b": 8, "c": 8}),
        (lambda state, weight: state - weight, None, {"a": 9, "b": 8, "c": 8}),
        (lambda state, weight: None if weight > 4 else state, "width", {"a": 9, "c": 9}),
        (lambda state, weight: weight > 2, "width", {"a": 1, "b": 1, "c": 1}),  # noqa: ARG005
    ],
)
@pytest.mark.parametrize(
    "maintain", [gt.JoinOnDemand(), gt.Scratch(), gt.Vanilla(), gt.DeterministicDrop(gt.Random(1))]
)
def test_a_function_makes_ints_or_floats(
    pipes: gt.LiveGraph, function: Any, weight: Any, expected: dict[str, Any], maintain: Any
) -> None:
    initial = {"a": int(expected["a"])}
    query = pipes.ife(gt.ife(function, aggregate="max", initial=initial, weight=weight), maintain=maintain)
    assert states(query) == expected
    assert {type(state) for state in states(query).values()} == {type(state) for state in expected.values()}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            shouting,
            r'"shouting" cannot be compiled for int, int: No implementation of function .*add.*: add',
        ),
        (unknown, r'"unknown" cannot be compiled for int, int: .*nowhere'),
        (pair, r'"pair" makes .*Tuple.* of int, int'),
        (failing, r'"failing" may raise an error'),
    ],
)
def test_a_function_that_does_not_compile_is_refused_in_a_line(
    pipes: gt.LiveGraph, function: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        pipes.ife(gt.ife(function, initial={"a": 0}, weight="width"))
    assert len(caught.value.message.splitlines()) == 1
    assert pipes.queries == {}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gt.ife(lambda: 1, initial={"a": 0}), "cannot be called with a state"),
        (lambda: gt.ife(lambda state: state, initial={"a": 0}, weight="width"), "and the weight of an edge"),
        (
            lambda: gt.ife(lambda state: state, aggregate="median", initial={}),  # pyright: ignore[reportArgumentType]
            'no aggregate "median"',
        ),
        (lambda: gt.ife(7, initial={"a": 0}), "7 is no message"),  # pyright: ignore[reportArgumentType]
        (lambda: gt.ife(lambda state: state, aggregate="max"), "needs initial states"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_ids_that_are_no_numbers_are_not_given_to_functions(pipes: gt.LiveGraph) -> None:
    with pytest.raises(SchemaError, match="cannot begin with ids that are str"):
        pipes.ife(gt.ife(lambda state: state))


def test_a_function_that_is_not_monotone_is_refused_with_an_example(pipes: gt.LiveGraph) -> None:
    program = gt.ife(lambda state, weight: 10 - state - weight, initial={"a": 4}, weight="width")
    with pytest.raises(UsageError, match=r"not monotone: it makes -?\d+ of -?\d+, but -?\d+ of -?\d+, which is less"):
        pipes.ife(program)
    with pytest.raises(UsageError, match="greater and so better along an edge of weight 0"):
        pipes.ife(gt.ife(lambda x, w: 1 - x * w, aggregate="max", initial={"a": 0.5}, weight="works"))


@pytest.mark.parametrize(
    "maintain", [gt.JoinOnDemand(), gt.Scratch(), gt.Vanilla(), gt.ProbabilisticDrop(gt.Random(1))]
)
def test_a_query_that_does_not_settle_is_dropped_and_others_follow(
    pipes: gt.LiveGraph, maintain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vanilla, "_MOST_ROUNDS", 50)
    program = gt.ife(shrinking, initial={"a": 0}, weight="width")
    query = pipes.ife(program, name="lowest", maintain=maintain)
    others = [pipes.k_hop("a", 5), pipes.sssp("a", weight="width"), pipes.sssp("a", weight="width", maintain=maintain)]
    assert states(query) == {"a": 0, "b": -5, "c": -8}
    with pytest.raises(NotConvergedError, match='with batch 2, "lowest" did not settle and was dropped'):
        pipes.apply(insert=[("c", "a", 1, 0.5), ("c", "d", 1, 0.5)])
    assert pipes.edges == 5
    with pytest.raises(UsageError, match="was dropped"):
        query.result()
    assert len(pipes.queries) == 3
    for other in others[1:]:
        assert states(other) == {"a": 0, "b": 5, "c": 2, "d": 3}
    with pytest.raises(NotConvergedError, match="did not settle"):
        pipes.ife(program, maintain=maintain)
    bounded = pipes.ife(gt.ife(shrinking, initial={"a": 0}, weight="width", rounds=40), maintain=maintain)
    pipes.apply(delete=[("b", "c")])
    assert states(bounded)["a"] == -60
    pipes.apply(delete=[("c", "a")])
    assert states(bounded) == {"a": 0, "b": -5, "c": -2, "d": -3}
    assert states(others[2]) == {"a": 0, "b": 5, "c": 2, "d": 3}


def squared(state: Any, weight: Any) -> Any:
    return state * state * weight


POLICIES = (gt.JoinOnDemand(), gt.Scratch(), gt.Vanilla(), gt.Budget("1MB"))


@pytest.mark.parametrize("maintain", POLICIES, ids=lambda policy: type(policy).__name__)
def test_an_int_of_more_than_64_bits_is_an_error_at_first(maintain: gt.Maintenance) -> None:
    live = gt.LiveGraph(weight=int)
    live.apply(insert=[(n, n + 1, 1) for n in range(8)])
    with pytest.raises(CapacityError, match="an int of more than 64 bits"):
        live.ife(gt.ife(squared, initial={0: 3}, weight="weight"), maintain=maintain)
    assert not live.queries
    fine = live.ife(gt.ife(squared, initial={0: 3}, weight="weight", rounds=4), maintain=maintain)
    assert states(fine)[4] == 3**16


@pytest.mark.parametrize("maintain", POLICIES, ids=lambda policy: type(policy).__name__)
def test_a_query_whose_int_becomes_too_long_is_dropped_by_name(maintain: gt.Maintenance) -> None:
    live = gt.LiveGraph(weight=int)
    live.apply(insert=[(n, n + 1, 1) for n in range(4)])
    live.ife(gt.ife(squared, initial={0: 3}, weight="weight"), name="grows", maintain=maintain)
    near = live.sssp(0, weight="weight")
    calm = live.ife(
        gt.ife(lambda state, weight: 2 * state + weight, initial={3: 1}, weight="weight"), maintain=maintain
    )
    with pytest.raises(
        CapacityError, match='with batch 2, "grows" made an int of more than 64 bits or divided by 0, and was dropped'
    ):
        live.apply(insert=[(4, 5, 10**12)])
    assert list(live.queries) == [near.name, calm.name]
    assert states(near)[5] == 10**12 + 4
    assert states(calm) == {3: 1, 4: 3, 5: 10**12 + 6}
    live.apply(delete=[(4, 5, 10**12)])
    assert 5 not in states(near)


def inverse(state: Any, weight: Any) -> Any:
    return state + 10 // weight


@pytest.mark.parametrize("weight", [int, float])
@pytest.mark.parametrize("maintain", POLICIES, ids=lambda policy: type(policy).__name__)
def test_a_query_that_divides_by_0_is_dropped_by_name(maintain: gt.Maintenance, weight: type) -> None:
    live = gt.LiveGraph(weight=weight)
    live.apply(insert=[(1, 2, weight(5)), (2, 3, weight(2))])
    divides = gt.ife(inverse, initial={1: 0}, weight="weight")
    live.ife(divides, name="divides", maintain=maintain)
    live.ife(gt.ife(inverse, initial={3: 0}, weight="weight"), name="calm", maintain=maintain)
    with pytest.raises(CapacityError, match=r'"divides" made an int of more .* or divided by 0'):
        live.apply(update=[(1, 2, weight(0))])
    assert list(live.queries) == ["calm"]
    with pytest.raises(CapacityError, match="or a division by 0 on its way"):
        live.ife(divides, maintain=maintain)
    live.apply(update=[(1, 2, weight(1))])
    assert states(live.ife(divides, maintain=maintain)) == {1: 0, 2: 10, 3: 15}


@pytest.mark.parametrize("first", [0, 1])
def test_queries_with_one_function_are_dropped_one_by_one(first: int) -> None:
    live = gt.LiveGraph(weight=int)
    live.apply(insert=[(n, n + 1, 1) for n in range(4)] + [(8, 5, 1)])
    beginnings = [{0: 3}, {8: 3}]
    for initial in (beginnings[first], beginnings[1 - first]):
        live.ife(gt.ife(squared, initial=initial, weight="weight"), name=str(min(initial)))
    with pytest.raises(
        CapacityError, match='with batch 2, "0" made an int of more than 64 bits or divided by 0, and was dropped'
    ):
        live.apply(insert=[(4, 5, 10**12), (5, 6, 1)])
    assert list(live.queries) == ["8"]
    assert states(live.queries["8"]) == {8: 3, 5: 9, 6: 81}


def test_a_query_that_neither_fits_nor_settles_takes_no_other_with_it() -> None:
    live = gt.LiveGraph(weight=int)
    live.apply(insert=[(1, 2, 1), (2, 3, 1)])
    grows = gt.ife(lambda state, weight: state * weight, aggregate="max", initial={1: 1}, weight="weight")
    live.ife(grows, name="grows")
    live.ife(gt.ife(lambda state, weight: state + weight, initial={3: 1}, weight="weight"), name="calm")
    with pytest.raises(
        CapacityError, match='"grows" made an int of more than 64 bits or divided by 0, and was dropped'
    ) as raised:
        live.apply(insert=[(2, 2, 2), (3, 4, 2**61)])
    assert "settle" not in str(raised.value)
    assert list(live.queries) == ["calm"]
    assert states(live.queries["calm"]) == {3: 1, 4: 2**61 + 1}
