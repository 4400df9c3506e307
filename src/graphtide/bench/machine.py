"""The facts of the machine and its software that a measurement depends on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["machine_facts", "memory_bytes", "package_versions"]


def machine_facts() -> dict[str, object]:
    """Processor, cores, memory, system and versions, as written next to every result."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **package_versions("graphtide", "numba", "numpy", "pyarrow"),
    }


def package_versions(*names: str) -> dict[str, str | None]:
    """The installed version of each package, or nothing."""
    return {name: _version(name) for name in names}


def memory_bytes() -> int | None:
    """The machine's memory, or nothing where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())
