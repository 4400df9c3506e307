"""The order in which the views of a collection cost the fewest differences.

The cost of an order is the size of its first view plus the distances between neighbours: the path from the padded
column of zeros through all views, with a free end. Finding the cheapest is NP-hard; Christofides' tour with the
column of zeros taken out costs at most three times as much (Graphsurge, section 4).

Invariant: no order returned costs more than the given one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.views.kernels.held_karp import cheapest_path
from graphtide.views.kernels.local_search import improve
from graphtide.views.ordering.christofides import christofides_tour, spanning_tree
from graphtide.views.ordering.distances import Distances

__all__ = ["Order", "OrderMethod", "order_views"]

OrderMethod: TypeAlias = Literal["containment", "exact", "christofides+local search", "given"]
_Path: TypeAlias = NDArray[np.int64]

# Dynamic programming takes 1 ms for so many views, and more than twice as long for each further one.
_MOST_FOR_EXACT: Final = 12
_RANDOM_ORDERS: Final = 20
_SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Order:
    """An order of views, what it costs, and what others would have cost.

    `method` says why it is this one: the views contain each other, all orders were compared, it is the best that a
    search found, or it was given and the search found none that costs less. `costs` has the differences of every
    order considered, by name; "random" is the mean of a few. No order has fewer differences than `lower_bound`.
    """

    views: tuple[int, ...]
    differences: int
    method: OrderMethod
    costs: Mapping[str, float]
    lower_bound: int


def order_views(distances: Distances, *, given: Sequence[int] | None = None) -> Order:
    """Order the views of a matrix of distances; of two orders that cost the same, the given one is kept.

    Without a given order it is that of the matrix.

    >>> sizes_and_distances = np.array([[0, 3, 1, 2], [3, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
    >>> order = order_views(sizes_and_distances)
    >>> order.views, order.differences, order.method
    ((1, 2, 0), 3, 'containment')
    """
    count = len(distances) - 1
    assert distances.shape == (count + 1, count + 1), "a matrix of distances is square"
    asked = _given_path(given, count)
    costs: dict[str, float] = {"given": _cost(distances, asked), "random": _random_cost(distances)}
    method: OrderMethod
    if _are_nested(distances):
        method = "containment"
        # A stable sort: equal views stay in the order given.
        path = asked[np.argsort(distances[0, asked], kind="stable")]
        costs[method] = bound = _cost(distances, path)
    elif count <= _MOST_FOR_EXACT:
        method = "exact"
        path = cheapest_path(distances)
        costs[method] = bound = _cost(distances, path)
    else:
        method = "christofides+local search"
        start = _christofides_path(distances)
        path = _improved(distances, start)
        costs["christofides"] = _cost(distances, start)
        costs["local search"] = _cost(distances, path)
        bound = _tree_cost(distances)
        if costs["given"] <= costs["local search"]:
            method = "given"
    if costs["given"] <= _cost(distances, path):
        path = asked
    return Order(tuple((path - 1).tolist()), _cost(distances, path), method, costs, bound)


def _given_path(given: Sequence[int] | None, count: int) -> _Path:
    """The given views as indices of the matrix, where the column of zeros comes first."""
    if given is None:
        return np.arange(1, count + 1)
    if sorted(given) != list(range(count)):
        raise UsageError(
            f"{list(given)} is not an order of {count} views", hint=f"name each view from 0 to {count - 1} once"
        )
    return np.array(given, np.int64) + 1


def _cost(distances: Distances, path: _Path) -> int:
    steps = np.append(0, path)
    return int(distances[steps[:-1], steps[1:]].sum())


def _random_cost(distances: Distances) -> float:
    """The mean over some orders, always the same ones."""
    paths = np.tile(np.arange(len(distances)), (_RANDOM_ORDERS, 1))
    np.random.default_rng(_SEED).permuted(paths[:, 1:], axis=1, out=paths[:, 1:])
    return float(distances[paths[:, :-1], paths[:, 1:]].sum(axis=1).mean())


def _are_nested(distances: Distances) -> bool:
    """Whether of each two views one contains the other: they differ in no more than their sizes."""
    sizes = distances[0]
    return np.array_equal(distances, abs(sizes[:, None] - sizes))


def _christofides_path(distances: Distances) -> _Path:
    """The tour without the column of zeros: a chain that can be walked from either end."""
    chain = christofides_tour(distances)[1:]
    return min(chain, chain[::-1], key=lambda path: _cost(distances, path))


def _improved(distances: Distances, path: _Path) -> _Path:
    """The path after a local search."""
    # A last index at no distance from any other leaves the end of the path free.
    end = len(distances)
    ended = np.pad(distances, (0, 1))
    whole = np.concatenate(([0], path, [end]))
    improve(ended, whole)
    return whole[1:-1]


def _tree_cost(distances: Distances) -> int:
    """What any order costs at least: a path through all views is a tree that spans them."""
    tree = spanning_tree(distances)
    return int(distances[tree[:, 0], tree[:, 1]].sum())
