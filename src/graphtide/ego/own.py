"""Partial aggregates of a user's own making, as Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import Aggregate
from graphtide.ego.kernels.windows import CLOCK, NOTHING, enter_value, pop_due, replace_oldest
from graphtide.ego.partials import READ, WRITE, Batch, Frame, Partials
from graphtide.errors import CapacityError, SchemaError, UserFunctionError
from graphtide.rows import Type, decode_value
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown

__all__ = ["OwnObjects", "called", "column_of"]


class OwnObjects(Partials):
    """A state by node, as the user's functions make it.

    Invariant: a batch in which one of these functions fails leaves everything as it was.
    """

    def __init__(self, function: Aggregate, frame: Frame) -> None:
        super().__init__(frame)
        self.function = function
        self._empty = called(function, "initialize")
        self._written = 0  # writes of the batch that runs, or ran last
        self._before: dict[int, Any] = {}  # by node: its state before that batch, if it has another now
        self.states: list[Any] = [self._empty] * len(frame.nodes.heads)

    @property
    def nbytes(self) -> int:
        """Bytes of the references to states; what these take is not known."""
        return 8 * len(self.states)

    def check(self, codes: Codes, value_type: Type) -> None:
        """That is for the user's functions to say."""

    def run(self, batch: Batch) -> list[Any]:
        """A state for each read."""
        undo = self.frame.undo_of(batch)
        self._before = {}
        try:
            return self._run(batch)
        except UserFunctionError as error:
            for node, state in self._before.items():
                self.states[node] = state
            self.frame.contents.take_back(undo, self._written)
            if batch.reads < len(batch.kinds):
                error.add_hint("nothing of the call was applied")
            raise

    def _run(self, batch: Batch) -> list[Any]:
        frame, nodes = self.frame, self.frame.nodes
        arrays = frame.contents.arrays
        found: list[Any] = []
        self._written = 0
        for node, value, expiry, time, kind in zip(*_padded(batch), strict=True):
            if frame.contents.is_timed and time > arrays.marks[CLOCK]:
                arrays.marks[CLOCK] = time
                while (entry := int(pop_due(arrays, time))) != NOTHING:
                    self._renew_writer(int(arrays.writer[entry]))
            if kind == READ:
                nodes.count_read(node)
                found.append(self._state(node))
            elif kind == WRITE:
                writer = nodes.writer_number(node)
                if frame.contents.is_timed:
                    enter_value(arrays, writer, value, expiry)
                else:
                    replace_oldest(arrays.rings, arrays.most, writer, value)
                self._written += 1
                self._renew_writer(writer)
        return found

    def _renew_writer(self, writer: int) -> None:
        node = int(self.frame.node_of[writer])
        self._set(node, self._of_window(writer))

    def _set(self, node: int, state: Any) -> None:
        """Give a node another state, and all that stands on it."""
        before, self.states[node] = self.states[node], state
        self._before.setdefault(node, before)
        if before is not state and not _same(before, state):
            for target, sign in self.frame.nodes.targets_of(node):
                self._set(target, self._updated(target, sign, before, state))

    def _updated(self, target: int, sign: int, before: Any, after: Any) -> Any:
        """The state of a node, one of whose inputs has changed."""
        own, function = self.states[target], self.function
        if not function.subtracts:
            return self._of_inputs(target)
        if sign < 0:
            before, after = after, before
        return called(function, "merge", called(function, "subtract", own, before), after)

    def _of_window(self, writer: int) -> Any:
        frame, state = self.frame, self._empty
        for code in frame.contents.values_of(writer):
            assert frame.type is not None
            state = called(self.function, "update", state, decode_value(frame.type, frame.dictionary, code))
        return state

    def _of_inputs(self, node: int) -> Any:
        """What a node stands for; of inputs that pull, what they stand for."""
        state = self._empty
        signed = self.frame.nodes.inputs_of(node)
        # Wholes first: what is subtracted is part of them.
        for other, sign in sorted(signed, key=lambda each: -each[1]):
            state = called(self.function, "merge" if sign > 0 else "subtract", state, self._state(other))
        return state

    def _state(self, node: int) -> Any:
        return self.states[node] if self.frame.nodes.pushes(node) else self._of_inputs(node)

    def fill(self, order: Codes) -> None:
        """All states, from the windows."""
        for writer, node in enumerate(self.frame.node_of.tolist()):
            self.states[node] = self._of_window(writer)
        self.compute(order)

    def compute(self, nodes: Codes) -> None:
        """The states of nodes, from their inputs."""
        for node in nodes.tolist():
            self.states[node] = self._of_inputs(node)

    def clear(self, nodes: Codes) -> None:
        """The state of no values."""
        for node in nodes.tolist():
            self.states[node] = self._empty

    def grow(self) -> None:
        """New nodes have nothing."""
        self.states += [self._empty] * (len(self.frame.nodes.heads) - len(self.states))

    def column(self, found: list[Any]) -> pa.Array:
        """What `finalize` makes of states."""
        return column_of(self.values(found))

    def values(self, found: list[Any]) -> list[Any]:
        """What `finalize` makes of states."""
        return [called(self.function, "finalize", state) for state in found]

    def check_invariants(self) -> None:
        """States are what they would be if they were made anew."""
        push = np.flatnonzero(self.frame.nodes.push).tolist()
        kept = list(self.states)
        self.fill(self.frame.nodes.order())
        # Types may differ: an int less a float is a float, even if nothing is left.
        assert all(np.all(self.states[node] == kept[node]) for node in push)
        self.states = kept


def column_of(answers: list[Any]) -> pa.Array:
    """Answers of a user's aggregate as a column, if there is one that holds them."""
    try:
        return pa.array(answers)
    except OverflowError as error:
        hint = "read one vertex after the other, or let finalize give floats"
        raise CapacityError("an aggregate has an int that 64 bits do not hold", hint=hint) from error
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise SchemaError(
            f"no column holds what finalize of the aggregate gives, for example {shown(answers[0])}: {error}",
            hint="read one vertex after the other, or let finalize give values of one type: numbers, strings, lists of "
            "them, or dicts whose keys are strings",
        ) from error


def _padded(batch: Batch) -> tuple[list[int], ...]:
    """Columns of equal length: without windows of time there are no times."""
    none = [0] * len(batch.nodes)
    columns = (batch.nodes, batch.values, batch.expiries, batch.times, batch.kinds)
    return tuple(column.tolist() if len(column) else none for column in columns)


def _same(one: Any, other: Any) -> bool:
    """Whether states are equal, and of the same types: True is no 1 to those who ask."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.all(one == other))


def called(aggregate: Aggregate, role: str, *arguments: Any) -> Any:
    """What a function of an aggregate gives, or an error that says on what it failed."""
    function = getattr(aggregate, role)
    try:
        # Of a compiled function, what it was compiled from: its ints have no more than 64 bits.
        return getattr(function, "py_func", function)(*arguments)
    except Exception as error:
        told = ", ".join(repr(each) for each in arguments)
        raise UserFunctionError(
            f"{role} of {aggregate.shown} failed on ({told}): {type(error).__name__}: {error}"
        ) from error
