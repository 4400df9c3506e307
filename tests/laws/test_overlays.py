"""Overlays compute what their neighbourhoods ask for, by whatever method they are made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.strategies import neighbourhood_sets

from graphtide.ego import (
    AdaptiveMining,
    FixedMining,
    Incremental,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    Overlay,
    build,
)

METHODS = [
    FixedMining(chunk=4),
    AdaptiveMining(),
    NegativeMining(),
    NegativeMining(paths=3, negatives=2, chunk=5),
    OverlappingMining(),
    OverlappingMining(overlap=0.5, chunk=4),
    Incremental(),
    Incremental(look=2),
]
each_method = pytest.mark.parametrize("method", METHODS, ids=str)


def summed(overlay: Overlay, values: np.ndarray) -> np.ndarray:
    """What readers get if writers have values: sums along signed inputs, or maxima if paths may overlap."""
    result = np.zeros(overlay.nodes, values.dtype)
    result[: overlay.writers] = values
    for node in np.argsort(overlay.levels(), kind="stable"):
        begin, end = overlay.starts[node], overlay.starts[node + 1]
        taken = result[overlay.inputs[begin:end]] * overlay.signs[begin:end]
        if node >= overlay.writers:
            result[node] = taken.max(initial=0) if overlay.overlapping else taken.sum()
    return result[overlay.writers : overlay.writers + overlay.readers]


@each_method
@given(asked=neighbourhood_sets(), iterations=st.integers(1, 4))
def test_an_overlay_aggregates_its_neighbourhoods(method, asked, iterations) -> None:
    writers, sets = asked
    neighbourhoods = Neighbourhoods.from_sets(sets, writers)
    neighbourhoods.check_invariants()
    overlay = build(neighbourhoods, method, iterations).overlay
    overlay.check_invariants(neighbourhoods)
    values = 3 ** np.arange(writers)
    add = max if overlay.overlapping else sum
    assert summed(overlay, values).tolist() == [add([0, *(3**w for w in each)]) for each in sets]


def noisy_copies(seed: int) -> tuple[int, list[set[int]]]:
    """Many readers that want nearly the same: large enough for partial aggregates of partial aggregates."""
    rng = np.random.default_rng(seed)
    writers = int(rng.integers(20, 60))
    models = rng.random((int(rng.integers(2, 6)), writers)) < rng.uniform(0.3, 0.8)
    chosen = models[rng.integers(0, len(models), size=120)]
    wanted = chosen ^ (rng.random(chosen.shape) < rng.uniform(0.01, 0.08))
    return writers, [set(np.flatnonzero(each).tolist()) for each in wanted]


@each_method
@share(15)
@given(seed=st.integers(0, 2**32))
def test_a_deep_overlay_aggregates_its_neighbourhoods(method, seed) -> None:
    writers, sets = noisy_copies(seed)
    neighbourhoods = Neighbourhoods.from_sets(sets, writers)
    overlay = build(neighbourhoods, method, 6).overlay
    overlay.check_invariants(neighbourhoods)
    assert overlay.levels().max() > 1


def test_a_reader_that_lacks_the_same_writer_of_two_bicliques_subtracts_it_once() -> None:
    left, right = {*range(7)}, {*range(6, 13)}
    neighbourhoods = Neighbourhoods.from_sets([*[left] * 5, *[right] * 5, (left | right) - {6}], 13)
    overlay = build(neighbourhoods, NegativeMining(), 1).overlay
    overlay.check_invariants(neighbourhoods)
    assert overlay.has_negatives


@each_method
@given(asked=neighbourhood_sets())
def test_an_overlay_never_has_more_edges_than_there_are_pairs(method, asked) -> None:
    writers, sets = asked
    neighbourhoods = Neighbourhoods.from_sets(sets, writers)
    built = build(neighbourhoods, method)
    indices = [0.0, *(each.sharing_index for each in built.iterations)]
    assert indices == sorted(indices)
    assert built.overlay.edges == len(neighbourhoods) - sum(each.benefit for each in built.iterations)
    sizes = np.diff(built.overlay.starts)
    outputs = np.bincount(built.overlay.inputs, minlength=built.overlay.nodes)
    partials = slice(built.overlay.writers + built.overlay.readers, None)
    if not built.overlay.has_negatives:
        assert (sizes[partials] >= 2).all()
        assert (outputs[partials] >= 2).all()


@each_method
@given(asked=neighbourhood_sets())
def test_the_same_neighbourhoods_give_the_same_overlay(method, asked) -> None:
    writers, sets = asked
    neighbourhoods = Neighbourhoods.from_sets(sets, writers)
    first, second = (build(neighbourhoods, method, 2).overlay for _ in range(2))
    for name in ("starts", "inputs", "signs"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


@each_method
@pytest.mark.parametrize(("writers", "readers"), [(8, 5), (70, 130), (3, 200)])
def test_what_all_readers_share_is_aggregated_once(method, writers, readers) -> None:
    neighbourhoods = Neighbourhoods.from_sets([range(writers)] * readers, writers)
    overlay = build(neighbourhoods, method, 20).overlay
    overlay.check_invariants(neighbourhoods)
    assert overlay.edges <= 3 * (writers + readers)


@given(asked=neighbourhood_sets())
def test_pairs_in_any_order_and_twice_are_the_same_neighbourhoods(asked) -> None:
    writers, sets = asked
    pairs = [(w, r) for r, each in enumerate(sets) for w in each] * 2
    table = np.array(pairs[::-1], np.int64).reshape(-1, 2)
    found = Neighbourhoods.from_pairs(table[:, 0], table[:, 1], writers, len(sets))
    found.check_invariants()
    assert [found.of(reader).tolist() for reader in range(len(sets))] == [sorted(each) for each in sets]
