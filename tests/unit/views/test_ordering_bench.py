"""The bench of orders on a small graph: its views are those it describes, and its rows notice a wrong order."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from graphtide.bench.ordering_views import Ordered, comparisons, masks_without_communities, ordered

VERTICES = 400
# Communities of falling size; the last vertices are in none.
COMMUNITY = np.repeat([7, 3, 9, 1, 5, 0, 2, -1], [120, 80, 60, 40, 30, 20, 10, 40])


def random_edges(count: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(4).integers(0, VERTICES, (2, count)))


@pytest.fixture(scope="module")
def found() -> Ordered:
    words, views = masks_without_communities(*random_edges(3000), COMMUNITY, largest=6, removed=3)
    return ordered(words, views, repeats=1)


def test_a_view_has_the_edges_outside_of_the_communities_that_it_removes() -> None:
    src, dst = random_edges(500)
    words, views = masks_without_communities(src, dst, COMMUNITY, largest=6, removed=3)
    choices = list(combinations([7, 3, 9, 1, 5, 0], 3))
    assert views == len(choices) == 20
    for edge in range(500):
        ends = {COMMUNITY[src[edge]], COMMUNITY[dst[edge]]}
        assert int(words[edge, 0]) == sum(1 << view for view, choice in enumerate(choices) if not ends & set(choice))


def test_ten_communities_make_252_views_of_four_words() -> None:
    community = np.arange(VERTICES) % 12
    words, views = masks_without_communities(*random_edges(50), community)
    assert (words.shape, views) == ((50, 4), 252)


def test_rows_agree_and_the_order_is_no_worse_than_the_given_one(found: Ordered) -> None:
    rows = list(comparisons("communities", found))
    assert [row.name for row in rows if not row.agree] == []
    assert len({(row.name, row.peer_name) for row in rows}) == len(rows)
    against = {row.peer_name: row for row in rows if row.peer is not None}
    assert against["given order"].holds
    assert against["random order"].bar == 5.0
    assert against["random order"].ratio == found.order.costs["random"] / found.order.differences


def test_an_order_that_costs_something_else_than_it_says_is_noticed(found: Ordered) -> None:
    wrong = replace(found, order=replace(found.order, differences=found.order.differences - 1))
    assert not any(row.agree for row in comparisons("communities", wrong))
