"""What `representative` chooses."""

from __future__ import annotations

import pytest

from graphtide.time import Antichain, representative


def test_a_total_order_moves_the_past_to_the_frontier() -> None:
    assert representative((2,), [(5,)]) == (5,)
    assert representative((7,), [(5,)]) == (7,)


def test_several_elements_keep_only_what_all_of_them_hide() -> None:
    since = Antichain([(1, 5), (3, 2)])
    assert representative((0, 0), since) == (1, 2)
    assert representative((2, 0), since) == (2, 2)
    assert representative((0, 9), since) == (1, 9)


def test_an_empty_frontier_has_no_representative() -> None:
    with pytest.raises(AssertionError, match="no readers"):
        representative((1,), Antichain())
