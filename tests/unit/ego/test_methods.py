"""What methods and costs say to numbers that kernels could not take."""

from __future__ import annotations

import math

import pytest

from graphtide.ego import (
    AdaptiveMining,
    Costs,
    Curve,
    Direct,
    FixedMining,
    Incremental,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    build,
)
from graphtide.ego.aggregates import aggregate_of
from graphtide.ego.building import check_method
from graphtide.errors import UsageError


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NegativeMining(paths=0), "paths=0"),
        (lambda: NegativeMining(negatives=-1), "negatives=-1"),
        (lambda: NegativeMining(chunk=None), "chunk=None"),
        (lambda: FixedMining(chunk=-3), "chunk=-3"),
        (lambda: FixedMining(chunk="x"), "chunk='x'"),
        (lambda: FixedMining(chunk=0), "chunk=0"),
        (lambda: FixedMining(chunk=10**9), "chunk=1000000000"),
        (lambda: FixedMining(seed=-1), "seed=-1"),
        (lambda: AdaptiveMining(chunk=1), "chunk=1"),
        (lambda: AdaptiveMining(chunk=True), "chunk=True"),
        (lambda: AdaptiveMining(seed=2**80), "seed="),
        (lambda: Incremental(look=0), "look=0"),
        (lambda: Incremental(seed=0.5), "seed=0.5"),
        (lambda: OverlappingMining(overlap=2), "overlap=2"),
        (lambda: OverlappingMining(overlap=-1), "overlap=-1"),
        (lambda: OverlappingMining(overlap=math.nan), "overlap=nan"),
        (lambda: OverlappingMining(overlap="x"), "overlap='x'"),
        (lambda: OverlappingMining(chunk=1), "chunk=1"),
        (lambda: Curve(constant=-1), "constant=-1"),
        (lambda: Curve(linear=math.inf), "linear=inf"),
        (lambda: Curve(log="x"), "log='x'"),
        (lambda: Costs(push=3), "push=3"),
        (lambda: Costs(pull=None), "pull=None"),
        (lambda: Costs(pull=Curve(constant=1), merge=Curve(linear=1)), "does not grow"),
    ],
)
def test_parameters_are_checked_when_they_are_given(make, words):
    with pytest.raises(UsageError) as raised:
        make()
    assert words in str(raised.value)
    assert raised.value.hint


LEAST = [
    FixedMining(chunk=2),
    AdaptiveMining(chunk=2),
    NegativeMining(paths=1, negatives=0, chunk=2),
    OverlappingMining(overlap=0, chunk=2),
    OverlappingMining(overlap=0.99, chunk=2),
    Incremental(look=1),
]


@pytest.mark.parametrize("method", LEAST, ids=repr)
def test_the_least_parameters_share_something(method):
    asked = Neighbourhoods.from_sets([set(range(8))] * 8, writer_count=8)
    built = build(asked, method)
    built.overlay.check_invariants(asked)
    assert built.overlay.partials > 0


# Whether they fit is a matter of the aggregate and the method, whatever neighbourhoods are there.
@pytest.mark.parametrize(
    ("name", "method", "fits"),
    [
        ("sum", NegativeMining(), True),
        ("max", NegativeMining(), False),
        ("max", NegativeMining(negatives=0), True),
        ("sum", OverlappingMining(), False),
        ("sum", OverlappingMining(overlap=0), True),
        ("max", OverlappingMining(), True),
        ("max", AdaptiveMining(), True),
        ("sum", Incremental(), True),
        ("max", Direct(), True),
    ],
)
def test_a_method_fits_an_aggregate_or_not(name, method, fits):
    if fits:
        check_method(method, aggregate_of(name))
        return
    with pytest.raises(UsageError, match="use another overlay="):
        check_method(method, aggregate_of(name))
