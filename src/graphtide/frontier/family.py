"""Queries that the kernel takes together: those with the same weights, states and width of rounds.

They share the scratch memory of a batch, and one call brings all of them up to date.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.certify import uncertain
from graphtide.frontier.kernels.maintain import maintain
from graphtide.frontier.kernels.shapes import CALL_FIELDS, Changes, fill_table
from graphtide.frontier.steps import LONG, NARROW, SHORT, WIDE, Steps, no_state
from graphtide.frontier.thin_steps import ThinSteps

__all__ = ["EdgeChanges", "Family", "StateChanges"]

_FEWEST = 256
# States that are remembered when they had to be computed again; a power of two.
_MEMO = 1 << 17

StateChanges = tuple[NDArray[np.int32], NDArray[Any], NDArray[Any]]


class EdgeChanges(NamedTuple):
    """What a batch does to the edges, as a family of queries sees it."""

    lost: NDArray[np.int64]  # rows (source, target)
    lost_weights: NDArray[Any]
    gained: NDArray[np.int64]  # rows (source, target, slot at the source, slot at the target)
    column: int  # of the edges that has the weights, or -1


class Family:
    """The queries on one weight, or on none, and the scratch memory that they share."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.queries: list[Steps] = []
        self._table = np.zeros((4, fields.QUERY_FIELDS), np.int64)
        self._like_rounds = np.empty(0, NARROW)
        self._like_states = np.empty(0, SHORT if dtype == LONG else dtype)
        self._due = np.full(_FEWEST, -1, np.int32)
        self._calls = np.zeros((_FEWEST, CALL_FIELDS), np.int32)
        self._steps = _by_round(_FEWEST, dtype)
        self._memo = (np.zeros(2, np.int64), np.zeros(1, dtype))
        self._by_vertex = _by_vertex(0, dtype)
        self._changes = _changes(_FEWEST, 0, dtype)
        self._control = np.zeros(fields.CONTROL_FIELDS, np.int64)
        self._arrays: NDArray[np.int64] | None = None  # the table of scratch memory and changes
        self._nothing = no_state(dtype)
        self._no_weights = np.empty(0, dtype)
        self._vertices = 0
        self._order: dict[Steps, int] = {}
        self._reported = self._order  # as it was at the last batch
        self.unsettled: list[Steps] = []  # queries that the last batch left without an answer

    def add(self, steps: Steps) -> None:
        """Let a query be kept with these."""
        if len(self.queries) == len(self._table):
            table = np.zeros((2 * len(self._table), fields.QUERY_FIELDS), np.int64)
            for query, row in zip(self.queries, table, strict=False):
                query.settle_in(row)
            self._table = table
        steps.settle_in(self._table[len(self.queries)])
        self.queries.append(steps)
        self.settle_width(steps)
        self._count()

    @property
    def rounds_type(self) -> np.dtype[Any]:
        """Of all queries' rounds."""
        return self._like_rounds.dtype

    @property
    def states_type(self) -> np.dtype[Any]:
        """In which all queries' states are kept."""
        return self._like_states.dtype

    def settle_width(self, steps: Steps) -> None:
        """Let all have rounds as wide and states as long as the widest and longest, which these may be."""
        if steps.rounds.dtype != self.rounds_type:
            self._widen()
        if steps.states.dtype != self.states_type:
            self._lengthen()

    def bytes_to_widen(self, steps: ThinSteps) -> int:
        """Bytes that others of the same budget will take more if all become as wide as these."""
        if (steps.rounds.dtype, steps.states.dtype) == (self.rounds_type, self.states_type):
            return 0
        others = (query for query in self.queries if isinstance(query, ThinSteps) and query is not steps)
        like = steps.rounds.dtype, steps.states.dtype
        return sum(query.bytes_to_become(*like) for query in others if query.budget is steps.budget)

    def drop(self, steps: Steps) -> None:
        """Forget a query; the last one takes its row."""
        at = self.queries.index(steps)
        last = self.queries.pop()
        if last is not steps:
            self.queries[at] = last
            last.settle_in(self._table[at])
        self._count()

    def _count(self) -> None:
        """Queries were added or dropped; what the last batch changed is kept."""
        self._order = {query: at for at, query in enumerate(self.queries)}
        if len(self._memo[1]) < _MEMO and any(query.dropping is not None for query in self.queries):
            self._memo = (np.full(2 * _MEMO, 0), np.full(_MEMO, 0, self.dtype))
        self._vertices = 0
        if len(self._changes.ends) < len(self.queries):
            ends = np.zeros(2 * len(self.queries), np.int64)
            ends[: len(self._changes.ends)] = self._changes.ends
            self._changes = self._changes._replace(ends=ends)
        self._arrays = None

    def make_room(self, vertices: int) -> None:
        """Have scratch memory and places for so many vertices."""
        if vertices > len(self._by_vertex[0]):
            self._by_vertex = _by_vertex(vertices + vertices // 2, self.dtype)
            self._arrays = None
        for query in self.queries:
            query.add_vertices(vertices)

    def apply(
        self, adjacent: NDArray[np.int64], labels: NDArray[np.int64], vertices: int, changes: EdgeChanges
    ) -> None:
        """Bring all queries up to date; `adjacent` is the table of the edges."""
        if vertices != self._vertices:
            self.make_room(vertices)
            self._vertices = vertices
        if self._arrays is None:
            self._arrays = self._tabulated()
        control = self._control
        control[: fields.ROUND] = 0
        control[fields.OUT] = 0
        self.unsettled.clear()
        while True:
            code = maintain(
                self._table,
                len(self.queries),
                control,
                adjacent,
                changes.column,
                changes.lost,
                changes.lost_weights,
                changes.gained,
                self._arrays,
                labels,
                self._like_rounds,
                self._like_states,
                self._nothing,
                vertices + 1,
            )
            if code == fields.DONE:
                break
            self._provide(int(code), control)
            self._arrays = self._tabulated()
        self._reported = self._order

    def ones(self, count: int) -> NDArray[Any]:
        """The weights of edges that have none."""
        return np.ones(count, self.dtype) if count else self._no_weights

    def _tabulated(self) -> NDArray[np.int64]:
        """The table of scratch memory and changes."""
        scratch = (self._due, self._calls, *self._by_vertex, *self._steps, *self._memo)
        return fill_table(scratch, self._changes)

    def changes_of(self, steps: Steps) -> StateChanges | None:
        """The vertices whose last state the last batch changed, with it before and after."""
        at = self._reported.get(steps)
        if at is None:
            return None
        changes = self._changes
        begin, end = 0 if at == 0 else changes.ends[at - 1], changes.ends[at]
        return changes.vertices[begin:end], changes.before[begin:end], changes.after[begin:end]

    def uncertain(
        self,
        adjacent: NDArray[np.int64],
        column: int,
        gained: NDArray[np.int64],
        moved: NDArray[np.int64],
        near: NDArray[Any],
        *,
        margins: tuple[float, Any, Any],
    ) -> list[Steps]:
        """The queries kept to regions whose answers the last batch, which was applied, has made uncertain.

        `adjacent` is the table of the edges, `column` that of their weights; see `kernels.certify`.
        """
        failed = uncertain(
            self._table,
            len(self.queries),
            self._changes,
            adjacent,
            column,
            gained,
            moved,
            near,
            self._like_rounds,
            self._like_states,
            margins,
            self._nothing,
        )
        return [self.queries[place] for place in failed.tolist()]

    @property
    def nbytes(self) -> int:
        """Bytes of the scratch memory."""
        arrays = (self._table, self._due, self._calls, *self._steps, *self._memo, *self._by_vertex, *self._changes)
        return sum(array.nbytes for array in arrays)

    @property
    def looks(self) -> int:
        """Edges gone along, in all batches."""
        return int(self._control[fields.LOOKS])

    @property
    def scans(self) -> int:
        """Vertices whose edges were gone through for another support, in all batches."""
        return int(self._control[fields.SCANS])

    def _provide(self, code: int, control: NDArray[np.int64]) -> None:
        """Lengthen what was too short."""
        steps = self.queries[control[fields.POSITION]]
        if code == fields.TOO_FEW_CALLS:
            calls = np.zeros((2 * int(control[fields.NEED]), CALL_FIELDS), np.int32)
            calls[: len(self._calls)] = self._calls
            self._calls = calls
        elif code == fields.TOO_FEW_PLACES:
            steps.grow(int(control[fields.NEED]))
        elif code == fields.TOO_FEW_ROUNDS:
            size = 2 * int(control[fields.WIDEST_ROUND])
            due = np.full(size, -1, np.int32)
            due[: len(self._due)] = self._due
            self._due = due
            self._steps = _by_round(size, self.dtype)
        elif code == fields.TOO_FEW_CHANGES:
            size = 2 * (len(self._changes.vertices) + int(control[fields.CHANGED]))
            grown = _changes(size, len(self._changes.ends), self.dtype)
            for longer, array in zip(grown, self._changes, strict=True):
                longer[: len(array)] = array
            self._changes = grown
        elif code == fields.TOO_NARROW_MARKS:
            steps.widen_marks()
        elif code == fields.TOO_NARROW_ROUNDS:
            self._widen()
        elif code == fields.TOO_NARROW_STATES:
            self._lengthen()
        else:
            assert code == fields.STUCK
            self.unsettled.append(steps)
            self._give_up(control)
        if isinstance(steps, ThinSteps) and steps.is_aside:
            self._break_off(steps, control)

    def _break_off(self, steps: ThinSteps, control: NDArray[np.int64]) -> None:
        """Leave a query that was set aside in the middle of the batch; its calls are void."""
        if control[fields.STAGE] != fields.SEEDING and steps.before is not None:
            changed, was = (array[: control[fields.CHANGED]] for array in self._by_vertex[5:7])
            steps.before[changed] = was
        self._due[:] = -1
        control[fields.STAGE] = fields.SEEDING

    def _give_up(self, control: NDArray[np.int64]) -> None:
        """Leave a query as it is, and go on with the next one."""
        self._due.fill(-1)
        self._changes.ends[control[fields.POSITION]] = control[fields.OUT]
        control[fields.POSITION] += 1
        control[fields.STAGE] = fields.SEEDING

    def _widen(self) -> None:
        """Rounds of four bytes for all of them: paths that need it are rare."""
        self._like_rounds = np.empty(0, WIDE)
        for query in self.queries:
            if query.rounds.dtype != WIDE:
                query.widen()

    def _lengthen(self) -> None:
        """States of eight bytes for all of them."""
        self._like_states = np.empty(0, LONG)
        for query in self.queries:
            if query.states.dtype != LONG:
                query.lengthen_states()


def _by_round(size: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """The steps of a vertex, and the stack of steps that are computed again."""
    return np.zeros(size, np.int64), np.zeros(size, dtype), np.zeros(4 * size, np.int64), np.zeros(size, dtype)


def _by_vertex(vertices: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """`where` to `was` of the scratch memory, touched here so that no batch pays for fresh pages."""
    kinds = (np.int32, np.int32, dtype, np.int32, np.int64, np.int32, dtype)
    return tuple(np.full(vertices, 0, kind) for kind in kinds)


def _changes(size: int, queries: int, dtype: np.dtype[Any]) -> Changes:
    return Changes(
        np.full(size, 0, np.int32), np.full(size, 0, dtype), np.full(size, 0, dtype), np.zeros(queries, np.int64)
    )
