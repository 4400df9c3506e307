"""Counts of distinct values and the most frequent values of a plan's nodes."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import BuiltIn, TopK
from graphtide.ego.kernels import histogram as kernels
from graphtide.ego.kernels import tables, tally
from graphtide.ego.lines import STATES, grown, lined_up
from graphtide.ego.partials import Batch, Frame, Partials
from graphtide.ego.ranks import decoded, ranks_of
from graphtide.rows import NULL, Type
from graphtide.rows.codes import Codes

__all__ = ["Histogram"]

_FEWEST = 64


class Histogram(Partials):
    """How often values are there, by node: see `kernels.histogram`."""

    def __init__(self, function: BuiltIn, frame: Frame) -> None:
        super().__init__(frame)
        self.function = function
        self._most = function.k if isinstance(function, TopK) else 0
        self.pool = np.zeros(tables.POOL, np.int64)
        tables.grow(self.pool, _FEWEST)
        weakref.finalize(self, tables.discard, self.pool)
        self.places = np.full(tables.CLASSES, -1, np.int64)
        self.places[-1] = 0
        self.tables = lined_up((len(frame.nodes.heads), tables.TABLE), np.int64, STATES)
        self.tally = np.zeros(tally.TALLY, np.int64)
        weakref.finalize(self, tally.discard_tally, self.tally)

    @property
    def nbytes(self) -> int:
        """Bytes of all tables, and of the tally that reads count in."""
        return 16 * int(self.pool[tables.CAPACITY]) + self.tables.nbytes + int(tally.bytes_of(self.tally))

    def check(self, codes: Codes, value_type: Type) -> None:
        """All values can be counted."""

    def run(self, batch: Batch) -> Codes:
        """The most frequent values and their counts, or how many values there are, in a row for each read."""
        frame, nodes = self.frame, self.frame.nodes
        found = np.zeros((batch.reads, 2 * self._most or 1), np.int64)
        found[:, : self._most] = NULL
        arrays = nodes.lists, frame.contents.arrays, frame.node_of
        own = self.pool, self.places, self.tables, self.tally, ranks_of(frame), self._most
        kernels.run(batch, *arrays, nodes.plain, *own, found.reshape(-1))
        return found

    def fill(self, order: Codes) -> None:
        """All tables, from the windows."""
        self.compute(order)

    def compute(self, nodes: Codes) -> None:
        """The tables of nodes, from their inputs."""
        own = self.frame.nodes
        arrays = own.heads, own.inputs, own.stack, self.frame.contents.arrays, own.plain
        kernels.compute(nodes, *arrays, self.pool, self.places, self.tables, self.tally)

    def clear(self, nodes: Codes) -> None:
        """Give the tables of nodes back."""
        for node in nodes.tolist():
            tables.clear(self.pool, self.places, self.tables, node)

    def grow(self) -> None:
        """New nodes have nothing."""
        size = len(self.frame.nodes.heads)
        if size > len(self.tables):
            self.tables = grown(self.tables, size)

    def column(self, found: Codes) -> pa.Array:
        """Numbers of values, or lists of values."""
        if self._most == 0:
            return pa.array(found[:, 0])
        values = found[:, : self._most]
        there = values != NULL
        offsets = np.zeros(len(found) + 1, np.int32)
        np.cumsum(there.sum(axis=1), out=offsets[1:])
        return pa.ListArray.from_arrays(pa.array(offsets), decoded(self.frame, values[there]))

    def values(self, found: Codes) -> list[Any]:
        """The same in Python."""
        return self.column(found).to_pylist()

    def check_invariants(self) -> None:
        """Tables are what they would be if they were made anew, and have no more than they say."""
        push = np.flatnonzero(self.frame.nodes.push)
        kept = [self._table(node) for node in push.tolist()]
        assert [len(table) for table in kept] == self.tables[push, tables.USED].tolist()
        self.fill(self.frame.nodes.order())
        assert [self._table(node) for node in push.tolist()] == kept

    def _table(self, node: int) -> dict[int, int]:
        start, bits, *_ = self.tables[node].tolist()
        pairs: Any = tables.pairs_of(self.pool)
        places = pairs.reshape(-1, 2)[start : start + (1 << bits if bits else 0)]
        return {value: count for value, count in places.tolist() if count}
