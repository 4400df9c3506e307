"""Ctrl-C while Spark works for a command: nothing is told but that, and the home is as it was."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import graphtide as gt

MAIN = [sys.executable, "-c", "from graphtide.cli import main; main()"]
ROWS = 1_000_000
BEGINS_WITHIN = 300.0  # seconds
LOAD = "load graph Big edges '{folder}/big.csv';"
CREATE = "create view collection many on Calls for i in 0..60 [v_$i: src.id + n % 97 > $i];"


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession) -> Path:
    """A file that takes a while to load, and a home with a graph."""
    del spark  # the session takes the one that runs
    edges = [f"{i * 7919 % 99_991},{i * 104_729 % 99_991}" for i in range(ROWS)]
    (tmp_path / "big.csv").write_text("src,dst\n" + "\n".join(edges))
    some = range(300_000)
    table = pa.table({"src": [i * 7919 % 9_973 for i in some], "dst": [i % 9_967 for i in some], "n": list(some)})
    with gt.Session(tmp_path / "home") as session:
        session.load_graph("Calls", table)
    return tmp_path


@contextmanager
def started(*arguments: str, **streams: Any) -> Iterator[subprocess.Popen[str]]:
    """A command in a group of its own, as a terminal starts it."""
    process = subprocess.Popen([*MAIN, *arguments], text=True, start_new_session=True, **streams)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def wait_for(lock: Path) -> None:
    """Until somebody writes under a name: Spark runs by then."""
    patience = time.monotonic() + BEGINS_WITHIN
    while not lock.exists():
        assert time.monotonic() < patience, f"nobody wrote {lock.name}"
        time.sleep(0.02)


def check_home(folder: Path) -> None:
    """What was there is there, and what was cut short can be had."""
    with gt.Session(folder / "home") as session:
        assert (list(session.graphs()), list(session.view_collections())) == (["Calls"], [])
        session.create_view_collection("many", on="Calls", views={"few": "n < 10"})
        assert session.load_graph("Big", str(folder / "big.csv")).edge_count == ROWS


@pytest.mark.parametrize(
    ("statement", "lock", "seconds"),
    [(LOAD, "graphs/.locks/Big", 1.0), (CREATE, "collections/.locks/many", 0.0)],
)
def test_a_command_is_interrupted(folder: Path, statement: str, lock: str, seconds: float) -> None:
    program = folder / "program.gvdl"
    program.write_text(statement.format(folder=folder))
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("run", str(program), "--home", str(folder / "home"), "--master", "local[2]", **streams) as process:
        wait_for(folder / "home" / lock)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate() == ("", "interrupted\n")
        assert process.returncode == 130
    check_home(folder)


def test_the_shell_goes_on_after_an_interrupt(folder: Path) -> None:
    keyboard, terminal = pty.openpty()
    streams = {"stdin": terminal, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started("shell", "--home", str(folder / "home"), "--master", "local[2]", **streams) as process:
        os.write(keyboard, LOAD.format(folder=folder).encode() + b"\r")
        wait_for(folder / "home/graphs/.locks/Big")
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        os.write(keyboard, b"show graphs;\rexit\r")
        told, _ = process.communicate()
        assert process.returncode == 0, told
    os.close(keyboard)
    os.close(terminal)
    assert "interrupted; what was complete before is kept" in told
    assert "Calls" in told.rpartition("interrupted;")[2]
    assert not any(word in told for word in ("Traceback", "ERROR", "Exception"))
    check_home(folder)
