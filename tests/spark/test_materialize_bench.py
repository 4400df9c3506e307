"""The bench of materialisation on tiny data: all rows must agree, and wrong answers must be noticed."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from graphtide.bench import materialize
from graphtide.bench.materialize import Size, comparisons
from graphtide.bench.materialize_memory import peak_of_children
from graphtide.bench.materialize_views import stored_graph, views_of_time

TINY = Size(edges=3_000, views=8, rounds=1, more_views=(8, 70), bar=None)
TASK = "8 views of 3,000 edges"


def quiet(_: str) -> None:
    pass


def test_spark_and_polars_make_the_same_of_a_view_collection(spark: SparkSession) -> None:
    rows = list(comparisons(spark, TINY, quiet))
    assert [row.name for row in rows if not row.agree] == []
    steps = [TASK, *(f"{TASK}: {step}" for step in ("matrix", "distances", "stream"))]
    assert [row.name for row in rows if row.peer_name == "polars"] == [
        *steps,
        f"{TASK}: matrix, predicates evaluated by Spark",
    ]
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("step", ["matrix", "distances", "stream"])
def test_a_wrong_step_is_noticed(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    right = getattr(materialize, f"polars_{step}")

    def wrong(*arguments: object) -> object:
        *_, last = arguments
        result = right(*arguments)
        if step == "distances":
            result[1, 2] += 1
            return result
        assert isinstance(last, Path)
        file = last if step == "matrix" else last / "000003" / "part.parquet"
        pq.write_table(pq.read_table(file).slice(1), file)
        return result

    monkeypatch.setattr(materialize, f"polars_{step}", wrong)
    rows = {row.name: row for row in comparisons(spark, TINY, quiet)}
    assert not rows[TASK].agree


def test_edges_and_views_are_the_same_for_one_seed(tmp_path: Path) -> None:
    first, second = (stored_graph(tmp_path / name, 1000) for name in ("first", "second"))
    assert first.edge_columns("_edge", "at", "kind").equals(second.edge_columns("_edge", "at", "kind"))
    assert first.edge_columns("_edge").column("_edge").to_pylist() == list(range(1000))
    assert views_of_time(20, seed=4) == views_of_time(20, seed=4)
    assert views_of_time(20, seed=4) != views_of_time(20, seed=5)


def test_memory_of_spark_is_that_of_its_virtual_machine_and_of_workers(spark: SparkSession) -> None:
    peak = peak_of_children(lambda: spark.sparkContext.parallelize([1, 2], 2).map(lambda x: x + 1).collect())
    if peak is None:
        pytest.skip("the system does not tell the memory of processes")
    assert min(peak.java, peak.python) > 0
    assert peak.bytes == peak.java + peak.python
