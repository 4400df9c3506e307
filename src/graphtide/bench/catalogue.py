"""Which benches there are, and how one is run by its name."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

from graphtide.bench.comparison import Comparison
from graphtide.errors import UsageError

__all__ = ["Progress", "bench_subjects", "run_bench"]

Progress = Callable[[str], None]


def bench_subjects() -> dict[str, str]:
    """The benches by name, each with the first line of its docstring.

    They are read and not imported, because the peers that they import may not be installed.
    """
    subjects: dict[str, str] = {}
    folders = importlib.import_module("graphtide.bench").__path__
    for file in sorted(file for folder in folders for file in Path(folder).glob("*.py")):
        tree = ast.parse(file.read_bytes())
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            subjects[file.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return subjects


def run_bench(name: str, *, quick: bool, progress: Progress) -> Iterator[Comparison]:
    """The rows of a bench, each when it has been measured; what keeps it from running is said at once."""
    names = list(bench_subjects())
    if name not in names:
        known = ", ".join(names) or "none so far"
        raise UsageError(f'there is no bench "{name}"', hint=f"the benches are: {known}")
    try:
        module = importlib.import_module(f"graphtide.bench.{name}")
    except ModuleNotFoundError as error:
        raise UsageError(
            f'bench "{name}" compares with package "{error.name}", which is not installed',
            hint='install the peers with pip install "graphtide[bench]", or run make bench',
        ) from error
    return module.run(quick, progress)
