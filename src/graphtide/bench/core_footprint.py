"""How many bytes a difference takes that is kept."""

from __future__ import annotations

from collections.abc import Iterator

from graphtide.bench.comparison import Comparison
from graphtide.dataflow.flow import Dataflow

__all__ = ["footprint"]


def footprint(name: str, flow: Dataflow, *, agree: bool) -> Iterator[Comparison]:
    """Bytes per kept difference and in all, by the dataflow's own count; `agree` is whether its answers are right."""
    memory = flow.memory()
    held = flow.machine.heap.nbytes
    kept = memory.differences
    note = f"{kept:,} differences kept; {held:,} bytes in live blocks, the rest is for reuse"
    yield Comparison(f"{name}: bytes per kept difference", held / max(1, kept), None, "", "bytes", agree, note=note)
    yield Comparison(f"{name}: bytes in all", float(memory.bytes), None, "", "bytes", agree)
