"""Programs as differential dataflows, which keep the differences of Join and of the aggregate (Diff-IFE's VDC).

Queries on one weight are branches of one dataflow and share its index of the edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.dataflow.branch import Branch
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.expressions.functions import call, col, greatest, lit
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.input import Input
from graphtide.dataflow.output import Output
from graphtide.errors import CapacityError, NotConvergedError
from graphtide.frontier.family import StateChanges
from graphtide.frontier.kernels import messages
from graphtide.frontier.message import CompiledMessage
from graphtide.frontier.program import Program
from graphtide.frontier.steps import Steps, no_state
from graphtide.frontier.sum_program import CompiledSum, SumProgram
from graphtide.functions import compile_checked
from graphtide.rows.codes import Codes

__all__ = ["VanillaFlow", "VanillaProgram"]

_STATE: Final = col("state")
_WEIGHT: Final = col("weight")
_MESSAGES: Final[dict[int, Expression]] = {
    messages.ADD: _STATE + _WEIGHT,
    messages.HOP: _STATE + 1,
    messages.COPY: _STATE,
    messages.WIDE: greatest(_STATE, -_WEIGHT),
    messages.TIMES: _STATE * _WEIGHT,
}


# A user's function may better a state for ever: some seconds of rounds are enough to say so.
_MOST_ROUNDS: Final = 1 << 17


class VanillaFlow:
    """The dataflow of all programs on one weight, or on none."""

    def __init__(self, message: CompiledMessage) -> None:
        self.number = _number(message.dtype)
        self.dtype = message.dtype
        self.flow = Dataflow("vanilla")
        self.edges = self.flow.input("edges", src=int, dst=int, weight=_number(message.weight_dtype))
        self.index = self.edges.arrange("src")  # what programs that come later read
        self.programs: list[VanillaProgram] = []

    def change(self, lost: Codes, lost_weights: NDArray[Any], gained: Codes, gained_weights: NDArray[Any]) -> None:
        """Stage edges that are lost and gained."""
        for stage, ends, weights in (
            (self.edges.remove, lost, lost_weights),
            (self.edges.insert, gained, gained_weights),
        ):
            if len(ends):
                stage(pa.table({"src": ends[:, 0], "dst": ends[:, 1], "weight": weights}))

    def commit(self) -> None:
        """Bring all programs up to date."""
        self.flow.commit()

    def follow(self) -> bool:
        """Bring all programs up to date with a batch, which is what their changes are told of; whether all settle.

        If not, or if a sum of ints is too long, nothing has changed, and what was staged still is.
        """
        try:
            self.commit()
        except (NotConvergedError, CapacityError):
            return False
        for program in self.programs:
            program.held = None
        return True

    @property
    def nbytes(self) -> int:
        """Bytes of all that is not one program's own: the index of the edges, and the machine."""
        return self.flow.memory().bytes - sum(program.footprint[1] for program in self.programs)

    @property
    def operators(self) -> set[int]:
        """The operators that are installed."""
        return {each.operator for each in self.flow.memory()}


