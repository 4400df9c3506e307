"""Graphs with known communities, as Lancichinetti, Fortunato and Radicchi make them (Physical Review E 78, 2008)."""

from __future__ import annotations

from math import isqrt
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.datasets.generators.arguments import check_number, check_share, check_whole, seeded
from graphtide.datasets.generators.power_law import lower_bound_for, power_law
from graphtide.datasets.generators.stub_matching import match_stubs
from graphtide.errors import UsageError

__all__ = ["communities"]

Ints: TypeAlias = NDArray[np.int64]


def communities(
    nodes: int,
    mean_degree: float = 8,
    mu: float = 0.2,
    seed: int = 0,
    *,
    degree_exponent: float = 2.5,
    size_exponent: float = 2,
    largest_degree: int | None = None,
    smallest_community: int | None = None,
    largest_community: int | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Nodes (id, community) and undirected edges (src, dst), each once with src < dst, in no order.

    A share `mu` of the edges leads to another community. Degrees follow a power law with `degree_exponent` up to
    `largest_degree` (default: the square root of the sum of all degrees), sizes of communities one with `size_exponent`
    from `smallest_community` (default: twice the mean degree, at least 16) to `largest_community` (default: twice the
    largest degree, at least a twentieth of the nodes). Community 0 is the largest. Neither loops nor parallel edges
    occur; the few edges for which there is no room are left out.

    >>> nodes, edges = communities(1_000, mean_degree=10, mu=0.1)
    >>> nodes.column_names, edges.column_names
    (['id', 'community'], ['src', 'dst'])
    """
    check_whole("nodes", nodes, 2, 1 << 27)
    check_number("mean_degree", mean_degree, 1, nodes - 1)
    check_share("mu", mu)
    check_number("degree_exponent", degree_exponent, 1.01, 10)
    check_number("size_exponent", size_exponent, 1.01, 10)
    largest_degree = _largest_degree(nodes, mean_degree, largest_degree)
    smallest, largest = _size_bounds(nodes, mean_degree, largest_degree, smallest_community, largest_community)
    if (1 - mu) * largest_degree > largest - 1:
        raise UsageError(
            f"a vertex of degree {largest_degree} has {(1 - mu) * largest_degree:.0f} neighbours in its community,"
            f" but the largest community has {largest} members",
            hint="ask for another largest_degree, largest_community or mu",
        )
    rng = seeded(seed)
    degrees = _degrees(nodes, mean_degree, degree_exponent, largest_degree, rng)
    sizes = _sizes(nodes, size_exponent, smallest, largest, rng)
    inside = _rounded((1 - mu) * degrees, rng)
    # From here on a vertex is its place in its community, and communities follow one another.
    order = _settle(inside, sizes, rng)
    inside, outside = inside[order], (degrees - inside)[order]
    community = np.repeat(np.arange(len(sizes)), sizes)
    within = match_stubs(np.minimum(inside, sizes[community] - 1), community, _always, rng)
    between = match_stubs(outside, np.zeros_like(community), lambda u, v: community[u] != community[v], rng)
    return _tables(community, rng.permutation(np.concatenate([within, between])), rng)


def _largest_degree(nodes: int, mean: float, asked: int | None) -> int:
    if asked is not None:
        check_whole("largest_degree", asked, 1, nodes - 1)
        return asked
    # Up to there random partners hardly ever meet twice.
    return min(nodes - 1, max(isqrt(int(nodes * mean)), int(mean) + 1))


def _size_bounds(
    nodes: int, mean_degree: float, largest_degree: int, smallest: int | None, largest: int | None
) -> tuple[int, int]:
    if smallest is None:
        smallest = min(nodes, max(16, int(2 * mean_degree)))
    check_whole("smallest_community", smallest, 2, nodes)
    if largest is None:
        largest = min(nodes, max(smallest, 2 * largest_degree, nodes // 20))
    check_whole("largest_community", largest, smallest, nodes)
    return smallest, largest


def _degrees(nodes: int, mean: float, exponent: float, largest: int, rng: np.random.Generator) -> Ints:
    low = lower_bound_for(mean, exponent, largest)
    if low < 1 or mean > largest:
        raise UsageError(
            f"no power law with exponent {exponent:g} up to {largest} has the mean {mean:g}",
            hint="ask for another mean_degree, degree_exponent or largest_degree",
        )
    # One draw from each of n equal shares: a heavy tail would otherwise let the number of edges depend on the seed.
    shares = (np.arange(nodes) + rng.random(nodes)) / nodes
    return _rounded(power_law(rng.permutation(shares), exponent, low, largest), rng)


def _sizes(nodes: int, exponent: float, smallest: int, largest: int, rng: np.random.Generator) -> Ints:
    """Sizes of communities, the largest first, that have `nodes` members in all."""
    drawn = power_law(rng.random(nodes // smallest + 1), exponent, smallest, largest).astype(np.int64)
    drawn = np.maximum(drawn, smallest)  # a power and its inverse may lose the last bit
    ends = np.cumsum(drawn)
    sizes = drawn[: np.searchsorted(ends, nodes) + 1]
    excess = ends[len(sizes) - 1] - nodes
    if sizes[-1] - excess >= smallest or len(sizes) == 1:
        sizes[-1] -= excess
    else:
        # The last community would be too small: its members join the others one by one.
        rest, sizes = sizes[-1] - excess, sizes[:-1]
        sizes += rest // len(sizes) + (np.arange(len(sizes)) < rest % len(sizes))
    return np.sort(sizes)[::-1]


def _settle(inside: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Which vertex gets each place, when places are dealt out community by community, the largest first.

    A vertex with fewer than 2 ** k edges inside goes to a community of at least twice as many members while there is
    room: in denser ones random partners too often meet twice.
    """
    classes = np.frexp(inside)[1]
    order = np.empty(len(inside), np.int64)
    free, waiting = np.empty(0, np.int64), np.empty(0, np.int64)
    opened = 0
    for k in range(classes.max(), -1, -1):
        room = sizes[sizes >= 2 << k].sum()
        free = rng.permutation(np.concatenate([free, np.arange(opened, room)]))
        opened = room
        # Who found no room goes first among the less demanding ones.
        waiting = np.concatenate([waiting, np.flatnonzero(classes == k)])
        settled = min(len(free), len(waiting))
        order[free[:settled]] = waiting[:settled]
        free, waiting = free[settled:], waiting[settled:]
    return order


def _always(u: Ints, _: Ints) -> NDArray[np.bool_]:
    return np.ones(len(u), np.bool_)


def _rounded(values: NDArray[np.floating], rng: np.random.Generator) -> Ints:
    """Whole numbers whose expectations these are."""
    return np.floor(values + rng.random(len(values))).astype(np.int64)


def _tables(community: Ints, codes: Ints, rng: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Nodes and edges under random ids, so that an id does not tell the community."""
    n = len(community)
    names = rng.permutation(n)
    of_name = np.empty(n, np.int64)
    of_name[names] = community
    one, other = names[codes // n], names[codes % n]
    edges = pa.table({"src": np.minimum(one, other), "dst": np.maximum(one, other)})
    return pa.table({"id": np.arange(n), "community": of_name}), edges
