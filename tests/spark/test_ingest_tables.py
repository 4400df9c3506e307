"""Graphs from tables that are in memory: Arrow, pandas, Polars, Spark, NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import permutations
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from graphtide.errors import LoadError, UsageError

Load = Callable[..., Any]


def test_an_arrow_table_keeps_the_order_of_its_rows(load: Load) -> None:
    edges = pa.chunked_array([[9, 1], [1]]), pa.chunked_array([[1, 1], [9]])
    table = pa.table({"start": edges[0], "w": pa.array([1, None, 3], pa.uint8()), "end": edges[1]})
    nodes = pa.table({"node": pa.array(["9", "1"], pa.large_string()), "x": pa.array(["a", "b"]).dictionary_encode()})
    graph = load(table, nodes)
    assert graph.nodes == [("1", "b"), ("9", "a")]
    assert graph.edges == [("9", "1", 1), ("1", "1", None), ("1", "9", 3)]
    assert str(graph.graph.source) == "edges from pyarrow Table, nodes from pyarrow Table"


def test_a_pandas_table_may_have_missing_values_and_wanted_types(load: Load) -> None:
    frame = pd.DataFrame(
        {
            "src": pd.array([2, 1], dtype="Int64"),
            "dst": [1, 2],
            "year": [2019.0, None],
            "when": pd.to_datetime(["2020-01-01", None]),
            "kind": pd.Categorical(["call", "mail"]),
        }
    )
    graph = load(frame, columns={"year": "int"})
    assert graph.types == {"_id": "int", "year": "int", "when": "timestamp", "kind": "string"}
    assert graph.edges == [(2, 1, 2019, datetime(2020, 1, 1, tzinfo=UTC), "call"), (1, 2, None, None, "mail")]


def test_a_polars_table_is_one_too(load: Load) -> None:
    kinds = pl.Series(["x", "y"], dtype=pl.Categorical)
    graph = load(pl.DataFrame({"src": ["b", "a"], "dst": ["a", "b"], "kind": kinds}), columns=["dst", "src", "k"])
    assert graph.edges == [("a", "b", "x"), ("b", "a", "y")]


def test_a_spark_table_is_taken_in_the_order_of_all_its_columns(load: Load, spark: SparkSession) -> None:
    rows = [(3, 1, "c"), (1, 2, "b"), (1, 2, "a"), (2, 2, None), (1, 2, "a")]
    expected = [(1, 2, "a"), (1, 2, "a"), (1, 2, "b"), (2, 2, None), (3, 1, "c")]
    for partitions in (1, 3):
        frame = spark.createDataFrame(rows, "src long, dst long, t string").repartition(partitions)
        assert load(frame, name=f"P{partitions}").edges == expected


def test_a_spark_table_has_its_own_types(load: Load, spark: SparkSession) -> None:
    frame = spark.sql(
        "select 'x' as a, 'y' as `b`, timestamp '2020-01-01 00:00:00' as `t.t`, "
        "timestamp_ntz '2020-01-01 00:00:00' as u, cast(1.5 as decimal(5,2)) as e, cast(5 as decimal(20,0)) as k"
    )
    graph = load(frame)
    midnight = datetime(2020, 1, 1, tzinfo=UTC)
    assert graph.edges == [("x", "y", midnight, midnight, float(Decimal("1.5")), 5)]
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        # Another zone moves what is written without one, and nothing that is already a point in time.
        assert load(frame, nodes=pa.table({"id": ["x", "y"], "t": [midnight] * 2}), name="Tokyo").nodes == [
            ("x", midnight),
            ("y", midnight),
        ]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_networkx_graph_of_any_kind_brings_nodes_and_attributes(load: Load) -> None:
    multi = nx.MultiGraph()
    multi.add_edge(2, 1, key="a", w=1)
    multi.add_edge(2, 1, key="b", w=2.5, source="me")
    multi.add_edge(2, 2)
    multi.add_node(9, name="lonely")
    graph = load(multi)
    assert graph.nodes == [(1, None), (2, None), (9, "lonely")]
    assert graph.edges == [
        *((2, 1, 1.0, None), (1, 2, 1.0, None)),
        *((2, 1, 2.5, "me"), (1, 2, 2.5, "me")),
        (2, 2, None, None),
    ]
    words = nx.DiGraph([("a", 1, {"k": "x"}), ("b", "a", {"k": 1})])
    graph = load(words, name="Words")
    assert graph.nodes == [("1",), ("a",), ("b",)]
    assert graph.edges == [("a", "1", "x"), ("b", "a", "1")]


def test_an_undirected_networkx_graph_has_its_edges_both_ways_and_can_be_had_back(load: Load) -> None:
    karate = nx.karate_club_graph()
    karate.add_edge(3, 3, weight=1)
    graph = load(karate)
    assert graph.nodes == [(node, club) for node, club in karate.nodes(data="club")]
    assert sorted(graph.edges) == sorted(nx.DiGraph(karate).edges(data="weight"))
    back = graph.graph.to_networkx()
    undirected = nx.Graph(back)
    assert (undirected.nodes, undirected.adj) == (karate.nodes, karate.adj)
    assert sorted(load(back, name="Again").edges) == sorted(graph.edges)


def test_a_directed_networkx_graph_loads_as_it_is(load: Load) -> None:
    karate = nx.DiGraph(list(nx.karate_club_graph().edges(data=True)))
    assert load(karate).edges == list(karate.edges(data="weight"))


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        (pa.table({"src": [1.5], "dst": [1]}), None, 'edges: column "src" holds ids and has the type float'),
        (pa.table({"a": [1], "b": [2], "l": [[1]]}), None, 'edges: column "l" has the type list'),
        (pa.table({"a": [1]}), None, "edges: 1 column, and edges need two: the source and the target"),
        (pa.table({"src": [1], "b": [1]}), None, 'cannot tell which column is the target: there are "src", "b"'),
        (pa.table({"src": [1, None], "dst": [1, 2]}), None, "edges, row 1: no source vertex"),
        (pa.table({"src": [1], "dst": [1], "_edge": [1]}), None, 'a property cannot be called "_edge"'),
        (pa.table({"src": [1], "dst": [1]}), pa.table({"id": [1, 2, 1]}), "nodes, row 2: the node 1 is there already"),
        (nx.Graph([((1, 2), (3, 4))]), None, r"the node \(1, 2\) is a tuple"),
        (nx.Graph([(1, 2**70)]), None, f"the node {2**70} is too large for an int"),
        (nx.Graph([("a\ud800", "b")]), None, r"the node 'a\\ud800' is no text of Unicode"),
        (nx.Graph([(1, 2, {"w": "a\ud800"})]), None, 'edge attribute "w" has a value that is no text of Unicode'),
        (nx.Graph([(1, 2, {"w\ud800": 1})]), None, r"edge attribute 'w\\ud800' has a name that is no text of Unicode"),
        (pd.DataFrame({"src": [1, "a"], "dst": [1, 2]}), None, "the pandas table has a column of several types"),
        (pd.DataFrame([[1, 2, 3]], columns=["src", "dst", "dst"]), None, 'the pandas table has two columns "dst"'),
        (pd.DataFrame({"src": [1], "dst": [2**70]}), None, "the pandas table has an int beyond 64 bits"),
        (
            pd.DataFrame({"src": ["a\ud800"], "dst": [""]}),
            None,
            "the pandas table has a value that is no text of Unicode",
        ),
        *(
            (
                pd.DataFrame({"src": [1, 2, 3], "dst": 1, "t": [*times, None]}),
                None,
                "has a column of several types: .*t",
            )
            for times in permutations([date(2020, 1, 2), datetime(2020, 1, 2, 5, tzinfo=UTC)])
        ),
    ],
)
def test_tables_that_are_no_graph_are_refused(load: Load, edges: Any, nodes: Any, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load(edges, nodes)


@pytest.mark.parametrize("is_late", [False, True])
def test_dates_among_times_are_midnights(load: Load, is_late: bool) -> None:
    times = [date(2020, 1, 2), datetime(2020, 1, 2, 5, tzinfo=UTC), None]
    if is_late:
        times.reverse()
    graph = load(nx.DiGraph([(i, i, {"t": each}) for i, each in enumerate(times)]))
    wanted = [datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 2, 5, tzinfo=UTC), None]
    assert [edge[2] for edge in graph.edges] == (wanted[::-1] if is_late else wanted)


def test_a_missing_date_of_pandas_is_no_time(load: Load) -> None:
    graph = load(pd.DataFrame({"src": [1, 2], "dst": [1, 2], "t": pd.Series([date(2020, 1, 2), pd.NaT], dtype=object)}))
    assert [edge[2] for edge in graph.edges] == [date(2020, 1, 2), None]


def test_a_type_that_a_column_cannot_have_is_refused(load: Load) -> None:
    with pytest.raises(LoadError, match='edges: column "t" is int and cannot be timestamp'):
        load(pa.table({"src": [1], "dst": [1], "t": [5]}), columns={"t": "timestamp"})
    with pytest.raises(LoadError, match='edges: column "w" is int and cannot be date'):
        load(nx.DiGraph([(1, 2, {"w": 3})]), columns={"w": "date"})
    with pytest.raises(LoadError, match=r'edges, row 1: column "t": 2\.5 is not an int'):
        load(pa.table({"src": [1, 2], "dst": [1, 2], "t": [1.0, 2.5]}), columns={"t": "int"})


@pytest.mark.parametrize("type_", [pa.timestamp("s"), pa.timestamp("s", "Asia/Tokyo"), pa.date64()])
def test_a_time_beyond_64_bits_of_microseconds_is_a_bad_row(load: Load, type_: pa.DataType) -> None:
    far = 2**58 - 2**58 % 86_400_000
    table = pa.table({"src": [1, 2], "dst": [1, 2], "t": pa.array([0, far], type_)})
    with pytest.raises(LoadError, match=f'edges, row 1: column "t": {far} is too large for a (timestamp|date)'):
        load(table)
    graph = load(table, on_bad_lines="quarantine")
    assert [edge[:2] for edge in graph.edges] == [(1, 1)]


def test_messages_about_tables_say_nothing_of_files(load: Load) -> None:
    for table, message in ((pa.table({"a": [1]}), "edges: 1 column"), (pa.table({}), "edges: 0 columns")):
        with pytest.raises(LoadError, match=f"{message}, and edges need two") as caught:
            load(table)
        assert "separat" not in str(caught.value)
    with pytest.raises(LoadError, match="nodes: 0 columns, and nodes need one: the id"):
        load(pa.table({"src": [1], "dst": [1]}), pa.table({}))
    with pytest.raises(LoadError, match=r'^edge attribute "w" is list'):
        load(nx.DiGraph([(1, 2, {"w": [3]})]))


def test_what_is_no_table_is_refused(load: Load) -> None:
    with pytest.raises(UsageError, match="None is nothing that edges can be loaded from"):
        load(None)
    with pytest.raises(UsageError, match="None is nothing that edges can be loaded from"):
        load(None, pa.table({"id": [1]}))
    with pytest.raises(UsageError, match="int is nothing that edges can be loaded from"):
        load(5)
    with pytest.raises(UsageError, match="list is nothing that nodes can be loaded from"):
        load(pa.table({"src": [1], "dst": [1]}), [1])
    with pytest.raises(UsageError, match="a NetworkX graph brings its nodes along"):
        load(nx.Graph([(1, 2)]), pa.table({"id": [1, 2]}))
