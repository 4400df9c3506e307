"""A registered query: its answer, what the last batch changed of it, and what it keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import UsageError
from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.paths import walk_back
from graphtide.frontier.steps import Steps, no_state

if TYPE_CHECKING:
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.family import Family, StateChanges
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.path_graph import PathGraph
    from graphtide.frontier.program import Program
    from graphtide.frontier.ranks import Ranks
    from graphtide.frontier.vanilla import VanillaProgram

__all__ = ["KeptQuery", "PathQuery", "ProgramQuery", "Query", "RankQuery", "ScratchQuery", "VanillaQuery"]

_NO_CHANGES = np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)


class Query(ABC):
    """An answer that stays true while the graph changes."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, column: str) -> None:
        self._live: LiveGraph | None = live
        self._edges = edges
        self.name = name
        self.column = column  # of the answer, with a vertex's state
        self._target: int | None = None

    def __repr__(self) -> str:
        state = "dropped" if self._live is None else f"{self.differences:,} differences, {self.nbytes:,} bytes"
        return f"<Query {self.name}: {state}>"

    def result(self) -> pa.Table:
        """The vertices that have a state, and their states."""
        self._check_alive()
        states = self._states()
        reached = np.flatnonzero(states != no_state(states.dtype))
        if self._target is not None:
            reached = reached[reached == self._target]
        return self._table(reached, states[reached])

    def changes(self) -> pa.Table:
        """What the last batch changed: states that went (diff -1) and states that came (diff 1)."""
        self._check_alive()
        changed, before, after = self._state_changes()
        nothing = no_state(before.dtype)
        if self._target is not None:
            mine = changed == self._target
            changed, before, after = changed[mine], before[mine], after[mine]
        had, has = before != nothing, after != nothing
        vertices = np.concatenate([changed[had], changed[has]]).astype(np.int64)
        table = self._table(vertices, np.concatenate([before[had], after[has]]))
        diffs = np.repeat(np.array([-1, 1]), [had.sum(), has.sum()])
        return table.append_column("diff", pa.array(diffs))

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a path behind the state of a vertex, from where it sets out; empty if there is none."""
        asked = "" if to is None else f" to {to!r}"
        raise UsageError(f'query "{self.name}" keeps no path{asked}', hint="queries for shortest paths and the like do")

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

    @abstractmethod
    def _states(self) -> NDArray[Any]:
        """The state that each vertex ends with, by number."""

    @abstractmethod
    def _state_changes(self) -> StateChanges:
        """The vertices whose state the last batch changed, with it before and after."""

    def _values(self, states: NDArray[Any]) -> pa.Array:
        """States as users know them."""
        return pa.array(states)

    def _check_alive(self) -> None:
        if self._live is None:
            raise UsageError(f'query "{self.name}" was dropped', hint="register it again")

    def _table(self, vertices: NDArray[np.int64], states: NDArray[Any]) -> pa.Table:
        return pa.table({"vertex": self._edges.ids_of(vertices), self.column: self._values(states)})


class ProgramQuery(Query):
    """A query by a program of the user's."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, steps: Steps) -> None:
        super().__init__(live, edges, name, steps.program.state)
        self.steps = steps

    @property
    def program(self) -> Program:
        """What is computed."""
        return self.steps.program

    def _values(self, states: NDArray[Any]) -> pa.Array:
        if self.program.initial is None:
            return self._edges.ids_of_labels(states)
        return pa.array(states * self.program.sign)


