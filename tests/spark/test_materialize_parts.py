"""What the tasks do, without Spark: cells of products, parts of a matrix, differences in lots, files of a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.pipeline.kernels.cells import product_cells
from graphtide.pipeline.kernels.differences import count_differences, emit_differences, group_by_position
from graphtide.pipeline.materialize import differences
from graphtide.pipeline.materialize.differences import _count_part, _write_part
from graphtide.pipeline.materialize.files import (
    matrix_schema,
    read_masks,
    row_group_parts,
    words_of,
    written_in_one_step,
)
from graphtide.pipeline.materialize.lattice import Lattice
from graphtide.views.stream import DifferenceStream


def packed(bits: Sequence[Sequence[bool]], size: int) -> np.ndarray:
    """A row of words to each sequence of bits."""
    numbers = [sum(1 << j for j, bit in enumerate(row) if bit) for row in bits]
    words = [[number >> (64 * w) & (2**64 - 1) for w in range(words_of(size))] for number in numbers]
    return np.array(words, np.uint64).reshape(len(bits), words_of(size))


def rows_of_bits(rng: np.random.Generator, size: int, rows: int) -> list[list[bool]]:
    """Bits of some edges: half of them in long runs, as nested views have, half without any pattern."""
    noise = rng.random((rows, size)) < rng.random((rows, 1))
    steps = rng.integers(0, size + 1, (rows, 3, 1))
    runs = (steps[:, : rng.integers(1, 4)] <= np.arange(size)).sum(axis=1) % 2 == 1
    return np.where(rng.random((rows, 1)) < 0.5, runs, noise).tolist()


sizes = st.sampled_from([65, 130, 192, 64, 63, 2, 1])
seeds = st.integers(0, 2**32 - 1)


@given(sizes, sizes, seeds)
def test_a_cell_is_set_where_both_its_sides_are(left_size: int, right_size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (rows_of_bits(rng, size, rows=3) for size in (left_size, right_size))
    cells = [[a and b for a, b in product(*sides)] for sides in zip(left, right, strict=True)]
    lines = [np.ascontiguousarray(packed(each, size).T) for each, size in ((left, left_size), (right, right_size))]
    found = product_cells(lines[0], left_size, lines[1], right_size)
    assert np.array_equal(found.T, packed(cells, left_size * right_size))


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Lattice, list[list[list[bool]]]]:
    """Orders of one to three dimensions, and the bits of some edges in each."""
    small = st.integers(1, 4)
    chains, grids = st.tuples(sizes), st.tuples(sizes, small)
    shape = draw(chains | grids | grids.map(lambda both: both[::-1]) | st.tuples(small, small, sizes | small))
    rng = np.random.default_rng(draw(seeds))
    orders = [rng.permutation(size).tolist() for size in shape]
    return Lattice.of(orders), [rows_of_bits(rng, size, rows=8) for size in shape]


def naive_differences(lattice: Lattice, bits: list[list[list[bool]]]) -> Counter[tuple[int, int, int]]:
    """Triples (position, edge, diff) by the definition: the product of a_i - a_(i-1) over the dimensions."""
    found: Counter[tuple[int, int, int]] = Counter()
    for edge, sides in enumerate(zip(*bits, strict=True)):
        ordered = [[0, *(int(side[view]) for view in order)] for side, order in zip(sides, lattice.orders, strict=True)]
        for position, cell in enumerate(product(*map(range, lattice.shape))):
            diff = prod(side[place + 1] - side[place] for side, place in zip(ordered, cell, strict=True))
            if diff:
                found[position, edge, diff] += 1
    return found


def matrix_rows(lattice: Lattice, bits: list[list[list[bool]]]) -> np.ndarray:
    rows = [[all(cell) for cell in product(*sides)] for sides in zip(*bits, strict=True)]
    return packed(rows, lattice.cells)


@given(lattices(), st.integers(0, 400))
def test_differences_are_products_of_changes_along_each_dimension(
    drawn: tuple[Lattice, list[list[list[bool]]]], room: int
) -> None:
    lattice, bits = drawn
    words = matrix_rows(lattice, bits)
    shape, rank = lattice.for_kernels()
    edges = np.arange(len(words))
    counted = np.zeros(lattice.cells, np.int64)
    count_differences(words, shape, rank, counted)
    emitted = np.zeros(lattice.cells, np.int64)
    codes, positions = np.empty(lattice.cells + room, np.int64), np.empty(lattice.cells + room, np.int32)
    found: Counter[tuple[int, int, int]] = Counter()
    row = 0
    while row < len(words):
        counts = np.zeros(lattice.cells, np.int64)
        row, filled = emit_differences(edges, words, row, shape, rank, codes, positions, 0, counts)
        grouped = group_by_position(codes, positions, filled, counts).tolist()
        places = np.repeat(np.arange(lattice.cells), counts).tolist()
        found.update((place, code >> 1, 1 - 2 * (code & 1)) for place, code in zip(places, grouped, strict=True))
        emitted += counts
    assert found == naive_differences(lattice, bits)
    assert np.array_equal(counted, emitted)


@pytest.fixture
def matrix(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A matrix of 70 views in three files, edges in no order, with its edges and words."""
    rng = np.random.default_rng(9)
    edges = rng.permutation(1000)[:300]
    words = rng.integers(1, 2**63, (300, 2)) & np.array([-1, 63])
    folder = tmp_path / "matrix"
    folder.mkdir()
    for number, rows in enumerate((slice(0, 100), slice(100, 100), slice(100, 300))):
        table = pa.table([edges[rows], *words[rows].T], schema=matrix_schema(70))
        pq.write_table(table, folder / f"part-{number:05d}.parquet", row_group_size=30)
    return folder, edges, words.view(np.uint64)


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 1000])
def test_parts_of_a_matrix_hold_every_row_once(matrix: tuple[Path, np.ndarray, np.ndarray], wanted: int) -> None:
    folder, edges, words = matrix
    parts = row_group_parts(folder, wanted)
    assert [part.number for part in parts] == list(range(len(parts)))
    assert len(parts) == min(wanted, 11)
    read = [batch for part in parts for batch in read_masks(part, 70)]
    assert np.array_equal(np.concatenate([batch[0] for batch in read]), edges)
    assert np.array_equal(np.concatenate([batch[1] for batch in read]), words)


