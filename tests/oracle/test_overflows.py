"""A query is dropped if an int of its function, or a sum, is too long on the graph as it is, and no other one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.frontier_naive import Edge, NaiveProgram, NaiveSum, answer, sums_by_round, trace
from tests.oracle.test_continuous import VERTICES, Batch, histories, told

import graphtide as gt
from graphtide.errors import CapacityError
from graphtide.frontier import family

WEIGHTS = st.sampled_from([1, 2, 3, 2**12, 2**40])
ROUNDS = 6
NO_STATE = 2**62  # an int that long, and no longer than 63 bits, is no state
POLICIES: dict[str, Callable[[], gt.Maintenance]] = {
    "join on demand": gt.JoinOnDemand,
    "scratch": gt.Scratch,
    "vanilla": gt.Vanilla,
    "a budget": lambda: gt.Budget("1MB"),
    "dropping": lambda: gt.DeterministicDrop(gt.Random(0.5)),
}
# How many queries there are, and how many it takes to divide them among two threads.
CASES = [(policy, 2 if policy == "vanilla" else VERTICES, 100) for policy in POLICIES]
CASES += [(policy, VERTICES, 2) for policy in ("join on demand", "dropping")]


def powered(state: Any, weight: Any) -> Any:
    return state * state * weight + weight


def naive(source: int) -> NaiveProgram:
    """On ints of any length; what is too long for a state is none."""

    def offer(state: int, weight: int) -> int | None:
        made = powered(state, weight)
        return made if made < NO_STATE else None

    return NaiveProgram(offer, min, {source: source + 1}, rounds=ROUNDS)


def is_too_long(source: int, edges: list[Edge]) -> bool:
    """Whether an edge makes an int of more than 64 bits of a state that its source gets before the last round."""
    steps = trace(naive(source), range(VERTICES), edges)
    return any(
        max(state * state * weight, powered(state, weight)) >= 2**63
        for u, _, weight in edges
        for r, state in steps.get(u, [])
        if r < ROUNDS
    )


@pytest.mark.parametrize(("policy", "count", "many"), CASES)
@share(50)
@given(history=histories(WEIGHTS))
def test_only_queries_that_overflow_are_dropped(
    policy: str, count: int, many: int, history: list[tuple[Batch, list[Edge]]]
) -> None:
    live = gt.LiveGraph(weight=int, maintain=POLICIES[policy]())
    live.add_vertices(range(VERTICES))
    with patch.object(family, "_MANY", many):
        queries = {
            source: live.ife(
                gt.ife(powered, initial={source: source + 1}, weight="weight", rounds=ROUNDS),
                name=str(source),
            )
            for source in range(count)
        }
        for batch, edges in history:
            doomed = {source for source in queries if is_too_long(source, edges)}
            try:
                live.apply(insert=batch.insert, delete=batch.delete, update=batch.update)
                named = ""
            except CapacityError as error:
                named = error.message.partition(", ")[2].partition(" made")[0]
            assert named == ", ".join(f'"{source}"' for source in queries if source in doomed)
            queries = {source: query for source, query in queries.items() if source not in doomed}
            assert list(live.queries) == [str(source) for source in queries]
            for source, query in queries.items():
                assert told(query) == answer(naive(source), range(VERTICES), edges)


def carried(state: Any, weight: Any) -> Any:
    return state * weight


def total(_begin: Any, total: Any) -> Any:
    return total


def summing(source: int) -> NaiveSum:
    return NaiveSum(lambda state, weight, _: state * weight, total, {source: 2**40 - source}, 3)


def is_sum_too_long(source: int, edges: list[Edge]) -> bool:
    """Whether a message or a sum of them has more than 64 bits in any round."""
    rounds = sums_by_round(summing(source), range(VERTICES), edges)
    offers = [state[u] * weight for state in rounds[:-1] for u, _, weight in edges]
    return not all(abs(made) < 2**63 for made in (*offers, *(s for state in rounds for s in state.values())))


@pytest.mark.parametrize("policy", POLICIES)
@share(50)
@given(history=histories(st.sampled_from([1, -1, 2, 2**21, 2**22, -(2**22), 2**23 - 1])))
def test_sums_of_ints_are_exact_or_their_query_is_dropped(policy: str, history: list[tuple[Batch, list[Edge]]]) -> None:
    live = gt.LiveGraph(weight=int, maintain=POLICIES[policy]())
    live.add_vertices(range(VERTICES))
    programs = {
        source: gt.ife(
            carried, aggregate="sum", initial={source: 2**40 - source}, weight="weight", rounds=3, finish=total
        )
        for source in range(3)
    }
    queries = {source: live.ife(program, name=str(source)) for source, program in programs.items()}
    edges: list[Edge] = []
    for batch, after in history:
        # One that was dropped may have an answer again.
        for source in programs.keys() - queries.keys():
            try:
                queries[source] = live.ife(programs[source], name=str(source))
            except CapacityError:
                assert is_sum_too_long(source, edges)
            else:
                assert not is_sum_too_long(source, edges)
        edges = after
        doomed = {source for source in queries if is_sum_too_long(source, edges)}
        try:
            live.apply(insert=batch.insert, delete=batch.delete, update=batch.update)
            named = ""
        except CapacityError as error:
            named = error.message.partition(", ")[2].partition(" made")[0]
        # Those that came back are behind the others.
        assert sorted(filter(None, named.split(", "))) == sorted(f'"{source}"' for source in doomed)
        queries = {source: query for source, query in queries.items() if source not in doomed}
        assert sorted(live.queries) == sorted(map(str, queries))
        for source, query in queries.items():
            assert told(query) == sums_by_round(summing(source), range(VERTICES), edges)[-1]