class KeptQuery(ProgramQuery):
    """A query whose differences are kept."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, steps: Steps, family: Family) -> None:
        super().__init__(live, edges, name, steps)
        self.family = family

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
        """Differences that were dropped, at first and in all batches."""
        return int(self.steps.row[fields.DROPPED])

    @property
    def recomputed(self) -> int:
        """How often a difference was computed again because it was dropped, or may have been."""
        return int(self.steps.row[fields.RECOMPUTED])

    @property
    def spurious(self) -> int:
        """How often there had been none."""
        return int(self.steps.row[fields.SPURIOUS])

    def path(self, to: Any = None) -> list[Any]:
        """The vertices of a path behind the state of a vertex, from where it sets out; empty if there is none.

        A query that drops differences computes all of them again for it.
        """
        self._check_alive()
        if to is None and self._target is None:
            raise UsageError("a path needs an end", hint=f"for example: path(to={self._example()!r})")
        vertex = self._target if to is None else self._edges.known(to)
        if vertex is None:
            return []
        steps, program = self.steps, self.program
        if steps.dropping is not None and self._live is not None:
            steps = self._live.all_steps(program)
        walk = walk_back(
            steps.head,
            steps.states,
            steps.rounds,
            program.kind,
            program.sides,
            program.initial is None,
            self._edges.labels,
            *self._edges.adjacency.lists,
            self._edges.slot_weights(program.weight),
            vertex,
        )
        return self._edges.ids_of(walk[::-1]).to_pylist()

    def _example(self) -> Any:
        return self._edges.ids_of(np.arange(1)).to_pylist()[0]

    def _states(self) -> NDArray[Any]:
        return self.steps.last_states(self._edges.labels, self._edges.adjacency.vertices)

    def _state_changes(self) -> StateChanges:
        return self.family.changes_of(self.steps) or _NO_CHANGES


class ScratchQuery(ProgramQuery):
    """A query that keeps its answer alone."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, steps: Steps, answer: NDArray[Any]) -> None:
        super().__init__(live, edges, name, steps)
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
        if self.program.initial is None:
            before[:] = self._edges.labels[: len(states)]
        before[: len(self._answer)] = self._answer
        changed = np.flatnonzero(before != states)
        self._changes = changed.astype(np.int32), before[changed], states[changed]
        self._answer = states

    def _states(self) -> NDArray[Any]:
        return self._answer

    def _state_changes(self) -> StateChanges:
        return self._changes


class VanillaQuery(ProgramQuery):
    """A query as a branch of a dataflow."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, steps: Steps, kept: VanillaProgram) -> None:
        super().__init__(live, edges, name, steps)
        self.kept = kept

    @property
    def differences(self) -> int:
        """Of Join and of the aggregate."""
        return self.kept.footprint[0]

    @property
    def nbytes(self) -> int:
        """Bytes of these; queries on one weight share an index of the edges."""
        return self.kept.footprint[1]

    def _states(self) -> NDArray[Any]:
        return self.kept.last_states(self._edges.adjacency.vertices)

    def _state_changes(self) -> StateChanges:
        return self.kept.changes()


class PathQuery(Query):
    """A query for the ends of paths whose labels fit a pattern, and the least number of edges that it takes."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, steps: Steps, graph: PathGraph) -> None:
        super().__init__(live, edges, name, "length")
        self.steps = steps
        self.graph = graph

    @property
    def differences(self) -> int:
        """How many steps are kept, of pairs of a vertex and a state."""
        return self.steps.differences

    @property
    def nbytes(self) -> int:
        """Bytes of its steps; queries with one pattern share its graph."""
        return self.steps.nbytes

    def _of_pairs(self) -> NDArray[np.int64]:
        return self.steps.last_states(self.graph.begins, self.graph.adjacency.vertices)

    def _states(self) -> NDArray[np.int64]:
        return self.graph.shortest(self._of_pairs())

    def _state_changes(self) -> StateChanges:
        changes = self.graph.family.changes_of(self.steps)
        if changes is None:
            return _NO_CHANGES
        pairs, before, _ = changes
        after = self._of_pairs()
        earlier = after.copy()
        earlier[pairs] = before
        vertices = np.unique(pairs // self.graph.automaton.states)
        was, now = self.graph.shortest(earlier)[vertices], self.graph.shortest(after)[vertices]
        differing = was != now
        return vertices[differing].astype(np.int32), was[differing], now[differing]


class RankQuery(Query):
    """PageRank."""

    def __init__(self, live: LiveGraph, edges: Edges, name: str, ranks: Ranks) -> None:
        super().__init__(live, edges, name, "rank")
        self.ranks = ranks

    @property
    def differences(self) -> int:
        """The ranks of all rounds."""
        return self.ranks.differences

    @property
    def nbytes(self) -> int:
        """Bytes of these."""
        return self.ranks.nbytes

    def _states(self) -> NDArray[Any]:
        return self.ranks.last()

    def _state_changes(self) -> StateChanges:
        return self.ranks.changes
