"""Benches in the terminal: the list of them, progress, the table, what was missed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from graphtide.bench import Comparison, Report, bench_subjects, line_of, run_bench
from graphtide.errors import UsageError

__all__ = ["complaint", "measure", "print_subjects"]

_WIDTH_OF_A_FILE = 160


def print_subjects() -> None:
    """List the benches and what each compares."""
    table = Table("bench", "what it compares", box=None)
    for name, subject in bench_subjects().items():
        table.add_row(name, subject)
    Console().print(table)


def measure(name: str, json_file: Path | None, *, quick: bool) -> Report:
    """Run a bench, show its rows as they come and then its table, and write it to a file if one is given.

    The file has the rows so far after each of them: a bench that is stopped leaves what it has found.
    """
    # Said now rather than after an hour of measuring.
    if json_file is not None and not json_file.absolute().parent.is_dir():
        raise UsageError(f'cannot write "{json_file}": its folder does not exist')
    errors = Console(stderr=True)
    with errors.status(name) as status:

        def show(what: str) -> None:
            if errors.is_terminal:
                status.update(f"{name}: {what}")
            else:
                errors.print(f"{name}: {what}")

        report = Report(name)
        for row in run_bench(name, quick=quick, progress=show):
            report = report.with_row(row)
            errors.print(line_of(row), markup=False, highlight=False, soft_wrap=True)
            if json_file is not None:
                report.write_json(json_file)
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH_OF_A_FILE
    console.print(report.table())
    return report


def complaint(failures: Iterable[Comparison]) -> str:
    """What keeps a run from passing, a line per row."""
    return "\n".join(
        f"{row.name}: " + ("the answers differ" if not row.agree else f"{row.ratio} times better, the bar is {row.bar}")
        for row in failures
    )
