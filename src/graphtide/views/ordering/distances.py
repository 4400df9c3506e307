"""How many edges each two views differ in, from the rows of the edge boolean matrix.

A matrix of distances has the views behind a padded column of zeros, so a view's distance from index 0 is its
size. Distances of parts of the edges add up to those of all (Graphsurge, section 4).
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphtide.views.kernels.masks import group_rows
from graphtide.views.kernels.overlaps import overlaps_by_columns, overlaps_by_rows

__all__ = ["Counts", "Distances", "Masks", "group_masks", "mask_distances"]

Masks: TypeAlias = NDArray[np.uint64 | np.int64]
Counts: TypeAlias = NDArray[np.int64]
Distances: TypeAlias = NDArray[np.int64]

# Seconds on two cores of a shared machine, half of the bits set:
#
#                              5 million rows x 50 views     1 million rows x 252 views
#     distinct masks              66      5 million              66      1 million
#     grouping them             0.04            1.4            0.02           0.16
#     counting by columns       0.06           0.06            0.14           0.14
#     counting by rows           1.9            1.6             8.5            9.7
#
# Grouping can only pay if a mask takes several words. Columns beat rows unless few views have a row: they break even
# at 10 of 252 views and at 50 of 1000.

# Rows that are looked at to choose, spread over all of them since neighbours are often alike.
_SAMPLE: Final = 2048
# Adding to a pair of views takes as long as comparing so many words of two columns.
_WORDS_PER_ADDITION: Final = 8


def group_masks(words: Masks) -> tuple[Masks, Counts]:
    """The distinct rows of `words`, in the order in which they first appear, and how often each is there.

    >>> group_masks(np.array([[5], [1], [5]]))
    (array([[5],
           [1]]), array([2, 1]))
    """
    distinct, counts = group_rows(_unsigned(words), np.ones(len(words), np.int64))
    return distinct.view(words.dtype), counts


def mask_distances(words: Masks, counts: Counts, views: int) -> Distances:
    """The distances of views from rows of masks, each of which stands for as many edges as its count says.

    View j is bit j % 64 of word j // 64, further bits are ignored. Rows may repeat.

    >>> mask_distances(np.array([[0b11], [0b01]]), np.array([10, 4]), views=2)
    array([[ 0, 14, 10],
           [14,  0,  4],
           [10,  4,  0]])
    """
    assert words.ndim == 2, "a row of words to each mask"
    assert counts.shape == words.shape[:1], "a count to each mask"
    assert 0 <= views <= 64 * words.shape[1], "a bit to each view"
    assert not len(counts) or counts.min() >= 0, "a mask stands for edges that are there"
    rows, amounts = _unsigned(words), np.ascontiguousarray(counts, np.int64)
    if _repeat_often(rows):
        rows, amounts = group_rows(rows, amounts)
    count_overlaps = overlaps_by_rows if _few_views_have_a_row(rows, amounts, views) else overlaps_by_columns
    below = count_overlaps(rows, amounts, views)
    sizes = below.diagonal()
    overlaps = np.tril(below) + np.tril(below, -1).T
    distances = np.zeros((views + 1, views + 1), np.int64)
    distances[0, 1:] = distances[1:, 0] = sizes
    distances[1:, 1:] = sizes[:, None] + sizes - 2 * overlaps
    return distances


def _unsigned(words: Masks) -> NDArray[np.uint64]:
    return np.ascontiguousarray(words).view(np.uint64)


def _sample(rows: NDArray[np.uint64]) -> slice:
    return slice(None, None, len(rows) // _SAMPLE + 1)


def _repeat_often(rows: NDArray[np.uint64]) -> bool:
    """Whether grouping equal rows saves more than it takes."""
    if rows.shape[1] <= 1:
        return False
    sample = np.ascontiguousarray(rows[_sample(rows)])
    distinct, _ = group_rows(sample, np.ones(len(sample), np.int64))
    return 2 * len(distinct) <= len(sample)


def _few_views_have_a_row(rows: NDArray[np.uint64], counts: Counts, views: int) -> bool:
    """Whether adding to the pairs of views that have a row is less work than comparing all columns."""
    sample = _sample(rows)
    having = np.bitwise_count(rows[sample]).sum(axis=1, dtype=np.int64)
    additions = int((having * having).sum())
    words_compared = int(np.bitwise_count(counts[sample]).sum(dtype=np.int64)) * views * views / 64
    return _WORDS_PER_ADDITION * additions < words_compared
