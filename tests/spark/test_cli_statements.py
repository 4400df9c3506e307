"""`graphtide run` and the shell, on a real Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pyspark.sql import SparkSession
from rich.console import Console
from typer.testing import CliRunner, Result

import graphtide as gt
from graphtide.cli import app
from graphtide.cli.shell import GvdlCompleter, carry_out, shell

EDGES = "src,dst,year\n1,2,2018\n2,3,2019\n4,5,2020\n"
PROGRAM = """
load graph Calls edges '{folder}/edges.csv';
create view collection years on Calls for y in 2018..2020 [until_$y: year <= $y];
run wcc on years;
show view collections;
"""


@pytest.fixture
def program(tmp_path: Path, spark: SparkSession) -> Path:
    del spark  # sessions take the one that runs
    (tmp_path / "edges.csv").write_text(EDGES)
    file = tmp_path / "program.gvdl"
    file.write_text(PROGRAM.format(folder=tmp_path))
    return file


def call(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(app, list(arguments), catch_exceptions=False)


def test_a_file_of_statements(program: Path) -> None:
    result = call("run", str(program), "--home", str(program.parent / "home"))
    assert result.exit_code == 0, result.output
    assert "loaded Calls: 5 nodes, 3 edges" in result.stdout
    assert "until_2020" in result.stdout
    again = call("run", str(program), "--home", str(program.parent / "home"))
    assert again.exit_code == 1
    assert 'there is a graph "Calls" already' in again.stderr
    assert "Traceback" not in again.output


def test_the_same_for_machines(program: Path) -> None:
    result = call("run", str(program), "--home", str(program.parent / "home"), "--json")
    loaded, created, ran, shown = map(json.loads, result.stdout.splitlines())
    assert loaded["edges"] == 3
    assert created["sizes"] == [1, 2, 3]
    assert [view["edges"] for view in ran["views"]] == [1, 2, 3]
    assert shown["rows"][0]["views"] == 3


def test_mistakes_are_messages(tmp_path: Path, program: Path) -> None:
    missing = call("run", str(tmp_path / "nothing.gvdl"))
    assert missing.exit_code == 2
    assert "cannot read" in missing.stderr
    program.write_text("create vew V on Calls edges where true;")
    wrong = call("run", str(program), "--home", str(tmp_path / "home"))
    assert wrong.exit_code == 1
    assert "line 1, column 8" in wrong.stderr
    assert "hint:" in wrong.stderr


def test_the_demonstration_of_views(tmp_path: Path, spark: SparkSession) -> None:
    del spark
    result = call("demo", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "[until_$d: time < $d]" in result.stdout
    assert result.stdout.count("all answers are equal") == 2
    for name in ("wcc.png", "scc.png", "views.png"):
        assert (tmp_path / name).stat().st_size > 10_000
    assert call("demo", "everything").exit_code == 2


def test_the_shell_completes_names_and_survives_mistakes(program: Path) -> None:
    with gt.Session(program.parent / "home") as session:
        console = Console(width=120, record=True, force_terminal=False)
        carry_out(session, program.read_text(), console)
        carry_out(session, "run wcc on yaers;", console)
        carry_out(session, "describe Calls;", console)
        text = console.export_text()
        assert 'there is no graph, view or view collection "yaers"' in text
        assert 'did you mean "years"?' in text
        assert "year" in text.rpartition("yaers")[2]

        def completed(line: str) -> list[str]:
            found = GvdlCompleter(session).get_completions(Document(line), CompleteEvent())
            return [each.text for each in found]

        assert "Calls" in completed("describe Ca")
        assert "years" in completed("run wcc on ye")
        assert "create view collection" in completed("crea")
        assert "sssp" in completed("run ss")
        assert completed("") == []
        assert completed("show gr") == ["graphs"]
        assert completed("SHOW Gr") == ["graphs"]
        assert completed("create view coll") == ["collection"]
        assert "collections" in completed("show graphs;\nshow view c")
        assert "view collection" in completed("create v")
        assert set(completed("run wcc on years order ")) == {"given", "auto", "chain", "lattice"}
        assert completed("describe ") == []


def test_the_shell_goes_on_after_an_error_of_any_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by [zero]\nand more")

    console = Console(width=120, record=True, force_terminal=False)
    with gt.Session(tmp_path / "home") as session:
        monkeypatch.setattr("graphtide.cli.shell.execute", fail)
        carry_out(session, "show graphs;", console)
        fact = "unexpected error: ZeroDivisionError: by [zero]\n"
        assert console.export_text() == f"{fact}hint: set GRAPHTIDE_DEBUG=1 for the traceback\n"
        monkeypatch.setenv("GRAPHTIDE_DEBUG", "1")
        carry_out(session, "show graphs;", console)
        assert "Traceback" in console.export_text()


def test_the_shell_carries_out_what_is_piped_into_it(tmp_path: Path) -> None:
    def piped(text: str) -> Result:
        return CliRunner(env={"COLUMNS": "120"}).invoke(app, ["shell", "--home", str(tmp_path / "home")], input=text)

    done = piped("show\n computations;\nshow graphs;\n")
    assert done.exit_code == 0, done.output
    assert "wcc" in done.stdout
    failed = piped("drop graph nothing;\n")
    assert failed.exit_code == 1
    assert 'there is no graph "nothing"' in failed.stderr


def typed(home: Path, keys: str) -> list[str]:
    """What is typed at the shell, whose graphs there are then."""
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text(keys)
        shell(home, "local[1]")
    return list(gt.Session(home).graphs())


@pytest.mark.parametrize("blank", ["\r", "  \r"])
def test_a_blank_line_drops_what_was_begun(program: Path, blank: str) -> None:
    home = program.parent / "home"
    assert call("run", str(program), "--home", str(home)).exit_code == 0
    begun = f"drop view collection years; drop graph Calls\r{blank}"
    assert typed(home, f"drop view collection years\r{blank}{begun}exit\r") == ["Calls"]
    assert list(gt.Session(home).view_collections()) == ["years"]
    assert typed(home, "drop view\r collection years;\rdrop graph Calls;\rexit\r") == []


def test_a_blank_line_with_more_below_it_drops_nothing(program: Path) -> None:
    home = program.parent / "home"
    assert call("run", str(program), "--home", str(home)).exit_code == 0
    home_key, up, down, end = "\x1b[H", "\x1b[A", "\x1b[B", "\x1b[F"
    begun = f"drop view collection\ryears{home_key}\r{up}\r{down}{down}"
    typed(home, f"{begun}{end};\rexit\r")
    assert list(gt.Session(home).view_collections()) == []
