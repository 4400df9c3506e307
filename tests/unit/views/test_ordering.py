"""Orders of few, equal, empty and nested views, and of views that nothing but a search can order."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from graphtide.errors import UsageError
from graphtide.views.ordering import christofides_tour, order_views


def distances_of(views: list[set[int]]) -> np.ndarray:
    padded = [set(), *views]
    return np.array([[len(a ^ b) for b in padded] for a in padded])


def random_views(count: int, edges: int = 60) -> list[set[int]]:
    rng = np.random.default_rng(count)
    return [set(np.flatnonzero(rng.random(edges) < 0.5).tolist()) for _ in range(count)]


def cyclic_windows(count: int) -> list[set[int]]:
    """Windows of four edges on a ring: the way round is the best order, and no view contains another."""
    return [{(start + step) % count for step in range(4)} for start in range(count)]


def test_no_view_has_the_empty_order() -> None:
    order = order_views(distances_of([]))
    assert (order.views, order.differences, order.lower_bound) == ((), 0, 0)
    assert order.costs == {"given": 0, "random": 0, "containment": 0}


def test_one_view_costs_its_size() -> None:
    order = order_views(distances_of([{1, 2, 3}]))
    assert (order.views, order.differences, order.lower_bound) == ((0,), 3, 3)


def test_of_two_views_the_smaller_comes_first() -> None:
    order = order_views(distances_of([{1, 2, 3}, {3, 4}]))
    assert (order.views, order.differences, order.method) == ((1, 0), 5, "exact")


def test_nested_views_need_no_search_however_many_they_are() -> None:
    order = order_views(distances_of([set(range(size)) for size in reversed(range(40))]))
    assert order.views == tuple(reversed(range(40)))
    assert (order.differences, order.method) == (39, "containment")


def test_equal_views_stay_in_the_order_given() -> None:
    views = [{1}, set(), {1}, {1, 2}, set()]
    assert order_views(distances_of(views), given=[4, 2, 3, 1, 0]).views == (4, 1, 2, 0, 3)


@pytest.mark.parametrize("count", [12, 13])
def test_equal_and_empty_views_among_others_cost_nothing_more(count: int) -> None:
    views = [{1, 2}, {2, 3}, set(), {1, 2}, set(), *[{2, 3}] * (count - 5)]
    assert order_views(distances_of(views)).differences == 4


def test_exact_orders_end_with_twelve_views() -> None:
    methods = [order_views(distances_of(random_views(count))).method for count in (11, 12, 13, 14)]
    assert methods == ["exact", "exact", "christofides+local search", "christofides+local search"]


@pytest.mark.parametrize(("count", "method"), [(9, "exact"), (30, "given")])
def test_a_given_order_that_cannot_be_beaten_is_kept(count: int, method: str) -> None:
    around = [(7 + step) % count for step in range(count)]
    order = order_views(distances_of(cyclic_windows(count)), given=around)
    assert order.views == tuple(around)
    assert order.method == method
    assert order.differences == order.costs["given"] == 4 + 2 * (count - 1)


def test_a_nested_order_that_was_given_is_kept() -> None:
    order = order_views(distances_of([{1}, {1}, {1, 2}]), given=[1, 0, 2])
    assert (order.views, order.method) == ((1, 0, 2), "containment")


def test_without_a_given_order_the_views_come_as_in_the_matrix() -> None:
    distances = distances_of(random_views(20))
    assert order_views(distances) == order_views(distances, given=range(20))


@pytest.mark.parametrize("given", [[], [0, 1], [0, 1, 1], [1, 2, 3]])
def test_a_given_order_must_name_each_view_once(given: list[int]) -> None:
    with pytest.raises(UsageError, match=r"is not an order of 3 views\nhint: name each view from 0 to 2 once"):
        order_views(distances_of(random_views(3)), given=given)


def test_every_step_of_the_search_is_on_record() -> None:
    order = order_views(distances_of(random_views(40)))
    assert list(order.costs) == ["given", "random", "christofides", "local search"]
    assert order.lower_bound <= order.costs["local search"] <= order.costs["christofides"] < order.costs["random"]
    assert order.differences == order.costs["local search"]


def test_the_better_direction_of_the_tour_is_taken() -> None:
    better: set[int] = set()
    for count in range(13, 33):
        distances = distances_of(random_views(count))
        chain = christofides_tour(distances)[1:].tolist()
        forward, backward = (int(distances[[0, *path[:-1]], path].sum()) for path in (chain, chain[::-1]))
        assert order_views(distances).costs["christofides"] == min(forward, backward)
        better.add(np.sign(forward - backward))
    assert {-1, 1} <= better, "either direction is sometimes the better one"


def test_orders_are_the_same_every_time_and_made_of_plain_numbers() -> None:
    distances = distances_of(random_views(30))
    order = order_views(distances)
    assert order == order_views(distances.copy())
    plain = asdict(order)
    assert {type(view) for view in plain["views"]} == {int}
    assert {type(cost) for cost in plain["costs"].values()} == {int, float}


def test_tours_through_one_two_and_three_places() -> None:
    assert christofides_tour(np.zeros((0, 0), np.int64)).tolist() == []
    assert christofides_tour(np.zeros((1, 1), np.int64)).tolist() == [0]
    assert christofides_tour(np.array([[0, 4], [4, 0]])).tolist() == [0, 1]
    assert sorted(christofides_tour(np.zeros((3, 3), np.int64)).tolist()) == [0, 1, 2]
