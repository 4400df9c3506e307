"""Memory of the processes that Spark starts: its virtual machine and its Python workers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Final

__all__ = ["Peak", "peak_of_children"]

_EVERY: Final = 0.05
# Pages that processes share are counted once in all: workers are forks of one process.
_SHARE: Final = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Peak:
    """The most bytes that were resident at one moment."""

    java: int
    python: int

    @property
    def bytes(self) -> int:
        """Of all."""
        return self.java + self.python


def peak_of_children(work: Callable[[], object]) -> Peak | None:
    """The memory of this process's children, and of theirs, while `work` runs; None where the system does not say."""
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    samples = [_sample()]
    over = Event()

    def look() -> None:
        while not over.wait(_EVERY):
            samples.append(_sample())

    watch = Thread(target=look, daemon=True)
    watch.start()
    try:
        work()
    finally:
        over.set()
        watch.join()
    return max(samples, key=lambda sample: sample.bytes)


def _sample() -> Peak:
    java = python = 0
    for process in _children(os.getpid()):
        # One that has just ended has no files any more.
        with suppress(OSError):
            found = _SHARE.search((process / "smaps_rollup").read_text())
            share = 1024 * int(found[1]) if found else 0
            if (process / "comm").read_text().startswith("java"):
                java += share
            else:
                python += share
    return Peak(java, python)


def _children(number: int) -> Iterator[Path]:
    for thread in Path(f"/proc/{number}/task").iterdir():
        with suppress(OSError):
            for child in map(int, (thread / "children").read_text().split()):
                yield Path(f"/proc/{child}")
                yield from _children(child)
