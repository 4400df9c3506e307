"""An open load of changes: they come at a fixed rate, whether or not those before them have been served."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from graphtide.bench.arrivals import Arrivals
from graphtide.bench.core_graphs import Ints
from graphtide.procedures import SharedGraph

__all__ = ["KINDS", "Load", "Loaded", "load_of", "outstanding_agree"]

# The procedures, and how many arguments each has.
KINDS: Final = {"look_up": 1, "one_hop": 1, "two_hop": 1, "shortest_path": 2}
_OUTSTANDING = 100  # questions of each kind that are asked at once
_CHECKED = 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """How long each question waited for its answer, by kind; how many changes were served in how many seconds."""

    latencies: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
    served: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Load:
    """A graph, and changes that come one after the other: an edge comes, one goes, and questions in between."""

    nodes: int
    edges: Ints
    rate: int
    seconds: float
    arriving: Ints  # edges that come; as many of the first ones go
    asked: dict[str, Ints]

    def serve(self, graph: SharedGraph) -> Loaded:
        """Let all changes come at their times, in as many commits as it takes."""
        arrivals = Arrivals(self.rate, self.seconds)
        kinds = list(KINDS)
        waiting: dict[str, deque[int]] = {kind: deque() for kind in kinds}
        latencies: dict[str, list[float]] = {kind: [] for kind in kinds}
        for done, upto in arrivals:
            self._stage_edges(graph, done, upto)
            for place, kind in enumerate(kinds):
                self._stage_questions(graph, kind, _of_kind(done, place), _of_kind(upto, place), waiting[kind])
            graph.commit()
            end = arrivals.elapsed
            for place, kind in enumerate(kinds):
                numbers = np.arange(_of_kind(done, place), _of_kind(upto, place))
                latencies[kind] += (end - arrivals.due[8 * numbers + 2 * place + 1]).tolist()
        served = {kind: np.array(each) for kind, each in latencies.items()}
        return Loaded(served, len(arrivals.due), arrivals.elapsed)

    def _stage_edges(self, graph: SharedGraph, done: int, upto: int) -> None:
        """Changes 0, 4, 8... insert an edge; 2, 6, 10... remove one."""
        come = self.arriving[(done + 3) // 4 : (upto + 3) // 4]
        go = self.edges[(done + 1) // 4 : (upto + 1) // 4]
        if len(come):
            graph.edges.insert(come)
        if len(go):
            graph.edges.remove(go)

    def _stage_questions(self, graph: SharedGraph, kind: str, first: int, last: int, waiting: deque[int]) -> None:
        """Ask some questions, and withdraw as many of the oldest if enough are asked."""
        if first == last:
            return
        procedure = graph.procedures[kind]
        procedure.ask(self.asked[kind][first:last])
        waiting.extend(range(first, last))
        old = [waiting.popleft() for _ in range(len(waiting) - _OUTSTANDING)]
        if old:
            procedure.withdraw(self.asked[kind][old])

    def edges_at_the_end(self) -> Ints:
        """What is left of the first edges, and those that came."""
        count = int(self.rate * self.seconds)
        return np.concatenate([self.edges[(count + 1) // 4 :], self.arriving[: (count + 3) // 4]])


def _of_kind(changes: int, place: int) -> int:
    """How many of the first changes are questions of a kind: every eighth is, beginning at an odd place."""
    return (changes - (2 * place + 1) + 7) // 8


def load_of(nodes: int, edges: int, rate: int, seconds: float) -> Load:
    """A random graph and random changes."""
    rng = np.random.default_rng(7)
    count = int(rate * seconds)
    asked = {kind: rng.integers(0, nodes, (count // 8 + 8, width)) for kind, width in KINDS.items()}
    return Load(
        nodes, rng.integers(0, nodes, (edges, 2)), rate, seconds, rng.integers(0, nodes, (count // 4 + 4, 2)), asked
    )


def outstanding_agree(load: Load, graph: SharedGraph) -> bool:
    """Whether the last questions of each kind are answered as a search of the final edges answers them."""
    edges = load.edges_at_the_end()
    order = np.argsort(edges[:, 0], kind="stable")
    starts = np.searchsorted(edges[order, 0], np.arange(load.nodes + 1))
    targets = edges[order, 1]

    def step(vertices: set[int]) -> set[int]:
        return {int(each) for vertex in vertices for each in targets[starts[vertex] : starts[vertex + 1]]}

    count = int(load.rate * load.seconds)
    for place, kind in enumerate(KINDS):
        found = set(graph.procedures[kind].output.rows())
        last = _of_kind(count, place)
        for row in load.asked[kind][max(0, last - _CHECKED) : last].tolist():
            expected = _answers(kind, row, step)
            if {each for each in found if list(each[: len(row)]) == row} != expected:
                return False
    return True


def _answers(kind: str, row: list[int], step: Callable[[set[int]], set[int]]) -> set[tuple[int, ...]]:
    source = row[0]
    if kind == "look_up":
        return {(source, 3 * source)}
    if kind != "shortest_path":
        reached = step({source}) if kind == "one_hop" else step(step({source}))
        return {(source, each) for each in reached}
    level = {source}
    for length in range(5):
        if row[1] in level:
            return {(source, row[1], length)}
        level = step(level)
    return set()
