"""The configuration model without loops and parallel edges: half-edges ("stubs") paired at random, then repaired.

A pair that cannot be an edge swaps partners with a random edge of its group if both results can be edges: no
repair makes anything worse, and degrees stay as they are. An edge is a code u * n + v with u < v < n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["match_stubs"]

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
MayLink: TypeAlias = Callable[[Ints, Ints], Mask]

# A pair that has found no edge to swap with by then is in a group that is nearly a clique.
_ROUNDS: Final = 30


def match_stubs(degrees: Ints, groups: Ints, may_link: MayLink, rng: np.random.Generator) -> Ints:
    """Codes of distinct edges inside groups, sorted: at most `degrees` at each vertex, and seldom fewer.

    `groups` has the group of each vertex and never falls; `may_link` says which pairs of one group are allowed.
    """
    n = len(degrees)
    stubs = _shuffled(np.repeat(np.arange(n), degrees), groups, rng)
    totals = np.bincount(groups[stubs])
    # In a group with an odd number of stubs the last one stays alone.
    stubs = np.delete(stubs, (np.cumsum(totals) - 1)[totals % 2 == 1])
    codes = np.sort(_codes(stubs[0::2], stubs[1::2], n))
    fits = _is_link(codes, n, may_link)
    fits[1:] &= codes[1:] != codes[:-1]
    edges, misfits = codes[fits], codes[~fits]
    # A group's edges have their smaller ends in its range of vertices, so their codes lie together.
    bounds = np.searchsorted(groups, np.arange(groups[-1] + 2)) * n
    for _ in range(_ROUNDS):
        if not len(misfits):
            break
        group = groups[misfits // n]
        low, high = np.searchsorted(edges, bounds[group]), np.searchsorted(edges, bounds[group + 1])
        drawn = low + (rng.random(len(misfits)) * (high - low)).astype(np.int64)
        at = _first_places(np.where(low < high, drawn, -1))
        new = _swapped(misfits[at], edges[drawn[at]], n, rng)
        fits = _is_new(new.ravel(), edges) & _is_link(new.ravel(), n, may_link)
        repaired = fits.reshape(new.shape).all(axis=0)
        edges = np.delete(edges, drawn[at[repaired]])
        added = np.sort(new[:, repaired], axis=None)
        edges = np.insert(edges, np.searchsorted(edges, added), added)
        misfits = np.delete(misfits, at[repaired])
    return edges


def _shuffled(stubs: Ints, groups: Ints, rng: np.random.Generator) -> Ints:
    """The stubs group by group, at random within each."""
    # Group, chance and position in one word: sorting words is several times faster than sorting positions by them.
    position_bits = len(stubs).bit_length()
    chance_bits = 63 - position_bits - int(groups[-1]).bit_length()
    assert chance_bits >= 8, "memory ends before the bits of a word do"
    keys = groups[stubs] << chance_bits | rng.integers(0, 1 << chance_bits, len(stubs))
    keys = np.sort(keys << position_bits | np.arange(len(stubs)))
    return stubs[keys & ((1 << position_bits) - 1)]


def _codes(one: Ints, other: Ints, n: int) -> Ints:
    return np.minimum(one, other) * n + np.maximum(one, other)


def _is_link(codes: Ints, n: int, may_link: MayLink) -> Mask:
    u, v = np.divmod(codes, n)
    return (u != v) & may_link(u, v)


def _first_places(values: Ints) -> Ints:
    """Where each value that is not negative stands first."""
    distinct, places = np.unique(values, return_index=True)
    return places[distinct >= 0]


def _swapped(pairs: Ints, edges: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Two rows of codes: the pairs (u, v) and the edges (x, y), in either direction, as (u, x) and (v, y)."""
    u, v = np.divmod(pairs, n)
    x, y = np.divmod(edges, n)
    is_turned = rng.random(len(edges)) < 0.5
    return np.stack([_codes(u, np.where(is_turned, y, x), n), _codes(v, np.where(is_turned, x, y), n)])


def _is_new(codes: Ints, edges: Ints) -> Mask:
    """Which codes occur once among themselves and not among the edges; the latter are sorted."""
    _, place, count = np.unique(codes, return_inverse=True, return_counts=True)
    known = np.append(edges, -1)[np.searchsorted(edges, codes)]
    return (count[place] == 1) & (known != codes)
