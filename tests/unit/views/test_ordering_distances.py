"""Distances from packed masks: many rows, many masks, the last bit of a word, and which way they are counted."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.views.kernels.overlaps import overlaps_by_columns, overlaps_by_rows
from graphtide.views.ordering import distances, group_masks, mask_distances


def random_bits(rows: int, views: int, share: float) -> np.ndarray:
    return np.random.default_rng(rows + views).random((rows, views)) < share


def packed(bits: np.ndarray) -> np.ndarray:
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 64)))
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def multiplied(bits: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Distances by a product of matrices, of numbers far below 2^53."""
    present = np.pad(bits, ((0, 0), (1, 0))).astype(np.float64)
    overlaps = (present.T @ (present * counts[:, None])).astype(np.int64)
    sizes = overlaps.diagonal()
    return sizes[:, None] + sizes - 2 * overlaps


# Around the 64 rows of a tile and the 64 tiles that are compared at once.
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("views", [1, 2, 63, 64, 65, 100])
def test_distances_of_any_number_of_rows_and_views(rows: int, views: int) -> None:
    bits = random_bits(rows, views, 0.4)
    counts = np.random.default_rng(rows).integers(0, 1000, rows)
    assert np.array_equal(mask_distances(packed(bits), counts, views), multiplied(bits, counts))


@pytest.mark.parametrize("count_overlaps", [overlaps_by_rows, overlaps_by_columns])
def test_both_ways_of_counting_give_the_same_overlaps(count_overlaps) -> None:
    bits = random_bits(5000, 70, 0.3)
    counts = np.random.default_rng(1).integers(0, 2**33, 5000)
    present = bits.astype(np.int64)
    wanted = np.tril(present.T @ (present * counts[:, None]))
    assert np.array_equal(np.tril(count_overlaps(packed(bits), counts, 70)), wanted)


def test_the_sign_bit_of_a_word_is_a_view_too() -> None:
    words = np.array([[-1], [np.iinfo(np.int64).min]])
    found = mask_distances(words, np.array([5, 2]), views=64)
    assert found[0].tolist() == [0, *[5] * 63, 7]


def test_bits_beyond_the_views_are_ignored() -> None:
    words = np.full((3, 2), -1)
    for views in (0, 1, 65, 127):
        found = mask_distances(words, np.ones(3, np.int64), views)
        assert found.tolist() == [[0, *[3] * views], *[[3, *[0] * views]] * views]


def test_arrays_that_are_not_contiguous_are_taken_as_they_read() -> None:
    bits = random_bits(200, 64, 0.5)
    columns = np.asfortranarray(np.repeat(packed(bits), 2, axis=1))[::2, :1]
    assert np.array_equal(mask_distances(columns, np.ones(200, np.int64)[::2], 64), multiplied(bits[::2], np.ones(100)))


def test_many_masks_are_grouped_in_the_order_of_their_first_appearance() -> None:
    rng = np.random.default_rng(2)
    words = rng.integers(0, 200, (50_000, 2))
    distinct, counts = group_masks(words)
    wanted, first, times = np.unique(words, axis=0, return_index=True, return_counts=True)
    by_appearance = np.argsort(first)
    assert len(wanted) > 25_000
    assert np.array_equal(distinct, wanted[by_appearance])
    assert np.array_equal(counts, times[by_appearance])
    assert distinct.dtype == words.dtype


def ways_taken(monkeypatch: pytest.MonkeyPatch, bits: np.ndarray) -> list[str]:
    """The names of the kernels that counted, the grouping of a sample left out; the answer is checked."""
    taken: list[str] = []

    def noted(name: str):
        counting = getattr(distances, name)

        def call(words: np.ndarray, *arguments: object) -> object:
            if len(words) == len(bits) or not name.startswith("group"):
                taken.append(name)
            return counting(words, *arguments)

        return call

    for name in ("group_rows", "overlaps_by_rows", "overlaps_by_columns"):
        monkeypatch.setattr(distances, name, noted(name))
    ones = np.ones(len(bits), np.int64)
    assert np.array_equal(mask_distances(packed(bits), ones, bits.shape[1]), multiplied(bits, ones))
    return taken


@pytest.mark.parametrize(
    ("bits", "ways"),
    [
        (random_bits(9000, 50, 0.5), ["overlaps_by_columns"]),
        (random_bits(9000, 130, 0.5), ["overlaps_by_columns"]),
        (random_bits(9000, 260, 0.01), ["overlaps_by_rows"]),
        (random_bits(30, 130, 0.5)[np.arange(9000) // 300], ["group_rows", "overlaps_by_columns"]),
    ],
    ids=["one word", "distinct", "sparse", "repeated"],
)
def test_the_way_of_counting_follows_the_masks(
    monkeypatch: pytest.MonkeyPatch, bits: np.ndarray, ways: list[str]
) -> None:
    assert ways_taken(monkeypatch, bits) == ways
