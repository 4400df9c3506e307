"""What is wrong with a source, said so that one can put it right; and what is loaded without the wrong rows."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from graphtide.errors import CatalogueError, GraphtideError, LoadError, UsageError
from graphtide.graph import Store
from graphtide.pipeline.ingest import load_graph

Load = Callable[..., Any]
Write = Callable[[str, str | bytes], Path]

BAD = """src,dst,year:int
1,2,2000

3,4,abc
5,6
7,,2000
,8,2000
"x,9,1
9,9,99999999999999999999
2,1,2001
"""


def test_a_bad_line_is_shown_with_its_place_and_the_reason(load: Load, write: Write) -> None:
    file = write("edges.csv", BAD)
    with pytest.raises(LoadError) as caught:
        load(file)
    assert str(caught.value) == (
        f"{file}, line 4: column \"year\": 'abc' is not an int\n  3,4,abc\n"
        'hint: 6 lines cannot be read; on_bad_lines="quarantine" sets such rows aside and loads the rest'
    )


def test_a_long_line_is_cut_in_the_message(load: Load, write: Write) -> None:
    with pytest.raises(LoadError) as caught:
        load(write("edges.csv", f"src,dst\n1,2\n1,2,{'x' * 500}\n"))
    assert caught.value.message.splitlines()[1] == f"  1,2,{'x' * 196}..."
    assert "3 fields, expected 2" in caught.value.message
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("it is the only one")


def test_bad_lines_are_set_aside_with_their_places_and_the_rest_is_loaded(load: Load, write: Write) -> None:
    file = write("edges.csv", BAD)
    graph = load(file, on_bad_lines="quarantine")
    assert graph.edges == [(1, 2, 2000), (2, 1, 2001)]
    assert graph.graph.quarantined == 6
    found = graph.graph.quarantine().to_pylist()
    assert {(row["table"], row["file"]) for row in found} == {("edges", str(file))}
    assert [(row["line"], row["text"], row["reason"]) for row in found] == [
        (4, "3,4,abc", "column \"year\": 'abc' is not an int"),
        (5, "5,6", "2 fields, expected 3"),
        (6, "7,,2000", "no target vertex"),
        (7, ",8,2000", "no source vertex"),
        (8, '"x,9,1', "a quote is not closed on its line"),
        (9, "9,9,99999999999999999999", "column \"year\": '99999999999999999999' is too large for an int"),
    ]


def test_rows_that_are_set_aside_have_no_say_in_the_types(load: Load, write: Write) -> None:
    graph = load(write("edges.csv", "src,dst,a:int,b\n1,2,3,4\nx,y,bad,word\n"), on_bad_lines="quarantine")
    assert graph.types == {"_id": "int", "a": "int", "b": "int"}


def test_a_line_that_is_not_text_is_a_bad_line(load: Load, write: Write) -> None:
    graph = load(write("edges.txt", b"1 2\n\xff\xfe 3\n3 4\n"), on_bad_lines="quarantine")
    assert graph.edges == [(1, 2), (3, 4)]
    assert graph.graph.quarantine().to_pylist()[0]["reason"] == "the line is not UTF-8"


def test_places_are_those_of_the_file_however_it_is_divided(load: Load, write: Write, spark: SparkSession) -> None:
    lines = [f"{i},{i + 1}" for i in range(400)]
    lines[123] = "123"
    lines[377] = "bad,,line"
    one = write("a.csv", "src,dst\n" + "\n".join(lines))
    two = write("b.csv", "src,dst\n1,2\n\n5\n")
    expected = [(str(one), 125, "123"), (str(one), 379, "bad,,line"), (str(two), 4, "5")]
    spark.conf.set("spark.sql.files.maxPartitionBytes", "397b")
    try:
        graph = load([one, two], on_bad_lines="quarantine").graph
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert [(row["file"], row["line"], row["text"]) for row in graph.quarantine().to_pylist()] == expected
    assert (graph.edge_count, graph.quarantined) == (399, 3)


def test_a_node_that_is_there_already_is_shown_with_both_places(load: Load, write: Write) -> None:
    edges = write("edges.csv", "src,dst\n1,2\n")
    one, two = write("a.csv", "id,name\n1,a\n2,b\n"), write("b.csv", "id,name\n7,c\n2,d\n1,e\n2,f\n")
    with pytest.raises(LoadError) as caught:
        load(edges, [one, two])
    assert str(caught.value) == (
        f"{two}, line 3: the node 2 is there already, in {one}, line 3\n  2,d\n"
        "hint: 3 nodes have an id that is there already; "
        'on_bad_lines="quarantine" sets such rows aside and loads the rest'
    )
    graph = load(edges, [one, two], on_bad_lines="quarantine")
    assert graph.nodes == [(1, "a"), (2, "b"), (7, "c")]
    assert [(row["table"], row["line"]) for row in graph.graph.quarantine().to_pylist()] == [
        ("nodes", n) for n in (3, 4, 5)
    ]


def test_an_edge_without_a_node_is_shown_with_its_place(load: Load, write: Write) -> None:
    nodes = write("nodes.csv", "id\na\nb\n")
    edges = write("edges.csv", "src,dst,w\na,b,5\n\na,c,6\nd,b,7\nb,a,8\n")
    with pytest.raises(LoadError) as caught:
        load(edges, nodes)
    assert str(caught.value) == (
        f"{edges}, line 4: there is no node 'c', the target of the edge\n  a,c,6\n"
        "hint: 2 edges have an end that is no node; "
        'on_bad_lines="quarantine" sets such rows aside and loads the rest'
    )
    graph = load(edges, nodes, on_bad_lines="quarantine")
    # Numbers have no gaps where the edges were that are set aside.
    assert graph.edges == [("a", "b", 5), ("b", "a", 8)]
    assert [(row["line"], row["text"], row["reason"]) for row in graph.graph.quarantine().to_pylist()] == [
        (4, "a,c,6", "there is no node 'c', the target of the edge"),
        (5, "d,b,7", "there is no node 'd', the source of the edge"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"),
    [
        ("edges.csv", "", {}, ("{file} is empty", "remove it")),
        ("edges.csv", "# nothing\n\n", {}, ("{file} has no rows, only comments and empty lines", "remove it")),
        ("edges.csv.gz", gzip.compress(b"", mtime=0), {}, ("{file} is empty", "remove it")),
        ("edges.csv", "src,dst\n1,2\n".encode("utf-16"), {}, ("{file} is UTF-16 or UTF-32, not UTF-8", "iconv")),
        ("edges.csv", "src,dst\n1,2\n".encode("utf-16-be"), {}, ("{file} is UTF-16 or UTF-32, not UTF-8", "iconv")),
        ("edges.csv", "src,dst\n1,2\n".encode("utf-32"), {}, ("{file} is UTF-16 or UTF-32, not UTF-8", "iconv")),
        (
            "edges.csv",
            "a;b\n1;2\n",
            {"separator": ",", "header": True},
            ("{file}: 1 column, and edges need two", "say what separates"),
        ),
        ("edges.csv.gz", b"1,2\n", {}, ("{file} cannot be read", "is it whole, and named after its compression?")),
        ("edges.csv", "src,dst,w:itn\n1,2,3\n", {}, ('column "w:itn": "itn" is not a type', 'did you mean "int"?')),
        (
            "edges.csv",
            "a,b\nx,y\n",
            {},
            ("{file}: cannot tell whether the first line names the columns", "say header="),
        ),
        (
            "edges.csv",
            "src,dst\n1,2\n",
            {"src": "scr"},
            ('{file}: there is no column "scr"', 'did you mean "src"?'),
        ),
        (
            "edges.csv",
            "src,dst\n1,2\n",
            {"dst": 7},
            ("{file}: there is no column 7", "columns are counted from 0 to 1"),
        ),
        (
            "edges.csv",
            "src,dst\n1,2\n",
            {"src": "dst"},
            ('column "dst" cannot be the source and the target', "say two"),
        ),
        ("edges.csv", "x,x,src,dst\n1,2,1,2\n", {}, ('{file}: column "x" stands twice', "name all columns")),
        (
            "edges.csv",
            "src,dst\n1,2\n",
            {"columns": {"yaer": "int"}},
            ('a type was given for column "yaer"', "there are"),
        ),
        (
            "edges.csv",
            "src,dst\n1,2\n",
            {"columns": {"src": "date"}},
            ('column "src" holds ids and has the type date', "ids"),
        ),
        (
            "edges.csv",
            "1,2\n",
            {"columns": ["a", "b", "c"]},
            ("{file} has 2 columns, and 3 are named", "name all columns"),
        ),
        ("edges.tar.gz", b"x", {}, ("{file} is packed in a way that Spark does not read", "unpack it")),
        ("_edges.csv", "src,dst\n1,2\n", {}, ("Spark reads no such files", "rename it")),
    ],
)
def test_files_that_are_no_graph_are_refused_with_a_reason(
    request: pytest.FixtureRequest, name: str, content: str | bytes, options: dict[str, Any], expected: tuple[str, str]
) -> None:
    load, write = request.getfixturevalue("load"), request.getfixturevalue("write")
    file = write(name, content)
    with pytest.raises(LoadError) as caught:
        load(file, **options)
    message, hint = expected
    assert message.format(file=file) in caught.value.message
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_column_that_is_not_there_is_answered_by_those_that_are(load: Load, write: Write) -> None:
    file = write("edges.csv", "src,dst\n1,2\n")
    for options in ({"src": "zzz"}, {"columns": {"zzz": "int"}}):
        with pytest.raises(LoadError, match='column "zzz"') as caught:
            load(file, **options)
        assert str(caught.value).count('"dst"') == 1
        assert caught.value.hint == 'there are "src", "dst"'


def test_a_file_that_breaks_off_is_refused(load: Load, write: Write) -> None:
    packed = gzip.compress(b"".join(b"%d %d\n" % (i, i + 1) for i in range(200_000)))
    file = write("edges.txt.gz", packed[:-1000])
    with pytest.raises(LoadError) as caught:
        load(file)
    assert caught.value.message.startswith(f"{file} cannot be read: ")


def test_paths_that_lead_nowhere_are_refused(load: Load, write: Write) -> None:
    file = write("edges.csv", "src,dst\n1,2\n")
    with pytest.raises(LoadError, match="there is no file") as caught:
        load(file.with_name("egdes.csv"))
    assert caught.value.hint == f'did you mean "{file}"?'
    write("_hidden.txt", "1 2")
    with pytest.raises(LoadError, match=r"there is no file .*\.txt"):
        load(file.parent / "*.txt")
    with pytest.raises(LoadError, match="is given twice"):
        load([file, file.parent / "*.csv"])
    with pytest.raises(LoadError, match="is not a path on this machine") as caught:
        load("s3a://bucket/edges.csv")
    assert caught.value.hint == "read it with Spark, and pass the DataFrame instead of the path"
    for odd in ("x" * 300 + ".csv", "x" * 300 + "/*.csv", "a\0b.csv", "a\0b/*.csv"):
        with pytest.raises(LoadError, match="there is no file"):
            load(f"{file.parent}/{odd}")
    parquet = write("edges.parquet", "no parquet")
    with pytest.raises(LoadError, match="is parquet"):
        load([file, parquet])
    with pytest.raises(LoadError, match="cannot be read as Parquet"):
        load(parquet)


def test_files_must_agree_on_what_they_declare(load: Load, write: Write) -> None:
    tables = ({"src": [1], "dst": [2], "w": [1]}, {"src": [1], "dst": [2], "w": ["x"]})
    written = [write(f"{i}.parquet", b"") for i in range(2)]
    for file, table in zip(written, tables, strict=True):
        pq.write_table(pa.table(table), file)
    with pytest.raises(LoadError, match=r'1\.parquet: column "w" is string, and int in the files before'):
        load(written)
    one, two = write("a.csv", "src,dst,w:int\n1,2,3\n"), write("b.csv", "src,dst,w:float\n1,2,3\n")
    with pytest.raises(LoadError, match='column "w" is float, and int in the files before'):
        load([one, two])


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"seperator": ";"}, 'there is no option "seperator"', 'did you mean "separator"?'),
        ({"node_seperator": ";"}, 'there is no option "node_seperator"', 'did you mean "node_separator"?'),
        ({"separator": ";;"}, "';;' is nothing that \"separator\" can be", "one ASCII character"),
        ({"quote": "''"}, '"quote"', "one ASCII character"),
        ({"header": "yes"}, "'yes' is nothing that \"header\" can be", "true or false"),
        ({"src": 1.5}, '"src"', "the name of a column"),
        ({"null": 0}, '"null"', "a string"),
        ({"columns": 5}, '"columns"', "a mapping such as"),
        ({"format": "cvs"}, 'there is no format "cvs"', 'did you mean "csv"?'),
        ({"on_bad_lines": "skip"}, 'on_bad_lines cannot be "skip"', 'there are "error", "quarantine"'),
    ],
)
def test_options_that_mean_nothing_are_refused(load: Load, options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load("edges.csv", **options)
    assert message in caught.value.message
    assert caught.value.hint is not None
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ";"}, 'the option "separator" is about files'),
        ({"format": "csv"}, 'the option "format" is about files'),
        ({"id": "x"}, 'the option "id" is about a table that is not there'),
        ({"node_columns": {"x": "int"}}, 'the option "node_columns" is about a table that is not there'),
        ({"edge_id": "x"}, 'the option "edge_id" is about a table that is not there'),
    ],
)
def test_options_that_no_table_listens_to_are_refused(load: Load, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(pa.table({"src": [1], "dst": [2]}), **options)


def test_a_load_that_fails_late_leaves_the_graph_that_was_there(
    load: Load, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write("good.csv", "src,dst\n1,2\n")
    load(good)
    with pytest.raises(CatalogueError, match='there is a graph "G" already'):
        load(good)
    home = Store(tmp_path / "home")
    for edges, nodes in ((write("bad.csv", BAD), None), (good, write("nodes.csv", "id\n1\n"))):
        with pytest.raises(LoadError):
            load(edges, nodes, replace=True)
    with monkeypatch.context() as patch:

        def killed(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("graphtide.graph.store.write_manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            load(write("other.csv", "src,dst\n7,8\n"), replace=True)
    assert home.graph("G").node_columns("_id").to_pydict() == {"_id": [1, 2]}
    assert len([each for each in (home.home / "graphs" / "G").iterdir() if each.is_dir()]) == 1
    assert load(write("other.csv", "src,dst\n7,8\n"), replace=True).edges == [(7, 8)]


def test_a_name_is_checked_before_anything_is_read(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(GraphtideError, match='"a b" cannot be the name of a graph'):
        load_graph(spark, Store(tmp_path), "a b", "no-such-file.csv")
