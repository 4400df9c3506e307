"""Partial aggregates of a user's own making whose states are a few numbers, as machine code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import Aggregate
from graphtide.ego.kernels import own as kernels
from graphtide.ego.lines import grown
from graphtide.ego.own import called, column_of
from graphtide.ego.partials import Batch, Frame, Partials
from graphtide.errors import UsageError
from graphtide.functions import (
    Pointer,
    State,
    check_keeps_types,
    compile_faithful,
    doubted,
    point_to_states,
)
from graphtide.rows import Kind, Type
from graphtide.rows.codes import Codes

__all__ = ["CompiledAggregate", "OwnWords", "compile_aggregate"]

_NUMBERS: Final[dict[Kind, float]] = {Kind.INT: 0, Kind.FLOAT: 0.0, Kind.BOOL: False}
_LEAST_INT: Final = -(2**63)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledAggregate:
    """A user's aggregate as kernels call it."""

    function: Aggregate
    like: State  # a state of the right types
    settings: Codes
    initial: Codes
    pointers: tuple[Pointer, ...]  # kept, because kernels know only their addresses

    def states_of(self, words: Codes) -> list[Any]:
        """Rows of words as the user knows them."""
        parts = self.like if isinstance(self.like, tuple) else (self.like,)
        columns = [
            (column != 0 if isinstance(part, bool) else column.view(type(part))).tolist()
            for part, column in zip(parts, np.ascontiguousarray(words.T), strict=True)
        ]
        return list(zip(*columns, strict=True)) if isinstance(self.like, tuple) else columns[0]


# An aggregate that many plans share is compiled once.
@lru_cache(maxsize=256)
def compile_aggregate(function: Aggregate, value_type: Type) -> CompiledAggregate | None:
    """An aggregate of numbers, or None if compiled code might do other than Python on values of that type.

    All states must have the types that the first one has. One that begins with 0 and adds floats is none of these.
    """
    value = _NUMBERS.get(value_type.kind)
    initial = called(function, "initialize")
    like = _as_state(initial)
    if value is None or like is None:
        return None
    try:
        update, merge = compile_faithful(function.update), compile_faithful(function.merge)
        check_keeps_types(update, (like, value), like)
        check_keeps_types(merge, (like, like), like)
        pointers = [point_to_states(update, like, value), point_to_states(merge, like)]
        if function.subtract is not None:
            subtract = compile_faithful(function.subtract)
            check_keeps_types(subtract, (like, like), like)
            pointers.append(point_to_states(subtract, like))
    except UsageError:
        return None
    settings = np.zeros(kernels.SETTINGS, np.int64)
    settings[: len(pointers)] = [each.address for each in pointers]
    words = _words(initial)
    settings[kernels.WORDS] = len(words)
    settings[kernels.IS_FLOAT] = value_type.kind is Kind.FLOAT
    return CompiledAggregate(function, like, settings, words, tuple(pointers))


def _as_state(value: Any) -> State | None:
    """Zeros of the types of a state, if it is made of numbers of 64 bits."""
    parts: tuple[Any, ...] = value if type(value) is tuple else (value,)
    if not parts or not all(type(part) in {bool, int, float} for part in parts):
        return None
    if not all(isinstance(part, float) or _LEAST_INT <= part < -_LEAST_INT for part in parts):
        return None
    zeros = tuple(type(part)(0) for part in parts)
    return zeros if isinstance(value, tuple) else zeros[0]


def _words(state: Any) -> Codes:
    parts: tuple[Any, ...] = state if isinstance(state, tuple) else (state,)
    return np.array(
        [np.float64(part).view(np.int64) if isinstance(part, float) else int(part) for part in parts], np.int64
    )


class OwnWords(Partials):
    """A state of a few words by node: see `kernels.own`.

    Invariant: states are what Python's functions would make of them, in value and type, unless `in_doubt` says so.
    """

    def __init__(self, compiled: CompiledAggregate, frame: Frame) -> None:
        super().__init__(frame)
        self.compiled = compiled
        self.states = np.tile(compiled.initial, len(frame.nodes.heads))

    @property
    def nbytes(self) -> int:
        """Bytes of all states."""
        return self.states.nbytes

    def in_doubt(self) -> bool:
        """Whether Python would have raised or done otherwise since this was last asked: then states are wrong."""
        return doubted()

    def check(self, codes: Codes, value_type: Type) -> None:
        """All numbers will do."""

    def run(self, batch: Batch) -> Codes:
        """Words of a state, a row for each read."""
        frame, nodes = self.frame, self.frame.nodes
        found = np.empty((batch.reads, len(self.compiled.initial)), np.int64)
        arrays = nodes.heads, nodes.inputs, nodes.targets, frame.contents.arrays, frame.node_of
        kernels.run(*batch, *arrays, self.states, self.compiled.settings, self.compiled.initial, found)
        return found

    def fill(self, order: Codes) -> None:
        """All states, from the windows."""
        frame, own = self.frame, self.compiled
        kernels.fill_writers(frame.contents.arrays, frame.node_of, self.states, own.settings, own.initial)
        self.compute(order)

    def compute(self, nodes: Codes) -> None:
        """The states of nodes, from their inputs."""
        lists, own = self.frame.nodes, self.compiled
        kernels.compute(nodes, lists.heads, lists.inputs, self.states, own.settings, own.initial)

    def clear(self, nodes: Codes) -> None:
        """The state of no values."""
        self.states.reshape(-1, len(self.compiled.initial))[nodes] = self.compiled.initial

    def grow(self) -> None:
        """New nodes have nothing."""
        words = len(self.compiled.initial)
        size = words * len(self.frame.nodes.heads)
        if size > len(self.states):
            self.states = grown(self.states, size)

    def column(self, found: Codes) -> pa.Array:
        """What `finalize` makes of states."""
        return column_of(self.values(found))

    def values(self, found: Codes) -> list[Any]:
        """What `finalize` makes of states."""
        return [called(self.compiled.function, "finalize", state) for state in self.compiled.states_of(found)]

    def check_invariants(self) -> None:
        """States are what they would be if they were made anew."""
        push = np.flatnonzero(self.frame.nodes.push)
        words = len(self.compiled.initial)
        kept = self.states.reshape(-1, words)[push].copy()
        self.fill(self.frame.nodes.order())
        assert (self.states.reshape(-1, words)[push] == kept).all()
