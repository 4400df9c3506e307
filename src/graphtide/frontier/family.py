"""Queries that the kernel takes together: those with the same weights, states and width of rounds.

They share the scratch memory of a batch, and one call brings all of them up to date. Many are divided among two
threads, which share nothing but the edges.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.failures import Failures
from graphtide.frontier.kernels import fields
from graphtide.frontier.kernels.certify import uncertain
from graphtide.frontier.kernels.maintain import maintain
from graphtide.frontier.steps import LONG, NARROW, SHORT, WIDE, Steps, no_state
from graphtide.frontier.thin_steps import ThinSteps
from graphtide.frontier.workspace import StateChanges, Workspace
from graphtide.functions import doubt_flag, doubted

__all__ = ["Family", "StateChanges"]

# Fewer queries cost less than handing half of them over to another thread.
_MANY = 256


class Family:
    """The queries on one weight, or on none, and the scratch memory that they share."""

    def __init__(self, dtype: np.dtype[Any], adjacent: NDArray[np.int64], column: int) -> None:
        self.dtype = dtype
        self.column = column  # of the edges that has the weights, or -1
        self._adjacent = adjacent  # the table of the edges
        self._labels: NDArray[np.int64] | None = None  # what vertices begin with, as kernels know it
        self.queries: list[Steps] = []
        self._table = np.zeros((4, fields.QUERY_FIELDS), np.int64)
        self._like_rounds = np.empty(0, NARROW)
        self._like_states = np.empty(0, SHORT if dtype == LONG else dtype)
        self._spaces = [Workspace(dtype)]
        self._places: list[tuple[Workspace, int, int]] = []  # of the queries that each workspace covers
        self._covered = self._places  # as they were at the last batch
        self._nothing = no_state(dtype).item()
        self.vertices = 0  # that kernels know of
        self._order: dict[Steps, int] = {}
        self._reported = self._order  # as it was at the last batch
        self.failures: Failures | None = None  # of the last batch
        self._may_fail = False  # whether a query has a function of a user's

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
        drops = any(query.dropping is not None for query in self.queries)
        self._may_fail = any(query.message.may_fail for query in self.queries)
        # A query that asks for bytes of a budget may take them from any other.
        is_divided = len(self.queries) >= _MANY and _helper() is not None
        if is_divided and any(isinstance(query, ThinSteps) for query in self.queries):
            is_divided = False
        if is_divided != (len(self._spaces) > 1):
            self._spaces = [self._spaces[0], Workspace(self.dtype)] if is_divided else self._spaces[:1]
        count = len(self.queries)
        bounds = np.linspace(0, count, len(self._spaces) + 1).astype(int).tolist()
        for space, first, last in zip(self._spaces, bounds, bounds[1:], strict=False):
            space.cover(first, last, drops=drops)
            control = space.control
            control[fields.QUERIES], control[fields.ADJACENT] = self._table.ctypes.data, self._adjacent.ctypes.data
            control[fields.COLUMN] = self.column
            control[fields.DOUBT_FLAG] = 0
        self._places = [(space, space.first, space.last) for space in self._spaces]
        self.vertices = 0

    def make_room(self, vertices: int) -> None:
        """Have scratch memory and places for so many vertices."""
        for space in self._spaces:
            space.make_room(vertices)
        for query in self.queries:
            query.add_vertices(vertices)

    def see(self, vertices: int, labels: NDArray[np.int64]) -> None:
        """Be ready for batches on so many vertices; `labels` are what they begin with."""
        self.make_room(vertices)
        self.vertices, self._labels = vertices, labels
        for space in self._spaces:
            space.control[fields.LABELS], space.control[fields.LABEL_COUNT] = labels.ctypes.data, len(labels)
            space.control[fields.MOST] = vertices + 1

    def follow(self) -> None:
        """Bring all queries up to date with the last batch of the edges."""
        if self.failures is not None:
            self.failures = None
        if len(self._spaces) == 1:
            space = self._spaces[0]
            while (code := self._run(space)) != fields.DONE:
                self._provide(space, code)
        else:
            self._run_both()
        if self._may_fail:
            self._look_for_doubts()
        self._reported = self._order
        self._covered = self._places

    def _look_for_doubts(self) -> None:
        """Find the queries whose functions divided by 0, or made ints that are too long."""
        doubted = self._table[: len(self.queries), fields.DOUBTED]
        for at in np.flatnonzero(doubted).tolist():
            self._fail().suspects.append(self.queries[at])
        doubted[:] = 0

    def _fail(self) -> Failures:
        if self.failures is None:
            self.failures = Failures()
        return self.failures

    def _run(self, space: Workspace) -> int:
        """Go on with a batch until it is done or an array is too short."""
        if not self._may_fail:
            return maintain(space.control, self._like_rounds, self._like_states, self._nothing)
        # Each thread has a flag of its own, and the next part of the run may be another one's.
        control = space.control
        doubted()  # whatever was tried before is forgotten
        control[fields.DOUBT_FLAG] = doubt_flag()
        code = maintain(control, self._like_rounds, self._like_states, self._nothing)
        if code != fields.DONE and doubted():
            self.queries[control[fields.POSITION]].row[fields.DOUBTED] = 1
        return code

    def _run_both(self) -> None:
        """Let two threads go on, each in a workspace, and nobody lengthen an array while one of them does."""
        pending = self._spaces
        while pending:
            codes = [self._run(pending[0])] if len(pending) == 1 else _together(self._run, pending)
            stopped = [(space, code) for space, code in zip(pending, codes, strict=True) if code != fields.DONE]
            for space, code in stopped:
                self._provide(space, code)
            pending = [space for space, _ in stopped]

    def changes_of(self, steps: Steps) -> StateChanges | None:
        """The vertices whose last state the last batch changed, with it before and after."""
        at = self._reported.get(steps)
        if at is None:
            return None
        space, first = next((space, first) for space, first, last in self._covered if at < last)
        return space.changes_at(at, first)

    def uncertain(
        self,
        gained: NDArray[np.int64],
        moved: NDArray[np.int64],
        near: NDArray[Any],
        *,
        margins: tuple[float, Any, Any],
    ) -> list[Steps]:
        """The queries kept to regions whose answers the last batch, which was applied, has made uncertain.

        See `kernels.certify`.
        """
        failed: list[int] = []
        for space, first, last in self._covered:
            failed += uncertain(
                self._table,
                first,
                last,
                space.changes,
                self._adjacent,
                self.column,
                gained,
                moved,
                near,
                self._like_rounds,
                self._like_states,
                margins,
                self._nothing,
            ).tolist()
        return [self.queries[place] for place in failed]

    @property
    def nbytes(self) -> int:
        """Bytes of the scratch memory."""
        return self._table.nbytes + sum(space.nbytes for space in self._spaces)

    @property
    def looks(self) -> int:
        """Edges gone along, in all batches."""
        return sum(int(space.control[fields.LOOKS]) for space in self._spaces)

    @property
    def scans(self) -> int:
        """Vertices whose edges were gone through for another support, in all batches."""
        return sum(int(space.control[fields.SCANS]) for space in self._spaces)

    def _provide(self, space: Workspace, code: int) -> None:
        """Lengthen what was too short."""
        control = space.control
        steps = self.queries[control[fields.POSITION]]
        if space.provide(code):
            pass
        elif code == fields.TOO_FEW_PLACES:
            steps.grow(int(control[fields.NEED]))
        elif code == fields.TOO_NARROW_MARKS:
            steps.widen_marks()
        elif code == fields.TOO_NARROW_ROUNDS:
            self._widen()
        elif code == fields.TOO_NARROW_STATES:
            self._lengthen()
        else:
            assert code == fields.STUCK
            self._fail().unsettled.append(steps)
            space.give_up()
        if isinstance(steps, ThinSteps) and steps.is_aside:
            # It was set aside in the middle of the batch; its calls are void.
            if control[fields.STAGE] != fields.SEEDING and steps.before is not None:
                changed, was = space.changed_so_far()
                steps.before[changed] = was
            space.break_off()

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


@cache
def _helper() -> ThreadPoolExecutor | None:
    """A second thread, if there is a second processor for it; kernels hold no interpreter lock."""
    has_two = len(os.sched_getaffinity(0)) > 1
    return ThreadPoolExecutor(1, thread_name_prefix="graphtide") if has_two else None


def _together(run: Callable[[Workspace], int], spaces: list[Workspace]) -> list[int]:
    """Run the first of two workspaces here and the other one in the second thread."""
    helper = _helper()
    assert helper is not None
    one, other = spaces
    there = helper.submit(run, other)
    here = run(one)
    return [here, there.result()]
