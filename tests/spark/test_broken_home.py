"""What a session says and does when files of its home folder cannot be read, or cannot be written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.errors import CatalogueError

EDGES = pa.table({"src": [1, 2], "dst": [2, 3]})
# Where each kind of thing is described, and how to drop and make it again.
PLACES = {"graph": "graphs/G/manifest.json", "view": "views/V.json", "view collection": "collections/C/manifest.json"}
NAMES = {"graph": "G", "view": "V", "view collection": "C"}
AGAIN: dict[str, Callable[[gt.Session], object]] = {
    "graph": lambda session: session.load_graph("G", EDGES),
    "view": lambda session: session.create_view("V", on="H", where="true"),
    "view collection": lambda session: session.create_view_collection("C", on="H", views={"a": "true"}),
}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> gt.Session:
    del spark  # it runs; sessions take the one that does
    made = gt.Session(tmp_path / "home")
    made.load_graph("H", EDGES)
    for make in AGAIN.values():
        make(made)
    return made


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1, "statement": "create vew"}'])
def test_what_cannot_be_read_is_shown_and_can_be_dropped(session: gt.Session, kind: str, text: str) -> None:
    (session.home / PLACES[kind]).write_text(text)
    name = NAMES[kind]
    with pytest.raises(CatalogueError, match=f'{kind} "{name}" cannot be read') as caught:
        session.run("wcc", name)
    assert caught.value.hint is not None
    assert "drop" in caught.value.hint
    (shown,) = session.execute(f"show {kind}s")
    assert isinstance(shown, pa.Table)
    row = next(row for row in shown.to_pylist() if row[kind] == name)
    assert "cannot be read" in row.pop("problem")
    assert {value for key, value in row.items() if key != kind} == {None}
    session.execute(f"drop {kind} {name}")
    AGAIN[kind](session)
    assert session.run("wcc", name).table(session.run("wcc", name).names[0]).num_rows == 3


def test_what_cannot_be_read_does_not_keep_what_it_stood_on(session: gt.Session) -> None:
    session.create_view("W", on="V", where="true")
    with pytest.raises(CatalogueError, match='graph "H" is in use by view "V", view collection "C"'):
        session.drop_graph("H")
    for place in ("views/V.json", "views/W.json", PLACES["view collection"]):
        (session.home / place).write_text("{")
    session.execute("drop view V; drop view W; drop graph H; drop view collection C")
    assert (session.graphs(), session.views(), session.view_collections()) == (["G"], [], [])


def test_a_command_names_a_home_that_cannot_be_made_and_a_master_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\n1,2\n")
    load = f"load graph G edges '{tmp_path}/edges.csv';"
    (tmp_path / "file").write_text("")
    for options, message in (
        (["--home", str(tmp_path / "file")], f"error: cannot write into {tmp_path / 'file'}/graphs/.locks: "),
        (["--master", "spark://127.0.0.1:1"], "error: no Spark master answers at 127.0.0.1:1: "),
    ):
        ran = subprocess.run(
            [sys.executable, "-c", "from graphtide.cli import main; main()", "run", "-", *options],
            cwd=tmp_path,
            input=load,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1
        assert ran.stderr.startswith(message)
        assert len(ran.stderr.splitlines()) == 2
