"""The copying model: links go back in time, and copies make a heavy tail."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from graphtide import datasets


@given(st.integers(1, 6), st.integers(0, 60), st.floats(0, 1), st.integers(0, 2**40))
def test_each_vertex_links_to_older_ones_and_the_first_to_each_other(
    out_degree: int, later: int, copied: float, seed: int
) -> None:
    nodes = out_degree + 1 + later
    links = datasets.copying_model(nodes, out_degree, copied, seed)
    assert links.schema == pa.schema({"src": pa.int64(), "dst": pa.int64()})
    assert links["src"].to_pylist() == [vertex for vertex in range(nodes) for _ in range(out_degree)]
    first = range(out_degree + 1)
    for vertex, start in enumerate(range(0, links.num_rows, out_degree)):
        targets = links["dst"].slice(start, out_degree).to_pylist()
        if vertex in first:
            assert targets == [other for other in first if other != vertex]
        else:
            assert all(0 <= target < vertex for target in targets)


@given(st.integers(2, 5), st.integers(1, 200), st.integers(0, 2**40))
def test_who_copies_everything_has_the_links_of_a_first_one(out_degree: int, later: int, seed: int) -> None:
    links = datasets.copying_model(out_degree + 1 + later, out_degree, 1, seed)
    lists = links["dst"].to_numpy().reshape(-1, out_degree).tolist()
    assert all(each in lists[: out_degree + 1] for each in lists)


def test_who_copies_nothing_links_to_all_older_ones_alike() -> None:
    links = datasets.copying_model(20_000, 8, 0)
    place = links["dst"].to_numpy()[8_000:] / links["src"].to_numpy()[8_000:]
    np.testing.assert_allclose(np.quantile(place, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.01)


def test_half_of_the_links_are_copied_if_asked_for_half() -> None:
    # With one link each, a link to 0 or 1 is a copy of one that went there, or it is new and went there by chance.
    nodes = 4_000
    firsts = [np.isin(datasets.copying_model(nodes, 1, 0.5, seed)["dst"].to_numpy(), [0, 1]) for seed in range(200)]
    # The chance that vertex v ends there: half of the mean over the older ones, and half of 2 / v.
    expected = np.ones(nodes)
    total = 2.0
    for vertex in range(2, nodes):
        expected[vertex] = 0.5 * total / vertex + 0.5 * 2 / vertex
        total += expected[vertex]
    assert abs(np.mean(firsts) / expected.mean() - 1) < 0.05


def test_the_more_is_copied_the_heavier_is_the_tail() -> None:
    largest = [np.bincount(datasets.copying_model(20_000, 8, share)["dst"].to_numpy()).max() for share in (0, 0.4, 0.8)]
    assert largest[0] * 4 < largest[1]
    assert largest[1] * 4 < largest[2]
