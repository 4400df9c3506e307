"""Predicates as Spark evaluates them, against a naive evaluation (`tests/conditions.py`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from tests.conditions import CONDITIONS, DATE, FLOAT, INT, OneGraph, Sample, Terms, any_sample, bound
from tests.examples import share

from graphtide.graph.schema import GraphSchema, Property
from graphtide.gvdl import bind, parse
from graphtide.gvdl.predicate import Comparison, EdgeProperty, Literal, Predicate
from graphtide.pipeline.predicates import column_of, edges_with_ends


@contextmanager
def stored(sample: Sample, spark: SparkSession) -> Iterator[tuple[DataFrame, DataFrame]]:
    with TemporaryDirectory() as folder:
        for name, table in (("edges", sample.edges), ("nodes", sample.nodes)):
            (Path(folder) / name).mkdir()
            pq.write_table(table, Path(folder) / name / "0.parquet")
        yield spark.read.parquet(f"{folder}/edges"), spark.read.parquet(f"{folder}/nodes")


@contextmanager
def configured(spark: SparkSession, **settings: str) -> Iterator[None]:
    before = {name: spark.conf.get(f"spark.sql.{name}") for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(f"spark.sql.{name}", value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(f"spark.sql.{name}", value)


def answers(edges: DataFrame, nodes: DataFrame, predicates: Sequence[Predicate]) -> list[list[bool]]:
    """One list per predicate, by the number of the edge."""
    columns = [column_of(each).alias(f"p{i}") for i, each in enumerate(predicates)]
    frame = edges_with_ends(edges, nodes, predicates).select("_edge", *columns)
    assert not any(field.nullable for field in frame.schema if field.name != "_edge")
    table = frame.toArrow().sort_by("_edge")
    assert table["_edge"].to_pylist() == list(range(edges.count()))
    return [table[f"p{i}"].to_pylist() for i in range(len(predicates))]


@given(seed=st.integers(0, 2**64), zone=st.sampled_from(["UTC", "Asia/Kolkata"]), ansi=st.booleans())
@share(5)
def test_spark_finds_what_a_naive_evaluation_finds(spark: SparkSession, seed: int, zone: str, ansi: bool) -> None:
    # Examples of this size are beyond Hypothesis itself; the condition that fails is small enough to be read.
    rng = Random(seed)
    sample = any_sample(rng)
    terms = Terms(rng, sample.schema.id_type)
    conditions = [terms.condition(rng.randint(0, 2)) for _ in range(CONDITIONS)]
    predicates = [bound(each.text, sample.schema) for each in conditions]
    session = {"session.timeZone": zone, "ansi.enabled": str(ansi).lower()}
    with stored(sample, spark) as (edges, nodes), configured(spark, **session):
        found = answers(edges, nodes, predicates)
    for condition, truths in zip(conditions, found, strict=True):
        for row, truth in zip(sample.rows(), truths, strict=True):
            assert truth == bool(condition.of(row)), (condition.text, row)


# -------------------------------------------------------------------------------------------- by themselves


LITTLE = GraphSchema(
    INT,
    (Property("a.b", INT), Property("size", INT)),
    (Property("a.b", INT), Property("select `x`", FLOAT), Property("day", DATE)),
)


def little_graph(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Three edges along a path, and names that SQL would stumble over."""
    edges = {"_edge": [0, 1, 2], "_src": [0, 1, 2], "_dst": [1, 2, 3], "a.b": [1, 2, 3], "select `x`": [3.0, 2.0, 1.0]}
    edges["day"] = [date(2019, 1, 30), date(2019, 1, 31), None]
    nodes = {"_vertex": [0, 1, 2, 3], "_id": [10, 20, 30, 40], "a.b": [4, 5, 6, 7], "size": [None, 1, 2, 3]}
    return spark.createDataFrame(pa.table(edges)), spark.createDataFrame(pa.table(nodes))


