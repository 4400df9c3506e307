"""R-MAT: as many edges as asked, as skewed as the quarters say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide import datasets


def degrees(edges: pa.Table, end: str) -> np.ndarray:
    return np.bincount(edges[end].to_numpy())


@given(st.integers(1, 8), st.integers(1, 20), st.integers(0, 2**40))
def test_edges_are_as_many_as_asked_between_vertices_of_the_scale(scale: int, factor: int, seed: int) -> None:
    edges = datasets.rmat(scale, factor, seed)
    assert edges.schema == pa.schema({"src": pa.int64(), "dst": pa.int64()})
    assert edges.num_rows == factor * 2**scale
    for end in edges.columns:
        assert 0 <= min(end.to_pylist()) <= max(end.to_pylist()) < 2**scale


@pytest.mark.parametrize(("a", "b", "c"), [(0.57, 0.19, 0.19), (0.5, 0.3, 0.1), (0.6, 0.1, 0.25)])
def test_the_heaviest_vertex_has_the_share_of_the_first_row_or_column(a: float, b: float, c: float) -> None:
    edges = datasets.rmat(10, 64, a=a, b=b, c=c)
    assert degrees(edges, "src").max() == pytest.approx(edges.num_rows * (a + b) ** 10, rel=0.1)
    assert degrees(edges, "dst").max() == pytest.approx(edges.num_rows * (a + c) ** 10, rel=0.1)


def test_a_pair_of_vertices_is_drawn_as_often_as_its_quarters() -> None:
    # With one level there are four pairs, and the vertices are in one of two orders.
    edges = datasets.rmat(1, 50_000, a=0.4, b=0.3, c=0.2)
    counts = np.bincount(2 * edges["src"].to_numpy() + edges["dst"].to_numpy())
    if counts[0] < counts[3]:
        counts = counts[::-1]
    np.testing.assert_allclose(counts / edges.num_rows, [0.4, 0.3, 0.2, 0.1], atol=0.01)


def test_equal_quarters_give_equal_chances() -> None:
    edges = datasets.rmat(10, 64, a=0.25, b=0.25, c=0.25)
    # Poisson: six standard deviations.
    assert degrees(edges, "src").max() < 64 + 6 * 8
    assert degrees(edges, "src").min() > 64 - 6 * 8


def test_a_single_quarter_gives_a_single_edge() -> None:
    edges = datasets.rmat(6, 4, a=1, b=0, c=0)
    assert len(set(edges["src"].to_pylist()) | set(edges["dst"].to_pylist())) == 1


def test_a_number_does_not_tell_the_degree() -> None:
    degree = degrees(datasets.rmat(12, 16), "src")
    assert abs(np.corrcoef(np.arange(len(degree)), degree)[0, 1]) < 0.05
