"""What `Antichain` does at its edges."""

from __future__ import annotations

import pytest

from graphtide.time import Antichain


def test_the_empty_frontier_covers_nothing_and_is_the_last() -> None:
    empty = Antichain()
    assert not empty.covers((0, 0))
    assert not empty
    assert Antichain([(9, 9)]) < empty
    assert empty.meet(Antichain([(1,)])) == Antichain([(1,)])
    assert empty.join(Antichain([(1,)])) == empty
    assert repr(empty) == "Antichain()"


def test_membership_is_of_elements_only() -> None:
    frontier = Antichain([(1, 5), (3, 2)])
    assert (1, 5) in frontier
    assert (4, 4) not in frontier
    assert len(frontier) == 2
    assert list(frontier) == [(1, 5), (3, 2)]


def test_an_antichain_cannot_be_changed() -> None:
    frontier = Antichain([(1,)])
    with pytest.raises(AttributeError):
        frontier.elements = ()  # type: ignore[misc]
    assert frontier.insert((2,)) is frontier


def test_times_of_different_scopes_do_not_mix() -> None:
    with pytest.raises(AssertionError, match="different scopes"):
        Antichain([(1,)]).covers((1, 0))


def test_a_loop_of_one_coordinate_has_one_element() -> None:
    assert Antichain([(3,), (1,), (2,)]) == Antichain([(1,)])