def test_every_kind_of_condition_finds_its_edges(spark: SparkSession) -> None:
    expected = {
        "true": [0, 1, 2],
        "false": [],
        '"a.b" = 2': [1],
        '"a.b" in (2.0, 2.5, 9223372036854775807)': [1],
        '"a.b" in (9.5)': [],
        '"select `x`" in (3, 9007199254740993)': [0],
        '"select `x`" > 1': [0, 1],
        "day in (timestamp '2019-01-31', timestamp '2019-01-30 12:00:00')": [1],
        "day < '2019-01-30 00:00:01'": [0],
        "day + 1 = '2019-01-31' or 30 + day > '2019-03-01'": [0, 1],
        "day - date '2019-01-01' = 30": [1],
        'src."a.b" + 1 = dst."a.b" and dst."a.b" >= 6': [1, 2],
        "src.id = 10 or dst.id = 40": [0, 2],
        "id > 0 and src.size < dst.size": [1, 2],
        "src.size is null": [0],
        "not src.size < 2": [0, 2],
        "-7 % 3 = 2 and 7 % -3 = -2 and -7.5 % 2 = 0.5": [0, 1, 2],
        "9223372036854775807 + 1 is null and 1 / 0 is null and 1 % 0 is null": [0, 1, 2],
        "1e308 * 10 - 1e308 * 10 > 1e308 * 10": [0, 1, 2],
    }
    found = answers(*little_graph(spark), [bound(condition, LITTLE) for condition in expected])
    edges_found = [[i for i, is_there in enumerate(truths) if is_there] for truths in found]
    assert dict(zip(expected, edges_found, strict=True)) == expected


def test_only_the_ends_that_are_asked_for_are_joined(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    edges, nodes = little_graph(spark)
    alone = edges_with_ends(edges, nodes, [bound('"a.b" = 2 or id = 1', LITTLE)])
    alone.explain()
    assert "Join" not in capsys.readouterr().out
    assert alone.columns == edges.columns
    with_sources = edges_with_ends(edges, nodes, [bound("src.size = 2", LITTLE), bound("src.id = 2", LITTLE)])
    with_sources.explain()
    assert len(re.findall(r"^\W*\w*Join", capsys.readouterr().out, re.MULTILINE)) == 1
    assert with_sources.columns[: len(edges.columns)] == edges.columns
    assert len(with_sources.columns) == len(edges.columns) + 2


def test_names_that_differ_in_case_are_told_apart_where_spark_does(spark: SparkSession) -> None:
    schema = GraphSchema(INT, (), (Property("year", INT), Property("Year", INT)))
    with configured(spark, caseSensitive="true"):
        edges = spark.createDataFrame(pa.table({"_edge": [0, 1], "year": [1, 2], "Year": [2, 1]}))
        assert answers(edges, edges, [bound("year = 1", schema), bound("Year = 1", schema)]) == [
            [True, False],
            [False, True],
        ]


def test_literals_that_gvdl_cannot_write_are_values_too(spark: SparkSession) -> None:
    weight = EdgeProperty("select `x`", FLOAT)
    limits = [Literal(value, FLOAT) for value in (math.inf, -math.inf, math.nan)]
    found = answers(*little_graph(spark), [Comparison("<", weight, limit) for limit in limits])
    assert found == [[True] * 3, [False] * 3, [True] * 3]


def test_the_views_of_listing_3_hold_the_edges_of_figure_5(spark: SparkSession) -> None:
    """Graphsurge, section 3.2; the listing's 199 must read 200."""
    listing = """create view collection "call-analysis" on g
        [GV1: ID < 100], [GV2: ID >= 50 and ID < 200], [GV3: ID >= 10 and ID < 100], [GV4: ID >= 60 and ID < 200]"""
    (statement,) = parse(listing)
    schema = GraphSchema(INT, (), ())
    views = bind(statement, OneGraph(schema), listing).views  # type: ignore[call-overload]
    numbers = pa.array(range(200), pa.int64())
    edges = spark.createDataFrame(pa.table({"_edge": numbers, "_src": numbers, "_dst": numbers}))
    found = answers(edges, edges, [view.predicate for view in views])
    segments = [(10, {0}), (40, {0, 2}), (10, {0, 1, 2}), (40, {0, 1, 2, 3}), (100, {1, 3})]
    expected = [members for size, members in segments for _ in range(size)]
    assert [{j for j in range(4) if found[j][i]} for i in range(200)] == expected


def test_deep_and_long_conditions_run(spark: SparkSession) -> None:
    deep = "not " * 36 + '"a.b" = 2'
    sums = "(" * 36 + '"a.b"' + " % 7.5)" * 36 + " = 2"
    alternatives = " or ".join(f'"a.b" = {i}' for i in range(2, 500))
    choices = f'"a.b" in ({", ".join(map(str, range(2, 500)))})'
    found = answers(*little_graph(spark), [bound(each, LITTLE) for each in (deep, sums, alternatives, choices)])
    assert found == [[False, True, False], [False, True, False], [False, True, True], [False, True, True]]
