"""Numbers of vertices and edges: those that a naive reader would give, however the work is divided."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.examples import share

from graphtide.graph import PropertyType, Store, StoredGraph
from graphtide.pipeline.ingest import load_graph, runs, writing
from graphtide.pipeline.ingest.part import LINE
from graphtide.pipeline.ingest.stack import Stack

FEW = share(8)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=["Zs", "Cc"]), min_size=1)
IDS = st.lists(st.integers(-5, 12).map(str) | st.integers().map(str), min_size=1, max_size=6) | st.lists(
    TEXT | st.integers(0, 20).map(str), min_size=1, max_size=6
)
CELLS = st.sampled_from(
    [
        st.integers(-(2**63), 2**63 - 1).map(str),
        st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-9, 9).map(str),
        st.sampled_from(["true", "false"]),
        st.dates(date(1900, 1, 1)).map(str),
        TEXT,
    ]
)


@st.composite
def edge_tables(draw: st.DrawFn) -> list[list[str]]:
    """Rows of source, target and up to three properties, as they are written into a file."""
    ids = draw(IDS)
    cells = draw(st.lists(CELLS, max_size=3))
    row = st.tuples(st.sampled_from(ids), st.sampled_from(ids), *(st.just("") | cell for cell in cells))
    return [list(each) for each in draw(st.lists(row, max_size=12))]


def naive_column(texts: list[str]) -> list[Any]:
    """The values of a column in the first type that all of them have."""
    given_texts = [text for text in texts if text]
    readers: list[tuple[str, Callable[[str], Any]]] = [
        ("true|false", lambda text: text == "true"),
        ("0|-?[1-9][0-9]*", int),
        (r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", float),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}", date.fromisoformat),
    ]
    for pattern, read in readers:
        is_all = bool(given_texts) and all(re.fullmatch(pattern, text, re.ASCII) for text in given_texts)
        has_long = any(re.fullmatch("-?[0-9]+", text) and not -(2**63) <= int(text) < 2**63 for text in given_texts)
        if is_all and not has_long:
            return [read(text) if text else None for text in texts]
    return [text or None for text in texts]


def naive_graph(rows: list[list[str]]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Ids in order, and edges in the order of the rows."""
    ends = naive_column([row[0] for row in rows] + [row[1] for row in rows])
    if not all(type(end) is int for end in ends):
        ends = [row[0] for row in rows] + [row[1] for row in rows]
    columns = [naive_column([row[i] for row in rows]) for i in range(2, len(rows[0]) if rows else 2)]
    return sorted(set(ends)), list(zip(ends[: len(rows)], ends[len(rows) :], *columns, strict=True))


def stored_graph(graph: StoredGraph) -> tuple[list[Any], list[tuple[Any, ...]]]:
    ids = graph.node_columns("_id").column(0).to_pylist()
    assert graph.node_columns("_vertex").column(0).to_pylist() == list(range(len(ids)))
    names = [each.name for each in graph.schema.edges]
    number, source, target, *rest = (c.to_pylist() for c in graph.edge_columns("_edge", "_src", "_dst", *names).columns)
    assert number == list(range(graph.edge_count))
    return ids, list(zip([ids[i] for i in source], [ids[i] for i in target], *rest, strict=True))


