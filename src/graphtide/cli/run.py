"""A file of GVDL statements, one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from graphtide.cli.answers import print_answer, print_json
from graphtide.errors import UsageError
from graphtide.pipeline.session import Session
from graphtide.pipeline.statements import execute

__all__ = ["run_file"]


def run_file(file: str, home: Path, master: str, *, json: bool) -> None:
    """Carry out the statements of a file, or of the standard input if it is called "-"."""
    text = _read(file)
    console = Console()
    with Session(home, master=master) as session:
        for answer in execute(session, text):
            if json:
                print_json(answer)
            else:
                print_answer(console, answer)


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f'cannot read "{file}": {reason}', hint="name a file of GVDL statements") from error
