"""Reading an index from outside: as a whole, at an epoch, and how long an epoch stays readable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphtide.dataflow.builder import order_of
from graphtide.dataflow.plan import Codes, Node
from graphtide.errors import CompactedError, NegativeMultiplicityError, UsageError
from graphtide.rows import Schema, decode_rows, decode_table
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.exchange import load_changes
from graphtide.trace.kernels.lookup import count_held, look_up
from graphtide.trace.kernels.spine import snapshot

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Reader"]


class Reader:
    """A handle on an index: while it is open the index is kept, and with it the epochs that it asks for.

    The last `keep` epochs stay readable; None keeps all from now on. The index compacts what no
    reader can tell apart any more.
    """

    def __init__(self, flow: Dataflow, name: str, index: Node, schema: Schema, keep: int | None) -> None:
        if keep is not None and keep < 1:
            raise UsageError(f"a reader cannot keep {keep} epochs", hint="keep=1 keeps the last one, None keeps all")
        self._flow = flow
        self._keep = keep
        self._opened_at = flow.epoch
        self.name = name
        self.index = index
        self._schema = schema
        self._is_open = True
        flow.open_reader(self)

    @property
    def schema(self) -> Schema:
        """The names and types of the columns."""
        return self._schema

    def table(self) -> pa.Table:
        """The rows as of the last committed epoch, each as often as it is there."""
        return self.at(self._flow.epoch - 1)

    def at(self, epoch: int) -> pa.Table:
        """The rows as of an earlier epoch, each as often as it was there."""
        return decode_table(self.schema, self._flow.dictionary, self._rows_at(epoch))

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as of the last committed epoch, as Python tuples."""
        return decode_rows(self.schema, self._flow.dictionary, self._rows_at(self._flow.epoch - 1))

    def codes(self) -> Codes:
        """The rows as of the last committed epoch, as lines of codes."""
        return self._rows_at(self._flow.epoch - 1)

    def find(self, codes: Codes) -> Codes:
        """The rows, as lines of codes, that begin with given codes in the order of the index; others are not read."""
        return self._natural(self._looked_up(np.ascontiguousarray(codes), len(codes)))[: len(self.schema)]

    def find_counted(self, codes: Codes) -> Codes:
        """As `find`, each row once, with a further line that has its count."""
        lines = self._natural(self._looked_up(np.ascontiguousarray(codes), len(codes)))
        return np.delete(lines, len(self.schema), axis=0)

    def held_with(self, codes: Codes, diffs: Codes, keys: int) -> tuple[Codes, Codes, Codes, Codes]:
        """Changes of rows held against what is there, without reading the rest.

        Gives the changed rows, each once and in the order of the index, with the sum of its diffs; how often it is
        there; and how often rows are there whose first `keys` codes, in the order of the index, are its own.
        """
        flow, order = self._flow, list(order_of(self.index))
        heap = flow.machine.heap
        loaded = heap.put(np.concatenate([codes[order], np.zeros_like(codes[:1]), diffs[None]]), 1)
        sought = int(consolidate(heap.table, 0, loaded, np.arange(len(order))))
        heap.release(loaded)
        if sought == 0:
            return codes[:, :0], diffs[:0], diffs[:0], diffs[:0]
        lines = heap.get(sought)
        rows, groups = np.zeros((2, lines.shape[1]), np.int64)
        if flow.is_installed(self.index):
            count_held(heap.table, flow.assembly.spine_of(self.index), sought, keys, rows, groups)
        heap.release(sought)
        return self._natural(lines)[:-2], lines[-1], rows, groups

    def counts_of(self, codes: Codes) -> Codes:
        """How often each of the given rows is there: lines of codes, rows that differ."""
        flow, order = self._flow, list(order_of(self.index))
        counts, groups = np.zeros((2, codes.shape[1]), np.int64)
        if codes.shape[1] == 0 or not flow.is_installed(self.index):
            return counts
        rows = np.lexsort(codes[order[::-1]]) if codes.shape[1] > 1 else np.zeros(1, np.int64)
        heap = flow.machine.heap
        loaded = int(load_changes(heap.table, 0, np.ascontiguousarray(codes[order][:, rows]), 0, 1))
        sought = int(consolidate(heap.table, 0, loaded, np.arange(len(order))))
        heap.release(loaded)
        count_held(heap.table, flow.assembly.spine_of(self.index), sought, len(order), counts, groups)
        heap.release(sought)
        in_order = counts.copy()
        counts[rows] = in_order
        return counts

    @property
    def since(self) -> int:
        """The first epoch that can be read."""
        return self._flow.since_of(self.index) if self._flow.is_installed(self.index) else self._opened_at

    def held(self, sealed: int) -> int | None:
        """The first epoch to keep when those before `sealed` are committed; None if the last one is enough."""
        if self._keep is None:
            return self._opened_at
        return max(self._opened_at, sealed - self._keep) if self._keep > 1 else None

    def close(self) -> None:
        """Let go of the index; what nobody else reads is dropped."""
        if self._is_open:
            self._is_open = False
            self._flow.close_reader(self)

    def __len__(self) -> int:
        return self._rows_at(self._flow.epoch - 1).shape[1]

    def _rows_at(self, epoch: int) -> Codes:
        """Lines of the data columns, a row as often as it is there."""
        if epoch >= self._flow.epoch or epoch < -1:
            raise UsageError(
                f'"{self.name}" has no epoch {epoch}: the last committed one is {self._flow.epoch - 1}',
                hint="commit() first, or ask for an earlier epoch",
            )
        counted = self._counted(epoch)
        width = len(self.schema)
        times = counted[-1]
        if (times < 0).any():
            row, count = self._negative(counted), int(times[times < 0][0])
            raise NegativeMultiplicityError(
                f'"{self.name}" holds the row {row} {count} times at epoch {epoch}',
                hint="more copies were removed than there were; changes() shows all counts",
            )
        return counted[:width] if (times == 1).all() else np.repeat(counted[:width], times, axis=1)

    def _negative(self, counted: Codes) -> tuple[Any, ...] | None:
        """The first row that is there fewer than zero times."""
        below = np.ascontiguousarray(counted[: len(self.schema), counted[-1] < 0][:, :1])
        return decode_rows(self.schema, self._flow.dictionary, below)[0] if below.shape[1] else None

    def _looked_up(self, codes: Codes, keys: int) -> Codes:
        """The rows with given keys, which are sorted and differ."""
        flow = self._flow
        nothing = np.empty((len(self.schema) + 2, 0), np.int64)
        if codes.shape[1] == 0 or not flow.is_installed(self.index):
            return nothing
        heap = flow.machine.heap
        loaded = heap.put(np.concatenate([codes, np.zeros_like(codes[:1]), np.ones_like(codes[:1])]), 1)
        sought = int(consolidate(heap.table, 0, loaded, np.arange(keys)))
        heap.release(loaded)
        slot = look_up(heap.table, flow.assembly.spine_of(self.index), 0, sought, keys, flow.epoch - 1)
        heap.release(sought)
        if slot == 0:
            return nothing
        lines = heap.get(slot)
        heap.release(slot)
        return lines

    def _counted(self, epoch: int) -> Codes:
        """Lines of the data columns, the epoch and the counts."""
        flow = self._flow
        if not self._is_open:
            raise UsageError(f'"{self.name}" is closed', hint="make another output, or read before closing")
        if epoch < 0:
            return np.empty((len(self.schema) + 2, 0), np.int64)
        since = self.since
        if epoch < since == flow.epoch:
            raise UsageError(f'"{self.name}" is not computed yet: it begins with epoch {since}', hint="commit() first")
        if epoch < since:
            raise CompactedError(
                f'cannot read "{self.name}" at epoch {epoch}: history before epoch {since} has been compacted',
                hint=f"read at or after epoch {since}, or open the reader with keep=None",
            )
        heap = flow.machine.heap
        slot = int(snapshot(heap.table, flow.assembly.spine_of(self.index), 0, np.array([epoch])))
        if slot == 0:
            return np.empty((len(self.schema) + 2, 0), np.int64)
        lines = heap.get(slot)
        heap.release(slot)
        return self._natural(lines)

    def _natural(self, lines: Codes) -> Codes:
        """Lines in the order of the index, brought into that of the schema."""
        order = order_of(self.index)
        natural = np.empty_like(lines)
        natural[list(order)] = lines[:-2]
        natural[-2:] = lines[-2:]
        return natural
