"""Every kind of file that a graph can be read from, on small files like those that are around."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Load = Callable[..., Any]
Write = Callable[[str, str | bytes], Path]


def test_csv_with_a_header_has_its_types_found_from_all_values(load: Load, write: Write) -> None:
    text = '''src,dst,year,weight,is_open,day,seen,name
1,2,2019,1,true,2019-01-23,2019-01-23,"Ann, Bob"
10,2,,0.5,False,2018-06-03,2018-06-03T10:00:00+02:00,
2,1,2017,3,true,,,"say ""hi"""
'''
    file = write("calls.csv", text)
    graph = load(file)
    assert graph.types == {
        "_id": "int",
        "year": "int",
        "weight": "float",
        "is_open": "bool",
        "day": "date",
        "seen": "timestamp",
        "name": "string",
    }
    assert graph.nodes == [(1,), (2,), (10,)]
    assert graph.edges == [
        (1, 2, 2019, 1.0, True, date(2019, 1, 23), datetime(2019, 1, 23, tzinfo=UTC), "Ann, Bob"),
        (10, 2, None, 0.5, False, date(2018, 6, 3), datetime(2018, 6, 3, 8, tzinfo=UTC), None),
        (2, 1, 2017, 3.0, True, None, None, 'say "hi"'),
    ]
    assert str(graph.graph.source) == f"edges from {file}"


def test_csv_of_graphsurge_has_comments_and_types_in_its_header(load: Load, write: Write) -> None:
    nodes = write("vertices.txt", "# Used in tests.\n:id,f:int,type\n3,0,v1\n1,7,v2\n")
    edges = write("edges.txt", "# Used in tests.\nfrom_id:start_id,to_id:end_id,duration:int,date\n1,3,09,2019-01-23\n")
    graph = load(edges, nodes)
    assert graph.nodes == [(1, 7, "v2"), (3, 0, "v1")]
    assert graph.edges == [(1, 3, 9, date(2019, 1, 23))]


def test_csv_of_neo4j_admin(load: Load, write: Write) -> None:
    movies = write(
        "movies.csv", "movieId:ID(Movie),title,year:int,:LABEL,skip:IGNORE\ntt1,The Matrix,1999,Film;Sci,x\n"
    )
    actors = write("actors.csv", 'personId:ID(Person),name,:LABEL\nkeanu,"Reeves, K.",Actor\n')
    roles = write("roles.csv", ":START_ID(Person),role,:END_ID(Movie),:TYPE,tags:string[]\nkeanu,Neo,tt1,ACTED,a;b\n")
    graph = load(roles, [movies, actors])
    assert graph.types == {
        "_id": "string",
        "title": "string",
        "year": "int",
        "label": "string",
        "name": "string",
        "role": "string",
        "type": "string",
        "tags": "string",
    }
    # Each file has its own columns; what one does not have is missing there.
    assert graph.nodes == [("keanu", None, None, "Actor", "Reeves, K."), ("tt1", "The Matrix", 1999, "Film;Sci", None)]
    assert graph.edges == [("keanu", "tt1", "Neo", "ACTED", "a;b")]


def test_csv_of_gremlin(load: Load, write: Write) -> None:
    nodes = write("nodes.csv", "~id,~label,lat:double\n2,airport,1\n1,airport,-2.5\n")
    edges = write("edges.csv", "~id,~from,~to,~label,dist:int\n7,1,2,route,809\n")
    graph = load(edges, nodes)
    assert graph.nodes == [(1, "airport", -2.5), (2, "airport", 1.0)]
    assert graph.edges == [(1, 2, 7, "route", 809)]
    assert graph.types == {"_id": "int", "label": "string", "lat": "float", "id": "int", "dist": "int"}


def test_csv_without_a_header_takes_the_first_two_columns_or_the_names_that_are_given(load: Load, write: Write) -> None:
    file = write("otc.csv", "6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n")
    graph = load(file)
    assert graph.types == {"_id": "int", "column_3": "int", "column_4": "float"}
    named = load(file, name="Named", columns={"src": "string", "dst": "string", "rating": "float", "time": "float"})
    assert named.edges[0] == ("6", "2", 4.0, 1289241911.72836)
    turned = load(file, name="Turned", columns=["to", "from", "rating:float", "time"])
    assert turned.edges[0] == (2, 6, 4.0, 1289241911.72836)
    by_place = load(file, name="ByPlace", src=1, dst=2)
    assert by_place.edges[0] == (2, 4, 6, 1289241911.72836)


def test_csv_with_other_separators_quotes_and_missing_values(load: Load, write: Write) -> None:
    edges = write("edges.csv", "source;target;v\n1;2;NA\n2;1;'a;b'\n1;1;\n")
    assert load(edges, quote="'", null="NA").edges == [(1, 2, None), (2, 1, "a;b"), (1, 1, None)]
    tabbed = write("edges.tsv", "source\ttarget\tv\n1\t2\t\n2\t1\ta b\n")
    assert load(tabbed, name="Tabbed").edges == [(1, 2, None), (2, 1, "a b")]
    nodes = write("nodes.psv", "id|w\n1|NA\n2|0.5\n")
    both = load(edges, nodes, name="Both", node_null="NA", quote="'")
    assert both.nodes == [(1, None), (2, 0.5)]
    assert both.types["v"] == "string"
    assert both.edges[0] == (1, 2, "NA")


def test_csv_as_editors_on_other_systems_leave_it(load: Load, write: Write) -> None:
    text = '\ufeffsrc,dst,name\r\n\r\nélève, b ,€\r\n   \r\nb,c," x "'
    graph = load(write("edges.csv", text))
    # By code points, as in every locale; blanks around an id are none of it, those in a text are.
    assert graph.nodes == [("b",), ("c",), ("élève",)]
    assert graph.edges == [("élève", "b", "€"), ("b", "c", " x ")]


@pytest.mark.parametrize(
    ("lines", "type_", "ids"),
    [
        ("10,9\n-3,10\n", "int", [-3, 9, 10]),
        ("007,7\n1,2\n", "string", ["007", "1", "2", "7"]),
        ("1,9223372036854775808\n", "string", ["1", "9223372036854775808"]),
        ("1,9223372036854775807\n", "int", [1, 9223372036854775807]),
        ("10,9\na,1\n", "string", ["1", "10", "9", "a"]),
        ("1.0,2\n", "string", ["1.0", "2"]),
    ],
)
def test_ids_are_ints_if_all_are_written_so(load: Load, write: Write, lines: str, type_: str, ids: list[Any]) -> None:
    graph = load(write("edges.csv", f"src,dst\n{lines}"))
    assert graph.types == {"_id": type_}
    assert [node[0] for node in graph.nodes] == ids


def test_ids_are_one_kind_in_both_tables(load: Load, write: Write) -> None:
    graph = load(write("edges.csv", "src,dst\n1,2\n"), write("nodes.csv", "id,x\n2,5\n1,6\nnone,7\n"))
    assert graph.nodes == [("1", 6), ("2", 5), ("none", 7)]
    assert graph.edges == [("1", "2")]


def test_a_declared_type_is_taken_where_another_would_be_found(load: Load, write: Write) -> None:
    file = write("edges.csv", "src,dst,month,zip\n1,2,09,12345\n2,1,10,54321\n")
    assert load(file).types == {"_id": "int", "month": "string", "zip": "int"}
    declared = load(file, name="Declared", columns={"month": "int", "zip": "string", "src": "string"})
    assert declared.edges == [("1", "2", 9, "12345"), ("2", "1", 10, "54321")]


def test_blanks_are_a_missing_value_where_there_is_no_text(load: Load, write: Write) -> None:
    graph = load(write("edges.csv", "src, dst,a,b:int,c\n1, 2, 3, 4,x\n2,1, , , \n"))
    assert graph.edges == [(1, 2, 3, 4, "x"), (2, 1, None, None, " ")]


def test_snap_has_comments_and_any_blanks(load: Load, write: Write) -> None:
    text = "# Directed graph\n# FromNodeId\tToNodeId\n30\t1412\n30   3352 \n3352\t30\n\n1412 30"
    graph = load(write("wiki-Vote.txt", text))
    assert graph.edges == [(30, 1412), (30, 3352), (3352, 30), (1412, 30)]
    timed = load(write("sx.txt", "1 4 1254192988\n3 4 1254194656\n"), name="Timed", columns=["src", "dst", "time"])
    assert timed.edges == [(1, 4, 1254192988), (3, 4, 1254194656)]
    tabbed = load(write("tabs.txt", "South Korea\tIran\t1\nIran\tNorth Korea\t2\n"), name="Tabbed")
    assert tabbed.edges == [("South Korea", "Iran", 1), ("Iran", "North Korea", 2)]
    people = write("people.txt", "bob\neve\nann\n")
    words = load(write("words.txt", "ann bob\nbob eve\n"), people, name="Words", format="snap")
    assert words.nodes == [("ann",), ("bob",), ("eve",)]


@pytest.mark.parametrize(
    ("tabbed", "after"), [(2, ""), (99, ""), (99, "7\t8\n" * 300), (150, "7\t8\n" * 300), (40_000, "7\t8\n" * 40_000)]
)
def test_snap_has_a_blank_for_a_tab_anywhere(load: Load, write: Write, tabbed: int, after: str) -> None:
    graph = load(write("snap.txt", "# c\n" + "0\t1\n" * tabbed + "2 0\n" + after))
    assert graph.edges[tabbed - 1 : tabbed + 1] == [(0, 1), (2, 0)]
    assert len(graph.edges) == tabbed + 1 + after.count("\n")


def test_a_bad_line_does_not_make_blanks_of_tabs(load: Load, write: Write) -> None:
    text = "South Korea\tIran\t1\nIran\tNorth Korea\t2\nIran\tNorth Korea\n"
    graph = load(write("tabs.txt", text), on_bad_lines="quarantine")
    assert graph.edges == [("South Korea", "Iran", 1), ("Iran", "North Korea", 2)]
    assert graph.graph.quarantine().to_pylist()[0]["reason"] == "2 fields, expected 3"


def test_ldbc_has_bars_and_may_name_two_columns_alike(load: Load, write: Write) -> None:
    knows = write("person_knows_person.csv", "Person.id|Person.id|creationDate\n933|2199|1271939457947\n2199|94|5\n")
    people = write("person.csv", 'id|firstName|quote\n933|Mahinda|"so\n2199|Carmen|a "b" c\n94|Joe|\n')
    graph = load(knows, people)
    assert graph.nodes == [(94, "Joe", None), (933, "Mahinda", '"so'), (2199, "Carmen", 'a "b" c')]
    assert graph.edges == [(933, 2199, 1271939457947), (2199, 94, 5)]
    said = load(knows, people, name="Said", format="ldbc")
    assert (said.nodes, said.edges) == (graph.nodes, graph.edges)


@pytest.mark.parametrize(
    ("header", "ends"),
    [
        ("creationDate|Person1Id|Person2Id", (1, 2)),
        ("creationDate|Forum.id|Person.id", (1, 2)),
        ("id|person_id|group_id", (1, 2)),
        ("Person1Id|paid|Person2Id", (0, 2)),
        ("grid|paid|PersonId", (0, 1)),
        ("aId|bId|cId", (0, 1)),
    ],
)
def test_two_columns_of_ids_are_the_ends_wherever_they_stand(
    load: Load, write: Write, header: str, ends: tuple[int, int]
) -> None:
    row = (10, 933, 2199)
    (rest,) = {0, 1, 2} - {*ends}
    graph = load(write("knows.csv", f"{header}\n{'|'.join(map(str, row))}\n"))
    assert graph.edges == [(row[ends[0]], row[ends[1]], row[rest])]
    assert header.split("|")[rest] in graph.types


def test_graphalytics_has_vertices_and_weighted_edges(load: Load, write: Write) -> None:
    graph = load(write("p2p.e", "1 2 0.5\n1 3 8\n"), write("p2p.v", "2\n1\n3\n4\n"))
    assert graph.nodes == [(1,), (2,), (3,), (4,)]
    assert graph.types == {"_id": "int", "weight": "float"}
    assert graph.edges == [(1, 2, 0.5), (1, 3, 8.0)]
    assert load(write("bare.e.txt", "1 2\n"), name="Bare").types == {"_id": "int"}


def test_parquet_has_types_and_folders_that_are_columns(load: Load, tmp_path: Path) -> None:
    for year, source, weight in ((2020, "b", 1.5), (2019, "a", None)):
        folder = tmp_path / "month=5" / "calls" / f"year={year}"
        folder.mkdir(parents=True)
        rows = pa.table({"src": [source], "dst": ["a"], "w": pa.array([weight], pa.float32())})
        pq.write_table(rows, folder / "part.parquet")
    (folder.parent / "_SUCCESS").touch()
    graph = load(folder.parent)
    assert graph.edges == [("a", "a", None, 2019), ("b", "a", 1.5, 2020)]
    assert graph.types == {"_id": "string", "w": "float", "year": "int"}


def test_parquet_as_pandas_and_others_write_it(load: Load, tmp_path: Path) -> None:
    frame = pd.DataFrame({"to": [7], "from": [8], "a.b c`": [True], "when": pd.to_datetime(["2020-01-01 12:00"])})
    frame["kind"] = pd.Categorical(["x"])
    frame.to_parquet(tmp_path / "odd [1].parquet")
    more = pa.table({"from": pa.array([9], pa.uint16()), "to": pa.array([8], pa.uint64()), "d": [date(2020, 1, 2)]})
    pq.write_table(more, tmp_path / "odd [2].parquet")
    graph = load([tmp_path / "odd [1].parquet", tmp_path / "odd [2].parquet"])
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC)
    assert graph.edges == [(8, 7, True, noon, "x", None), (9, 8, None, None, None, date(2020, 1, 2))]


def test_files_may_be_compressed(load: Load, write: Write) -> None:
    text = b"src,dst\n1,2\n2,3\n"
    files = [write("a.csv.gz", gzip.compress(text)), write("b.csv.bz2", bz2.compress(text))]
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(text)
    files.append(write("c.csv.zst", packed.getvalue().to_pybytes()))
    assert load(files).edges == [(1, 2), (2, 3)] * 3


def test_paths_are_files_folders_and_patterns_in_the_order_given(load: Load, write: Write) -> None:
    for name, row in (("b", "3,3"), ("a", "2,2"), ("_hidden", "9,9"), ("c", "4,4")):
        write(f"folder/{name}.csv", f"src,dst\n{row}\n")
    first = write("z[1] é%41.csv", "src,dst\n1,1\n")
    last = first.parent / "folder" / ".." / "folder" / "c.csv"
    graph = load([first, first.parent / "folder" / "[ab].csv", f"file://{last}"])
    assert [edge[0] for edge in graph.edges] == [1, 2, 3, 4]
    assert [edge[0] for edge in load(first.parent / "folder", name="Folder").edges] == [2, 3, 4]


def test_a_header_alone_is_a_graph_without_edges(load: Load, write: Write) -> None:
    graph = load(write("edges.csv", "src,dst,w:float"), write("nodes.csv", "id\n2\n1\n"))
    assert (graph.nodes, graph.edges) == ([(1,), (2,)], [])
    assert graph.types == {"_id": "int", "w": "float"}
    bare = load(write("edges.csv", "src,dst,w:float"), name="Bare")
    assert (bare.nodes, bare.edges) == ([], [])


def test_parallel_edges_loops_and_lonely_nodes_are_kept(load: Load, write: Write) -> None:
    graph = load(write("edges.csv", "src,dst,w\n1,2,5\n1,2,5\n2,2,1\n1,2,4\n"), write("nodes.csv", "id\n3\n1\n2\n"))
    assert graph.edges == [(1, 2, 5), (1, 2, 5), (2, 2, 1), (1, 2, 4)]
    assert graph.nodes == [(1,), (2,), (3,)]
