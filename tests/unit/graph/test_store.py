"""Graphs in a home folder: what is published is whole, what fails leaves no trace, and names are checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphtide.errors import CatalogueError, SchemaError
from graphtide.graph import Draft, GraphSchema, Property, PropertyType, Source, Store, StoredGraph

SCHEMA = GraphSchema(
    PropertyType.STRING, (Property("city", PropertyType.STRING),), (Property("year", PropertyType.INT),)
)
SOURCE = Source(edges=("calls.csv",))


def write_path(draft: Draft, vertices: int) -> None:
    """A path over some vertices, in files of two rows."""
    nodes = pa.table({"_vertex": range(vertices), "_id": [f"v{i}" for i in range(vertices)], "city": ["x"] * vertices})
    steps = range(vertices - 1)
    edges = pa.table({"_edge": steps, "_src": steps, "_dst": [i + 1 for i in steps], "year": [2000 + i for i in steps]})
    for folder, table in ((draft.nodes_folder, nodes), (draft.edges_folder, edges)):
        folder.mkdir()
        for start in range(0, max(1, table.num_rows), 2):
            pq.write_table(table.slice(start, 2), folder / f"{start:06}.parquet")


def load_path(store: Store, name: str, vertices: int, *, replace: bool = False) -> StoredGraph:
    with store.writing(name, replace=replace) as draft:
        write_path(draft, vertices)
        return draft.publish(SCHEMA, node_count=vertices, edge_count=vertices - 1, source=SOURCE)


def fail_to_load(store: Store, name: str) -> None:
    with store.writing(name, replace=True) as draft:
        write_path(draft, 4)
        raise ZeroDivisionError


def folders(store: Store, name: str) -> set[str]:
    return {each.name for each in (store.home / "graphs" / name).iterdir() if each.is_dir()}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def test_what_is_published_is_read_back(store: Store) -> None:
    published = load_path(store, "Calls", 5)
    graph = store.graph("Calls")
    assert graph == published
    assert store.names() == ["Calls"]
    assert (graph.node_count, graph.edge_count, graph.quarantined, graph.source) == (5, 4, 0, SOURCE)
    assert graph.schema == SCHEMA
    assert graph.node_columns("_id", "_vertex").to_pydict() == {
        "_id": [f"v{i}" for i in range(5)],
        "_vertex": [*range(5)],
    }
    assert graph.edge_columns("year").to_pydict() == {"year": [2000, 2001, 2002, 2003]}
    assert graph.edge_columns("_dst", "_src").column_names == ["_dst", "_src"]
    assert graph.quarantine().num_rows == 0


def test_a_home_below_a_folder_with_an_equals_sign_adds_no_column(tmp_path: Path) -> None:
    graph = load_path(Store(tmp_path / "year=7"), "Calls", 3)
    assert graph.edge_columns("year").to_pydict() == {"year": [2000, 2001]}


def test_a_name_that_goes_on_after_a_dot_is_another_column(store: Store) -> None:
    with store.writing("G") as draft:
        write_path(draft, 1)
        pq.write_table(pa.table({"_edge": [0], "a": [1], "a.b": [2]}), draft.edges_folder / "000000.parquet")
        schema = GraphSchema(PropertyType.INT, (), tuple(Property(name, PropertyType.INT) for name in ("a", "a.b")))
        graph = draft.publish(schema, node_count=1, edge_count=1, source=SOURCE)
    assert graph.edge_columns("a").to_pydict() == {"a": [1]}
    assert graph.edge_columns("a.b").to_pydict() == {"a.b": [2]}


def test_a_column_that_is_not_there_is_named_with_the_nearest(store: Store) -> None:
    graph = load_path(store, "Calls", 3)
    with pytest.raises(SchemaError, match='edge property "yaer" does not exist in graph "Calls"') as caught:
        graph.edge_columns("yaer")
    assert caught.value.hint == 'did you mean "year"?'
    with pytest.raises(SchemaError, match='node property "year" does not exist'):
        graph.node_columns("year")


def test_a_graph_that_is_not_there_is_named_with_the_nearest(store: Store) -> None:
    with pytest.raises(CatalogueError, match='there is no graph "Calls"') as caught:
        store.graph("Calls")
    assert caught.value.hint == "no graph has been loaded yet"
    load_path(store, "Calls", 2)
    with pytest.raises(CatalogueError) as caught:
        store.drop("Clals")
    assert caught.value.hint == 'did you mean "Calls"?'


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "white space", "ü", "a.b", "x" * 201])
def test_names_that_are_no_folders_everywhere_are_refused(store: Store, name: str) -> None:
    with pytest.raises(CatalogueError):
        store.graph(name)
    with pytest.raises(CatalogueError), store.writing(name):
        pass
    assert not store.home.exists()


def test_a_taken_name_is_refused_unless_it_is_to_be_replaced(store: Store) -> None:
    load_path(store, "Calls", 3)
    with pytest.raises(CatalogueError, match='there is a graph "Calls" already') as caught:
        load_path(store, "Calls", 4)
    assert caught.value.hint == "take another name, or load with replace=True"
    load_path(store, "Calls", 4, replace=True)
    assert store.graph("Calls").node_count == 4


def test_whoever_reads_the_old_version_reads_on_when_it_is_replaced(store: Store) -> None:
    old = load_path(store, "Calls", 3)
    new = load_path(store, "Calls", 4, replace=True)
    assert old.edge_columns("_edge").num_rows == 2
    load_path(store, "Calls", 5, replace=True)
    assert not old.folder.exists()
    assert new.edge_columns("_edge").num_rows == 3


def test_a_load_that_fails_leaves_the_graph_and_nothing_else(store: Store) -> None:
    load_path(store, "Calls", 3)
    before = folders(store, "Calls")
    with pytest.raises(ZeroDivisionError):
        fail_to_load(store, "Calls")
    assert store.graph("Calls").node_count == 3
    assert folders(store, "Calls") == before
    with pytest.raises(ZeroDivisionError):
        fail_to_load(store, "Fresh")
    assert store.names() == ["Calls"]
    assert not (store.home / "graphs" / "Fresh").exists()


def test_a_process_that_dies_between_data_and_manifest_leaves_the_graph_and_no_lock(store: Store) -> None:
    load_path(store, "Calls", 3)
    script = f"""
