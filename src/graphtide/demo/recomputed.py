"""The components of one window from scratch, by NetworkX."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import networkx as nx

from graphtide.demo.window import Slide, Stream

__all__ = ["Recomputed", "recompute"]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Labels of nodes by component, and how long it took to find the components."""

    components: dict[int, int]
    strong: dict[int, int]
    seconds: float


def recompute(stream: Stream, positions: Sequence[Slide]) -> Iterator[Recomputed]:
    """All windows one by one."""
    # NetworkX makes many objects. It should not pay for looking, again and again, through those of the compiler.
    gc.collect()
    gc.freeze()
    try:
        for slide in positions:
            yield _recompute(stream, slide)
    finally:
        gc.unfreeze()


def _recompute(stream: Stream, slide: Slide) -> Recomputed:
    """Build the graph of a window and find its components; naming them by their least node is not timed."""
    began = perf_counter()
    graph: Any = nx.DiGraph(stream.edges[slide.held].tolist())
    weak: list[set[int]] = list(nx.weakly_connected_components(graph))
    strong: list[set[int]] = list(nx.strongly_connected_components(graph))
    seconds = perf_counter() - began
    with_cycle = (part for part in strong if len(part) > 1 or any(graph.has_edge(node, node) for node in part))
    return Recomputed(_labels(weak), _labels(with_cycle), seconds)


def _labels(parts: Iterable[set[int]]) -> dict[int, int]:
    return {node: least for part in parts for least in [min(part)] for node in part}
