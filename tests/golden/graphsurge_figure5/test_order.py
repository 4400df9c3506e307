"""The collection of listing 3: 540 differences as given, 260 at best."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from graphtide.views.ordering import mask_distances, order_views

# Edges, and views that have them, as in figure 5.
SEGMENTS = [(10, [1]), (40, [1, 3]), (10, [1, 2, 3]), (40, [1, 2, 3, 4]), (100, [2, 4])]
ID = np.arange(200)
LISTING = [ID < 100, (ID >= 50) & (ID < 200), (ID >= 10) & (ID < 100), (ID >= 60) & (ID < 200)]


def by_figure() -> np.ndarray:
    words = np.array([[sum(1 << view - 1 for view in views)] for _, views in SEGMENTS])
    return mask_distances(words, np.array([count for count, _ in SEGMENTS]), views=4)


def by_listing() -> np.ndarray:
    words = sum(view.astype(np.int64) << j for j, view in enumerate(LISTING))
    return mask_distances(words[:, None], np.ones(200, np.int64), views=4)


def cost(distances: np.ndarray, views: tuple[int, ...]) -> int:
    return sum(distances[a, b] for a, b in pairwise((0, *views)))


@pytest.mark.parametrize("distances", [by_figure(), by_listing()], ids=["figure", "listing"])
def test_the_order_found_costs_260_differences_and_the_given_one_540(distances: np.ndarray) -> None:
    order = order_views(distances)
    assert order.costs["given"] == 540
    assert order.differences == order.lower_bound == 260
    assert tuple(view + 1 for view in order.views) in {(3, 1, 2, 4), (1, 3, 2, 4)}
    assert distances[1, 3] == 10


def test_two_orders_tie_for_the_best() -> None:
    costs = {views: cost(by_figure(), views) for views in permutations((1, 2, 3, 4))}
    assert min(costs.values()) == 260
    assert {views for views, each in costs.items() if each == 260} == {(3, 1, 2, 4), (1, 3, 2, 4)}
