"""A graph that programs run on, and the programs that are kept on it.

It is the edges of a live graph, or their product with the automaton of a pattern (`path_graph`).
Invariant: after `follow` the states of every program are those of the graph as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.edges import Delta, Edges
from graphtide.frontier.family import EdgeChanges, Family, StateChanges
from graphtide.frontier.maintenance import DeterministicDrop, Maintenance, ProbabilisticDrop, Scratch, Vanilla
from graphtide.frontier.program import Program
from graphtide.frontier.query import KeptQuery, ProgramQuery, Running, ScratchQuery, VanillaQuery
from graphtide.frontier.report import SharedPart
from graphtide.frontier.steps import Begin, Steps, no_state
from graphtide.frontier.vanilla import VanillaFlow, VanillaProgram
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.live import LiveGraph

__all__ = ["EdgeGround", "Ground"]

_NOTHING = np.empty(0, np.int64)


class Ground(ABC):
    """What programs on one graph share: its edges, scratch memory by weight, dataflows by weight."""

    def __init__(self, adjacency: Adjacency) -> None:
        self.adjacency = adjacency
        self.known = 0  # so many vertices were there before the last batch
        self._families: dict[str | None, Family] = {}
        self._flows: dict[str | None, VanillaFlow] = {}
        self._recomputed: list[ScratchQuery] = []
        self._kept = 0

    # -- what kind of graph it is

    @property
    @abstractmethod
    def labels(self) -> Codes:
        """By number: the state with which a program begins that has no initial states."""

    @abstractmethod
    def weights(self, weight: str | None) -> NDArray[Any]:
        """A weight by slot; of none, an empty array."""

    @abstractmethod
    def dtype(self, weight: str | None) -> np.dtype[Any]:
        """What the states of programs with a weight are."""

    @abstractmethod
    def lost_and_gained(self, delta: Delta, weight: str) -> tuple[EdgeChanges, NDArray[Any]]:
        """What a batch did, for programs that look at a weight, and the weights of the edges gained."""

    @abstractmethod
    def by_vertex(self, states: NDArray[Any]) -> NDArray[Any]:
        """States by number as states by vertex of the live graph."""

    @abstractmethod
    def changes_by_vertex(self, changes: StateChanges, query: ProgramQuery) -> StateChanges:
        """The changes of a query's states by number as changes by vertex of the live graph."""

    @abstractmethod
    def end_at(self, vertex: int, steps: Steps) -> int | None:
        """The number at which a walk to a vertex of the live graph ends with its state, if it has one."""

    @property
    @abstractmethod
    def product_bytes(self) -> int:
        """Bytes that it has beside the edges of the live graph."""

    @abstractmethod
    def vertices_of(self, numbers: Codes) -> Codes:
        """The vertices of the live graph that numbers stand for."""

    # -- programs

    def keep(
        self, program: Program, begin: Begin, maintain: Maintenance, *, live: LiveGraph, edges: Edges, name: str
    ) -> ProgramQuery:
        """Compute the first answer of a program, and keep it as the policy says."""
        dropping = maintain if isinstance(maintain, DeterministicDrop | ProbabilisticDrop) else None
        steps = Steps(program, self.dtype(program.weight), dropping)
        running = Running(self, steps, begin, maintain)
        if isinstance(maintain, Vanilla):
            flow = self._as_dataflow(name, steps, begin)
            query: ProgramQuery = VanillaQuery(live, edges, name, running, flow)
        elif isinstance(maintain, Scratch):
            answer = self.compute(steps, begin, kept=False)
            query = ScratchQuery(live, edges, name, running, answer)
            self._recomputed.append(query)
        else:
            self.compute(steps, begin)
            family = self._families.setdefault(program.weight, Family(steps.dtype))
            family.add(steps)
            family.make_room(self.adjacency.vertices)
            query = KeptQuery(live, edges, name, running, family)
        self._kept += 1
        return query

    def forget(self, query: ProgramQuery) -> None:
        """Take a query out, and what only it needed."""
        self._kept -= 1
        if isinstance(query, KeptQuery):
            query.family.drop(query.steps)
            self._families = {at: family for at, family in self._families.items() if family.queries}
        elif isinstance(query, VanillaQuery):
            query.kept.drop()
            self._flows = {at: flow for at, flow in self._flows.items() if flow.programs}
        elif isinstance(query, ScratchQuery):
            self._recomputed.remove(query)

    @property
    def is_bare(self) -> bool:
        """Whether no program is kept on it."""
        return self._kept == 0

    @property
    def shared(self) -> list[SharedPart]:
        """What its programs share besides the edges: scratch memory, and the dataflows' indexes."""
        of = {weight: "" if weight is None else f" of {weight}" for weight in (*self._families, *self._flows)}
        families = [SharedPart(f"scratch memory{of[at]}", family.nbytes) for at, family in self._families.items()]
        return families + [SharedPart(f"dataflow{of[at]}", flow.nbytes) for at, flow in self._flows.items()]

    def compute(self, steps: Steps, begin: Begin, *, kept: bool = True) -> NDArray[Any]:
        """Run a program from its beginning; its last states."""
        lists, weights = self.adjacency.lists, self.weights(steps.program.weight)
        return steps.compute(lists, weights, self.labels, self.adjacency.vertices, begin, kept=kept)

    def follow(self, delta: Delta, known: int) -> None:
        """Bring all programs up to date with a batch; vertices from number `known` on are new."""
        self.known = known
        vertices, labels = self.adjacency.vertices, self.labels
        for weight, family in self._families.items():
            changes = self._without_weights(delta) if weight is None else self.lost_and_gained(delta, weight)[0]
            family.apply(self.adjacency.table, labels, vertices, changes)
        for weight, flow in self._flows.items():
            self._follow_as_dataflow(flow, weight, delta)
        for query in self._recomputed:
            query.set_answer(self.compute(query.steps, query.begin, kept=False))

    def with_new_vertices(self, changes: StateChanges, states: NDArray[Any]) -> StateChanges:
        """Changes of a program with which every vertex begins; vertices that the batch brought had no state before."""
        changed, before, after = changes
        nothing = no_state(states.dtype)
        old = changed < self.known
        new = np.arange(self.known, len(states))
        new = new[states[new] != nothing]
        return (
            np.concatenate([changed[old], new]).astype(np.int32),
            np.concatenate([before[old], np.full(len(new), nothing, states.dtype)]),
            np.concatenate([after[old], states[new]]),
        )

    @staticmethod
    def _without_weights(delta: Delta) -> EdgeChanges:
        lost, gained = delta.without_columns()
        return EdgeChanges(lost, np.zeros(len(lost), np.int64) if len(lost) else _NOTHING, gained, -1)

    # -- dataflows

    def _as_dataflow(self, name: str, steps: Steps, begin: Begin) -> VanillaProgram:
        """A program as a branch of the dataflow of its weight, which is made by the first that needs it."""
        weight = steps.program.weight
        if weight not in self._flows:
            flow = self._flows[weight] = VanillaFlow(steps.dtype)
            rows = self.adjacency.list_all()
            weights = np.zeros(len(rows), np.int64) if weight is None else self.weights(weight)[rows[:, 2]]
            flow.change(rows[:0], weights[:0], rows, weights)
            flow.commit()
        kept = VanillaProgram(self._flows[weight], name, steps.program)
        if steps.program.initial is None:
            self._start(kept, 0)
        else:
            kept.start(*begin)
        kept.install()
        return kept

    def _follow_as_dataflow(self, flow: VanillaFlow, weight: str | None, delta: Delta) -> None:
        if weight is None:
            changes = self._without_weights(delta)
            after = np.zeros(len(changes.gained), np.int64)
        else:
            changes, after = self.lost_and_gained(delta, weight)
        flow.change(changes.lost, changes.lost_weights, changes.gained, after)
        for program in flow.programs:
            if program.begins_everywhere:
                self._start(program, self.known)
        flow.follow()

    def _start(self, kept: VanillaProgram, first: int) -> None:
        """Begin at all vertices from a number on that have something to begin with."""
        labels = self.labels[first : self.adjacency.vertices]
        there = np.flatnonzero(labels != no_state(labels.dtype))
        kept.start(first + there, labels[there])


