"""The first answer of a fresh process, with kernels to compile and with kernels to load."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from statistics import median

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison

__all__ = ["starts"]

_LIMIT_SECONDS = 3.0
_TIMES = 3

_PROGRAM = """
import graphtide as gt
flow = gt.Dataflow()
edges = flow.input("edges", src=int, dst=int)
labels = edges.select(node="src", label="src").distinct()
components = labels.iterate(lambda known: known.join(edges, on={"node": "src"})
    .select(node="dst", label="label").concat(labels).group_by("node").min("label"))
out = components.output("components")
edges.insert([(1, 2), (2, 1), (2, 3), (3, 2), (5, 5)])
flow.commit()
print(sorted(out.rows()))
"""
_ANSWER = "[(1, 1), (2, 1), (3, 1), (5, 5)]"


def starts(progress: Progress, *, cold: bool) -> Iterator[Comparison]:
    """A row for a warm cache, and with `cold` one for an empty cache before it."""
    if not cold:
        yield from _warm(os.environ, progress)
        return
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        environment = {**os.environ, "GRAPHTIDE_CACHE": folder}
        progress("first answer of a fresh process, empty kernel cache")
        seconds, agree = _start(environment)
        note = "compiled once on a machine, and again when kernels change"
        yield Comparison("first answer of a fresh process: cold cache", seconds, None, "", "s", agree, note=note)
        yield from _warm(environment, progress)


def _warm(environment: Mapping[str, str], progress: Progress) -> Iterator[Comparison]:
    progress("first answer of a fresh process, warm kernel cache")
    starts = [_start(environment) for _ in range(_TIMES)]
    name = "first answer of a fresh process: warm cache"
    seconds = median(seconds for seconds, _ in starts)
    agree = all(agree for _, agree in starts)
    yield Comparison(name, seconds, _LIMIT_SECONDS, "limit", "s", agree, bar=1.0)


def _start(environment: Mapping[str, str]) -> tuple[float, bool]:
    """Seconds from starting the interpreter to its end, and whether it printed the answer."""
    clock = time.perf_counter()
    command = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)  # noqa: S603
    return time.perf_counter() - clock, done.stdout.strip() == _ANSWER
