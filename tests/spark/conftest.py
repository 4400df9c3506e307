"""One Spark session for all tests that need one, since starting it takes seconds; and graphs loaded with it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from graphtide.graph import Store, StoredGraph
from graphtide.pipeline.ingest import load_graph
from graphtide.pipeline.spark import open_spark


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_spark("local[2]", {"spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()


@dataclass(frozen=True)
class Loaded:
    """A stored graph in the users' terms: rows of nodes and edges, with ids for numbers."""

    graph: StoredGraph

    @property
    def nodes(self) -> list[tuple[Any, ...]]:
        names = [each.name for each in self.graph.schema.nodes]
        table = self.graph.node_columns("_vertex", "_id", *names)
        assert table.column("_vertex").to_pylist() == list(range(self.graph.node_count))
        return list(zip(*(column.to_pylist() for column in table.columns[1:]), strict=True))

    @property
    def edges(self) -> list[tuple[Any, ...]]:
        names = [each.name for each in self.graph.schema.edges]
        table = self.graph.edge_columns("_edge", "_src", "_dst", *names)
        assert table.column("_edge").to_pylist() == list(range(self.graph.edge_count))
        ids = [node[0] for node in self.nodes]
        source, target, *properties = (column.to_pylist() for column in table.columns[1:])
        return list(zip([ids[i] for i in source], [ids[i] for i in target], *properties, strict=True))

    @property
    def types(self) -> dict[str, str]:
        schema = self.graph.schema
        return {"_id": str(schema.id_type), **{each.name: str(each.type) for each in (*schema.nodes, *schema.edges)}}


@pytest.fixture
def load(spark: SparkSession, tmp_path: Path) -> Callable[..., Loaded]:
    """Loads a graph into a home of its own."""
    store = Store(tmp_path / "home")

    def load_into_home(edges: Any, nodes: Any = None, *, name: str = "G", **options: Any) -> Loaded:
        return Loaded(load_graph(spark, store, name, edges, nodes, **options))

    return load_into_home


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file of text."""

    def write_file(name: str, content: str | bytes) -> Path:
        file = tmp_path / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return write_file
