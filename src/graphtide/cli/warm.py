"""Compiling all kernels ahead of time, in as many processes as there are cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Final

from graphtide.dataflow import warm as dataflows
from graphtide.ego import warm as overlays
from graphtide.frontier import warm as live

__all__ = ["compile_all"]


# What compiles kernels that others hardly need, the longest first: numba holds the interpreter while it compiles.
_PARTS: Final[dict[str, tuple[Callable[[], object], ...]]] = {
    "ego aggregates": (overlays.warm, live.warm_aggregates),
    "dataflows": (dataflows.warm,),
    "continuous queries": (live.warm_queries,),
}


def compile_all() -> Iterator[tuple[str, float]]:
    """Compile what is not compiled yet, into the cache on disk; each part as it ends, with its seconds."""
    # A fresh process: a fork would have the parent's threads' locks without the threads.
    with ProcessPoolExecutor(min(len(_PARTS), os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_compile, name) for name in _PARTS]):
            yield done.result()


def _compile(name: str) -> tuple[str, float]:
    clock = time.perf_counter()
    for part in _PARTS[name]:
        part()
    return name, time.perf_counter() - clock