class VanillaProgram:
    """One program as a branch of the dataflow."""

    def __init__(self, parent: VanillaFlow, name: str, steps: Steps) -> None:
        self.steps = steps  # what it computes; none is kept there
        self._parent = parent
        self._message = steps.message
        self.held: StateChanges | None = None  # the changes of the last batch, if there was a commit since
        self._own = parent.operators  # until it is installed, those of others
        self._branch: Branch = parent.flow.branch(name)
        self._start: Input = self._branch.input("start", vertex=int, state=parent.number)
        self._output: Output = self._branch.output("states", self._states())
        parent.programs.append(self)

    @property
    def begins_everywhere(self) -> bool:
        """Whether every vertex has an initial state, those to come as well."""
        program = self.steps.program
        return program.begins_with_ids or isinstance(program, SumProgram)

    def install(self) -> None:
        """Compute the first answer, and know the operators that were made for it."""
        others = self._own
        for program in self._parent.programs:
            program.held = program.changes()
        self._parent.commit()
        self._own = self._parent.operators - others

    def start(self, vertices: NDArray[np.signedinteger[Any]], states: NDArray[Any]) -> None:
        """Stage initial states."""
        if len(vertices):
            self._start.insert(pa.table({"vertex": vertices, "state": states}))

    def stop(self, vertices: NDArray[np.signedinteger[Any]], states: NDArray[Any]) -> None:
        """Stage that initial states are no more."""
        if len(vertices):
            self._start.remove(pa.table({"vertex": vertices, "state": states}))

    def last_states(self, vertices: int) -> NDArray[Any]:
        """The state that each vertex ends with."""
        table = self._output.table()
        states = np.full(vertices, no_state(self._parent.dtype), self._parent.dtype)
        states[table.column("vertex").to_numpy()] = table.column("state").to_numpy()
        return states

    def changes(self) -> StateChanges:
        """The vertices whose last state the last batch changed, with it before and after."""
        if self.held is not None:
            return self.held
        table = self._output.changes()
        vertices, states, diffs = (table.column(name).to_numpy() for name in ("vertex", "state", "diff"))
        changed, at = np.unique(vertices, return_inverse=True)
        before, after = (np.full(len(changed), no_state(self._parent.dtype), self._parent.dtype) for _ in range(2))
        before[at[diffs < 0]] = states[diffs < 0]
        after[at[diffs > 0]] = states[diffs > 0]
        return changed.astype(np.int32), before, after

    @property
    def footprint(self) -> tuple[int, int]:
        """Differences and bytes that this program's operators keep; the index of the edges is shared."""
        own = [each for each in self._parent.flow.memory() if each.operator in self._own]
        return sum(each.differences for each in own), sum(each.bytes for each in own)

    def drop(self) -> None:
        """Take the branch out, if it is there."""
        self._branch.drop()
        if self in self._parent.programs:
            self._parent.programs.remove(self)

    def _states(self) -> Collection:
        program, edges = self.steps.program, self._parent.edges
        back = edges.select(src="dst", dst="src", weight="weight")
        ways = {"out": edges, "in": back, "both": edges.concat(back)}[program.along]
        if isinstance(program, SumProgram):
            return self._sums(program, ways)
        return self._extremes(program, ways)

    def _sums(self, program: SumProgram, ways: Collection) -> Collection:
        """Each round has operators of its own: what it adds up is another sum than that of the round before."""
        message, number, start = self._message, self._parent.number, self._start
        assert isinstance(message, CompiledSum)
        offer = call(_of_three(message.offer, number), _STATE, _WEIGHT, col("degree"), returns=number)
        finished = call(_of_two(message.finish, number), _STATE, col("total"), returns=number)
        # A vertex that gets nothing has a sum, too.
        nothing = start.select("vertex", total=lit(number(0)))
        degrees = ways.group_by("src").count("degree")
        states: Collection = start
        for _ in range(program.rounds):
            sent = states.with_columns(degree=lit(0))
            if message.uses_degree:
                sent = states.join(degrees, on={"vertex": "src"})
            offers = sent.join(ways, on={"vertex": "src"}).select(vertex="dst", total=offer)
            totals = offers.concat(nothing).group_by("vertex").sum("total")
            states = start.join(totals, on="vertex").select("vertex", state=finished)
        return states

    def _extremes(self, program: Program, ways: Collection) -> Collection:
        start, function, number = self._start, self._message.offer, self._parent.number
        if function is None:
            offer = _MESSAGES[program.kind]
        else:
            offer = call(_of_two(function, number), _STATE, _WEIGHT, returns=number)

        def step(states: Collection) -> Collection:
            offers = states.join(ways, on={"vertex": "src"}).select(vertex="dst", state=offer)
            if function is not None:
                offers = offers.where(col("state") < no_state(self._parent.dtype))
            return offers.concat(start).group_by("vertex").min("state")

        if program.rounds is None:
            return start.iterate(step) if function is None else start.iterate(step, max_rounds=_MOST_ROUNDS)
        states: Collection = start
        for _ in range(program.rounds):
            states = step(states)
        return states


def _number(dtype: np.dtype[Any]) -> type:
    return float if dtype == np.float64 else int


def _as_int(made: Any) -> Any:
    """An int that a dataflow has: the least of 64 bits is none, and noted as one that is too long."""
    return min(made - 1, made) + 1


def _of_two(function: Callable[..., Any] | None, number: type) -> Callable[..., Any]:
    """A compiled function as one of Python's, which is what a dataflow takes."""
    assert function is not None
    whole = compile_checked(_as_int)

    def made(one: Any, other: Any) -> Any:
        return function(one, other)

    def made_int(one: Any, other: Any) -> Any:
        return whole(function(one, other))

    return made_int if number is int else made


def _of_three(function: Callable[..., Any] | None, number: type) -> Callable[..., Any]:
    assert function is not None
    whole = compile_checked(_as_int)

    def made(state: Any, weight: Any, degree: Any) -> Any:
        return function(state, weight, degree)

    def made_int(state: Any, weight: Any, degree: Any) -> Any:
        return whole(function(state, weight, degree))

    return made_int if number is int else made
