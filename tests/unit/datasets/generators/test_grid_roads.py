"""Towns of streets: connected, symmetric, and with as many roads as asked."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide import datasets

shares = st.sampled_from([0, 0.05, 0.5, 1]) | st.floats(0, 1)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**40), shares, shares)
def test_every_crossing_can_be_reached_and_every_road_goes_both_ways(
    rows: int, columns: int, seed: int, missing: float, diagonals: float
) -> None:
    crossings, roads = datasets.grid_roads(rows, columns, seed, missing=missing, diagonals=diagonals)
    assert crossings["id"].to_pylist() == list(range(rows * columns))
    assert roads.schema == pa.schema({"src": pa.int64(), "dst": pa.int64(), "length": pa.int64()})
    triples = list(zip(*(column.to_pylist() for column in roads.columns), strict=True))
    assert triples == sorted(triples)
    ends = {triple[:2] for triple in triples}
    assert len(ends) == len(triples)
    assert {(dst, src, length) for src, dst, length in triples} == set(triples)
    graph = nx.Graph(ends)
    graph.add_nodes_from(crossings["id"].to_pylist())
    assert nx.is_connected(graph)
    for src, dst in ends:
        (r, c), (other_r, other_c) = divmod(src, columns), divmod(dst, columns)
        assert max(abs(r - other_r), abs(c - other_c)) == 1


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**40))
def test_nothing_missing_is_the_whole_grid_and_all_missing_is_a_tree(rows: int, columns: int, seed: int) -> None:
    _, whole = datasets.grid_roads(rows, columns, seed, missing=0, diagonals=0)
    assert whole.num_rows == 2 * (rows * (columns - 1) + columns * (rows - 1))
    _, tree = datasets.grid_roads(rows, columns, seed, missing=1, diagonals=0)
    assert tree.num_rows == 2 * (rows * columns - 1)
    _, crossed = datasets.grid_roads(rows, columns, seed, missing=1, diagonals=1)
    assert crossed.num_rows - tree.num_rows == 2 * (rows - 1) * (columns - 1)


def test_a_road_is_as_long_as_the_line_between_its_crossings_rounded_up() -> None:
    crossings, roads = datasets.grid_roads(20, 30, diagonals=0.5)
    places = np.stack([crossings["x"].to_numpy(), crossings["y"].to_numpy()], 1)
    away = places[roads["src"].to_numpy()] - places[roads["dst"].to_numpy()]
    line = np.sqrt((away**2).sum(axis=1))
    assert (line <= roads["length"].to_numpy()).all()
    assert (roads["length"].to_numpy() < line + 1).all()
    assert line.min() > 0
    middle = places.reshape(20, 30, 2)[10, 15]
    np.testing.assert_allclose(middle, [1_500, 1_000], atol=25)


@pytest.mark.parametrize(("missing", "diagonals"), [(0.1, 0.05), (0.4, 0.3)])
def test_shares_are_those_that_were_asked_for(missing: float, diagonals: float) -> None:
    rows, columns = 150, 160
    _, roads = datasets.grid_roads(rows, columns, missing=missing, diagonals=diagonals)
    step = np.abs(roads["src"].to_numpy() - roads["dst"].to_numpy())
    is_straight = (step == 1) | (step == columns)
    straight, diagonal = is_straight.sum() / 2, (~is_straight).sum() / 2
    grid, tree = rows * (columns - 1) + columns * (rows - 1), rows * columns - 1
    assert straight == pytest.approx(tree + (1 - missing) * (grid - tree), rel=0.02)
    assert diagonal == pytest.approx(diagonals * (rows - 1) * (columns - 1), rel=0.1)
