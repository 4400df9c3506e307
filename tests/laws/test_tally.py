"""What a read counts is what was added, however many values come and whatever a tally had before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.ego.kernels import tally as kernels
from graphtide.jit import kernel

# Some come again after there are more slots, and some of these share one.
SOME = np.random.default_rng(0).integers(-(2**63), 2**63, 150)
values = st.one_of(st.integers(0, 40), st.sampled_from(SOME.tolist()), st.integers(-(2**63), 2**63 - 1))
changes = st.lists(st.tuples(values, st.sampled_from([1, 1, 2, -1])), max_size=300)
NO_RANKS = np.zeros(0, np.int64)


@kernel
def count(tally, expected, values, changes):
    kernels.begin_tally(tally, expected)
    for k in range(values.shape[0]):
        kernels.add_value(tally, values[k], changes[k])
    return kernels.distinct(tally)


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
    numbered = int(tally[kernels.NUMBERED])
    assert dict(
        zip(*(of(tally)[:numbered].tolist() for of in (kernels.values_of, kernels.counts_of)), strict=True)
    ) == dict(wanted)
    found = np.zeros(2 * most, np.int64)
    number = kernels.most_frequent(tally, found, 0, 1, most, most, NO_RANKS)
    ranked = sorted(((-times, value) for value, times in there.items() if times > 0))[:most]
    assert [(-found[most + k], found[k]) for k in range(number)] == ranked


def test_what_is_left_in_slots_never_fills_them(tally):
    """Numbers that were given before look like ones that are given now; a search that believed them would not end."""
    for first in range(1_000):
        some = SOME[np.arange(first, first + 16) % len(SOME)]
        assert count(tally, 16, some, np.ones(16, np.int64)) == 16


def test_more_values_than_were_expected_are_still_found(tally):
    """When there are more slots, all values move, and some of them meet."""
    assert count(tally, 0, np.tile(SOME, 2), np.ones(2 * len(SOME), np.int64)) == len(SOME)


@kernel
def count_parts(tally, plain, pairs, used, sign):
    kernels.begin_tally(tally, 0)
    kernels.add_values(tally, plain, 0, plain.shape[0], 1)
    kernels.add_pairs(tally, pairs, 0, pairs.shape[0] // 2, used, sign)
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
    distinct = count_parts(
        tally, np.array(plain, np.int64), rows.reshape(-1).copy(), np.count_nonzero(rows[:, 1]), sign
    )
    numbered = int(tally[kernels.NUMBERED])
    found = zip(*(of(tally)[:numbered].tolist() for of in (kernels.values_of, kernels.counts_of)), strict=True)
    there = {value: number for value, number in wanted.items() if number}
    assert {value: number for value, number in found if number} == there
    assert distinct == len(there)
