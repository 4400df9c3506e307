"""Least and greatest values of a plan's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import BuiltIn
from graphtide.ego.kernels import extremum as kernels
from graphtide.ego.kernels.nodes import FLAGS, READER
from graphtide.ego.lines import COUNTS, STATES, grown, lined_up
from graphtide.ego.partials import Batch, Frame, Partials
from graphtide.ego.ranks import decoded, ranks_of
from graphtide.rows import NULL, Type
from graphtide.rows.codes import Codes

__all__ = ["Extremum"]


class Extremum(Partials):
    """The code of a value by node, NULL if there is none: see `kernels.extremum`."""

    def __init__(self, function: BuiltIn, frame: Frame) -> None:
        super().__init__(frame)
        self._sign = 1 if function.name == "max" else -1
        self.states = lined_up((len(frame.nodes.heads),), np.int64, STATES, NULL)
        self.counts = lined_up((len(frame.nodes.heads),), np.int32, COUNTS)  # inputs that have the value of a node

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.states.nbytes + self.counts.nbytes

    def check(self, codes: Codes, value_type: Type) -> None:
        """All types have an order."""

    def run(self, batch: Batch) -> Codes:
        """A code for each read."""
        frame, nodes = self.frame, self.frame.nodes
        found = np.full((batch.reads, 1), NULL)
        arrays = nodes.lists, frame.contents.arrays, frame.node_of
        own = self.states, self.counts, not frame.overlapping
        kernels.run(batch, *arrays, *own, ranks_of(frame), self._sign, found.reshape(-1))
        return found

    def fill(self, order: Codes) -> None:
        """All values, from the windows."""
        frame = self.frame
        kernels.fill_writers(frame.contents.arrays, frame.node_of, self.states, ranks_of(frame), self._sign)
        self.compute(order)

    def compute(self, nodes: Codes) -> None:
        """The values of nodes, from their inputs."""
        own = self.frame.nodes
        states = self.states, self.counts
        kernels.compute(nodes, own.heads, own.inputs, *states, ranks_of(self.frame), self._sign)

    def clear(self, nodes: Codes) -> None:
        """There is no value."""
        self.states[nodes] = NULL
        self.counts[nodes] = 0

    def grow(self) -> None:
        """New nodes have nothing."""
        if len(self.frame.nodes.heads) > len(self.states):
            self.states = grown(self.states, len(self.frame.nodes.heads), NULL)
            self.counts = grown(self.counts, len(self.frame.nodes.heads))

    def column(self, found: Codes) -> pa.Array:
        """Values of the type that was written; nothing is null."""
        return decoded(self.frame, found[:, 0])

    def values(self, found: Codes) -> list[Any]:
        """The same in Python."""
        return self.column(found).to_pylist()

    def check_invariants(self) -> None:
        """Values are what they would be if they were made anew, and so is how many inputs have them.

        One that is lost is no less than the greatest.
        """
        nodes = self.frame.nodes
        push, order = np.flatnonzero(nodes.push), nodes.order()
        kept, counts = self.states.copy(), self.counts.copy()
        self.fill(order)
        lost = push[counts[push] == kernels.LOST]
        known = np.setdiff1d(push, lost)
        assert (self.states[known] == kept[known]).all()
        assert self.frame.overlapping or (self.counts[order] == counts[order])[counts[order] != kernels.LOST].all()
        is_reader = (nodes.heads[lost, FLAGS] & READER) != 0
        assert is_reader.all()
        for had, has in zip(kept[lost].tolist(), self.states[lost].tolist(), strict=True):
            assert self._rank(had) >= self._rank(has)
        self.states, self.counts = kept, counts

    def _rank(self, code: int) -> float:
        ranks = ranks_of(self.frame)
        if code == NULL:
            return -np.inf
        return self._sign * int(ranks[code] if len(ranks) else code)
