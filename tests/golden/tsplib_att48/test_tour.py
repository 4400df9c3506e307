"""Tours through 48 cities, next to the shortest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphtide.views.kernels.local_search import improve
from graphtide.views.ordering import christofides_tour

HERE = Path(__file__).parent
CITIES = np.loadtxt(HERE / "cities.csv", delimiter=",", skiprows=1)
PUBLISHED = np.loadtxt(HERE / "optimal_tour.csv", dtype=np.int64, skiprows=1) - 1
SQUARES = ((CITIES[:, None] - CITIES) ** 2).sum(axis=2)
ATT = np.ceil(np.sqrt(SQUARES / 10)).astype(np.int64)
ROUNDED_UP = np.ceil(np.sqrt(SQUARES)).astype(np.int64)

each_measure = pytest.mark.parametrize(
    ("distances", "optimum"), [(ATT, 10628), (ROUNDED_UP, 33551)], ids=["ATT", "rounded up"]
)


def length(distances: np.ndarray, tour: np.ndarray) -> int:
    assert sorted(tour.tolist()) == list(range(48))
    return int(distances[tour, np.roll(tour, -1)].sum())


@each_measure
def test_the_published_tour_has_the_published_length(distances: np.ndarray, optimum: int) -> None:
    assert length(distances, PUBLISHED) == optimum


@each_measure
def test_the_tour_of_christofides_is_within_one_and_a_half_times_the_optimum(
    distances: np.ndarray, optimum: int
) -> None:
    tour = christofides_tour(distances)
    assert tour[0] == 0
    assert length(distances, tour) <= 1.5 * optimum


@each_measure
def test_after_local_search_it_is_within_a_tenth_of_the_optimum(distances: np.ndarray, optimum: int) -> None:
    tour = christofides_tour(distances)
    closed = np.append(tour, tour[0])
    improve(distances, closed)
    assert closed[0] == closed[-1] == 0
    assert length(distances, closed[:-1]) <= 1.1 * optimum
    assert length(distances, closed[:-1]) <= length(distances, tour)


def test_local_search_finds_nothing_shorter_than_the_published_tour() -> None:
    closed = np.append(PUBLISHED, PUBLISHED[0])
    improve(ATT, closed)
    assert length(ATT, closed[:-1]) == 10628
