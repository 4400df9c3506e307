"""Graphs that come with the package: whole, typed, sorted, and small in all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from graphtide import datasets
from graphtide.datasets.shipped import data_folder
from graphtide.errors import UsageError

each_graph = pytest.mark.parametrize("name", datasets.names())

# What a property of a graph can be.
TYPES = {pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("ms", tz="UTC")}


def ends(edges: pa.Table) -> set[object]:
    return set(edges["src"].unique().to_pylist()) | set(edges["dst"].unique().to_pylist())


def is_sorted(table: pa.Table, *columns: str) -> bool:
    """Whether rows never fall, compared by these columns; strings are compared by bytes."""
    codes = [pc.rank(table[column], "ascending", tiebreaker="dense").to_numpy() for column in columns]
    order = np.lexsort(codes[::-1])
    return bool((np.stack(codes)[:, order] == np.stack(codes)).all())


@each_graph
def test_it_has_the_nodes_and_edges_that_its_description_says(name: str) -> None:
    edges, nodes = datasets.load(name), datasets.nodes(name)
    count = len(ends(edges)) if nodes is None else nodes.num_rows
    described = datasets.describe(name)
    assert (count, edges.num_rows) == (described.node_count, described.edge_count)


@each_graph
def test_edges_have_two_ends_of_one_type_and_properties_of_known_ones(name: str) -> None:
    edges = datasets.load(name)
    assert edges.column_names[:2] == ["src", "dst"]
    assert edges.schema.field("src").type == edges.schema.field("dst").type in {pa.int64(), pa.string()}
    assert set(edges.schema.types) <= TYPES
    assert [field.name for field in edges.schema if field.nullable] == [
        column for column in edges.column_names if edges[column].null_count
    ]
    assert edges["src"].null_count == edges["dst"].null_count == 0


@each_graph
def test_the_description_names_all_columns(name: str) -> None:
    described = datasets.describe(name)
    for column in datasets.load(name).column_names:
        assert column in described.edges
    nodes = datasets.nodes(name)
    assert (nodes is None) == (described.nodes is None)
    for column in nodes.column_names if nodes else []:
        assert column in described.nodes
    assert bool(datasets.answers(name)) == (described.answers is not None)
    for answer in datasets.answers(name):
        assert answer in described.answers
    assert (datasets.changes(name) is None) == (described.changes is None)


@pytest.mark.parametrize("name", [name for name in datasets.names() if datasets.nodes(name)])
def test_nodes_are_unique_sorted_and_include_all_ends(name: str) -> None:
    nodes = datasets.nodes(name)
    assert nodes.column_names[0] == "id"
    assert nodes.schema.field("id").type == datasets.load(name).schema.field("src").type
    ids = nodes["id"].to_pylist()
    assert len(set(ids)) == len(ids)
    assert is_sorted(nodes, "id")
    assert ends(datasets.load(name)) <= set(ids)
    assert set(nodes.schema.types) <= TYPES


@each_graph
def test_edges_are_sorted_by_time_or_else_by_their_ends(name: str) -> None:
    edges = datasets.load(name)
    moments = [column for column in ("time", "day") if column in edges.column_names]
    assert is_sorted(edges, *(moments or ["src", "dst"]))


def test_mentions_are_a_selection_of_the_whole_stream() -> None:
    whole, mentions = datasets.load("higgs-twitter"), datasets.load("higgs-mentions")
    assert set(whole["kind"].unique().to_pylist()) == {"RT", "MT", "RE"}
    is_mention = np.array([kind == "MT" for kind in whole["kind"].to_pylist()])
    assert mentions.equals(whole.take(np.flatnonzero(is_mention)).select(["src", "dst", "time"]))


def test_no_file_is_left_over_and_all_are_small_together() -> None:
    files = [file for file in data_folder().iterdir() if file.name not in {"README.md", "facts"}]
    graphs = {file.name.partition(".")[0] for file in files}
    assert graphs == set(datasets.names()) - {"higgs-mentions"}
    facts = list((data_folder() / "facts").iterdir())
    assert {file.name.partition(".")[0] for file in facts} == {"README", "redis"}
    assert sum(len(file.read_bytes()) for file in (*files, *facts)) < 25_000_000


@pytest.mark.parametrize("ask", [datasets.load, datasets.nodes, datasets.answers, datasets.changes, datasets.describe])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("collegemsg", 'did you mean "CollegeMsg"'),
        ("air-rutes", 'did you mean "air-routes"'),
        ("air-routes.nodes", 'did you mean "air-routes"'),
        ("x", "there are CollegeMsg"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(ask, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f'there is no data set "{name}"\nhint: {hint}'):
        ask(name)
