"""Outputs: named results that can be read as a whole, at an epoch, or as the changes of the last run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.dataflow.plan import Codes
from graphtide.dataflow.reader import Reader
from graphtide.rows import decode_table
from graphtide.rows.tabular import Tabular, html_table

__all__ = ["Output"]


class Output(Reader, Tabular):
    """A named result: `table()` is what it is now, `changes()` what the last run changed."""

    # What epochs of the last run changed that went through the machine before its last ones.
    _earlier: Sequence[Codes] = ()

    def changes(self) -> pa.Table:
        """What the last run changed: the columns, the epoch, and by how much the row's count changed."""
        lines = self.change_codes()
        width = len(self.schema)
        table = decode_table(self.schema, self._flow.dictionary, lines[:width])
        table = table.append_column(pa.field("epoch", pa.int64(), nullable=False), pa.array(lines[width]))
        return table.append_column(pa.field("diff", pa.int64(), nullable=False), pa.array(lines[width + 1]))

    def change_codes(self) -> Codes:
        """What the last run changed, as lines of codes of the columns, the epoch and the diff."""
        lines = self._last_changes()
        return np.empty((len(self.schema) + 2, 0), np.int64) if lines is None else lines

    def on_change(self, callback: Callable[[pa.Table], None]) -> None:
        """Call back with the changes after every run that has some."""
        self._flow.subscribe(self, callback)

    @property
    def has_changes(self) -> bool:
        """Whether the last run changed anything."""
        return self._last_changes() is not None

    def negative_row(self, epoch: int) -> tuple[Any, ...] | None:
        """A row that is there fewer than zero times."""
        return self._negative(self._counted(epoch)) if self.has_changes else None

    def begin_run(self) -> None:
        """Forget what the run before changed."""
        self._earlier = ()

    def set_aside(self) -> None:
        """Keep what the last epochs changed: more of this run follow."""
        last = self._put_out()
        if last is not None:
            self._earlier = [*self._earlier, last]

    def _last_changes(self) -> Codes | None:
        last = self._put_out()
        if not self._earlier:
            return last
        return np.concatenate([*self._earlier] if last is None else [*self._earlier, last], axis=1)

    def _put_out(self) -> Codes | None:
        flow = self._flow
        return flow.machine.port(flow.assembly.output_of(self.index)) if flow.is_installed(self.index) else None

    def __repr__(self) -> str:
        return f"<Output {self.name} {self.schema}, epoch {self._flow.epoch - 1}>"

    def _repr_html_(self) -> str:
        table = self.table()
        return html_table(table, f"{self.name}: {table.num_rows} rows")

    def _as_table(self) -> pa.Table:
        return self.table()