def stream_of(folder: Path) -> list[list[tuple[int, int]]]:
    stream = DifferenceStream(folder)
    return [list(zip(*(part.tolist() for part in stream.read(p)), strict=True)) for p in range(len(stream))]


def test_a_task_that_cannot_hold_its_differences_writes_several_sorted_files(
    matrix: tuple[Path, np.ndarray, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lattice = Lattice.of([list(range(70))[::-1]])
    (part,) = row_group_parts(matrix[0], 1)
    for name, held in (("one", 1 << 20), ("several", 1000)):
        monkeypatch.setattr(differences, "_HELD", held)
        for position in range(70):
            (tmp_path / name / f"{position:06d}").mkdir(parents=True)
        # A task may be run again: its second run replaces what the first one wrote.
        counts = [_write_part(part, lattice, tmp_path / name) for _ in range(2)]
        assert np.array_equal(*counts)
        assert np.array_equal(counts[0], _count_part(part, lattice))
        assert DifferenceStream(tmp_path / name).sizes == tuple(counts[0])
    one, several = (sorted((tmp_path / name / "000003").iterdir()) for name in ("one", "several"))
    assert len(one) == 1
    assert len(several) > 1
    for file in several:
        edges = pq.read_table(file).column("_edge").to_numpy()
        assert (edges[1:] > edges[:-1]).all()
    assert stream_of(tmp_path / "one") == stream_of(tmp_path / "several")


def test_a_stream_is_read_in_the_order_of_edges(tmp_path: Path) -> None:
    folder = tmp_path / "000000"
    folder.mkdir()
    for name, edges, diffs in (("b.parquet", [3, 9], [1, -1]), ("a.parquet", [4, 12], [-1, 1])):
        table = pa.table({"_edge": pa.array(edges, pa.int64()), "diff": pa.array(diffs, pa.int8())})
        pq.write_table(table, folder / name)
    # What a task that was killed has left is not part of the stream.
    (folder / ".c.parquet").write_bytes(b"half a file")
    edges, diffs = DifferenceStream(tmp_path).read(0)
    assert (edges.dtype, diffs.dtype) == (np.int64, np.int8)
    assert edges.tolist() == [3, 4, 9, 12]
    assert diffs.tolist() == [1, -1, -1, 1]
    assert DifferenceStream(tmp_path).sizes == (4,)


def test_a_file_that_is_not_finished_does_not_get_its_name(tmp_path: Path) -> None:
    def fail(file: Path) -> None:
        with written_in_one_step(file) as temporary:
            temporary.write_text("half")
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - it is ours
        fail(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