import os
from graphtide.graph import Store
with Store({str(store.home)!r}).writing("Calls", replace=True) as draft:
    draft.nodes_folder.mkdir()
    os._exit(7)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 7
    graph = store.graph("Calls")
    assert graph.node_columns("_vertex").num_rows == 3
    assert len(folders(store, "Calls")) == 2
    load_path(store, "Calls", 4, replace=True)
    # The dead load's folder is gone; the replaced version stays for its readers.
    assert folders(store, "Calls") == {graph.folder.name, store.graph("Calls").folder.name}


def test_a_home_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file" / "home", tmp_path / "file", Path("/proc/home")):
        with pytest.raises(CatalogueError, match=f"cannot write into {home}/graphs") as caught:
            load_path(Store(home), "Calls", 2)
        assert caught.value.hint == "use a home folder that can be made here, and written to"


def test_two_loads_of_one_name_do_not_meet(store: Store) -> None:
    with store.writing("Calls") as draft:
        with pytest.raises(CatalogueError, match=f'graph "Calls" is being written by process {os.getpid()}') as caught:
            load_path(store, "Calls", 2)
        assert caught.value.hint == "try again when it has ended"
        load_path(store, "Other", 2)
        write_path(draft, 3)
        draft.publish(SCHEMA, node_count=3, edge_count=2, source=SOURCE)
    assert store.names() == ["Calls", "Other"]
    assert store.graph("Calls").node_count == 3


def test_scratch_is_gone_when_a_graph_is_published(store: Store) -> None:
    with store.writing("Calls") as draft:
        write_path(draft, 2)
        draft.scratch_folder.mkdir()
        (draft.scratch_folder / "part").write_text("x")
        graph = draft.publish(SCHEMA, node_count=2, edge_count=1, source=SOURCE)
    assert {each.name for each in graph.folder.iterdir()} == {"nodes", "edges"}


def test_a_dropped_graph_is_gone_and_its_name_is_free(store: Store) -> None:
    graph = load_path(store, "Calls", 3)
    store.drop("Calls")
    assert store.names() == []
    assert not graph.folder.parent.exists()
    load_path(store, "Calls", 2)


def manifest_of(store: Store) -> Path:
    return store.home / "graphs" / "Calls" / "manifest.json"


def test_a_manifest_of_a_later_format_is_not_guessed_at(store: Store) -> None:
    load_path(store, "Calls", 3)
    values = json.loads(manifest_of(store).read_text())
    manifest_of(store).write_text(json.dumps({**values, "format": 99}))
    with pytest.raises(CatalogueError, match='graph "Calls" was stored in format 99, this version reads up to 1'):
        store.graph("Calls")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "x"}', '{"format": 1}'])
def test_a_broken_manifest_is_said_to_be_one_and_can_be_replaced(store: Store, text: str) -> None:
    load_path(store, "Calls", 3)
    manifest_of(store).write_text(text)
    with pytest.raises(CatalogueError, match='the manifest of graph "Calls" cannot be read') as caught:
        store.graph("Calls")
    assert caught.value.hint == "load the graph again with replace=True, or drop it"
    with pytest.raises(ZeroDivisionError):
        fail_to_load(store, "Calls")
    # What a manifest that cannot be read names is not known, so nothing was removed.
    assert len(folders(store, "Calls")) == 1
    assert load_path(store, "Calls", 4, replace=True) == store.graph("Calls")


@pytest.mark.parametrize("text", ["{", '{"format": 99}'])
def test_a_graph_with_a_manifest_that_cannot_be_read_can_be_dropped(store: Store, text: str) -> None:
    load_path(store, "Calls", 3)
    manifest_of(store).write_text(text)
    store.drop("Calls")
    assert store.names() == []
    assert load_path(store, "Calls", 2).node_count == 2


def test_data_that_is_gone_is_said_to_be_gone(store: Store) -> None:
    graph = load_path(store, "Calls", 3)
    graph.folder.rename(graph.folder.with_name("elsewhere"))
    with pytest.raises(CatalogueError, match='the data of graph "Calls" is gone'):
        store.graph("Calls")


def test_a_graph_without_edges_has_their_columns(store: Store) -> None:
    graph = load_path(store, "Calls", 1)
    assert graph.edge_columns("_edge", "year").to_pydict() == {"_edge": [], "year": []}
