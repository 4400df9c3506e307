"""What a read counts is what was added, however many values come and whatever a tally had before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.ego.kernels import tally as kernels
from graphtide.jit import kernel

# So many that some of them have the same slot.
SOME = np.random.default_rng(0).integers(-(2**63), 2**63, 3_000)
values = st.one_of(st.integers(0, 40), st.sampled_from(SOME[:150].tolist()), st.integers(-(2**63), 2**63 - 1))
changes = st.lists(st.tuples(values, st.sampled_from([1, 1, 2, -1])), max_size=300)
NO_RANKS = np.zeros(0, np.int64)


@kernel
def count(tally, expected, values, changes):
    kernels.begin_tally(tally, expected)
    for k in range(values.shape[0]):
        kernels.add_value(tally, values[k], changes[k])
    kernels.count_tally(tally)
    return kernels.distinct(tally)


def found_by(tally):
    """The values that were found, with their counts; no slot has anything of them any more."""
    slots = kernels._slots(tally)
    assert not slots[1::2].any()
    many = int(tally[kernels.FOUND])
    found = [of(tally)[:many].tolist() for of in (kernels.values_of, kernels.counts_of)]
    assert len(set(found[0])) == many
    return dict(zip(*found, strict=True))


@pytest.fixture(scope="module")
def tally():
    """One for all examples: each finds what the one before has left."""
    made = np.zeros(kernels.TALLY, np.int64)
    yield made
    kernels.discard_tally(made)


@given(expected=st.integers(0, 70), changes=changes, most=st.integers(1, 12))
def test_counts_add_up_and_the_most_frequent_come_first(tally, expected, changes, most):
    wanted = Counter()
    for value, change in changes:
        wanted[value] += change
    columns = np.array(changes, np.int64).reshape(-1, 2)
    distinct = count(tally, expected, columns[:, 0].copy(), columns[:, 1].copy())
    there = {value: number for value, number in wanted.items() if number}
    assert distinct == len(there)
    assert found_by(tally) == there
    found = np.zeros(2 * most, np.int64)
    number = kernels.most_frequent(tally, found, 0, 1, most, most, NO_RANKS)
    ranked = sorted(((-times, value) for value, times in there.items() if times > 0))[:most]
    assert [(-found[most + k], found[k]) for k in range(number)] == ranked


@pytest.mark.parametrize("expected", [0, len(SOME)])
def test_values_that_have_the_same_slot_are_told_apart(tally, expected):
    """Also if one of them is there no more: the others behind it are found."""
    values = np.tile(SOME, 3)
    changes = np.ones(len(values), np.int64)
    changes[: len(SOME) : 2] = -2  # every other value comes and goes
    assert len({kernels.golden(value, 16) for value in SOME}) < len(SOME)
    assert count(tally, expected, values, changes) == len(SOME) // 2
    assert found_by(tally) == dict.fromkeys(SOME[1::2].tolist(), 3)


@kernel
def count_parts(tally, plain, pairs, sign):
    kernels.begin_tally(tally, 0)
    kernels.add_values(tally, plain, 0, plain.shape[0], 1)
    kernels.add_pairs(tally, pairs, 0, pairs.shape[0] // 2, sign)
    kernels.count_tally(tally)
    return kernels.distinct(tally)


@given(
    plain=st.lists(values, max_size=60),
    pairs=st.lists(st.tuples(values, st.integers(-1, 3)), max_size=80),
    sign=st.sampled_from([1, -1]),
)
def test_many_values_and_tables_with_gaps_add_up(tally, plain, pairs, sign):
    """Where a count is 0 there is no value, whatever was there before."""
    wanted = Counter(plain)
    for value, number in pairs:
        wanted[value] += sign * number
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    distinct = count_parts(tally, np.array(plain, np.int64), rows.reshape(-1).copy(), sign)
    there = {value: number for value, number in wanted.items() if number}
    assert found_by(tally) == there
    assert distinct == len(there)
