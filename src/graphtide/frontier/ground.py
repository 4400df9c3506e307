"""A graph that programs run on, and the programs that are kept on it.

It is the edges of a live graph, or their product with the automaton of a pattern (`path_graph`).
Invariant: after `follow` the states of every program are those of the graph as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import GraphtideError, NotConvergedError
from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.budget import Budget
from graphtide.frontier.dataflows import Dataflows
from graphtide.frontier.delta import Delta
from graphtide.frontier.edges import Edges
from graphtide.frontier.failures import Failures, first_failure
from graphtide.frontier.family import Family, StateChanges
from graphtide.frontier.housekeeping import Housekeeping
from graphtide.frontier.kernels import fields
from graphtide.frontier.maintenance import DeterministicDrop, Maintenance, ProbabilisticDrop, Scratch, Vanilla
from graphtide.frontier.message import CompiledMessage
from graphtide.frontier.pair_query import PrunedQuery, SearchedQuery
from graphtide.frontier.pairs import Pairs
from graphtide.frontier.program import Program
from graphtide.frontier.query import KeptQuery, ProgramQuery, Running, ScratchQuery, SumQuery, VanillaQuery
from graphtide.frontier.report import SharedPart
from graphtide.frontier.sharing import SharingSteps
from graphtide.frontier.steps import Begin, Steps
from graphtide.frontier.sum_program import CompiledSum, SumProgram
from graphtide.frontier.sums import SumMemory, Sums
from graphtide.frontier.thin_steps import ThinSteps
from graphtide.frontier.turnover import Turnover
from graphtide.frontier.whole_sums import WholeSums
from graphtide.functions import doubted
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.landmarks import Landmarks
    from graphtide.frontier.live import LiveGraph

__all__ = ["Admitted", "EdgeGround", "Ground"]

# A weight and the type of states: what programs that are taken together have in common.
_Kind = tuple[str | None, np.dtype[Any]]


class Admitted(NamedTuple):
    """A program that can be kept: its message compiled, its initial states by number."""

    program: Program | SumProgram
    message: CompiledMessage
    begin: Begin


class Ground(ABC):
    """What programs on one graph share: its edges, scratch memory by weight, dataflows by weight."""

    def __init__(self, adjacency: Adjacency) -> None:
        self.adjacency = adjacency
        self.turnover = Turnover()  # of the last batch, by number
        self._families: dict[_Kind, Family] = {}
        self._flows = Dataflows(self)
        self._recomputed: list[ScratchQuery] = []
        self._summed: list[SumQuery] = []
        self._sum_memory: dict[np.dtype[Any], SumMemory] = {}
        self._pairs: dict[str | None, Pairs] = {}  # by weight; only edges have some
        self._kept = 0
        self._house = Housekeeping(self)

    # -- what kind of graph it is

    @property
    @abstractmethod
    def labels(self) -> Codes:
        """By number: the state with which a program begins that has no initial states."""

    @abstractmethod
    def weights(self, weight: str | None) -> NDArray[Any]:
        """A weight by slot; of none, an empty array."""

    @abstractmethod
    def column(self, weight: str | None) -> int:
        """The place of a weight among the columns of an edge, or -1."""

    @abstractmethod
    def as_numbers(self, weight: str, bits: Codes) -> NDArray[Any]:
        """The weights behind what stands in their column."""

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
    def numbers(self) -> Codes:
        """All numbers that programs begin at which begin everywhere."""

    @abstractmethod
    def vertices_of(self, numbers: Codes) -> Codes:
        """The vertices of the live graph that numbers stand for."""

    # -- programs

    def keep(
        self, admitted: Admitted, maintain: Maintenance, *, live: LiveGraph, edges: Edges, name: str
    ) -> ProgramQuery:
        """Compute the first answer of a program, and keep it as the policy says."""
        doubted()  # whatever was tried before is forgotten
        query = self._first_answer(admitted, maintain, live=live, edges=edges, name=name)
        self._kept += 1
        if admitted.message.may_fail and doubted():
            self.forget(query)
            raise first_failure(name)
        return query

    def _first_answer(
        self, admitted: Admitted, maintain: Maintenance, *, live: LiveGraph, edges: Edges, name: str
    ) -> ProgramQuery:
        program, message, begin = admitted
        dropping = maintain if isinstance(maintain, DeterministicDrop | ProbabilisticDrop) else None
        family = self._family(program.weight, message.dtype)
        if isinstance(maintain, Budget):
            steps: Steps = self._sharing(admitted, maintain, family)
        elif isinstance(program, SumProgram):
            assert isinstance(message, CompiledSum)
            steps = Sums(program, message, dropping)
        else:
            steps = Steps(program, message, dropping)
        steps.begin = begin
        running = Running(self, steps, maintain)
        query: ProgramQuery
        if isinstance(maintain, Vanilla):
            query = VanillaQuery(live, edges, name, running, self._flows.keep(name, steps))
        elif isinstance(maintain, Scratch):
            answer = self.compute(steps, begin, kept=False)
            query = ScratchQuery(live, edges, name, running, answer)
            self._recomputed.append(query)
        elif isinstance(steps, Sums):
            self.compute(steps, begin)
            self._memory_of(steps)
            query = SumQuery(live, edges, name, running, steps)
            self._summed.append(query)
        else:
            self.compute(steps, begin)
            self._join(family, steps)
            query = KeptQuery(live, edges, name, running, family)
        return query

    def _sharing(self, admitted: Admitted, budget: Budget, family: Family, *, unknown: int = 0) -> SharingSteps:
        """What is kept of a program within a budget."""
        if isinstance(admitted.program, SumProgram):
            return WholeSums(admitted, budget, self._house, unknown=unknown)
        return ThinSteps(admitted, budget, self._house, family, unknown=unknown)

    def _family(self, weight: str | None, dtype: np.dtype[Any]) -> Family:
        """The queries that one on this weight is kept with."""
        return self._families.get((weight, dtype)) or Family(dtype, self.adjacency.table, self.column(weight))

    def _join(self, family: Family, steps: Steps) -> None:
        """Let a query be kept with its family, which may be new."""
        self._families[steps.program.weight, steps.dtype] = family
        family.add(steps)
        family.make_room(self.adjacency.vertices)

    def check_room(self, admitted: Admitted, budget: Budget, unknown: int) -> None:
        """Raise if a program has no room in a budget, whose initial states are of so many more vertices yet to come.

        A vertex that no edge was seen at changes nothing of what the others need.
        """
        family = self._family(admitted.program.weight, admitted.message.dtype)
        self.compute(self._sharing(admitted, budget, family, unknown=unknown), admitted.begin)

    def prepare(self) -> None:
        """A batch is about to change the edges."""
        if self._house.held:
            self._house.begin()

    def forget(self, query: ProgramQuery) -> None:
        """Take a query out, and what only it needed."""
        self._kept -= 1
        if isinstance(query.steps, SharingSteps):
            query.steps.release()
        if isinstance(query, KeptQuery):
            query.family.drop(query.steps)
            self._families = {at: family for at, family in self._families.items() if family.queries}
        elif isinstance(query, VanillaQuery):
            self._flows.leave(query.kept)
        elif isinstance(query, ScratchQuery):
            self._recomputed.remove(query)
        elif isinstance(query, SumQuery):
            self._summed.remove(query)
            dtypes = {each.steps.dtype for each in self._summed}
            self._sum_memory = {dtype: memory for dtype, memory in self._sum_memory.items() if dtype in dtypes}

    @property
    def is_bare(self) -> bool:
        """Whether no program is kept on it."""
        return self._kept == 0

    @property
    def shared(self) -> list[SharedPart]:
        """What its programs share besides the edges: scratch memory, and the dataflows' indexes."""
        families = [
            SharedPart(f"scratch memory{_of(weight)}", family.nbytes) for (weight, _), family in self._families.items()
        ]
        families += [SharedPart("scratch memory of sums", memory.nbytes) for memory in self._sum_memory.values()]
        return families + [SharedPart(f"dataflow{_of(weight)}", size) for weight, size in self._flows.nbytes]

    def compute(self, steps: Steps, begin: Begin, *, kept: bool = True) -> NDArray[Any]:
        """Run a program from its beginning; its last states."""
        lists, weights = self.adjacency.lists, self.weights(steps.program.weight).view(steps.dtype)
        return steps.compute(lists, weights, self.labels, self.adjacency.vertices, begin, kept=kept)

    @property
    def known(self) -> int:
        """So many numbers were there before the last batch."""
        return self.turnover.known

    def follow(self, turnover: Turnover) -> Failures | None:
        """Bring all programs up to date with the last batch of the edges, and with who came and went with it.

        Gives those that are left without an answer, if any.
        """
        self.turnover = turnover
        vertices = self.adjacency.vertices
        failures: Failures | None = None
        for family in self._families.values():
            if family.vertices != vertices:
                family.see(vertices, self.labels)
            family.follow()
            if family.failures is not None:
                failures = Failures() if failures is None else failures
                failures.add(family.failures)
        if self._summed or self._flows or self._recomputed or self._house.held:
            failures = Failures() if failures is None else failures
            self._follow_others(self.adjacency.delta, failures)
        if failures is not None:
            # A batch also looks at what states would have sent that are no more: the graph as it is decides.
            for steps in failures.suspects:
                self.try_to_compute(steps, failures, kept=False)
        # Pairs come last: landmarks tell of the graph as it is.
        for weight, pairs in self._pairs.items():
            pairs.follow(self._families.get((weight, pairs.dtype)), self.adjacency.delta)
        return failures

    def _follow_others(self, delta: Delta, failures: Failures) -> None:
        """The same for programs that are in no family; and the turn of those within budgets."""
        doubted()  # whatever was tried before is forgotten
        for query in self._summed:
            if query.sums.is_aside:
                continue
            self._follow_sums(query.sums, delta)
            if doubted():
                failures.suspects.append(query.steps)
        self._flows.follow(delta, failures)
        for query in self._recomputed:
            states = self.try_to_compute(query.steps, failures, kept=False)
            if states is not None:
                query.set_answer(states)
        if self._house.held:
            self._house.end(failures)

    def try_to_compute(self, steps: Steps, failures: Failures, *, kept: bool = True) -> NDArray[Any] | None:
        """As `compute`; None if the program has no answer any more, and then it is among the failures."""
        doubted()  # whatever was tried before is forgotten
        states: NDArray[Any] | None = None
        try:
            states = self.compute(steps, steps.begin, kept=kept)
        except NotConvergedError:
            failures.unsettled.append(steps)
        if doubted():
            failures.failed.append(steps)
            return None
        return states

    # -- programs that sum

    def _memory_of(self, sums: Sums) -> SumMemory:
        """The scratch memory for states of a type, with places for these."""
        memory = self._sum_memory.setdefault(sums.dtype, SumMemory(sums.dtype))
        memory.make_room(self.adjacency.vertices, int(sums.row[fields.LAST_ROUND]), drops=sums.dropping is not None)
        return memory

    def _follow_sums(self, sums: Sums, delta: Delta) -> None:
        weight = sums.program.weight
        ends = delta.seen_in(self.column(weight))
        weights = self.weights(weight).view(sums.dtype)
        new = range(self.known, self.adjacency.vertices)
        edges = self.adjacency.edges
        sums.follow(self._memory_of(sums), self.adjacency.lists, weights, ends, new, edges=edges)


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

    def column(self, weight: str | None) -> int:
        """That of a property."""
        return -1 if weight is None else self._edges.column(weight)

    def as_numbers(self, weight: str, bits: Codes) -> NDArray[Any]:
        """By the type of the property."""
        return self._edges.as_numbers(weight, bits)

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

    def numbers(self) -> Codes:
        """All vertices that are there."""
        return np.flatnonzero(self._edges.are_there())

    # -- single pairs

    @property
    def shared(self) -> list[SharedPart]:
        """Also the memory of searches."""
        searches = [SharedPart(f"searches{_of(weight)}", pairs.nbytes) for weight, pairs in self._pairs.items()]
        return super().shared + searches

    def pairs_on(self, weight: str | None) -> Pairs:
        """What queries for single pairs on a weight share; it is there until nothing needs it."""
        if weight not in self._pairs:
            self._pairs[weight] = Pairs(self._edges, weight)
        return self._pairs[weight]

    def landmarks_on(self, weight: str | None) -> Landmarks | None:
        """The index of a weight."""
        return self._pairs[weight].landmarks if weight in self._pairs else None

    def prunes(self, weight: str | None, maintain: Maintenance) -> bool:
        """Whether a query for a pair is kept by `keep_pair`, rather than as one for all distances."""
        if isinstance(maintain, Vanilla | Budget):
            return False
        return isinstance(maintain, Scratch) or self.landmarks_on(weight) is not None

    def keep_pair(
        self, admitted: Admitted, maintain: Maintenance, ends: tuple[int, int], *, live: LiveGraph, name: str
    ) -> ProgramQuery:
        """Keep the distance of a pair alone: found anew after every batch, or within a region."""
        program, message, begin = admitted
        assert isinstance(program, Program)
        steps = Steps(
            program, message, maintain if isinstance(maintain, DeterministicDrop | ProbabilisticDrop) else None
        )
        steps.begin = begin
        pairs, running = self.pairs_on(program.weight), Running(self, steps, maintain)
        query: ProgramQuery
        if isinstance(maintain, Scratch):
            query = pairs.search_for(live, name, running, ends)
        else:
            pairs.enclose(steps, *ends)
            family = self._family(program.weight, steps.dtype)
            self._join(family, steps)
            query = pairs.keep(live, name, running, family, ends)
        self._kept += 1
        return query

    def keep_all(
        self, programs: Iterable[Admitted], maintain: Maintenance, *, live: LiveGraph, name: str
    ) -> list[ProgramQuery]:
        """Keep programs that come and go together; none of them if one cannot be."""
        kept: list[ProgramQuery] = []
        try:
            for k, admitted in enumerate(programs):
                kept.append(self.keep(admitted, maintain, live=live, edges=self._edges, name=f"{name} {k}"))
        except GraphtideError:
            for query in kept:
                self.forget(query)
            raise
        return kept

    def forget(self, query: ProgramQuery) -> None:
        """Also from among the pairs."""
        super().forget(query)
        if isinstance(query, PrunedQuery | SearchedQuery):
            query.leave()
            self._drop_idle_pairs()

    def forget_landmarks(self, index: Landmarks) -> None:
        """Take an index out; queries for pairs do without it."""
        index.pairs.stand_by(None)
        for part in index.parts:
            self.forget(part)
        self._drop_idle_pairs()

    def _drop_idle_pairs(self) -> None:
        self._pairs = {weight: pairs for weight, pairs in self._pairs.items() if not pairs.is_idle}


def _of(weight: str | None) -> str:
    return "" if weight is None else f" of {weight}"
