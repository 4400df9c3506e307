"""Least and greatest values in the first epoch of a loop, where insertions are answered without a look at history."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.dataflow.kernels import layout

NODES = st.integers(0, 7)
EDGES = st.lists(st.tuples(NODES, NODES, st.integers(0, 9)), max_size=30)


def best_walks(edges: list[Any], sign: int, rounds: int) -> dict[tuple[int, int], int]:
    """For pairs that a walk of at most so many edges joins, its least (1) or greatest (-1) first weight."""
    found: dict[tuple[int, int], int] = {}
    for a, b, weight in edges:
        found[a, b] = sign * min(sign * found.get((a, b), weight), sign * weight)
    for _ in range(rounds):
        further = [((a, d), weight) for (a, b), weight in found.items() for c, d, _ in edges if c == b]
        for pair, weight in further:
            found[pair] = sign * min(sign * found.get(pair, weight), sign * weight)
    return found


@pytest.mark.parametrize("way", ["min", "max"])
@given(EDGES, EDGES)
def test_keys_of_two_columns_in_a_loop(way: str, first: list[Any], second: list[Any]) -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", a=int, b=int, weight=int)

    def longer(walks: gt.Collection) -> gt.Collection:
        joined = walks.join(edges.select(c="a", d="b"), on={"b": "c"})
        further = joined.select(a="a", b="d", weight="weight").concat(edges)
        return getattr(further.group_by("a", "b"), way)("weight")

    starts = getattr(edges.group_by("a", "b"), way)("weight")
    result = starts.iterate(longer).output("walks")
    sign = 1 if way == "min" else -1

    edges.insert(first)
    flow.commit()
    assert {(a, b): weight for a, b, weight in result.rows()} == best_walks(first, sign, 8)
    edges.insert(second)
    edges.remove(first)
    flow.commit()
    assert {(a, b): weight for a, b, weight in result.rows()} == best_walks(second, sign, 8)


def test_a_search_that_only_inserts_never_looks_at_history() -> None:
    rng = np.random.default_rng(3)
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    start = flow.input("start", node=int, hops=int)
    hops = start.iterate(
        lambda known: (
            known.join(edges, on={"node": "src"})
            .select(node="dst", hops=gt.col("hops") + 1)
            .concat(start)
            .group_by("node")
            .min("hops")
        )
    ).output("hops")
    edges.insert(rng.integers(0, 500, (2_000, 2)))
    edges.insert([(0, node) for node in range(0, 500, 100)])
    start.insert([(0, 0)])
    flow.commit()
    assert len(hops) > 400
    assert not flow.machine.operators[:, layout.TOOK_AWAY].any()
    start.remove([(0, 0)])
    flow.commit()
    assert len(hops) == 0
    assert flow.machine.operators[:, layout.TOOK_AWAY].any()
