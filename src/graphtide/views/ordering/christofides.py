"""A tour at most one and a half times as long as the shortest (Christofides 1976).

The bound needs distances that obey the triangle inequality, and a matching of least weight: a greedy one loses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import rustworkx as rx
from numpy.typing import NDArray

from graphtide.views.ordering.distances import Distances

__all__ = ["christofides_tour", "spanning_tree"]


def christofides_tour(distances: Distances) -> NDArray[np.int64]:
    """All indices of a symmetric matrix in an order to visit them and return, from index 0 on.

    >>> line = np.array([0, 7, 2, 5])
    >>> christofides_tour(abs(line[:, None] - line))
    array([0, 1, 3, 2])
    """
    # Workers that only count distances import this module too; they do without 0.3 s of NetworkX.
    import networkx as nx  # noqa: PLC0415

    if len(distances) < 2:
        return np.arange(len(distances))
    tree = spanning_tree(distances)
    degrees = np.bincount(tree.ravel(), minlength=len(distances))
    matched = _cheapest_pairs(distances, np.flatnonzero(degrees % 2))
    walks = nx.MultiGraph()
    walks.add_edges_from(chain(tree.tolist(), matched))
    visits = (int(here) for here, _ in nx.eulerian_circuit(walks, source=0))
    # The triangle inequality pays for leaving out the places that were visited before.
    return np.array(list(dict.fromkeys(visits)))


def spanning_tree(distances: Distances) -> NDArray[np.int64]:
    """The pairs of indices, one to a row, that join all of them at the least sum of distances."""
    tree = rx.minimum_spanning_edges(_clique(distances), weight_fn=float)
    return np.array([(a, b) for a, b, _ in tree], np.int64).reshape(-1, 2)


def _cheapest_pairs(distances: Distances, indices: NDArray[np.intp]) -> Iterable[tuple[int, int]]:
    """Pair off an even number of indices at the least sum of distances."""
    between = distances[np.ix_(indices, indices)]
    pairs = rx.max_weight_matching(_clique(between), max_cardinality=True, weight_fn=lambda weight: -int(weight))
    assert 2 * len(pairs) == len(indices), "a clique of even size has a perfect matching"
    # Sorted, for a set comes in any order and the tour depends on it.
    return sorted((int(indices[min(pair)]), int(indices[max(pair)])) for pair in pairs)


def _clique(distances: Distances) -> rx.PyGraph[int, float]:
    """All pairs joined, also those at distance 0."""
    weights = distances.astype(np.float64)
    np.fill_diagonal(weights, np.nan)
    return rx.PyGraph.from_adjacency_matrix(weights, null_value=np.nan)
