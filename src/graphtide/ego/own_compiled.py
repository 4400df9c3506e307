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
from graphtide.functions import Pointer, State, compile_checked, overflowed, point_to_states, state_made_by
from graphtide.rows import Kind, Type
from graphtide.rows.codes import Codes

__all__ = ["CompiledAggregate", "OwnWords", "compile_aggregate"]

_NUMBERS: Final[dict[Kind, float]] = {Kind.INT: 0, Kind.FLOAT: 0.0, Kind.BOOL: 0}


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
            (column.view(np.float64) if isinstance(part, float) else column).tolist()
            for part, column in zip(parts, np.ascontiguousarray(words.T), strict=True)
        ]
        return list(zip(*columns, strict=True)) if isinstance(self.like, tuple) else columns[0]


# An aggregate that many plans share is compiled once.
@lru_cache(maxsize=256)
def compile_aggregate(function: Aggregate, value_type: Type) -> CompiledAggregate | None:
    """An aggregate of numbers, or None if it cannot be compiled for values of that type."""
    value = _NUMBERS.get(value_type.kind)
    like = _as_state(called(function.initialize))
    if value is None or like is None:
        return None
    try:
        update, merge = compile_checked(function.update), compile_checked(function.merge)
        subtract = None if function.subtract is None else compile_checked(function.subtract)
        wider = None
        while wider != like:  # a sum of floats may begin with an int
            like = like if wider is None else wider
            wider = state_made_by(update, (like, value), like)
            for each in (merge, subtract):
                wider = wider if each is None else state_made_by(each, (wider, wider), wider)
        pointers = [point_to_states(update, like, value), point_to_states(merge, like)]
        if subtract is not None:
            pointers.append(point_to_states(subtract, like))
    except UsageError:
        return None
    initial = _words(called(function.initialize), like)
    settings = np.zeros(kernels.SETTINGS, np.int64)
    settings[: len(pointers)] = [each.address for each in pointers]
    settings[kernels.WORDS] = len(initial)
    settings[kernels.IS_FLOAT] = value_type.kind is Kind.FLOAT
    return CompiledAggregate(function, like, settings, initial, tuple(pointers))


def _as_state(value: Any) -> State | None:
    """Zeros of the types of a state, if it is made of numbers."""
    parts: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
    if not parts or not all(isinstance(part, int | float) for part in parts):
        return None
    zeros = tuple(0.0 if isinstance(part, float) else 0 for part in parts)
    return zeros if isinstance(value, tuple) else zeros[0]


def _words(value: Any, like: State) -> Codes:
    parts: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
    kinds = like if isinstance(like, tuple) else (like,)
    return np.array(
        [
            np.float64(part).view(np.int64) if isinstance(kind, float) else int(part)
            for part, kind in zip(parts, kinds, strict=True)
        ],
        np.int64,
    )


class OwnWords(Partials):
    """A state of a few words by node: see `kernels.own`.

    Invariant: no int had more than 64 bits on its way to a state, unless `wrapped` says so.
    """

    def __init__(self, compiled: CompiledAggregate, frame: Frame) -> None:
        super().__init__(frame)
        self.compiled = compiled
        self.states = np.tile(compiled.initial, len(frame.nodes.heads))

    @property
    def nbytes(self) -> int:
        """Bytes of all states."""
        return self.states.nbytes

    def wrapped(self) -> bool:
        """Whether an int was too long since this was last asked: then states and what was read are wrong."""
        return overflowed()

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
        return [called(self.compiled.function.finalize, state) for state in self.compiled.states_of(found)]

    def check_invariants(self) -> None:
        """States are what they would be if they were made anew."""
        push = np.flatnonzero(self.frame.nodes.push)
        words = len(self.compiled.initial)
        kept = self.states.reshape(-1, words)[push].copy()
        self.fill(self.frame.nodes.order())
        assert (self.states.reshape(-1, words)[push] == kept).all()