class EdgeGround(Ground):
    """The edges of a live graph: a number is a vertex."""

    def __init__(self, edges: Edges) -> None:
        super().__init__(edges.adjacency)
        self._edges = edges

    @property
    def labels(self) -> Codes:
        """What vertices are called as labels of others."""
        return self._edges.labels

    def weights(self, weight: str | None) -> NDArray[Any]:
        """A property by slot."""
        return self._edges.slot_weights(weight)

    def dtype(self, weight: str | None) -> np.dtype[Any]:
        """Floats if the property is."""
        return np.dtype(np.float64 if weight is not None and self._edges.is_float(weight) else np.int64)

    def lost_and_gained(self, delta: Delta, weight: str) -> tuple[EdgeChanges, NDArray[Any]]:
        """Edges that have another weight are lost and gained."""
        edges = self._edges
        column = edges.column(weight)
        lost, before, gained, after = delta.in_column(column)
        changes = EdgeChanges(lost, edges.as_numbers(weight, before), gained, column)
        return changes, edges.as_numbers(weight, np.ascontiguousarray(after))

    @property
    def product_bytes(self) -> int:
        """None."""
        return 0

    def by_vertex(self, states: NDArray[Any]) -> NDArray[Any]:
        """The same."""
        return states

    def changes_by_vertex(self, changes: StateChanges, query: ProgramQuery) -> StateChanges:  # noqa: ARG002 - pairs need it
        """The same."""
        return changes

    def end_at(self, vertex: int, steps: Steps) -> int | None:
        """The vertex itself."""
        has_state = steps.program.initial is None or steps.head[vertex] >= 0
        return vertex if has_state else None

    def vertices_of(self, numbers: Codes) -> Codes:
        """The same."""
        return numbers
