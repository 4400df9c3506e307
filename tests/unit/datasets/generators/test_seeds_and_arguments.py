"""All generators: a seed decides everything, and a number that makes no sense is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from graphtide import datasets
from graphtide.errors import UsageError

GENERATORS: dict[str, Callable[..., pa.Table | tuple[pa.Table, pa.Table]]] = {
    "rmat": partial(datasets.rmat, 9),
    "communities": partial(datasets.communities, 700),
    "grid_roads": partial(datasets.grid_roads, 13, 17),
    "copying_model": partial(datasets.copying_model, 500),
    "temporal": partial(datasets.temporal, datasets.rmat(8)),
}


def written(made: pa.Table | tuple[pa.Table, pa.Table]) -> bytes:
    """The bytes of all tables."""
    sink = pa.BufferOutputStream()
    for table in made if isinstance(made, tuple) else (made,):
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name", GENERATORS)
def test_a_seed_gives_the_same_bytes_again_and_another_one_others(name: str) -> None:
    make = GENERATORS[name]
    first = written(make(seed=7))
    assert first == written(make(seed=7))
    assert first != written(make(seed=8))
    assert written(make()) == written(make(seed=0))


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_is_a_whole_number(name: str, seed: Any) -> None:
    with pytest.raises(UsageError, match=r'"seed" is .*\nhint: give a whole number of at least 0'):
        GENERATORS[name](seed=seed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: datasets.rmat(0), '"scale" is 0\nhint: give a whole number from 1 to 31'),
        (lambda: datasets.rmat(40), '"scale" is 40\nhint: give a whole number from 1 to 31'),
        (lambda: datasets.rmat(10.0), '"scale" is 10.0\nhint: give a whole number from 1 to 31'),
        (lambda: datasets.rmat(4, 0), '"edge_factor" is 0\nhint: give a whole number of at least 1'),
        (lambda: datasets.rmat(4, a=1.5), '"a" is 1.5\nhint: give a number from 0 to 1'),
        (lambda: datasets.rmat(4, b=-0.1), '"b" is -0.1\nhint: give a number from 0 to 1'),
        (lambda: datasets.rmat(4, c=float("nan")), '"c" is nan\nhint: give a number from 0 to 1'),
        (lambda: datasets.rmat(4, a=0.5, b=0.4, c=0.2), "the quarters 0.5, 0.4 and 0.2 are more than the whole"),
        (lambda: datasets.copying_model(3, 3), '"nodes" is 3\nhint: give a whole number of at least 4'),
        (lambda: datasets.copying_model(9, 0), '"out_degree" is 0\nhint: give a whole number of at least 1'),
        (lambda: datasets.copying_model(9, 2, 1.1), '"copy_probability" is 1.1\nhint: give a number from 0 to 1'),
        (lambda: datasets.grid_roads(0, 3), '"rows" is 0\nhint: give a whole number of at least 1'),
        (lambda: datasets.grid_roads(3, "3"), "\"columns\" is '3'\nhint: give a whole number of at least 1"),
        (lambda: datasets.grid_roads(3, 3, missing=2), '"missing" is 2\nhint: give a number from 0 to 1'),
        (lambda: datasets.grid_roads(3, 3, diagonals=None), '"diagonals" is None\nhint: give a number from 0 to 1'),
        (lambda: datasets.temporal(datasets.rmat(3), days=-1), '"days" is -1\nhint: give a number of at least 0'),
        (lambda: datasets.temporal(datasets.rmat(3), growth=0), '"growth" is 0\nhint: give a number from 1e-06 to'),
        (
            lambda: datasets.temporal(datasets.load("CollegeMsg")),
            'the edges have a column "time" already\nhint: drop or',
        ),
        (lambda: datasets.communities(1), '"nodes" is 1\nhint: give a whole number from 2 to'),
        (lambda: datasets.communities(100, 0.5), '"mean_degree" is 0.5\nhint: give a number from 1 to 99'),
        (lambda: datasets.communities(100, 5, -0.1), '"mu" is -0.1\nhint: give a number from 0 to 1'),
        (lambda: datasets.communities(100, degree_exponent=1), '"degree_exponent" is 1\nhint: give a number from 1.01'),
        (lambda: datasets.communities(100, size_exponent=1), '"size_exponent" is 1\nhint: give a number from 1.01'),
        (lambda: datasets.communities(100, largest_degree=100), '"largest_degree" is 100\nhint: give a whole number'),
        (lambda: datasets.communities(100, smallest_community=1), '"smallest_community" is 1\nhint: give a whole'),
        (
            lambda: datasets.communities(100, smallest_community=30, largest_community=20),
            '"largest_community" is 20\nhint: give a whole number from 30 to 100',
        ),
        (
            lambda: datasets.communities(1_000, 2),
            "no power law with exponent 2.5 up to 44 has the mean 2\nhint: ask for another mean_degree,",
        ),
        (
            lambda: datasets.communities(1_000, 9, largest_degree=8),
            "no power law with exponent 2.5 up to 8 has the mean 9\nhint: ask for another mean_degree,",
        ),
        (
            lambda: datasets.communities(1_000, mu=0.5, largest_degree=100, largest_community=50),
            "a vertex of degree 100 has 50 neighbours in its community, but the largest community has 50 members",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_hint(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        make()
    assert str(refused.value).startswith(message)
    assert refused.value.hint
