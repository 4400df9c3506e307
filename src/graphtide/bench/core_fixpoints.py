"""Components and shortest paths as loops of the general engine, on a graph that changes an edge at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_footprint import footprint
from graphtide.bench.core_graphs import ChangingGraph, Ints, least_labels, levels
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.functions import col, lit
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.output import Output

__all__ = ["Course", "Peer", "fixpoints", "labels_by_priority"]

Build = Callable[[Collection, ChangingGraph], Collection]

_FIRST_BAR = 40.0
_UPDATE_BAR = 5.0
# So many first answers are taken of each side, and the median counts.
_FIRSTS = 3


@dataclass(frozen=True, slots=True)
class Course:
    """The seconds to the first answer and of each change after it, and the answers at both ends."""

    first_seconds: float
    update_seconds: NDArray[np.float64]
    first: Ints
    last: Ints


@dataclass(slots=True)
class _Rounds:
    """The rounds of a loop in all commits, and the seconds of the commits."""

    count: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Peer:
    """Who else computes the two, and how."""

    name: str
    components: Callable[[ChangingGraph], Course]
    shortest_paths: Callable[[ChangingGraph], Course]


def fixpoints(graph: ChangingGraph, peer: Peer | None, progress: Progress) -> Iterator[Comparison]:
    """All rows; without a peer, ours against recomputation by NumPy, whose time is not taken."""
    progress("components")
    ours, flow, rounds = _follow(graph, _components)
    truth = least_labels(graph.edges), least_labels(graph.edges_at_last)
    is_right = np.array_equal(ours.last, truth[1])
    inner = [
        *footprint("components, plain loop", flow, agree=is_right),
        *_per_round(flow, rounds, agree=is_right),
    ]
    del flow  # the peer needs the memory
    progress("components, prioritized")
    prioritized, _, _ = _follow(graph, _components_prioritized)
    theirs = None
    if peer is not None:
        progress(f"components by {peer.name}")
        theirs = _several(peer.components, graph)
    # Each in the way that suits it best; then ours as a plain loop, which is how theirs is written.
    yield from _rows("components", prioritized, theirs, peer, truth, barred=True)
    yield from _rows("components, plain loop", ours, theirs, peer, truth, barred=False)
    yield from inner
    progress("shortest paths")
    ours, _, _ = _follow(graph, _shortest_paths)
    truth = levels(graph.edges, graph.root), levels(graph.edges_at_last, graph.root)
    if peer is not None:
        progress(f"shortest paths by {peer.name}")
        theirs = _several(peer.shortest_paths, graph)
    yield from _rows("shortest paths (unit weights)", ours, theirs, peer, truth, barred=True)


def labels_by_priority(labels: Collection, edges: Collection) -> Collection:
    """The least label that reaches each node, where labels come in by their length in bits."""

    def step(known: Collection, arriving: Collection) -> Collection:
        heard = known.join(edges, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(arriving).group_by("node").min("label")

    return labels.iterate_prioritized(step, priority=col("label").bit_length())


def _components(edges: Collection, _graph: ChangingGraph) -> Collection:
    both, nodes = _both_ways(edges)

    def step(known: Collection) -> Collection:
        heard = known.join(both, on={"node": "src"}).select(node="dst", label="label")
        return heard.concat(nodes).group_by("node").min("label")

    return nodes.iterate(step)


def _components_prioritized(edges: Collection, _graph: ChangingGraph) -> Collection:
    both, nodes = _both_ways(edges)
    return labels_by_priority(nodes, both)


def _both_ways(edges: Collection) -> tuple[Collection, Collection]:
    both = edges.concat(edges.select(src="dst", dst="src"))
    return both, both.select(node="src", label="src").distinct()


def _shortest_paths(edges: Collection, graph: ChangingGraph) -> Collection:
    roots = edges.flow.input("roots", node=int)
    roots.insert([(graph.root,)])
    start = roots.select(node="node", dist=lit(0))

    def step(known: Collection) -> Collection:
        heard = known.join(edges, on={"node": "src"}).select(node="dst", dist=col("dist") + 1)
        return heard.concat(start).group_by("node").min("dist")

    return start.iterate(step)


def _several(follow: Callable[[ChangingGraph], Course], graph: ChangingGraph) -> Course:
    """The last course of a few, with the median time to the first answer."""
    courses = [follow(graph) for _ in range(_FIRSTS)]
    return replace(courses[-1], first_seconds=median(course.first_seconds for course in courses))


def _begin(graph: ChangingGraph, build: Build) -> tuple[Dataflow, Input, Output, float]:
    """A dataflow that has given its first answer, and the seconds which that took."""
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    answer = build(edges, graph).output("answer")
    clock = time.perf_counter()
    edges.insert(graph.edges)
    flow.commit()
    return flow, edges, answer, time.perf_counter() - clock


def _follow(graph: ChangingGraph, build: Build) -> tuple[Course, Dataflow, _Rounds]:
    """The first answer, then one change at a time, with the changes of the answer read; rounds of each change."""
    firsts = [_begin(graph, build)[-1] for _ in range(_FIRSTS - 1)]
    flow, edges, answer, seconds_of_last = _begin(graph, build)
    first_seconds = median([*firsts, seconds_of_last])
    first = _sorted(answer.table())
    seconds = np.empty(len(graph.changes))
    rounds = _Rounds()
    for c, (src, dst, diff) in enumerate(graph.changes.tolist()):
        clock = time.perf_counter()
        if diff > 0:
            edges.insert([(src, dst)])
        else:
            edges.remove([(src, dst)])
        begun = time.perf_counter()
        flow.commit()
        rounds.seconds += time.perf_counter() - begun
        answer.changes()
        seconds[c] = time.perf_counter() - clock
        rounds.count += int(flow.machine.state[layout.ROUNDS])
    return Course(first_seconds, seconds, first, _sorted(answer.table())), flow, rounds


def _sorted(table: pa.Table) -> Ints:
    """The rows of a table of ints in order."""
    rows = np.column_stack([column.to_numpy() for column in table.columns])
    return rows[np.lexsort(rows.T[::-1])]


def _rows(
    name: str, ours: Course, theirs: Course | None, peer: Peer | None, truth: tuple[Ints, Ints], *, barred: bool
) -> Iterator[Comparison]:
    agree = [np.array_equal(ours.first, truth[0]), np.array_equal(ours.last, truth[1])]
    peer_name, note = "", ""
    if peer is not None and theirs is not None:
        agree[0] &= np.array_equal(ours.first, theirs.first)
        agree[1] &= np.array_equal(ours.last, theirs.last)
        peer_name = peer.name
        note = f"{len(ours.update_seconds)} changes each; mean {_mean_ms(ours)} against {_mean_ms(theirs)} ms"
    yield Comparison(
        f"{name}: first answer",
        ours=ours.first_seconds,
        peer=None if theirs is None else theirs.first_seconds,
        peer_name=peer_name,
        unit="s",
        agree=agree[0],
        bar=_FIRST_BAR if barred and theirs is not None else None,
    )
    yield Comparison(
        f"{name}: median update",
        ours=float(np.median(ours.update_seconds)),
        peer=None if theirs is None else float(np.median(theirs.update_seconds)),
        peer_name=peer_name,
        unit="s",
        agree=all(agree),
        bar=_UPDATE_BAR if barred and theirs is not None else None,
        note=note,
    )


def _mean_ms(course: Course) -> str:
    return f"{1e3 * course.update_seconds.mean():.3g}"


def _per_round(flow: Dataflow, rounds: _Rounds, *, agree: bool) -> Iterator[Comparison]:
    """What a round of the loop costs for a change of one edge: the time of all commits over all their rounds."""
    what = flow.machine.code[:, 0].tolist()
    inside = what[what.index(layout.HEAD) : what.index(layout.TAIL)]
    operators = inside.count(layout.RUN)
    each = rounds.seconds / max(1, rounds.count)
    note = f"{rounds.count} rounds in all, {operators} operators in the loop"
    for name, seconds in (("round of the loop", each), ("operator and round", each / operators)):
        yield Comparison(f"components, plain loop: {name}", seconds, None, "", "s", agree=agree, note=note)
