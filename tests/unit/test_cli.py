"""Commands: what they print, what they write, and what they exit with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import graphtide
import graphtide.bench
from graphtide.cli import app
from graphtide.errors import CapacityError, UsageError

BENCH = '''
    """Fake against fake."""
    from graphtide.bench import Comparison

    def run(quick, progress):
        progress("first task")
        yield Comparison("good", 1.0, 3.0 if quick else 4.0, "peer", "s", agree=True, bar=2.0)
        yield Comparison("bad", 1.0, 1.0, "peer", "s", agree={agree}, bar={bar})
'''


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def add_bench(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    lines = (line.removeprefix("    ") for line in text.splitlines())
    (folder / f"{name}.py").write_text("\n".join(lines))
    monkeypatch.setattr(graphtide.bench, "__path__", [*graphtide.bench.__path__, str(folder)])


def add_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    app.command("fail")(fail)


def test_version() -> None:
    assert call("--version").stdout == f"graphtide {graphtide.__version__}\n"


def test_doctor_prints_a_table_and_the_same_as_json() -> None:
    facts = json.loads(call("doctor", "--json").stdout)
    assert {"python", "numba", "numpy", "pyarrow", "cores", "memory_bytes", "java"} <= set(facts)
    assert facts["kernels_warm"] <= facts["kernels"]
    table = call("doctor").stdout
    assert facts["numba"] in table
    assert facts["kernel_cache"] in table


def test_bench_without_a_name_lists_benches_without_importing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '"""Needs a peer."""\nimport a_peer_that_is_missing\ndef run(quick, progress): ...\n'
    add_bench(tmp_path, monkeypatch, "needy", text)
    result = call("bench")
    assert result.exit_code == 0
    assert "needy" in result.stdout
    assert "Needs a peer." in result.stdout
    assert "comparison" not in result.stdout
    failed = call("bench", "needy")
    assert failed.exit_code == 2
    assert '"a_peer_that_is_missing", which is not installed' in failed.stderr


def test_bench_prints_a_table_and_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_bench(tmp_path, monkeypatch, "fake_passing", BENCH.format(agree=True, bar=None))
    result = call("bench", "fake_passing", "--strict", "--quick", "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0
    assert "3.00x" in result.stdout
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["ratio"] for row in written["results"]] == [3.0, 1.0]


@pytest.mark.parametrize(
    ("agree", "bar", "complaint"),
    [(False, None, "bad: the answers differ"), (True, 5.0, "bad: 1.0 times better, the bar is 5.0")],
)
def test_bench_fails_if_answers_differ_and_under_strict_if_a_bar_is_missed(
    agree: bool, bar: float | None, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"fake_failing_{agree}"
    add_bench(tmp_path, monkeypatch, name, BENCH.format(agree=agree, bar=bar))
    assert call("bench", name).exit_code == (0 if agree else 1)
    result = call("bench", name, "--strict")
    assert result.exit_code == 1
    assert "first task" in result.stderr
    # The rows came before, each as it was measured.
    assert result.stderr.splitlines()[-1] == complaint


def test_a_bench_shows_and_writes_each_row_when_it_has_been_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = BENCH.format(agree="1 / 0", bar=None)
    add_bench(tmp_path, monkeypatch, "fake_stopped", stopped)
    assert call("bench", "fake_stopped", "--json", str(tmp_path / "out.json")).exit_code == 1
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["name"] for row in written["results"]] == ["good"]
    add_bench(tmp_path, monkeypatch, "fake_shown", BENCH.format(agree=True, bar=None))
    shown = call("bench", "fake_shown").stderr
    assert "good: 1.00 s, peer 4.00 s, 4.00x (bar 2.00x)" in shown
    assert "bad: 1.00 s, peer 1.00 s, 1.00x\n" in shown


def test_bench_refuses_an_unknown_name_and_a_file_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'there is no bench "nothing"' in call("bench", "nothing").stderr
    add_bench(tmp_path, monkeypatch, "fake_unwritten", BENCH.format(agree=True, bar=None))
    result = call("bench", "fake_unwritten", "--json", str(tmp_path / "no/such/folder.json"))
    assert result.exit_code == 2
    assert "its folder does not exist" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such graph", hint="load it"), 2, "error: no such graph\nhint: load it\n"),
        (CapacityError("out of slots"), 1, "error: out of slots\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (
            ZeroDivisionError("by zero\nand more"),
            1,
            "unexpected error: ZeroDivisionError: by zero\nhint: set GRAPHTIDE_DEBUG=1 for the traceback\n",
        ),
        (typer.Exit(7), 7, ""),
    ],
)
def test_a_failure_is_a_message_and_an_exit_code(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_command(monkeypatch, error)
    result = call("fail")
    assert (result.exit_code, result.stderr, result.stdout) == (code, message, "")


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    add_command(monkeypatch, CapacityError("out of slots"))
    monkeypatch.setenv("GRAPHTIDE_DEBUG", "1")
    with pytest.raises(CapacityError):
        call("fail")


def test_a_wrong_option_exits_with_2() -> None:
    result = call("doctor", "--nonsense")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_experiments_are_listed_and_run_with_their_own_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "experiments/circles"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# Circles in [squares]\n\nMore.\n")
    (folder / "run.py").write_text("import sys\nprint(*sys.argv[1:])\nsys.exit(3)\n")
    below = tmp_path / "docs"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "circles     Circles in [squares]" in call("experiment").stdout
    assert call("experiment", "circles", "--long", "7").exit_code == 3
    assert "--long 7\n" in capfd.readouterr().out
    mistaken = call("experiment", "circle")
    assert mistaken.exit_code == 2
    assert mistaken.stderr == 'error: there is no experiment "circle"\nhint: did you mean "circles"?\n'
