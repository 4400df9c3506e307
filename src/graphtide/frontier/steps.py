"""The differences that a query keeps: arrays of staircases, and their row in the kernels' table of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import NotConvergedError
from graphtide.frontier.budget import Budget
from graphtide.frontier.kernels import fields, stairs
from graphtide.frontier.kernels.adjacency import extremes
from graphtide.frontier.kernels.dropping import drop_some
from graphtide.frontier.kernels.first import begin, spread
from graphtide.frontier.kernels.messages import ADD, COPY, HOP
from graphtide.frontier.kernels.region import spread_within
from graphtide.frontier.kernels.rooms import FREE_FIELDS, new_free
from graphtide.frontier.kernels.shapes import Lists
from graphtide.frontier.maintenance import Degree, DeterministicDrop, Dropping
from graphtide.frontier.program import Program

if TYPE_CHECKING:
    from graphtide.frontier.family import StateChanges
    from graphtide.frontier.message import CompiledMessage
    from graphtide.frontier.sum_program import SumProgram

__all__ = ["LONG", "NARROW", "NO_DISTANCE", "NO_NUMBER", "SHORT", "WIDE", "Begin", "Log", "Steps", "no_state"]

NARROW: Final = np.dtype(np.uint16)
WIDE: Final = np.dtype(np.uint32)
SHORT: Final = np.dtype(np.int32)
LONG: Final = np.dtype(np.int64)
NO_NUMBER: Final = np.int64(2**62)
NO_DISTANCE: Final = np.float64(np.inf)
_NO_SHORT: Final = 2**31 - 1
_FEWEST: Final = 16

# The vertices that a program gives a state at round 0, and these states.
Begin = tuple[NDArray[np.int32], NDArray[Any]]


def no_state(dtype: np.dtype[Any]) -> Any:
    """The state of a vertex that no message has reached."""
    return NO_DISTANCE if dtype == np.float64 else NO_NUMBER


class Steps:
    """The staircases of one query."""

    def __init__(
        self, program: Program | SumProgram, message: CompiledMessage, dropping: Dropping | Budget | None = None
    ) -> None:
        self.program = program
        self.message = message
        self.dtype: np.dtype[Any] = message.dtype
        self.dropping = dropping
        self.begin: Begin = np.empty(0, np.int32), np.empty(0, self.dtype)  # set by who keeps it
        self.marks: NDArray[np.int64] = np.empty(0, np.int64)
        self.region: NDArray[np.uint8] = np.empty(0, np.uint8)  # bits of the vertices that may have steps; none for all
        self.anchor: NDArray[Any] = np.empty(
            0, self.dtype
        )  # of a region: its bound, and landmarks' distances of the target
        self.head: NDArray[np.int32] = np.empty(0, np.int32)
        self.states: NDArray[Any] = np.empty(0, self.dtype)
        self.rounds: NDArray[Any] = np.empty(0, NARROW)
        self.free: NDArray[np.int64] = new_free()
        self.row: NDArray[np.int64] = np.zeros(fields.QUERY_FIELDS, np.int64)
        self.changes: StateChanges | None = None  # of the last batch, if they are told from answers

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
        own = self.program.begins_with_ids
        most = vertices + 1 if self.program.rounds is None else self.program.rounds
        begins = names[:vertices] if own else initial[1]
        is_short = self._stays_short(begins, most, lists, weights)
        dtype, nothing = (SHORT, _NO_SHORT) if is_short else (self.dtype, no_state(self.dtype))
        now = np.empty(vertices, dtype)
        coming = np.empty(vertices, dtype)
        mark = np.zeros(vertices, np.int32)
        log = Log(max(_FEWEST, 2 * vertices), dtype)
        active = begin(now, own, names, vertices, *initial, log.vertices, log.rounds, log.states, nothing)
        at = len(initial[0])
        r = 0
        while len(active) and r < most:
            log.make_room(at + vertices)
            r, active, at = spread(
                self.message.kind,
                self.program.sides,
                *lists,
                weights,
                now,
                coming,
                mark,
                active,
                r,
                most,
                log.vertices,
                log.rounds,
                log.states,
                at,
            )
            if not kept:
                active, at = active.copy(), 0
        if len(active) and self.program.rounds is None:
            raise NotConvergedError(
                f"the program did not settle within {most} rounds: {len(active)} vertices still get better",
                hint="a cycle that betters the states along it does this; bound it with rounds=",
            )
        if kept:
            self._keep(log, at, vertices, int(r), lists)
        return np.where(now == nothing, NO_NUMBER, now) if is_short else now

    def _stays_short(self, begins: NDArray[Any], rounds: int, lists: Lists, weights: NDArray[Any]) -> bool:
        """Whether four bytes hold every state that so many rounds make of those that the program begins with."""
        kind = self.message.kind
        if self.dtype != LONG or kind not in {ADD, HOP, COPY} or not len(begins):
            return False
        step = int(kind != COPY)
        if kind == ADD and len(weights):
            step = int(extremes(len(lists.size) // 2, lists.start, lists.size, weights)[1])
        return bool(begins.min() > -_NO_SHORT) and int(begins.max()) + rounds * step < _NO_SHORT

    def compute_within(self, lists: Lists, weights: NDArray[Any], vertices: int, origin: int) -> None:
        """Run the program from its beginning, one vertex in state 0, among the vertices of the region alone."""
        now = np.full(vertices, no_state(self.dtype), self.dtype)
        log = Log(_FEWEST, self.dtype)
        logged = log.vertices, log.rounds, log.states
        made: Any = spread_within(
            self.message.kind, *lists, weights, self.region, origin, now, np.empty_like(now), *logged
        )
        log.vertices, log.rounds, log.states, count, highest = made
        self._keep(log, count, vertices, highest, lists)

    def _keep(self, log: Log, count: int, vertices: int, highest: int, lists: Lists) -> None:
        """Keep the steps of a log, or those that are not to be dropped."""
        self._lay_out(log, self._drop(log, count, vertices, highest, lists), vertices, highest)

    def _drop(self, log: Log, count: int, vertices: int, highest: int, lists: Lists) -> int:
        """Take steps out of the log that are not to be kept; how many are left."""
        if self.dropping is None or isinstance(self.dropping, Budget):
            return count
        choose = self.dropping.choose
        low, high = 0, 2**31
        if isinstance(choose, Degree):
            degrees = lists.size[: 2 * vertices].reshape(-1, 2).sum(axis=1)
            most = int(np.percentile(degrees, 80)) if choose.tau_max is None and vertices else choose.tau_max
            low, high = choose.tau_min, high if most is None else most
        row = self.row
        row[fields.LOW_DEGREE], row[fields.HIGH_DEGREE], row[fields.CHANCE] = low, high, int(choose.p * 2**32)
        chances = low, high, row[fields.CHANCE]
        sizes, _ = stairs.room_of_all(vertices, log.vertices, count)
        if isinstance(self.dropping, DeterministicDrop):
            row[fields.MARK_WIDTH] = highest + 2
            self.marks = np.zeros(-(-(vertices + vertices // 16 + _FEWEST) * (highest + 2) // 64), np.int64)
        else:
            _, chosen = drop_some(
                log.vertices, log.rounds, log.states, count, sizes, lists.size, *chances, np.empty(0, np.int64), 0
            )
            self.marks = np.zeros(max(_FEWEST, -(-int(chosen) * self.dropping.bits // 64)), np.int64)
        left, dropped = drop_some(
            log.vertices,
            log.rounds,
            log.states,
            count,
            sizes,
            lists.size,
            *chances,
            self.marks,
            row[fields.MARK_WIDTH],
        )
        row[fields.DROPPED] += dropped
        return int(left)

    def _lay_out(self, log: Log, count: int, vertices: int, highest: int) -> None:
        sizes, places = stairs.room_of_all(vertices, log.vertices, count)
        places = int(places) + self._slack(int(places))
        self.head = np.empty(vertices + self._slack(vertices), np.int32)
        self.head[vertices:] = -1
        self.states = np.zeros(places, self._length(log.states[:count]))
        self.rounds = np.zeros(places, self._width(highest))
        self.free = stairs.lay_out(
            log.vertices, log.rounds, log.states, count, sizes, self.head, self.states, self.rounds
        )
        self.row[fields.KIND] = self.message.kind
        self.row[fields.OWN] = self.program.begins_with_ids
        self.row[fields.SIDES] = self.program.sides
        self.row[fields.LAST_ROUND] = fields.ENDLESS if self.program.rounds is None else self.program.rounds
        self.row[fields.HIGHEST] = highest
        self.row[fields.STEPS] = count
        self.settle_in(self.row)

    def _slack(self, length: int) -> int:
        """Places to begin with beyond those that are needed."""
        return length // 16 + _FEWEST

    def _width(self, highest: int) -> np.dtype[Any]:
        """The type of rounds up to the highest."""
        return NARROW if highest < 2**15 else WIDE

    def _length(self, states: NDArray[Any]) -> np.dtype[Any]:
        """The type in which such states are kept."""
        if states.dtype == SHORT:
            return SHORT
        if self.dtype != LONG or (len(states) and max(-states.min(), states.max()) >= 2**31):
            return self.dtype
        return SHORT

    def settle_in(self, row: NDArray[np.int64]) -> None:
        """Make a row of the kernels' table this query's; it is filled with where its arrays are."""
        row[:] = self.row
        self.row = row
        self._locate()

    def add_vertices(self, vertices: int) -> None:
        """Let there be so many vertices; new ones have no steps."""
        if vertices > len(self.head):
            head = np.full(vertices + vertices // 2, -1, np.int32)
            head[: len(self.head)] = self.head
            self.head = head
            self._make_marks(int(self.row[fields.MARK_WIDTH]))
            self._locate()

    def grow(self, need: int) -> None:
        """More places in the pool: for a list of that room at least."""
        self._lengthen(len(self.states) * 5 // 4 + 4 * _FEWEST + 2 * need)

    def _lengthen(self, places: int) -> None:
        for name in ("states", "rounds"):
            array = getattr(self, name)
            longer = np.zeros(places, array.dtype)
            longer[: len(array)] = array
            setattr(self, name, longer)
        self._locate()

    def widen_marks(self) -> None:
        """Bits for twice as many rounds of each vertex."""
        self._make_marks(2 * int(self.row[fields.MARK_WIDTH]))
        self._locate()

    def _make_marks(self, width: int) -> None:
        """A table of marks for all vertices and so many rounds, with those that are there."""
        old = int(self.row[fields.MARK_WIDTH])
        if old == 0:
            return
        words = -(-len(self.head) * width // 64)
        bits = np.unpackbits(self.marks.view(np.uint8), bitorder="little")
        rows = bits[: len(bits) // old * old].reshape(-1, old)[: len(self.head)]
        wider = np.zeros((len(self.head), width), np.uint8)
        wider[: len(rows), :old] = rows
        packed = np.zeros(8 * words, np.uint8)
        content = np.packbits(wider.ravel(), bitorder="little")
        packed[: len(content)] = content
        self.marks = packed.view(np.int64)
        self.row[fields.MARK_WIDTH] = width

    def widen(self) -> None:
        """Rounds of four bytes, for long paths."""
        last = self.rounds >> 15
        self.rounds = (self.rounds & 0x7FFF).astype(WIDE) | (last.astype(WIDE) << 31)
        self._locate()

    def lengthen_states(self) -> None:
        """States of eight bytes, for great ones."""
        self.states = self.states.astype(LONG)
        self._locate()

    def last_states(self, names: NDArray[np.int64], vertices: int) -> NDArray[Any]:
        """The state that each vertex ends with."""
        out = np.empty(vertices, self.dtype)
        own = self.program.begins_with_ids
        stairs.final_states(self.head, self.states, self.rounds, vertices, own, names, no_state(self.dtype), out)
        return out

    def trace(self, vertex: int) -> list[tuple[int, Any]]:
        """The steps of a vertex: rounds and states."""
        rounds = np.empty(int(self.row[fields.HIGHEST]) + 2, np.int64)
        states = np.empty(len(rounds), self.dtype)
        count = stairs.read_steps(self.head, self.states, self.rounds, vertex, rounds, states)
        return list(zip(rounds[:count].tolist(), states[:count].tolist(), strict=True))

    @property
    def is_aside(self) -> bool:
        """Whether nothing is kept, for want of bytes; only a budget asks for it."""
        return False

    @property
    def differences(self) -> int:
        """How many steps are kept."""
        return int(self.row[fields.STEPS])

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept."""
        arrays = (self.head, self.states, self.rounds, self.free, self.marks, self.region, self.anchor, self.row)
        return sum(array.nbytes for array in arrays)

    def _locate(self) -> None:
        assert len(self.free) == FREE_FIELDS
        self.row[fields.HEAD] = self.head.ctypes.data
        self.row[fields.STATES] = self.states.ctypes.data
        self.row[fields.ROUNDS] = self.rounds.ctypes.data
        self.row[fields.FREE_PLACES] = self.free.ctypes.data
        self.row[fields.MARKS] = self.marks.ctypes.data
        self.row[fields.MARK_WORDS] = len(self.marks)
        self.row[fields.REGION] = self.region.ctypes.data if len(self.region) else 0
        self.row[fields.ANCHOR] = self.anchor.ctypes.data
        self.row[fields.PLACES] = len(self.states)
        self.row[fields.VERTICES] = len(self.head)


class Log:
    """Steps in the order in which they are made."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.vertices: NDArray[np.int32] = np.empty(size, np.int32)
        self.rounds: NDArray[np.int32] = np.empty(size, np.int32)
        self.states: NDArray[Any] = np.empty(size, dtype)

    def make_room(self, size: int) -> None:
        """Have places for so many steps."""
        if size > len(self.vertices):
            size = max(size, 2 * len(self.vertices))
            for name in ("vertices", "rounds", "states"):
                array = getattr(self, name)
                longer = np.empty(size, array.dtype)
                longer[: len(array)] = array
                setattr(self, name, longer)
