"""Matching of stubs: simple edges inside groups, no more than a vertex has stubs, and few stubs without a partner."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphtide.datasets.generators.stub_matching import match_stubs


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), min_size=1, max_size=60),
    st.sampled_from([2, 3, 1_000]),
    st.integers(0, 2**40),
)
def test_edges_are_distinct_allowed_and_within_degrees(vertices: list[tuple[int, int]], parts: int, seed: int) -> None:
    groups, degrees = np.array(sorted(vertices)).T
    n = len(degrees)
    codes = match_stubs(degrees, groups, lambda u, v: u % parts != v % parts, np.random.default_rng(seed))
    assert codes.tolist() == sorted(set(codes.tolist()))
    used = np.zeros(n, np.int64)
    for u, v in (divmod(code, n) for code in codes.tolist()):
        assert u < v
        assert groups[u] == groups[v]
        assert u % parts != v % parts
        used[[u, v]] += 1
    assert (used <= degrees).all()


@given(st.lists(st.integers(30, 60), min_size=1, max_size=5), st.integers(1, 10), st.integers(0, 2**40))
def test_all_stubs_find_a_partner_where_groups_are_sparse_but_the_odd_ones(
    sizes: list[int], degree: int, seed: int
) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    degrees = np.full(len(groups), degree)
    codes = match_stubs(degrees, groups, lambda u, _: np.ones(len(u), np.bool_), np.random.default_rng(seed))
    possible = sum(size * degree // 2 for size in sizes)
    assert possible - 1 <= len(codes) <= possible


def test_every_partner_is_as_likely_as_another() -> None:
    n, tries = 20, 3_000
    met = np.zeros((n, n))
    rng = np.random.default_rng(1)
    for _ in range(tries):
        codes = match_stubs(np.full(n, 3), np.zeros(n, np.int64), lambda u, _: np.ones(len(u), np.bool_), rng)
        met[np.divmod(codes, n)] += 1
    often = met[np.triu_indices(n, 1)] / tries
    # Three partners among nineteen; five standard deviations.
    np.testing.assert_allclose(often, 3 / 19, atol=5 * np.sqrt(3 / 19 * 16 / 19 / tries))
