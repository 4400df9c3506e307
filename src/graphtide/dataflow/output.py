"""Outputs: collections that can be read from outside, as a whole, as changes, or at an epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphtide.dataflow.kernels import layout
from graphtide.dataflow.plan import Codes, Node
from graphtide.errors import CompactedError, NegativeMultiplicityError, UsageError
from graphtide.rows import Schema, decode_rows, decode_table
from graphtide.trace.kernels.spine import snapshot

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Output"]


class Output:
    """A named result: `table()` is what it is now, `changes()` what the last run changed.

    It keeps the last `keep` epochs readable by `at`; None keeps all.
    """

    def __init__(self, flow: Dataflow, name: str, node: Node, schema: Schema, keep: int | None) -> None:
        self._flow = flow
        self._node = node
        self._keep = keep
        self.name = name
        self.schema = schema
        self._callbacks: list[Callable[[pa.Table], None]] = []

    def table(self) -> pa.Table:
        """The rows as of the last committed epoch, each as often as it is there."""
        return self.at(self._flow.epoch - 1)

    def at(self, epoch: int) -> pa.Table:
        """The rows as of an earlier epoch, each as often as it was there."""
        return decode_table(self.schema, self._flow.dictionary, self._rows_at(epoch))

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as of the last committed epoch, as Python tuples."""
        return decode_rows(self.schema, self._flow.dictionary, self._rows_at(self._flow.epoch - 1))

    def changes(self) -> pa.Table:
        """What the last run changed: the columns, the epoch, and by how much the row's count changed."""
        return self._changes_table(self._last_changes())

    def on_change(self, callback: Callable[[pa.Table], None]) -> None:
        """Call back with the changes after every run that has some."""
        self._callbacks.append(callback)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not required
        """The rows as a pandas DataFrame."""
        return self.table().to_pandas()

    def to_polars(self) -> Any:  # noqa: ANN401 - Polars is not required
        """The rows as a Polars DataFrame."""
        import polars  # noqa: ICN001, PLC0415 - only where it is used

        return polars.from_arrow(self.table())

    def __len__(self) -> int:
        return self._rows_at(self._flow.epoch - 1).shape[1]

    def __repr__(self) -> str:
        return f"<Output {self.name} {self.schema}, epoch {self._flow.epoch - 1}>"

    def _repr_html_(self) -> str:
        table = self.table()
        head = table.slice(0, 20).to_pylist()
        cells = "".join(
            "<tr>" + "".join(f"<td>{_escaped(value)}</td>" for value in row.values()) + "</tr>" for row in head
        )
        names = "".join(f"<th>{_escaped(name)}</th>" for name in self.schema)
        return (
            f"<table><caption>{_escaped(self.name)}: {table.num_rows} rows</caption>"
            f"<thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
        )

    # -- for the dataflow

    @property
    def node(self) -> Node:
        """The index that it reads."""
        return self._node

    def hold(self) -> None:
        """Tell the index which epochs must stay readable after the run that is about to begin."""
        row = self._flow.machine.operators[self._flow.assembly.output_of(self._node)]
        if self._keep is None:
            row[layout.HELD] = min(int(row[layout.HELD]), 0)
        elif self._keep > 1:
            held = max(0, self._flow.sealed - self._keep)
            row[layout.HELD] = held

    def notify(self) -> None:
        """Call back if the last run changed anything."""
        if self._callbacks:
            lines = self._last_changes()
            if lines is not None:
                table = self._changes_table(lines)
                for callback in self._callbacks:
                    callback(table)

    def negative_row(self) -> tuple[Any, ...] | None:
        """A row of the last run whose count is now below zero."""
        lines = self._last_changes()
        if lines is None:
            return None
        counted = self._counted(self._flow.sealed - 1)
        below = counted[:, counted[-1] < 0]
        return decode_rows(self.schema, self._flow.dictionary, np.ascontiguousarray(below[:-2, :1]))[0] if below.size else None

    # -- inside

    def _last_changes(self) -> Codes | None:
        if self._node not in self._flow.assembly.operators:
            return None
        return self._flow.machine.port(self._flow.assembly.output_of(self._node))

    def _changes_table(self, lines: Codes | None) -> pa.Table:
        schema = self.schema
        width = len(schema)
        if lines is None:
            lines = np.empty((width + 2, 0), np.int64)
        table = decode_table(schema, self._flow.dictionary, lines[:width])
        table = table.append_column(pa.field("epoch", pa.int64(), nullable=False), pa.array(lines[width]))
        return table.append_column(pa.field("diff", pa.int64(), nullable=False), pa.array(lines[width + 1]))

    def _rows_at(self, epoch: int) -> Codes:
        counted = self._counted(epoch)
        width = len(self.schema)
        times = counted[-1]
        if (times < 0).any():
            row = decode_rows(self.schema, self._flow.dictionary, np.ascontiguousarray(counted[:width, times < 0][:, :1]))[0]
            raise NegativeMultiplicityError(
                f'output "{self.name}" holds the row {row} {int(times[times < 0][0])} times at epoch {epoch}',
                hint="more copies were removed than there were; changes() shows all counts",
            )
        return counted[:width] if (times == 1).all() else np.repeat(counted[:width], times, axis=1)

    def _counted(self, epoch: int) -> Codes:
        """Lines of the rows, the epoch and the counts."""
        empty = np.empty((len(self.schema) + 2, 0), np.int64)
        if self._node not in self._flow.assembly.operators:
            return empty
        if epoch >= self._flow.sealed or epoch < -1:
            raise UsageError(
                f'output "{self.name}" has no epoch {epoch}: the last committed one is {self._flow.epoch - 1}',
                hint="commit() first, or ask for an earlier epoch",
            )
        machine = self._flow.machine
        spine = self._flow.assembly.spine_of(self._node)
        since = self._flow.since_of(self._node)
        if epoch < since:
            raise CompactedError(
                f'cannot read output "{self.name}" at epoch {epoch}: history before epoch {since} has been compacted',
                hint=f"read at or after epoch {since}, or make the output with keep=None",
            )
        slot = int(snapshot(machine.heap.table, spine, 0, np.array([max(epoch, 0)])))
        if slot == 0:
            return empty
        lines = machine.heap.get(slot)
        machine.heap.release(slot)
        return lines


def _escaped(value: object) -> str:
    return str(value).replace("&", "&amp;").replace("<", "&lt;")