@contextmanager
def blocks_of(spark: SparkSession, size: str) -> Iterator[None]:
    """Files are read in blocks of that size."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", size)
    try:
        yield
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


@FEW
@given(rows=edge_tables(), block_size=st.sampled_from(["150b", "128m"]))
@example(  # a block in which all dates are missing
    rows=[["-1000000000000"] * 2 + [day, "", ""] for day in ("", "", "", "2000-01-01", "")], block_size="150b"
)
def test_a_csv_file_is_stored_as_a_naive_reader_reads_it(
    spark: SparkSession, rows: list[list[str]], block_size: str
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "edges.csv")
        width = len(rows[0]) if rows else 2
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["src", "dst", "a", "b", "c"][:width])
            writer.writerows(rows)
        with blocks_of(spark, block_size):
            graph = load_graph(spark, Store(folder), "G", file)
        assert stored_graph(graph) == naive_graph(rows)


@FEW
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.none() | st.floats(allow_nan=False), st.none() | TEXT),
        max_size=12,
    ),
    files=st.integers(1, 3),
)
def test_parquet_files_are_stored_as_they_are(spark: SparkSession, rows: list[tuple[Any, ...]], files: int) -> None:
    schema = pa.schema([("src", pa.int32()), ("dst", pa.int64()), ("x", pa.float64()), ("y", pa.string())])
    with TemporaryDirectory() as folder:
        cuts = np.linspace(0, len(rows), files + 1).astype(int)
        for i in range(files):
            own = rows[cuts[i] : cuts[i + 1]]
            columns = [[row[j] for row in own] for j in range(4)]
            pq.write_table(pa.table(columns, schema=schema), Path(folder, f"{i}.parquet"), row_group_size=2)
        graph = load_graph(spark, Store(Path(folder, "home")), "G", Path(folder, "?.parquet"))
        ids = sorted({row[0] for row in rows} | {row[1] for row in rows})
        assert stored_graph(graph) == (ids, rows)


@FEW
@given(
    st.lists(
        st.tuples(st.integers(-9, 9), st.sampled_from([" ", "\t", "  \t"]), st.integers(-9, 9)), min_size=1, max_size=12
    ),
    st.lists(st.sampled_from(["", "# 1 2", "   "]), max_size=3),
)
def test_a_snap_file_is_stored_as_a_naive_reader_reads_it(
    spark: SparkSession, rows: list[tuple[int, str, int]], skipped: list[str]
) -> None:
    lines = [*skipped, *(f"{source}{blanks}{target}" for source, blanks, target in rows), *skipped]
    with TemporaryDirectory() as folder:
        file = Path(folder, "edges.txt")
        file.write_text("\n".join(lines))
        with blocks_of(spark, "50b"):
            graph = load_graph(spark, Store(folder), "G", file, format="snap")
        edges = [(int(line.split()[0]), int(line.split()[1])) for line in lines if line.strip() and line[0] != "#"]
        assert stored_graph(graph) == (sorted({end for edge in edges for end in edge}), edges)


def bytes_of(graph: StoredGraph) -> dict[str, bytes]:
    files = [*graph.nodes_folder.iterdir(), *graph.edges_folder.iterdir()]
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}


def test_a_load_gives_the_same_bytes_however_the_work_is_divided(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(7)
    for i, count in enumerate((500, 1, 1300)):
        ends = random.integers(0, 300, (count, 2))
        lines = [f"v{a},v{b},{a * b / 8}" for a, b in ends.tolist()]
        (tmp_path / f"{i}.csv").write_text("# a comment in front\nsrc,dst,w\n" + "\n".join(lines))
    (tmp_path / "nodes.csv").write_text("id,x\n" + "\n".join(f"v{i},{i % 7}" for i in random.permutation(300).tolist()))
    found: list[dict[str, bytes]] = []
    for size, range_rows in (("128m", 10**6), ("3k", 500), ("9k", 100)):
        monkeypatch.setattr("graphtide.pipeline.ingest.sorting._RANGE_ROWS", range_rows)
        with blocks_of(spark, size):
            store = Store(tmp_path / "home" / size)
            bare = load_graph(spark, store, "Bare", tmp_path / "[0-9].csv")
            whole = load_graph(spark, store, "Whole", tmp_path / "[0-9].csv", tmp_path / "nodes.csv")
        found.append(bytes_of(bare) | {f"whole {name}": content for name, content in bytes_of(whole).items()})
    assert len(found[0]) == 4
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_files_have_row_groups_that_tasks_can_share(spark: SparkSession, tmp_path: Path) -> None:
    rows = writing.FILE_ROWS + writing.GROUP_ROWS + 5
    numbers = np.arange(rows)
    edges = pa.table({"src": numbers % 1000, "dst": numbers % 7, "w": numbers})
    graph = load_graph(spark, Store(tmp_path), "G", edges)
    files = [pq.ParquetFile(file) for file in sorted(graph.edges_folder.iterdir())]
    groups = [[file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)] for file in files]
    assert groups == [[writing.GROUP_ROWS] * (writing.FILE_ROWS // writing.GROUP_ROWS), [writing.GROUP_ROWS, 5]]
    assert {files[0].metadata.row_group(0).column(i).compression for i in range(4)} == {"ZSTD"}
    read = graph.edge_columns("_edge", "_src", "w")
    assert np.array_equal(read.column("_edge").to_numpy(), numbers)
    assert np.array_equal(read.column("_src").to_numpy(), numbers % 1000)
    assert np.array_equal(read.column("w").to_numpy(), numbers)


@given(st.lists(st.integers(0, 4), max_size=6), st.data())
def test_a_stack_of_files_reads_like_one(sizes: list[int], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        files: list[tuple[Path, int]] = []
        for i, size in enumerate(sizes):
            start = sum(sizes[:i])
            files.append((Path(folder, f"{i}"), size))
            rows = {
                "p0": pa.array(range(start, start + size), pa.int64()),
                LINE: pa.array(range(size), pa.int32()),
            }
            writing.write_scratch(files[-1][0], pa.table(rows))
        stack = Stack.of(files)
        assert stack.rows == sum(sizes)
        start = data.draw(st.integers(0, stack.rows))
        stop = data.draw(st.integers(start, stack.rows))
        read = stack.read(start, stop, dict.fromkeys(("p0", "p1"), PropertyType.INT))
        assert read.to_pydict() == {"p0": list(range(start, stop)), "p1": [None] * (stop - start)}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 9)), max_size=8), st.data())
def test_rows_are_cut_where_a_block_ends_and_where_there_are_enough(
    drawn: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    # Spark sends the rows of one block without another's in between.
    blocks = {(f"f{file}", start): rows for file, start, rows in drawn}
    rows = [(file, start, i) for (file, start), count in blocks.items() for i in range(count)]
    columns = {runs.FILE: [r[0] for r in rows], runs.START: [r[1] for r in rows], "value": [r[2] for r in rows]}
    schema = pa.schema([(runs.FILE, pa.string()), (runs.START, pa.int64()), ("value", pa.int64())])
    batches = pa.table(columns, schema=schema).to_batches(max_chunksize=data.draw(st.integers(1, 10)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "PART_ROWS", data.draw(st.integers(1, 5)))
        cut = list(runs.pieces(batches))
    again = {(piece.file, piece.start): [] for piece in cut}
    for piece in cut:
        own = again[piece.file, piece.start]
        assert piece.number == len(own)
        own.append(piece.table.column("value").to_pylist())
    assert {block: [*chain(*values)] for block, values in again.items()} == {
        block: [*range(count)] for block, count in blocks.items()
    }
