"""What packing a priority and a round refuses."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.errors import CapacityError
from graphtide.time import PRIORITY_LIMIT, ROUND_BITS, ROUND_LIMIT, pack, pack_array, unpack_array


def test_the_limits_are_those_of_one_int64() -> None:
    assert (ROUND_BITS, ROUND_LIMIT, PRIORITY_LIMIT) == (32, 2**32, 2**31 - 1)
    assert pack(PRIORITY_LIMIT - 1, ROUND_LIMIT - 1) == 2**63 - 2**32 - 1


@pytest.mark.parametrize("priority", [-1, PRIORITY_LIMIT, 2**80])
def test_a_priority_outside_the_limits_is_refused(priority: int) -> None:
    with pytest.raises(CapacityError, match=f"priority {priority} is outside"):
        pack(priority, 0)


@pytest.mark.parametrize("round_", [-1, ROUND_LIMIT])
def test_a_round_outside_the_limits_is_refused(round_: int) -> None:
    with pytest.raises(CapacityError, match=f"round {round_} is outside"):
        pack(0, round_)
    with pytest.raises(CapacityError, match=f"round {round_} is outside"):
        pack_array(np.array([0]), round_)


def test_arrays_pack_as_single_values_do() -> None:
    priorities = np.array([0, 5, PRIORITY_LIMIT - 1])
    packed = pack_array(priorities, 7)
    assert packed.dtype == np.int64
    assert packed.tolist() == [pack(int(p), 7) for p in priorities]
    back, rounds = unpack_array(packed)
    assert back.tolist() == priorities.tolist()
    assert rounds.tolist() == [7, 7, 7]


def test_an_array_names_its_first_offending_priority() -> None:
    with pytest.raises(CapacityError, match="priority -3 is outside"):
        pack_array(np.array([1, -3, -4]), 0)
