"""The machine as Python drives it: its tables, and what it does when a kernel asks for help.

A run is all or nothing: if anything stops it, what it has done so far is undone and the machine is
as it was before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from graphtide.dataflow.kernels import layout, machine, upkeep
from graphtide.dataflow.plan import Codes, RowsOf
from graphtide.errors import CancelledRunError, CapacityError, GraphtideError
from graphtide.trace.heap import Heap

__all__ = ["Machine", "Transformer"]

# Takes all lines of a batch (data, times, diff) and gives those of the output.
Transformer = Callable[[Codes], Codes]

# Loop rounds between two looks at the world outside: often enough for Ctrl-C, too seldom to cost anything.
_ROUNDS_PER_LOOK: Final = 256


@dataclass(eq=False)
class Machine:
    """Operators, scopes and code over one heap, and the Python functions that they call."""

    heap: Heap = field(default_factory=Heap)
    operators: Codes = field(default_factory=lambda: np.zeros((64, layout.OPERATOR_FIELDS), np.int64))
    count: int = 1  # operator 0 is nobody: it owns what belongs to no operator, and puts out nothing
    scopes: Codes = field(default_factory=lambda: np.zeros((1, layout.SCOPE_FIELDS), np.int64))
    code: Codes = field(default_factory=lambda: np.array([[layout.END, 0]], np.int64))
    state: Codes = field(default_factory=lambda: np.zeros(layout.STATE_FIELDS, np.int64))
    transformers: dict[int, Transformer] = field(default_factory=dict[int, Transformer])
    functions: dict[int, RowsOf] = field(default_factory=dict[int, RowsOf])
    # What to raise when arithmetic fails in an operator, or a scope does not settle.
    failures: dict[int, Callable[[int], GraphtideError]] = field(
        default_factory=dict[int, Callable[[int], GraphtideError]]
    )
    unsettled: dict[int, Callable[[], GraphtideError]] = field(default_factory=dict[int, Callable[[], GraphtideError]])

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return sum(table.nbytes for table in (self.operators, self.scopes, self.code, self.state))

    def new_operator(self, kind: int) -> int:
        """A row for an operator, zero but for its kind."""
        if self.count == len(self.operators):
            grown = np.zeros((2 * self.count, layout.OPERATOR_FIELDS), np.int64)
            grown[: self.count] = self.operators
            self.operators = grown
        number = self.count
        self.operators[number, layout.KIND] = kind
        self.operators[number, layout.HELD] = layout.NOT_HELD
        self.count += 1
        return number

    def drop_operator(self, number: int) -> None:
        """Free what an operator holds; its row stays empty."""
        upkeep.drop_operator(self.heap.table, self.operators, number)
        self.heap.release(int(self.operators[number, layout.PARAMETERS]))
        self.operators[number] = 0
        self.transformers.pop(number, None)
        self.functions.pop(number, None)
        self.failures.pop(number, None)

    def set_port(self, number: int, slot: int) -> None:
        """Put a batch out at an operator; takes the caller's count of the slot."""
        self.heap.release(int(self.operators[number, layout.PORT]))
        self.operators[number, layout.PORT] = slot

    def port(self, number: int) -> Codes | None:
        """What an operator put out last, all lines; None if nothing."""
        slot = int(self.operators[number, layout.PORT])
        return None if slot == 0 else self.heap.get(slot)

    def run(self, lower: int, upper: int, check: Callable[[], None]) -> None:
        """Run all epochs from `lower` on and before `upper`, or undo what was done and raise.

        `check` looks at the result before it is final, and may raise too.
        """
        late = self.operators[:, layout.LATE].copy()
        self.state[:] = 0
        self.state[layout.LOWER] = lower
        self.state[layout.UPPER] = upper
        try:
            self._run()
            check()
        except BaseException as error:
            upkeep.undo(self.heap.table, self.operators, self.count, self.scopes, lower)
            self.operators[:, layout.LATE] = late
            if isinstance(error, MemoryError):
                raise CapacityError(str(error), hint="nothing of this run was committed") from error
            raise
        upkeep.advance_since(self.heap.table, self.operators, self.count, upper - 1)

    def cancel(self) -> None:
        """Stop the run in progress, from another thread, before its next round."""
        self.state[layout.CANCEL] = 1

    def _run(self) -> None:
        table, state = self.heap.table, self.state
        while True:
            state[layout.BUDGET] = _ROUNDS_PER_LOOK
            reason = machine.run(table, self.operators, self.scopes, self.code, state)
            if reason == layout.DONE:
                return
            where = int(state[layout.STOPPED_AT])
            if reason == layout.CALLED:
                self._call(where)
                state[layout.COUNTER] += 1
            elif reason == layout.EVALUATED:
                self._evaluate(where)
                machine.resume(table, self.operators, state)
                state[layout.COUNTER] += 1
            elif reason == layout.NOT_SETTLED:
                error = self.unsettled[where]()
                raise error
            elif reason == layout.ARITHMETIC:
                raise self.failures[where](int(state[layout.DETAIL]))
            elif reason == layout.CANCELLED:
                raise CancelledRunError("the run was cancelled", hint="nothing of it was committed; run again")

    def _call(self, number: int) -> None:
        source = self.port(int(self.operators[number, layout.INPUT]))
        assert source is not None, "a call is made only if there is something to call it with"
        lines = self.transformers[number](source)
        if lines.shape[1] > 0:
            depth = int(self.operators[number, layout.DEPTH])
            self.set_port(number, self.heap.put(lines, depth, number))
            self.operators[number, layout.EMITTED] += lines.shape[1]

    def _evaluate(self, number: int) -> None:
        """Apply the function of a reduction to the content of each visit, and leave the rows it wants."""
        scratch = self.operators[number, layout.SCRATCH : layout.SCRATCH + 2]
        visits = self.heap.get(int(scratch[0]))
        content = self.heap.get(int(scratch[1])).T.tolist()
        keys = int(self.operators[number, layout.KEYS])
        values = int(self.operators[number, layout.WIDTH]) - keys
        function = self.functions[number]
        wanted: list[list[int]] = []
        start = 0
        for v, (*key_and_time, count) in enumerate(visits.T.tolist()):
            rows = [(tuple(row[:-1]), row[-1]) for row in content[start : start + count] if row[-1] > 0]
            start += count
            counted: dict[tuple[int, ...], int] = {}
            for row in function(tuple(key_and_time[:keys]), rows) if rows else ():
                counted[row] = counted.get(row, 0) + 1
            wanted += [[*row, times] for row, times in sorted(counted.items())]
            visits[-1, v] = len(counted)
        depth = int(self.operators[number, layout.DEPTH])
        lines = np.array(wanted, np.int64).reshape(len(wanted), values + 1).T
        for place, batch, batch_depth in ((0, visits, depth), (1, lines, 0)):
            self.heap.release(int(scratch[place]))
            scratch[place] = self.heap.put(batch, batch_depth, number)
