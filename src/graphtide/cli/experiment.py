"""A paper's tables and figures on real data: the list of them, and running one.

Experiments stand beside the package in a checkout, and each is a program of its own: it is run as one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graphtide.errors import UsageError
from graphtide.text import hint_at_nearest

__all__ = ["experiments", "print_experiments", "run_experiment"]


def experiments() -> dict[str, Path]:
    """The folders of the experiments, by name; of the checkout around this folder, or of the one that is installed."""
    here = Path.cwd()
    for root in (here, *here.parents, Path(__file__).parents[3]):
        found = {run.parent.name: run.parent for run in sorted(root.glob("experiments/*/run.py"))}
        if found:
            return found
    raise UsageError(
        "there are no experiments here: they are not part of an installed package",
        hint="change to a checkout of Graphtide",
    )


def print_experiments() -> None:
    """List the experiments and what each shows."""
    table = Table("experiment", "what it shows", box=None)
    for name, folder in experiments().items():
        title = (folder / "README.md").read_text().partition("\n")[0].removeprefix("# ")
        table.add_row(name, escape(title))
    Console().print(table)


def run_experiment(name: str, arguments: Sequence[str]) -> int:
    """Run an experiment with its own arguments; what it exits with."""
    known = experiments()
    if name not in known:
        raise UsageError(f'there is no experiment "{name}"', hint=hint_at_nearest(name, known, "experiments"))
    command = [sys.executable, "-m", f"experiments.{name}.run", *arguments]
    return subprocess.run(command, cwd=known[name].parents[1], check=False).returncode  # noqa: S603 - our own interpreter and a name of the list
