"""View collections materialised by Spark: matrix, distances, streams and lattices against sets of edges in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it
from tests.examples import share

from graphtide.pipeline.materialize import (
    count_chain,
    count_lattice,
    distances,
    write_lattice,
    write_matrix,
    write_stream,
)
from graphtide.views.stream import DifferenceStream

Cell = tuple[int, ...]


@dataclass(frozen=True)
class Range:
    """A predicate for Spark and for Python: low <= x < high, and perhaps a kind."""

    low: int
    high: int
    kind: str | None = None

    def column(self) -> Column:
        inside = (F.col("x") >= self.low) & (F.col("x") < self.high)
        return inside if self.kind is None else inside & (F.col("kind") == self.kind)

    def holds(self, x: int, kind: str) -> bool:
        return self.low <= x < self.high and self.kind in {None, kind}


@dataclass(frozen=True)
class Collection:
    """Edges (x, kind) and the predicates of each dimension."""

    edges: list[tuple[int, str]]
    dimensions: list[list[Range]]

    @property
    def shape(self) -> Cell:
        return tuple(map(len, self.dimensions))

    def view(self, cell: Cell) -> set[int]:
        chosen = [dimension[i] for dimension, i in zip(self.dimensions, cell, strict=True)]
        return {e for e, edge in enumerate(self.edges) if all(predicate.holds(*edge) for predicate in chosen)}

    def views(self) -> list[set[int]]:
        """The sets of edges of all views, the last dimension fastest."""
        return [self.view(cell) for cell in product(*map(range, self.shape))]

    def frame(self, spark: SparkSession, partitions: int = 2) -> DataFrame:
        xs, kinds = [x for x, _ in self.edges], [kind for _, kind in self.edges]
        table = pa.table(
            [pa.array(range(len(xs)), pa.int64()), pa.array(xs, pa.int64()), pa.array(kinds, pa.string())],
            ["_edge", "x", "kind"],
        )
        return spark.createDataFrame(table).repartition(partitions)

    def write(self, spark: SparkSession, folder: Path, partitions: int = 2) -> int:
        columns = [[predicate.column() for predicate in dimension] for dimension in self.dimensions]
        return write_matrix(self.frame(spark, partitions), columns, folder)


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    kinds = st.sampled_from("ab")
    bounds = st.tuples(st.integers(-1, 12), st.integers(-1, 12)).map(sorted)
    predicates = st.builds(lambda b, kind: Range(*b, kind), bounds, st.none() | kinds)
    longest = {1: 70, 2: 9, 3: 5}[dimensions := draw(st.integers(1, 3))]
    return Collection(
        draw(st.lists(st.tuples(st.integers(0, 10), kinds), max_size=40)),
        [draw(st.lists(predicates, min_size=1, max_size=longest)) for _ in range(dimensions)],
    )


def at_or_before(cell: Cell) -> list[Cell]:
    return list(product(*(range(c + 1) for c in cell)))


def accumulated(stream: DifferenceStream, positions: Sequence[int]) -> dict[int, int]:
    """The sum of the differences at some positions, edges that cancel left out."""
    sums: dict[int, int] = {}
    for position in positions:
        edges, diffs = stream.read(position)
        for edge, diff in zip(edges.tolist(), diffs.tolist(), strict=True):
            sums[edge] = sums.get(edge, 0) + diff
    return {edge: count for edge, count in sums.items() if count}


def each_once(edges: set[int]) -> dict[int, int]:
    return dict.fromkeys(edges, 1)


# To shrink an example takes six Spark jobs for every try.
@share(8, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.data())
def test_streams_and_lattices_add_up_to_the_views(spark: SparkSession, data: st.DataObject) -> None:
    collection = data.draw(collections())
    views = collection.views()
    chain = data.draw(st.permutations(range(len(views))))
    orders = [data.draw(st.permutations(range(size))) for size in collection.shape]
    with TemporaryDirectory() as name:
        home = Path(name)
        written = collection.write(spark, home / "matrix", partitions=data.draw(st.integers(1, 3)))
        assert written == len(set().union(*views))

        counts = write_stream(spark, home / "matrix", chain, home / "stream")
        stream = DifferenceStream(home / "stream")
        for position, view in enumerate(chain):
            assert accumulated(stream, range(position + 1)) == each_once(views[view])
        assert tuple(counts) == stream.sizes == tuple(count_chain(spark, home / "matrix", chain))

        counts = write_lattice(spark, home / "matrix", orders, home / "lattice")
        lattice = DifferenceStream(home / "lattice")
        for cell in product(*map(range, collection.shape)):
            before = [int(np.ravel_multi_index(each, collection.shape)) for each in at_or_before(cell)]
            given = tuple(order[place] for order, place in zip(orders, cell, strict=True))
            assert accumulated(lattice, before) == each_once(collection.view(given))
        assert counts.shape == collection.shape
        assert tuple(counts.ravel()) == lattice.sizes
        assert np.array_equal(counts, count_lattice(spark, home / "matrix", orders))

        found = distances(spark, home / "matrix", len(views))
        padded = [set[int](), *views]
        assert found.tolist() == [[len(one ^ other) for other in padded] for one in padded]


def test_what_is_written_does_not_depend_on_the_partitions_of_the_edges(spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    xs, kinds = rng.integers(0, 10, 500).tolist(), rng.choice(["a", "b"], 500).tolist()
    windows = [Range(low, low + 4, kind) for low in range(7) for kind in (None, "a")]
    collection = Collection(list(zip(xs, kinds, strict=True)), [windows, [Range(0, high) for high in range(1, 11)]])
    found = []
    for partitions in (1, 2, 5):
        home = tmp_path / str(partitions)
        collection.write(spark, home / "matrix", partitions)
        assert len(list((home / "matrix").iterdir())) == partitions
        orders = [list(range(size))[::-1] for size in collection.shape]
        counts = write_lattice(spark, home / "matrix", orders, home / "lattice")
        stream = DifferenceStream(home / "lattice")
        differences = [[part.tolist() for part in stream.read(position)] for position in range(len(stream))]
        found.append((counts.tolist(), differences, distances(spark, home / "matrix", 140).tolist()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("shape", [(130,), (16, 16, 16), (65, 2), (2, 65), (1, 1, 1)])
def test_view_j_is_bit_j_modulo_64_of_word_j_over_64(spark: SparkSession, tmp_path: Path, shape: Cell) -> None:
    rng = np.random.default_rng(math.prod(shape))
    dimensions = [[Range(*sorted(rng.integers(0, 300, 2).tolist())) for _ in range(size)] for size in shape]
    collection = Collection([(int(x), "a") for x in rng.integers(0, 400, 60)], dimensions)
    written = collection.write(spark, tmp_path)
    table = pa.concat_tables(map(pq.read_table, tmp_path.glob("*.parquet")))
    views = collection.views()
    assert table.column_names == ["_edge", *(f"m{w}" for w in range((len(views) + 63) // 64))]
    assert {column.type for column in table.columns} == {pa.int64()}
    rows = {edge: words for edge, *words in zip(*(column.to_pylist() for column in table.columns), strict=True)}
    expected: dict[int, int] = {}
    for j, view in enumerate(views):
        for edge in view:
            expected[edge] = expected.get(edge, 0) | 1 << j
    assert {e: sum((word % 2**64) << (64 * w) for w, word in enumerate(words)) for e, words in rows.items()} == expected
    assert written == len(table) == len(expected)


def test_the_example_of_graphsurge_costs_540_differences_as_given_and_260_in_its_best_order(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Graphsurge, figure 5 and listing 3, whose "ID < 199" must read 200."""
    views = [Range(0, 100), Range(50, 200), Range(10, 100), Range(60, 200)]
    collection = Collection([(edge, "a") for edge in range(200)], [views])
    collection.write(spark, tmp_path / "matrix")
    assert count_chain(spark, tmp_path / "matrix", [0, 1, 2, 3]).sum() == 540
    assert write_stream(spark, tmp_path / "matrix", [2, 0, 1, 3], tmp_path / "stream").sum() == 260


