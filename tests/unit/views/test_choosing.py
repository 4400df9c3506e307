"""What a difference on a lattice is taken to cost, by the plan of a computation, and which order a run then takes."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.analytics import Analytic, AnalyticGraph, find
from graphtide.analytics.analytic import BoundAnalytic
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col
from graphtide.rows import Dictionary
from graphtide.views.choosing import LEAST_PRICE, choose_order, estimates, lattice_price
from graphtide.views.execution import EdgeColumns, Execution

COSTS = st.integers(0, 10**9).map(float)


def price(analytic: BoundAnalytic, dimensions: int = 2, *, grows: bool = False) -> float:
    """The price of an analytic as a run finds it."""
    properties = {name: pa.array([1]) for name in analytic.edge_properties}
    edges = EdgeColumns(np.array([0]), np.array([1]), properties)
    execution = Execution(analytic, edges, lambda vertex: vertex, Dictionary(), grows=grows)
    return lattice_price(execution.nodes, dimensions)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("triangles", {}),
        ("bfs", {"source": 0}),
        ("sssp", {"source": 0, "weight": "weight"}),
        ("k_core", {"k": 3}),
        ("label_propagation", {"rounds": 2}),
    ],
)
def test_a_loop_or_a_few_counts_have_the_least_price(name: str, arguments: dict[str, Any]) -> None:
    assert price(find(name).bind(arguments)) == LEAST_PRICE


@pytest.mark.parametrize("name", ["wcc", "clustering", "degrees"])
def test_rows_that_set_out_by_themselves_and_joins_of_counts_cost_more(name: str) -> None:
    assert LEAST_PRICE < price(find(name).bind({})) < inf


@pytest.mark.parametrize("dimensions", [2, 3])
def test_loops_cost_the_least_where_views_only_gain_edges(dimensions: int) -> None:
    assert price(find("wcc").bind({}), dimensions, grows=True) == LEAST_PRICE
    assert price(find("bfs").bind({"source": 0}), dimensions, grows=True) == LEAST_PRICE
    assert price(find("clustering").bind({}), grows=True) > LEAST_PRICE


@pytest.mark.parametrize(
    ("name", "arguments"), [("scc", {}), ("pagerank", {"iterations": 2}), ("label_propagation", {"rounds": 3})]
)
def test_nested_loops_and_sums_of_sums_have_no_price(name: str, arguments: dict[str, Any]) -> None:
    assert price(find(name).bind(arguments)) == inf


def test_each_dimension_is_a_coordinate() -> None:
    in_a_loop, outside = find("bfs").bind({"source": 0}), find("triangles").bind({})
    assert [price(in_a_loop, dimensions) < inf for dimensions in (2, 3)] == [True, False]
    assert price(outside, 3) == LEAST_PRICE


def test_the_analytics_of_users_have_a_price_too() -> None:
    def later(graph: AnalyticGraph) -> Collection:
        def step(labels: Collection, arriving: Collection) -> Collection:
            return labels.concat(arriving).group_by("vertex").min("value")

        own = graph.nodes.select(vertex="node", value="node")
        return own.iterate_prioritized(step, priority=col("value"))

    assert price(Analytic.of(later).bind({})) == price(find("wcc").bind({}))


@given(COSTS, COSTS, COSTS, st.floats(1, 10) | st.just(inf))
def test_the_least_estimate_is_taken(given_order: float, chain: float, lattice: float, price: float) -> None:
    costs = {"given": given_order, "chain": chain, "lattice": lattice, "random": 0.0}
    expected = estimates(costs, price)
    assert expected.keys() == {"given", "chain", "lattice"}
    assert expected[choose_order(costs, price)] == min(expected.values())


def test_nothing_costs_nothing_at_any_price() -> None:
    assert estimates({"chain": 2, "lattice": 2}, 5) == {"chain": 2, "lattice": 10}
    assert estimates({"chain": 0, "lattice": 0}, inf) == {"chain": 0, "lattice": 0}


@given(COSTS, COSTS, COSTS, st.floats(LEAST_PRICE, 10))
def test_only_a_lattice_is_chosen_again(given_order: float, chain: float, lattice: float, price: float) -> None:
    """What a collection stores is by the least price: where that is no lattice, it is none at any price."""
    costs = {"given": given_order, "chain": chain, "lattice": lattice}
    stored = choose_order(costs)
    assert stored == "lattice" or choose_order(costs, price) == stored
