"""Laws of the order of views: distances count edges, exact orders are cheapest, searches only ever improve."""

from __future__ import annotations

from itertools import pairwise, permutations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide.views.kernels.held_karp import cheapest_path
from graphtide.views.kernels.local_search import improve
from graphtide.views.kernels.overlaps import overlaps_by_columns, overlaps_by_rows
from graphtide.views.ordering import christofides_tour, group_masks, mask_distances, order_views
from graphtide.views.ordering.christofides import spanning_tree

EDGES = 10


def view_sets(fewest: int, most: int) -> st.SearchStrategy[list[frozenset[int]]]:
    """Views as sets of a few edges: empty, equal and nested ones are likely."""
    return st.lists(st.frozensets(st.integers(0, EDGES - 1)), min_size=fewest, max_size=most)


def differences(views: list[frozenset[int]], order: tuple[int, ...]) -> int:
    """What an order costs, by following the edges that come and go."""
    total, present = 0, frozenset()
    for view in order:
        total += len(present ^ views[view])
        present = views[view]
    return total


def distances_of(views: list[frozenset[int]]) -> np.ndarray:
    padded = [frozenset(), *views]
    return np.array([[len(a ^ b) for b in padded] for a in padded])


@st.composite
def masks(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """A number of views, rows of the edge boolean matrix as whole numbers, and how many edges each stands for."""
    views = draw(st.integers(0, 130))
    row = st.integers(0, 2**views - 1) | st.sets(st.integers(0, max(0, views - 1)), max_size=min(views, 3)).map(
        lambda present: sum(1 << view for view in present)
    )
    rows = draw(st.lists(row, max_size=8))
    repeated = rows + draw(st.lists(st.sampled_from(rows), max_size=8)) if rows else rows
    counts = st.integers(0, 5) | st.integers(0, 2**40)
    return views, repeated, draw(st.lists(counts, min_size=len(repeated), max_size=len(repeated)))


def words_of(views: int, rows: list[int]) -> np.ndarray:
    width = -(-views // 64)
    words = [[row >> 64 * w & 2**64 - 1 for w in range(width)] for row in rows]
    return np.array(words, np.uint64).reshape(len(rows), width)


def counted(views: int, rows: list[int], counts: list[int]) -> np.ndarray:
    """Distances one edge after the other; bit 0 is the padded view."""
    padded = [row << 1 for row in rows]
    return np.array(
        [
            [
                sum(n for row, n in zip(padded, counts, strict=True) if (row >> a ^ row >> b) & 1)
                for b in range(views + 1)
            ]
            for a in range(views + 1)
        ]
    )


@share(40)
@given(masks())
def test_distances_count_the_edges_that_views_differ_in(drawn: tuple[int, list[int], list[int]]) -> None:
    views, rows, counts = drawn
    words, amounts = words_of(views, rows), np.array(counts, np.int64)
    wanted = counted(views, rows, counts)
    assert np.array_equal(mask_distances(words, amounts, views), wanted)
    assert np.array_equal(mask_distances(words.view(np.int64), amounts, views), wanted)
    for count_overlaps in (overlaps_by_rows, overlaps_by_columns):
        below = np.tril(count_overlaps(words, amounts, views))
        sizes = below.diagonal()
        assert np.array_equal(np.tril(wanted[1:, 1:]), np.tril(sizes[:, None] + sizes - 2 * below))


@given(masks(), st.integers(0, 16))
def test_distances_of_parts_add_up(drawn: tuple[int, list[int], list[int]], cut: int) -> None:
    views, rows, counts = drawn
    words, amounts = words_of(views, rows), np.array(counts, np.int64)
    first, second = (mask_distances(words[part], amounts[part], views) for part in (slice(cut), slice(cut, None)))
    assert np.array_equal(first + second, mask_distances(words, amounts, views))


@given(masks())
def test_grouping_keeps_each_mask_once_with_its_count(drawn: tuple[int, list[int], list[int]]) -> None:
    views, rows, _ = drawn
    distinct, counts = group_masks(words_of(views, rows))
    wanted = {row: rows.count(row) for row in rows}
    assert np.array_equal(distinct, words_of(views, list(wanted)))
    assert counts.tolist() == list(wanted.values())


@given(view_sets(0, 7))
def test_up_to_seven_views_get_the_cheapest_of_all_orders(views: list[frozenset[int]]) -> None:
    order = order_views(distances_of(views))
    cheapest = min(differences(views, each) for each in permutations(range(len(views))))
    assert order.differences == order.lower_bound == cheapest
    assert order.method in {"containment", "exact"}


@given(view_sets(1, 7))
def test_dynamic_programming_finds_the_cheapest_order(views: list[frozenset[int]]) -> None:
    path = tuple((cheapest_path(distances_of(views)) - 1).tolist())
    assert sorted(path) == list(range(len(views)))
    assert differences(views, path) == min(differences(views, each) for each in permutations(range(len(views))))


@given(view_sets(0, 30), st.randoms(use_true_random=False))
def test_an_order_has_every_view_once_costs_what_it_says_and_never_more_than_the_given_one(views, random) -> None:
    given_order = random.sample(range(len(views)), len(views))
    order = order_views(distances_of(views), given=given_order)
    assert sorted(order.views) == list(range(len(views)))
    assert order.differences == differences(views, order.views)
    assert order.costs["given"] == differences(views, tuple(given_order))
    assert order.lower_bound <= order.differences == min(cost for name, cost in order.costs.items() if name != "random")


@given(st.lists(st.integers(0, 40), max_size=30))
def test_nested_views_are_ordered_by_size_and_cost_as_much_as_the_largest(sizes: list[int]) -> None:
    order = order_views(distances_of([frozenset(range(size)) for size in sizes]))
    assert order.method == "containment"
    assert [sizes[view] for view in order.views] == sorted(sizes)
    assert order.differences == max(sizes, default=0)


@share(50)
@given(view_sets(11, 12))
def test_where_no_exact_order_is_sought_the_cost_is_at_most_three_times_the_least(views: list[frozenset[int]]) -> None:
    """Graphsurge, corollary 4.2."""
    views = [*views, frozenset({EDGES}), frozenset({EDGES + 1})]  # neither contains the other
    distances = distances_of(views)
    order = order_views(distances)
    least = differences(views, tuple((cheapest_path(distances) - 1).tolist()))
    assert order.lower_bound <= least <= order.differences <= order.costs["christofides"] <= 3 * least


@given(view_sets(0, 6))
def test_a_tour_of_christofides_is_at_most_one_and_a_half_times_the_shortest(views: list[frozenset[int]]) -> None:
    distances = distances_of(views)

    def length(tour: tuple[int, ...]) -> int:
        return sum(distances[a, b] for a, b in pairwise((*tour, 0)))

    tour = tuple(christofides_tour(distances).tolist())
    assert tour[0] == 0
    assert sorted(tour) == list(range(len(distances)))
    assert 2 * length(tour) <= 3 * min(length((0, *rest)) for rest in permutations(range(1, len(distances))))


@given(view_sets(0, 12))
def test_a_spanning_tree_joins_all_at_the_least_cost(views: list[frozenset[int]]) -> None:
    distances = distances_of(views)
    tree = nx.Graph(spanning_tree(distances).tolist())
    assert len(distances) == 1 or (nx.is_tree(tree) and len(tree) == len(distances))
    clique = nx.complete_graph(len(distances))
    for a, b in clique.edges:
        clique.edges[a, b]["weight"] = int(distances[a, b])
    least = nx.minimum_spanning_tree(clique).size(weight="weight")
    assert sum(distances[a, b] for a, b in tree.edges) == least


@st.composite
def paths(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    """Any symmetric distances, and a path through all indices or a tour that returns to its first."""
    size = draw(st.integers(1, 9))
    upper = draw(st.lists(st.integers(0, 20), min_size=size * size, max_size=size * size))
    half = np.triu(np.array(upper).reshape(size, size), 1)
    path = draw(st.permutations(range(size)))
    return half + half.T, path + path[:1] * draw(st.booleans())


def length_of(distances: np.ndarray, path: list[int]) -> int:
    return sum(distances[a, b] for a, b in pairwise(path))


def neighbours(path: list[int]) -> list[list[int]]:
    """The paths with one part reversed, or with up to three moved, whose ends are the same."""
    spans = [(i, j) for i in range(1, len(path)) for j in range(i + 1, len(path))]
    reversed_once = [path[:i] + path[i:j][::-1] + path[j:] for i, j in spans]
    moved = [
        rest[:place] + part + rest[place:]
        for i, j in spans
        if j - i <= 3
        for rest in [path[:i] + path[j:]]
        for place in range(1, len(rest))
        for part in (path[i:j], path[i:j][::-1])
    ]
    return reversed_once + moved


@given(paths())
def test_local_search_never_makes_a_path_longer_and_ends_where_no_move_makes_it_shorter(
    drawn: tuple[np.ndarray, list[int]],
) -> None:
    distances, path = drawn
    array = np.array(path)
    improve(distances, array)
    improved = array.tolist()
    assert (improved[0], improved[-1]) == (path[0], path[-1])
    assert sorted(improved) == sorted(path)
    assert length_of(distances, improved) <= length_of(distances, path)
    assert all(length_of(distances, each) >= length_of(distances, improved) for each in neighbours(improved))
