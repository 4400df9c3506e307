"""Graphs with communities: simple, and with the degrees, sizes and mixing that were asked for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide import datasets


def mixing(nodes: pa.Table, edges: pa.Table) -> float:
    """The share of edges between communities, counted one by one."""
    of = dict(zip(*(column.to_pylist() for column in nodes.columns), strict=True))
    crossing = [of[src] != of[dst] for src, dst in zip(*(column.to_pylist() for column in edges.columns), strict=True)]
    return sum(crossing) / len(crossing)


def degrees(nodes: pa.Table, edges: pa.Table) -> np.ndarray:
    return np.bincount(np.concatenate([edges["src"], edges["dst"]]), minlength=nodes.num_rows)


def beyond(x: float, exponent: float, low: float, high: float) -> float:
    """The share of a power law between two bounds that lies beyond x."""
    low, x, high = (bound ** (1 - exponent) for bound in (low, x, high))
    return (x - high) / (low - high)


@given(
    st.integers(40, 400),
    st.floats(4, 12),
    st.sampled_from([0, 0.1, 0.5, 1]) | st.floats(0, 1),
    st.integers(0, 2**40),
)
def test_edges_are_simple_and_communities_are_of_their_sizes(nodes: int, mean: float, mu: float, seed: int) -> None:
    table, edges = datasets.communities(nodes, mean, mu, seed)
    assert table.schema == pa.schema({"id": pa.int64(), "community": pa.int64()})
    assert edges.schema == pa.schema({"src": pa.int64(), "dst": pa.int64()})
    assert table["id"].to_pylist() == list(range(nodes))
    pairs = list(zip(*(column.to_pylist() for column in edges.columns), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(0 <= src < dst < nodes for src, dst in pairs)
    sizes = Counter(table["community"].to_pylist())
    assert sorted(sizes) == list(range(len(sizes)))
    assert [sizes[community] for community in range(len(sizes))] == sorted(sizes.values(), reverse=True)
    assert min(sizes.values()) >= min(nodes, 16)


def test_without_mixing_no_edge_leaves_its_community_and_with_all_of_it_every_one_does() -> None:
    assert mixing(*datasets.communities(3_000, mu=0)) == 0
    assert mixing(*datasets.communities(3_000, mu=1)) == 1


@pytest.mark.parametrize("mu", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize(("nodes", "mean"), [(1_000, 15), (20_000, 6.6)])
def test_the_mixing_and_the_mean_degree_are_those_asked_for(nodes: int, mean: float, mu: float) -> None:
    table, edges = datasets.communities(nodes, mean, mu, seed=3)
    assert mixing(table, edges) == pytest.approx(mu, abs=0.01)
    assert 2 * edges.num_rows / nodes == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize("exponent", [2.1, 2.5, 3.5])
def test_degrees_fall_by_their_power_law_up_to_the_largest(exponent: float) -> None:
    low, largest = 5, 200
    # The mean of this law, summed up in small steps, and what the generator must take its lower bound from.
    x = np.linspace(low, largest, 1_000_001)
    mean = np.average(x, weights=x**-exponent)
    degree = degrees(*datasets.communities(30_000, mean, 0.3, degree_exponent=exponent, largest_degree=largest))
    assert degree.max() <= largest
    # A value is rounded up or down by chance; one that is half above a bound is beyond it half of the time.
    for bound in (10, 20, 40):
        assert (degree >= bound).mean() == pytest.approx(beyond(bound - 0.5, exponent, low, largest), rel=0.1)


@pytest.mark.parametrize("exponent", [1.5, 2, 3])
def test_sizes_fall_by_their_power_law_between_their_bounds(exponent: float) -> None:
    table, _ = datasets.communities(
        200_000, 8, 0.3, size_exponent=exponent, smallest_community=20, largest_community=1_000, largest_degree=500
    )
    sizes = np.array(list(Counter(table["community"].to_pylist()).values()))
    assert sizes.min() >= 20
    assert sizes.max() <= 1_001
    for bound in (30, 50, 100):
        expected = beyond(bound, exponent, 20, 1_000)
        assert (sizes >= bound).mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / len(sizes)))


def test_a_number_tells_neither_the_community_nor_the_degree() -> None:
    table, edges = datasets.communities(20_000)
    ids = table["id"].to_numpy()
    assert abs(np.corrcoef(ids, table["community"].to_numpy())[0, 1]) < 0.05
    assert abs(np.corrcoef(ids, degrees(table, edges))[0, 1]) < 0.05


def test_edges_are_in_no_order() -> None:
    _, edges = datasets.communities(20_000)
    assert abs(np.corrcoef(np.arange(edges.num_rows), edges["src"].to_numpy())[0, 1]) < 0.05
