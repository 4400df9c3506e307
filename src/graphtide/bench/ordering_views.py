"""The order of views that leave out communities of a graph: what it saves, and how long it takes to find.

The views are those of Graphsurge's perturbation analysis (section 6.4): of the ten largest communities each choice of
five is removed, which makes 252 views without a natural order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
from numpy.typing import NDArray

from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.views.ordering import Order, group_masks, mask_distances, order_views

__all__ = ["Ordered", "comparisons", "masks_without_communities", "ordered"]

# Graphsurge reports 3.4 to 16.8 times fewer differences than in a random order (table 4).
_BAR_OVER_RANDOM = 5.0


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order of views, the median seconds that each step to it took, and its differences counted anew."""

    order: Order
    counting_seconds: float
    finding_seconds: float
    recounted: int
    given_recounted: int


def masks_without_communities(
    src: Ints, dst: Ints, community: Ints, *, largest: int = 10, removed: int = 5
) -> tuple[NDArray[np.uint64], int]:
    """A mask for each edge and the number of views: one for each choice of `removed` of the `largest` communities.

    `community` has the community of each vertex, negative for none. A view has the edges of which neither end is in a
    community that it removes.
    """
    names, sizes = np.unique(community[community >= 0], return_counts=True)
    assert len(names) >= largest, "there are as many communities as shall be chosen from"
    chosen = names[np.argsort(-sizes, kind="stable")[:largest]]
    # Whatever is in no chosen community is in place `largest`, which is never removed.
    place = np.full(len(community), largest)
    for number, name in enumerate(chosen):
        place[community == name] = number
    choices = list(combinations(range(largest), removed))
    stays = np.ones((len(choices), largest + 1), bool)
    for view, choice in enumerate(choices):
        stays[view, choice] = False
    # An edge's mask depends on the places of its ends alone.
    of_places = _packed((stays[:, :, None] & stays[:, None, :]).transpose(1, 2, 0))
    return of_places[place[src], place[dst]], len(choices)


def ordered(words: NDArray[np.uint64], views: int, repeats: int) -> Ordered:
    """Count the distances of all views and order them, several times."""
    counts = np.ones(len(words), np.int64)
    # Once without a clock, for kernels may be compiled.
    distances = mask_distances(words, counts, views)
    order = order_views(distances)
    counting: list[float] = []
    finding: list[float] = []
    for _ in range(repeats):
        clock = time.perf_counter()
        mask_distances(words, counts, views)
        counted = time.perf_counter()
        order_views(distances)
        finding.append(time.perf_counter() - counted)
        counting.append(counted - clock)
    return Ordered(
        order,
        median(counting),
        median(finding),
        _differences(words, order.views),
        _differences(words, range(views)),
    )


def comparisons(what: str, found: Ordered) -> Iterator[Comparison]:
    """The rows for an order: how long it took, and its differences next to those of other orders."""
    order = found.order
    name = f"order of {len(order.views)} views, {what}"
    is_right = found.recounted == order.differences and found.given_recounted == order.costs["given"]
    least = f"at least {order.lower_bound:,} in any order; found by {order.method}"
    yield Comparison(f"{name}: counting distances", found.counting_seconds, None, "", "s", is_right)
    yield Comparison(f"{name}: finding it", found.finding_seconds, None, "", "s", is_right)
    for peer, bar in (("random", _BAR_OVER_RANDOM), ("given", 1.0)):
        yield Comparison(
            f"{name}: differences",
            ours=order.differences,
            peer=order.costs[peer],
            peer_name=f"{peer} order",
            unit="differences",
            agree=is_right,
            bar=bar,
            note=least,
        )


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The last axis as bits of words."""
    unused = -bits.shape[-1] % 64
    padded = np.pad(bits, [*[(0, 0)] * (bits.ndim - 1), (0, unused)])
    return np.packbits(padded, axis=-1, bitorder="little").view(np.uint64)


def _differences(words: NDArray[np.uint64], views: Sequence[int]) -> int:
    """What an order costs, counted row by row instead of by distances."""
    distinct, counts = group_masks(words)
    bits = np.unpackbits(distinct.view(np.uint8), axis=1, bitorder="little")[:, views]
    changes = np.diff(bits.astype(np.int8), axis=1, prepend=0)
    return int(counts @ np.count_nonzero(changes, axis=1))
