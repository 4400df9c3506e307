"""Pathway as the peer: ints handed over in blocks, and every commit waited for.

A block is one row that `flatten` takes apart inside the engine: a row per int, at 10 us each, would
measure the connector instead. What is to be removed later is a block of its own. After each commit the
feeder waits until a subscriber has seen all of its effects, by a mark that goes the same way as the
answer; a commit without an effect would tell nobody.
"""

from __future__ import annotations

import importlib
import logging
import queue
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from graphtide.bench.core_counts import KeyStream, PeerCounts
from graphtide.bench.core_fixpoints import Course
from graphtide.bench.core_graphs import ChangingGraph, Ints

__all__ = ["components", "counts", "shortest_paths"]

# Through importlib, because the package is not there where the code is checked.
pw: Any = importlib.import_module("pathway")
_parse_graph: Any = importlib.import_module("pathway.internals.parse_graph")

_BLOCK: Final = 100_000
_MARK: Final = -1
_SAMPLE: Final = 1_000


def components(graph: ChangingGraph) -> Course:
    """Least labels by `pw.iterate`; keyed by pointers, the fastest of four ways to write it."""

    def step(labels: Any, both: Any) -> dict[str, Any]:
        heard = both.select(v=both.v, label=labels.ix(both.u).label)
        least = heard.groupby(id=heard.v).reduce(label=pw.reducers.min(heard.label)).with_universe_of(labels)
        smaller = pw.if_else(least.label < labels.label, least.label, labels.label)
        return {"labels": labels.select(labels.node, label=smaller)}

    def build(codes: Any) -> Any:
        edges = codes.select(u=codes.code // graph.vertices, v=codes.code % graph.vertices)
        both = edges.concat_reindex(edges.select(u=edges.v, v=edges.u))
        nodes = both.groupby(both.u).reduce(node=both.u, label=both.u)
        both = both.select(u=nodes.pointer_from(both.u), v=nodes.pointer_from(both.v))
        labels = pw.iterate(step, labels=nodes, both=both).labels
        return labels.select(key=labels.node, value=labels.label)

    return _follow(graph, build)


def shortest_paths(graph: ChangingGraph) -> Course:
    """Distances from the root by `pw.iterate`."""

    def step(distances: Any, edges: Any, start: Any) -> dict[str, Any]:
        heard = edges.join(distances, edges.u == distances.node).select(node=edges.v, dist=distances.dist + 1)
        every = heard.concat_reindex(start)
        return {"distances": every.groupby(every.node).reduce(every.node, dist=pw.reducers.min(every.dist))}

    def build(codes: Any) -> Any:
        edges = codes.select(u=codes.code // graph.vertices, v=codes.code % graph.vertices)
        start = pw.debug.table_from_rows(pw.schema_from_types(node=int, dist=int), [(graph.root, 0)])
        distances = pw.iterate(step, distances=pw.iterate_universe(start), edges=edges, start=start).distances
        return distances.select(key=distances.node, value=distances.dist)

    return _follow(graph, build)


def counts(stream: KeyStream, batches: int) -> PeerCounts:
    """The first batches of a stream through `groupby().reduce(count())`; one key in a thousand is read."""

    def build(codes: Any) -> Any:
        counted = codes.groupby(codes.code).reduce(key=codes.code, value=pw.reducers.count())
        return counted.filter(counted.key % _SAMPLE == 0)

    def script(feed: _Feed) -> PeerCounts:
        for start in range(0, len(stream.kept), _BLOCK):
            feed.hand_over(_as_block(stream.kept[start : start + _BLOCK]))
            feed.settle()
        doomed = deque(feed.hand_over(_as_block(block)) for block in stream.doomed)
        feed.settle()
        seconds = np.empty(batches)
        cpu = 0.0
        for b, batch in enumerate(stream.batches[:batches]):
            block = _as_block(batch.inserted)
            clock, begun = time.perf_counter(), time.process_time()
            if block:
                feed.hand_over(block)
            if len(batch.removed):
                feed.remove(doomed.popleft())
            feed.settle()
            seconds[b] = time.perf_counter() - clock
            cpu += time.process_time() - begun
        expected = stream.counts_after(batches)
        sample = expected[expected[:, 0] % _SAMPLE == 0]
        return PeerCounts(seconds, cpu, np.array_equal(feed.answer(), sample))

    return _serve(build, script)


def _follow(graph: ChangingGraph, build: Callable[[Any], Any]) -> Course:
    """The first answer, then one change at a time."""
    codes = graph.edges @ [graph.vertices, 1]
    changed = (graph.changes[:, :2] @ [graph.vertices, 1]).tolist()
    is_removed = np.isin(codes, graph.changes[graph.changes[:, 2] < 0, :2] @ [graph.vertices, 1])
    kept = codes[~is_removed]
    blocks = [_as_block(kept[start : start + _BLOCK]) for start in range(0, len(kept), _BLOCK)]

    def script(feed: _Feed) -> Course:
        clock = time.perf_counter()
        for block in blocks:
            feed.hand_over(block)
        singles = {code: feed.hand_over((code,)) for code in codes[is_removed].tolist()}
        feed.settle()
        first_seconds = time.perf_counter() - clock
        first = feed.answer()
        seconds = np.empty(len(changed))
        for c, (code, diff) in enumerate(zip(changed, graph.changes[:, 2], strict=True)):
            clock = time.perf_counter()
            if diff > 0:
                feed.hand_over((code,))
            else:
                feed.remove(singles[code])
            feed.settle()
            seconds[c] = time.perf_counter() - clock
        return Course(first_seconds, seconds, first, feed.answer())

    return _serve(build, script)


def _as_block(values: Ints) -> tuple[int, ...]:
    return tuple(values.tolist())


def _serve(build: Callable[[Any], Any], script: Callable[[_Feed], Any]) -> Any:
    """Run a script against a computation on the codes that it feeds; what the script gives."""
    _parse_graph.G.clear()
    feed = _Feed(script)
    schema = pw.schema_builder(
        {
            "serial": pw.column_definition(dtype=int, primary_key=True),
            "block": pw.column_definition(dtype=tuple[int, ...]),
        }
    )
    blocks = pw.io.python.read(feed, schema=schema, autocommit_duration_ms=None)
    answer = build(blocks.select(code=blocks.block).flatten(pw.this.code))
    marks = blocks.reduce(key=_MARK, value=pw.reducers.max(blocks.serial))
    seen = feed.seen
    pw.io.subscribe(pw.Table.concat_reindex(answer, marks), on_change=seen.on_change, on_time_end=seen.on_time_end)
    logging.disable(logging.WARNING)
    try:
        pw.run(monitoring_level=pw.MonitoringLevel.NONE, default_logging=False)
    finally:
        logging.disable(logging.NOTSET)
        _parse_graph.G.clear()
    return feed.result


@dataclass(frozen=True, slots=True)
class _Block:
    serial: int
    values: tuple[int, ...]


@dataclass(slots=True)
class _Seen:
    """What a subscriber has been told: the rows, and the mark of the last commit that is through."""

    rows: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    mark: int = 0
    through: queue.SimpleQueue[int] = field(default_factory=queue.SimpleQueue[int])

    def on_change(self, key: Any, row: dict[str, int], time: int, is_addition: bool) -> None:  # noqa: ARG002, FBT001 - given by name
        if row["key"] == _MARK:
            self.mark = max(self.mark, row["value"])
        else:
            self.rows[row["key"], row["value"]] += 1 if is_addition else -1

    def on_time_end(self, time: int) -> None:  # noqa: ARG002 - given by name
        self.through.put(self.mark)


class _Feed(pw.io.python.ConnectorSubject):
    """Runs a script in the thread that Pathway reads from."""

    # What Pathway would find by reading the source of `run`, if the script stood there.
    _deletions_enabled = True

    def __init__(self, script: Callable[[_Feed], Any]) -> None:
        super().__init__()
        self._script = script
        self._serial = 0
        self.seen = _Seen()
        self.result: Any = None

    def run(self) -> None:
        """Called by Pathway."""
        self.result = self._script(self)

    def hand_over(self, values: tuple[int, ...]) -> _Block:
        """Insert a block of ints."""
        self._serial += 1
        self.next(serial=self._serial, block=values)
        return _Block(self._serial, values)

    def remove(self, block: _Block) -> None:
        """Take a block back."""
        self.delete(serial=block.serial, block=block.values)

    def settle(self) -> None:
        """Commit, and wait until all effects of it have been seen."""
        self._serial += 1
        self.next(serial=self._serial, block=())
        self.commit()
        while self.seen.through.get() < self._serial:
            pass

    def answer(self) -> Ints:
        """The rows of the answer in order."""
        rows = sorted(row for row, times in self.seen.rows.items() if times > 0)
        return np.array(rows, np.int64).reshape(len(rows), 2)
