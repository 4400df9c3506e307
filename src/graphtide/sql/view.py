"""Views: queries whose answers are kept up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.output import Output as FlowOutput
from graphtide.rows.tabular import Tabular, html_table
from graphtide.sql.decimals import decimals_out
from graphtide.sql.plan import Order, Plan
from graphtide.sql.types import SqlType

__all__ = ["View"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View(Tabular):
    """A query that stays answered: `table()` is its answer now, `changes()` what the last commit changed in it."""

    name: str
    text: str
    plan: Plan
    collection: Collection
    output: FlowOutput
    columns: tuple[str, ...]
    types: tuple[SqlType, ...]
    reads: frozenset[str]  # names of the tables and views that it is computed from
    order: tuple[Order, ...]

    def table(self) -> pa.Table:
        """The answer as of the last commit, in the order that the query asks for."""
        found = self.output.table()
        if self.order:
            found = found.take(self._sorted(found))
        return self._told(found)

    def changes(self) -> pa.Table:
        """What the last commit changed: the columns, the epoch, and by how much the row's count changed."""
        return self._told(self._added_up(self.output.changes()), with_changes=True)

    def rows(self) -> list[tuple[Any, ...]]:
        """The answer as Python tuples, in the order that the query asks for."""
        told = self.table()
        columns = [column.to_pylist() for column in told.columns]
        return list(zip(*columns, strict=True)) if columns else [()] * told.num_rows

    def __len__(self) -> int:
        return len(self.output)

    def _told(self, found: pa.Table, *, with_changes: bool = False) -> pa.Table:
        """The columns that the query selects, with decimals as such."""
        arrays: list[Any] = []
        fields: list[pa.Field] = []
        for i, (name, of) in enumerate(zip(self.columns, self.types, strict=True)):
            column = found.column(i)
            arrays.append(decimals_out(column, of.to_arrow()) if of.is_decimal else column)
            fields.append(pa.field(name, of.to_arrow(), nullable=found.schema.field(i).nullable))
        if with_changes:
            arrays += found.columns[-2:]
            fields += [found.schema.field(i) for i in range(found.num_columns - 2, found.num_columns)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _added_up(self, changes: pa.Table) -> pa.Table:
        """The changes without the columns that are there for the order alone; rows that differ in those cancel."""
        width, last = len(self.columns), changes.num_columns - 1
        if width == last - 1:
            return changes
        kept = changes.select([*range(width), last - 1, last])
        # By numbers: a column of the query may be called as those of the changes are.
        *keys, diff = map(str, range(kept.num_columns))
        numbered = kept.rename_columns([*keys, diff])
        summed = numbered.group_by(keys, use_threads=False).aggregate([(diff, "sum")])
        summed = summed.filter(pc.call_function("not_equal", [summed.column(len(keys)), pa.scalar(0)]))
        return summed.rename_columns(kept.column_names).cast(kept.schema)

    def _sorted(self, found: pa.Table) -> Any:
        """The places of the rows in order; each column may have its NULLs first or last."""
        columns: dict[str, Any] = {}
        keys: list[tuple[str, str]] = []
        for i, each in enumerate(self.order):
            column = found.column(each.column)
            columns[f"null {i}"] = column.is_null()
            columns[f"value {i}"] = column
            keys.append((f"null {i}", "descending" if each.nulls_first else "ascending"))
            if pa.types.is_floating(column.type) and each.is_descending:
                # Arrow puts NaN behind all numbers in either order, and it is the greatest.
                columns[f"nan {i}"] = pc.call_function("is_nan", [column])
                keys.append((f"nan {i}", "descending"))
            keys.append((f"value {i}", "descending" if each.is_descending else "ascending"))
        if not found.num_rows:
            return np.empty(0, np.int64)
        return pc.call_function("sort_indices", [pa.table(columns)], pc.SortOptions(keys))

    def _as_table(self) -> pa.Table:
        return self.table()

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} {of}" for name, of in zip(self.columns, self.types, strict=True))
        return f"<View {self.name} ({listed})>"

    def _repr_html_(self) -> str:
        told = self.table()
        return html_table(told, f"{self.name}: {told.num_rows} rows")
