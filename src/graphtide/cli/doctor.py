"""What Graphtide runs on: versions, cores, memory, the kernel cache, Java."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform

from rich.console import Console
from rich.table import Table

import graphtide
from graphtide.bench.machine import memory_bytes, package_versions
from graphtide.errors import PlatformError
from graphtide.jit import cache_state
from graphtide.pipeline.java import find_java

__all__ = ["examine", "print_json", "print_table"]


def examine() -> dict[str, object]:
    """The facts in the order in which they are shown."""
    _import_kernels()
    cache = cache_state()
    return {
        "graphtide": graphtide.__version__,
        "python": platform.python_version(),
        **package_versions("numba", "numpy", "pyarrow", "pyspark"),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "kernel_cache": str(cache.folder),
        "kernel_cache_bytes": cache.bytes,
        "kernels": cache.kernels,
        "kernels_warm": cache.warm,
        "java": _java(),
    }


def print_json(facts: dict[str, object]) -> None:
    """Print the facts for machines."""
    print(json.dumps(facts, indent=2))


def print_table(facts: dict[str, object]) -> None:
    """Print the facts for people."""
    table = Table(show_header=False, box=None)
    for name, value in facts.items():
        table.add_row(name.replace("_bytes", " size").replace("_", " "), _shown(name, value))
    Console(soft_wrap=True).print(table)


def _import_kernels() -> None:
    """Bring every kernel into this process, so that the cache can be asked about it."""
    for module in pkgutil.walk_packages(graphtide.__path__, "graphtide."):
        if "kernels" in module.name.split("."):
            importlib.import_module(module.name)


def _java() -> str | None:
    try:
        return str(find_java())
    except PlatformError:
        return None


def _shown(name: str, value: object) -> str:
    if value is None:
        return "not found"
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.1f} MiB"
    return str(value)
