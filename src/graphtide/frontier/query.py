"""A registered query: its answer, what the last batch changed of it, and what it keeps."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.paths import walk_back
from graphtide.frontier.maintenance import Maintenance
from graphtide.frontier.program import Program
from graphtide.frontier.report import QueryReport
from graphtide.frontier.steps import Steps, no_state
from graphtide.frontier.turnover import Turnover
from graphtide.rows.codes import Codes
from graphtide.rows.tabular import Tabular, html_table

if TYPE_CHECKING:
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.family import Family, StateChanges
    from graphtide.frontier.ground import Ground
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.sum_program import SumProgram
    from graphtide.frontier.sums import Sums
    from graphtide.frontier.vanilla import VanillaProgram

__all__ = ["KeptQuery", "ProgramQuery", "Query", "Running", "ScratchQuery", "SumQuery", "VanillaQuery"]

_NO_CHANGES = np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)


class Query(Tabular):
    """An answer that stays true while the graph changes."""

    kind = "program"  # what the user asked for
    maintain: Maintenance

    def __init__(self, live: LiveGraph, edges: Edges, name: str, column: str) -> None:
        self._live: LiveGraph | None = live
        self._edges = edges
        self.name = name
        self.column = column  # of the answer, with a vertex's state
        self._target: int | None = None
        self._since = live.batches  # those before did nothing to it

    def __repr__(self) -> str:
        return f"<Query {self.name}: {'dropped' if self._live is None else self.report}>"

    @property
    def report(self) -> QueryReport:
        """What it keeps, what it dropped, and how often it computed that again."""
        self._check_alive()
        return QueryReport(
            name=self.name,
            kind=self.kind,
            policy=self.maintain,
            differences=self.differences,
            bytes=self.nbytes,
            dropped=self.dropped,
            recomputed=self.recomputed,
            spurious=self.spurious,
            product=self._product_bytes,
        )

    def result(self) -> pa.Table:
        """The vertices that have a state, and their states."""
        self._check_alive()
        states = self._states()
        reached = np.flatnonzero(self._has_state(states) & self._edges.are_there())
        if self._target is not None:
            reached = reached[reached == self._target]
        return self._table(reached, states[reached])

    def changes(self) -> pa.Table:
        """What the last batch changed: states that went (diff -1) and states that came (diff 1)."""
        self._check_alive()
        changed, before, after = self._state_changes()
        came, went = self._turnover()
        # Their states may be those of before: what they are reported to have had, or to have, is nobody's.
        others = np.setdiff1d(np.concatenate([came, went]), changed)
        if len(others):
            states = self._states()[others]
            changed = np.concatenate([changed, others])
            before, after = np.concatenate([before, states]), np.concatenate([after, states])
        if self._target is not None:
            mine = changed == self._target
            changed, before, after = changed[mine], before[mine], after[mine]
        had = self._has_state(before) & ~np.isin(changed, came)
        has = self._has_state(after) & ~np.isin(changed, went)
        vertices = np.concatenate([changed[had], changed[has]]).astype(np.int64)
        table = self._table(vertices, np.concatenate([before[had], after[has]]))
        diffs = np.repeat(np.array([-1, 1]), [had.sum(), has.sum()])
        return table.append_column("diff", pa.array(diffs))

    def _turnover(self) -> tuple[Codes, Codes]:
        """The vertices that the last batch brought and took away, if the query was there."""
        assert self._live is not None, "it was looked at"
        _, came, went = self._edges.turnover if self._live.batches > self._since else Turnover()
        return came, went

    def ends(self) -> Codes:
        """The vertices that it begins at, or ends at: these must be there."""
        return np.array([] if self._target is None else [self._target], np.int64)

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a path behind the state of a vertex, from where it sets out; empty if there is none."""
        asked = "" if to is None else f" to {to!r}"
        raise UsageError(f'query "{self.name}" keeps no path{asked}', hint="queries for shortest paths and the like do")

    def to_networkx(self) -> Any:
        """The live graph as a NetworkX MultiDiGraph, in which vertices that have a state have it as an attribute."""
        self._check_alive()
        assert self._live is not None, "a query that is there has its graph"
        graph = self._live.to_networkx()
        table = self.result()
        states = zip(table["vertex"].to_pylist(), table[self.column].to_pylist(), strict=True)
        graph.add_nodes_from((vertex, {self.column: state}) for vertex, state in states)
        return graph

    def _repr_html_(self) -> str:
        return html_table(self.result(), f"{self.name}: {self.report}")

    def _as_table(self) -> pa.Table:
        return self.result()

    def drop(self) -> None:
        """Keep it no longer; what it held is freed."""
        self._check_alive()
        if self._live is not None:
            self._live.forget(self)
        self._live = None

    def aim_at(self, vertex: int) -> None:
        """Answer for one vertex alone."""
        self._target = vertex

    @property
    @abstractmethod
    def differences(self) -> int:
        """How many differences the query keeps."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the query keeps."""

    @property
    def dropped(self) -> int:
        """Differences that were dropped, at first and in all batches."""
        return 0

    @property
    def recomputed(self) -> int:
        """How often a difference was computed again because it was dropped, or may have been."""
        return 0

    @property
    def spurious(self) -> int:
        """How often there had been none."""
        return 0

    @property
    def _product_bytes(self) -> int:
        return 0

    @abstractmethod
    def _states(self) -> NDArray[Any]:
        """The state that each vertex ends with, by number."""

    @abstractmethod
    def _state_changes(self) -> StateChanges:
        """The vertices whose state the last batch changed, with it before and after."""

    def _has_state(self, states: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether what is kept of vertices is a state, and does not stand for none."""
        return states != no_state(states.dtype)

    def _values(self, states: NDArray[Any]) -> pa.Array:
        """States as users know them."""
        return pa.array(states)

    def _check_alive(self) -> None:
        if self._live is None:
            raise UsageError(f'query "{self.name}" was dropped', hint="register it again")

    def _table(self, vertices: NDArray[np.int64], states: NDArray[Any]) -> pa.Table:
        return pa.table({"vertex": self._edges.ids_of(vertices), self.column: self._values(states)})


class Running(NamedTuple):
    """A program at work."""

    ground: Ground
    steps: Steps
    maintain: Maintenance


class ProgramQuery(Query):
    """A query by a program, which runs on a ground: the edges, or their product with a pattern."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, running: Running) -> None:
        super().__init__(live, edges, name, running.steps.program.state)
        self.ground, self.steps, self.maintain = running

    @property
    def program(self) -> Program | SumProgram:
        """What is computed."""
        return self.steps.program

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a path behind the state of a vertex, from where it sets out; empty if there is none.

        A query that does not keep all differences computes them again for it.
        """
        self._check_alive()
        if not isinstance(self.program, Program):
            return super().path(to)
        if to is None and self._target is None:
            raise UsageError("a path needs an end", hint=f"for example: path(to={self._example()!r})")
        vertex = self._target if to is None else self._edges.known(to)
        if vertex is None:
            return []
        ground, program, steps = self.ground, self.program, self._all_steps(self.program)
        end = ground.end_at(vertex, steps)
        if end is None:
            return []
        walk = walk_back(
            steps.head,
            steps.states,
            steps.rounds,
            steps.message.kind,
            program.sides,
            program.begins_with_ids,
            ground.labels,
            *ground.adjacency.lists,
            ground.weights(program.weight).view(steps.dtype),
            end,
        )
        return self._edges.ids_of(ground.vertices_of(walk[::-1])).to_pylist()

    def ends(self) -> Codes:
        """Also where its program begins."""
        return np.concatenate([super().ends(), self.ground.vertices_of(self.steps.begin[0].astype(np.int64))])

    @abstractmethod
    def states_by_number(self) -> NDArray[Any]:
        """The state that each number of the ground ends with."""

    @abstractmethod
    def changes_by_number(self) -> StateChanges:
        """The numbers of the ground whose state the last batch changed, with it before and after."""

    @property
    def _product_bytes(self) -> int:
        return self.ground.product_bytes

    def _all_steps(self, program: Program) -> Steps:
        """Every difference, computed anew unless they are kept."""
        steps = Steps(program, self.steps.message)
        self.ground.compute(steps, self.steps.begin)
        return steps

    def _example(self) -> Any:
        return self._edges.ids_of(np.flatnonzero(self._edges.are_there())[:1]).to_pylist()[0]

    def _states(self) -> NDArray[Any]:
        return self.ground.by_vertex(self.states_by_number())

    def _state_changes(self) -> StateChanges:
        return self.ground.changes_by_vertex(self.changes_by_number(), self)

    def _has_state(self, states: NDArray[Any]) -> NDArray[np.bool_]:
        """Every vertex has a sum, and any number may be one."""
        if isinstance(self.program, Program):
            return super()._has_state(states)
        return np.ones(len(states), np.bool_)

    def _values(self, states: NDArray[Any]) -> pa.Array:
        if self.program.begins_with_ids and self.program.message == "copy":
            return self._edges.ids_of_labels(states)
        return pa.array(states * self.program.sign)


class StepsQuery(ProgramQuery):
    """A query whose differences are kept, all or some of them."""

    @property
    def differences(self) -> int:
        """How many steps are kept."""
        return self.steps.differences

    @property
    def nbytes(self) -> int:
        """Bytes of its steps; scratch memory is shared."""
        return self.steps.nbytes

    @property
    def dropped(self) -> int:
        """Those that the policy chose."""
        return int(self.steps.row[fields.DROPPED])

    @property
    def recomputed(self) -> int:
        """As the kernels counted."""
        return int(self.steps.row[fields.RECOMPUTED])

    @property
    def spurious(self) -> int:
        """As the kernels counted."""
        return int(self.steps.row[fields.SPURIOUS])

    def states_by_number(self) -> NDArray[Any]:
        """By the last step of each."""
        return self.steps.last_states(self.ground.labels, self.ground.adjacency.vertices)


class KeptQuery(StepsQuery):
    """A query by a selective program."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, running: Running, family: Family) -> None:
        super().__init__(live, edges, name, running)
        self.family = family

    def changes_by_number(self) -> StateChanges:
        """What the kernel reported."""
        changes = self.family.changes_of(self.steps)
        if changes is None:
            return _NO_CHANGES
        return changes if self.steps.changes is None else self.steps.changes

    def _all_steps(self, program: Program) -> Steps:
        return self.steps if self.steps.dropping is None else super()._all_steps(program)


class SumQuery(StepsQuery):
    """A query by a program that sums."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, running: Running, sums: Sums) -> None:
        super().__init__(live, edges, name, running)
        self.sums = sums

    def changes_by_number(self) -> StateChanges:
        """What the kernel reported."""
        return self.sums.changes or _NO_CHANGES


class ScratchQuery(ProgramQuery):
    """A query that keeps its answer alone."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, running: Running, answer: NDArray[Any]) -> None:
        super().__init__(live, edges, name, running)
        self._answer = answer
        self._changes: StateChanges = _NO_CHANGES

    @property
    def differences(self) -> int:
        """None but the answer."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of the answer."""
        return self._answer.nbytes

    def set_answer(self, states: NDArray[Any]) -> None:
        """Take an answer computed anew; what differs from the one before is the batch's change."""
        before = np.full(len(states), no_state(self.steps.dtype), self.steps.dtype)
        before[: len(self._answer)] = self._answer
        is_changed = before != states
        is_changed[len(self._answer) :] = True
        changed = np.flatnonzero(is_changed)
        self._changes = changed.astype(np.int32), before[changed], states[changed]
        self._answer = states

    def states_by_number(self) -> NDArray[Any]:
        """As they were computed."""
        return self._answer

    def changes_by_number(self) -> StateChanges:
        """What differs from the answer before."""
        return self._changes


class VanillaQuery(ProgramQuery):
    """A query as a branch of a dataflow."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, running: Running, kept: VanillaProgram) -> None:
        super().__init__(live, edges, name, running)
        self.kept = kept

    @property
    def differences(self) -> int:
        """Of Join and of the aggregate."""
        return self.kept.footprint[0]

    @property
    def nbytes(self) -> int:
        """Bytes of these; queries on one weight share an index of the edges."""
        return self.kept.footprint[1]

    def states_by_number(self) -> NDArray[Any]:
        """What the branch puts out."""
        return self.kept.last_states(self.ground.adjacency.vertices)

    def changes_by_number(self) -> StateChanges:
        """What the last batch changed of that."""
        return self.kept.changes()
