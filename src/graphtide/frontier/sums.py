"""What a program that sums keeps: the rounds at which a vertex's state is another one than the round before."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.frontier.kernels import fields, sums
from graphtide.frontier.kernels.exact_sum import MOST_PARTS
from graphtide.frontier.kernels.follow import WORTH_NO_MORE, follow
from graphtide.frontier.kernels.shapes import Kept, Lists
from graphtide.frontier.maintenance import Dropping
from graphtide.frontier.steps import Begin, Log, Steps
from graphtide.frontier.sum_program import CompiledSum, SumProgram
from graphtide.functions import note_doubt
from graphtide.rows.codes import Codes

__all__ = ["SumMemory", "Sums"]

# A look of a batch takes as long as so many of a first answer, which goes through the edges in their order.
_DEARER: Final = 4
# States that are remembered when they had to be computed again; a power of two.
_MEMO: Final = 1 << 16


class Sums(Steps):
    """The steps of one query."""

    def __init__(self, program: SumProgram, message: CompiledSum, dropping: Dropping | None = None) -> None:
        super().__init__(program, message, dropping)
        assert message.ending is not None
        self.rest: Any = self.dtype.type(program.rest)
        self.row[fields.KIND] = message.kind
        self.row[fields.FINISH] = message.ending.address
        self.row[fields.USES_DEGREE] = message.uses_degree
        self.row[fields.SIDES] = program.sides
        self.row[fields.LAST_ROUND] = program.rounds

    def compute(
        self,
        lists: Lists,
        weights: NDArray[Any],
        names: NDArray[np.int64],
        vertices: int,
        initial: Begin,
        *,
        kept: bool = True,
    ) -> NDArray[Any]:
        """Run the program from its beginning; the last states. The steps are kept unless only these are wanted."""
        del names
        rounds = int(self.row[fields.LAST_ROUND])
        given, states = initial
        begins = self.beginnings(vertices, initial)
        now = begins.copy()
        log = Log(len(given) + 2 * vertices, self.dtype)
        at = len(given)
        log.vertices[:at], log.rounds[:at], log.states[:at] = given, 0, states
        r, done = 0, False
        while not done:
            log.make_room(at + vertices)
            r, done, at = sums.sum_all(
                self.row, lists, weights, begins, now, r, log.vertices, log.rounds, log.states, at if kept else 0
            )
        self._tell_of_overflow()
        if kept:
            self._keep(log, int(at), vertices, rounds, lists)
        return now

    def beginnings(self, vertices: int, initial: Begin) -> NDArray[Any]:
        """The states of round 0, those that are given among them."""
        given, states = initial
        begins = np.full(vertices, self.rest, self.dtype)
        begins[given] = states
        return begins

    def follow(
        self,
        memory: SumMemory,
        lists: Lists,
        weights: NDArray[Any],
        ends: tuple[Codes, Codes],
        new: range,
        *,
        edges: int,
    ) -> None:
        """Follow a batch of edges lost and gained, and of vertices that are new, on a graph with so many edges."""
        known, vertices = new.start, new.stop
        self.add_vertices(vertices)
        if self.is_aside:
            return
        memory.make_room(vertices, int(self.row[fields.LAST_ROUND]), drops=self.dropping is not None)
        lost, gained = (np.ascontiguousarray(each[:, :2]) for each in ends)
        run, scratch = memory.run, memory.arrays
        patience = self._patience(edges)
        while True:
            kept = Kept(self.head, self.states, self.rounds, self.free, self.marks)
            need = follow(
                self.row, run, kept, lists, weights, lost, gained, scratch, self.rest, known, vertices, patience
            )
            if need == 0:
                break
            if need > 0:
                self.grow(int(need))
            if need == WORTH_NO_MORE or self.is_aside:
                run[sums.AT_ROUND] = 0
                noted = scratch.noted[: run[sums.NOTED]]
                self._follow_anew(lists, weights, noted, scratch.last_was[: len(noted)], new)
                return
        self._tell_of_overflow()
        noted = scratch.noted[: run[sums.NOTED]].copy()
        before, after = scratch.last_was[: len(noted)].copy(), self._last_of(noted)
        differ = (before != after) | (noted >= known)
        self.changes = noted[differ], before[differ], after[differ]

    def _patience(self, edges: int) -> int:
        """Edges along which a batch may look before it is computed anew, in a graph with so many."""
        ways = 2 * edges if self.program.along == "both" else edges
        return int(min(ways * self.row[fields.LAST_ROUND] / _DEARER, 2**62))

    def _follow_anew(
        self,
        lists: Lists,
        weights: NDArray[Any],
        noted: NDArray[np.int32],
        last_was: NDArray[Any],
        new: range,
    ) -> None:
        """Compute the program from its beginning, in the middle of a batch that has changed the steps of some."""
        before = self.last_states(np.empty(0, np.int64), new.stop)
        before[noted] = last_was
        after = self.compute(lists, weights, np.empty(0, np.int64), new.stop, self.begin)
        differ = before != after
        differ[new.start :] = True
        changed = np.flatnonzero(differ).astype(np.int32)
        self.changes = changed, before[changed], after[changed]

    def last_states(self, names: NDArray[np.int64], vertices: int) -> NDArray[Any]:
        """The state that each vertex ends with."""
        states = super().last_states(names, vertices)
        states[self.head[:vertices] < 0] = self.rest
        return states

    def _length(self, states: NDArray[Any]) -> np.dtype[Any]:  # noqa: ARG002
        """Sums of ints may become great at any time."""
        return self.dtype

    def _tell_of_overflow(self) -> None:
        """Sums of ints are too long where the functions around them are not asked."""
        if self.row[fields.DOUBTED]:
            self.row[fields.DOUBTED] = 0
            note_doubt()

    def _last_of(self, vertices: NDArray[np.int32]) -> NDArray[Any]:
        out = np.empty(len(vertices), self.dtype)
        sums.last_of(self.head, self.states, self.rounds, vertices, self.rest, out)
        return out


class SumMemory:
    """The scratch memory of a batch, which queries with states of one type share."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.run: NDArray[np.int64] = np.zeros(sums.RUN_FIELDS, np.int64)
        self.arrays: sums.SumScratch = _arrays(0, 0, 1, dtype)

    def make_room(self, vertices: int, rounds: int, *, drops: bool) -> None:
        """Have places for so many vertices and rounds, and for states that are computed again."""
        arrays = self.arrays
        most, depth, memo = len(arrays.chosen), len(arrays.parts), len(arrays.memo_states)
        if vertices > most or rounds + 2 > depth or (drops and memo == 1):
            self.arrays = _arrays(
                most if vertices <= most else vertices + vertices // 2,
                max(depth, rounds + 2),
                _MEMO if drops else memo,
                self.dtype,
            )

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        return sum(array.nbytes for array in self.arrays)


def _arrays(vertices: int, depth: int, memo: int, dtype: np.dtype[Any]) -> sums.SumScratch:
    """Fresh arrays, touched here so that no batch pays for fresh pages; ticks never fall, so 0 is long ago."""
    small, words = np.int32, np.int64
    return sums.SumScratch(
        np.full(vertices, 0, small),
        np.full(vertices, 0, words),
        np.full((2, vertices), 0, small),
        np.full(vertices, 0, words),
        np.full(vertices, 0, dtype),
        np.full(vertices, 0, np.bool_),
        np.full(vertices, 0, small),
        np.full(vertices, 0, words),
        np.full(vertices, 0, dtype),
        np.zeros(depth + 2, words),
        np.zeros(depth + 2, dtype),
        np.zeros(5 * (depth + 1), words),
        np.zeros((depth, MOST_PARTS), dtype),
        np.zeros(2 * memo, words),
        np.zeros(memo, dtype),
    )
