"""What a continuous query keeps under each policy: differences, bytes, and how many queries a budget holds for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints, power_law_graph
from graphtide.bench.memory_budget import within_budgets
from graphtide.bench.memory_streets import on_streets
from graphtide.frontier import (
    Degree,
    DeterministicDrop,
    JoinOnDemand,
    LiveGraph,
    ProbabilisticDrop,
    Scratch,
    Vanilla,
)
from graphtide.frontier.maintenance import Maintenance

__all__ = ["run"]

_EDGES: Final = 1_000_000
_QUICK_EDGES: Final = 5_000
_SIDE: Final = 250
_QUICK_SIDE: Final = 20
_CHANGES: Final = 100
_SOURCES: Final = 3
_BUDGET: Final = 1 << 30
_MOST_BYTES: Final = 14.0
# All but the vertices of the highest degrees: they are looked at most often.
_CHOICE: Final = Degree(p=1.0)
_POLICIES: Final[dict[str, Maintenance]] = {
    "vanilla": Vanilla(),
    "join on demand": JoinOnDemand(),
    "deterministic drop": DeterministicDrop(_CHOICE),
    "probabilistic drop": ProbabilisticDrop(_CHOICE),
}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Of one policy: means by query."""

    differences: float
    bytes: float
    update_seconds: float
    is_right: bool

    @property
    def queries(self) -> int:
        """How many fit into the budget."""
        return int(_BUDGET / self.bytes)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """All rows; every answer is compared with one from scratch after the updates."""
    graph = power_law_graph(_QUICK_EDGES if quick else _EDGES)
    rows = np.column_stack([graph, np.random.default_rng(1).integers(1, 11, len(graph))])
    kept: dict[str, _Kept] = {}
    scratch_seconds = 0.0
    for name, policy in _POLICIES.items():
        progress(name)
        kept[name], scratch_seconds = _measured(rows, policy)
    agree = all(each.is_right for each in kept.values())
    vanilla, on_demand = kept["vanilla"], kept["join on demand"]
    yield Comparison(
        "shortest paths: differences kept",
        on_demand.differences,
        vanilla.differences,
        "vanilla",
        "differences",
        agree=agree,
        bar=6.0,
    )
    yield Comparison(
        "shortest paths: bytes per kept difference",
        on_demand.bytes / on_demand.differences,
        _MOST_BYTES,
        "limit",
        "bytes",
        agree=agree,
        bar=1.0,
    )
    # A path has few edges in this graph, and a table of marks few bits: the bar for filters is held on streets.
    for name, other, bar in (
        ("join on demand", "vanilla", 5.0),
        ("deterministic drop", "vanilla", None),
        ("probabilistic drop", "vanilla", 20.0),
        ("probabilistic drop", "deterministic drop", 1.3),
    ):
        yield Comparison(
            f"{name}: bytes a query",
            kept[name].bytes,
            kept[other].bytes,
            other,
            "bytes",
            agree=agree,
            bar=bar,
            note=f"{kept[name].queries:,} queries in 1 GiB against {kept[other].queries:,}",
        )
    for name, each in kept.items():
        yield Comparison(
            f"{name}: median update",
            each.update_seconds,
            scratch_seconds,
            "from scratch",
            "s",
            agree=agree,
            bar=None if name == "vanilla" else 100.0,
        )
    yield from on_streets(_QUICK_SIDE if quick else _SIDE, progress)
    yield from within_budgets(rows, progress)


def _measured(rows: Ints, policy: Maintenance) -> tuple[_Kept, float]:
    """What queries from a few sources keep after some updates, half of them deletions; and seconds from scratch."""
    loaded = int(0.9 * len(rows))
    live = LiveGraph(weight=int)
    live.apply(insert=rows[:loaded])
    sources = np.argsort(-np.bincount(rows[:loaded, 0]))[:_SOURCES].tolist()
    queries = [live.sssp(source, weight="weight", maintain=policy) for source in sources]
    seconds: list[float] = []
    for k in range(_CHANGES):
        change = {"delete": [tuple(rows[k].tolist())]} if k % 2 else {"insert": [tuple(rows[loaded + k].tolist())]}
        clock = time.perf_counter()
        live.apply(**change)
        seconds.append((time.perf_counter() - clock) / _SOURCES)
    clock = time.perf_counter()
    fresh = [live.sssp(source, weight="weight", maintain=Scratch()) for source in sources]
    scratch_seconds = (time.perf_counter() - clock) / _SOURCES
    is_right = all(
        _sorted(query.result()).equals(_sorted(other.result())) for query, other in zip(queries, fresh, strict=True)
    )
    return (
        _Kept(
            float(np.mean([query.differences for query in queries])),
            float(np.mean([query.nbytes for query in queries])),
            float(np.median(seconds)),
            is_right,
        ),
        scratch_seconds,
    )


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by("vertex")