def test_a_collection_without_edges_has_a_folder_for_every_position(spark: SparkSession, tmp_path: Path) -> None:
    for name, edges in (("no edges", []), ("none in a view", [(7, "a")])):
        collection = Collection(edges, [[Range(0, 5), Range(0, 3)]])
        assert collection.write(spark, tmp_path / name / "matrix") == 0
        assert write_stream(spark, tmp_path / name / "matrix", [1, 0], tmp_path / name / "stream").tolist() == [0, 0]
        stream = DifferenceStream(tmp_path / name / "stream")
        assert len(stream) == 2
        assert stream.sizes == (0, 0)
        assert [part.tolist() for part in stream.read(1)] == [[], []]
        assert distances(spark, tmp_path / name / "matrix", 2).tolist() == [[0] * 3] * 3


def test_a_collection_without_views_is_empty(spark: SparkSession, tmp_path: Path) -> None:
    collection = Collection([(1, "a")], [[Range(0, 5)], []])
    assert collection.write(spark, tmp_path / "matrix") == 0
    assert write_lattice(spark, tmp_path / "matrix", [[0], []], tmp_path / "lattice").shape == (1, 0)
    assert distances(spark, tmp_path / "matrix", 0).tolist() == [[0]]


def settings_of(spark: SparkSession) -> list[str | None]:
    names = ("spark.sql.codegen.wholeStage", "spark.sql.execution.arrow.maxRecordsPerBatch")
    return [spark.conf.get(name) for name in names]


def test_writing_a_matrix_leaves_the_settings_of_spark_alone(spark: SparkSession, tmp_path: Path) -> None:
    before = settings_of(spark)
    frame = Collection([(1, "a")], []).frame(spark, partitions=1)
    assert write_matrix(frame, [[F.lit(True)]], tmp_path) == 1
    assert settings_of(spark) == before
    assert [file.name for file in tmp_path.iterdir()] == ["part-00000.parquet"]


def test_a_failed_matrix_leaves_no_files_and_the_settings_of_spark_alone(spark: SparkSession, tmp_path: Path) -> None:
    before = settings_of(spark)
    frame = Collection([(1, "a")], []).frame(spark, partitions=1)
    with pytest.raises(PySparkException, match="out of range"):
        write_matrix(frame, [[F.raise_error(F.lit("out of range")).cast("boolean")]], tmp_path)
    assert settings_of(spark) == before
    assert list(tmp_path.iterdir()) == []
