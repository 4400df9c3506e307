"""A relation as users read it: what it holds, and what the last commit changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from graphtide.rows import Schema
from graphtide.rows.tabular import Tabular, html_table

if TYPE_CHECKING:
    from graphtide.datalog.rules import Datalog

__all__ = ["DatalogRelation"]


class DatalogRelation(Tabular):
    """The facts of a relation, inserted or derived; it is followed from the first time that it is asked for."""

    def __init__(self, rules: Datalog, name: str) -> None:
        self._rules = rules
        self.name = name

    @property
    def schema(self) -> Schema:
        """The names and types of the columns."""
        return self._rules.schema(self.name)

    def table(self) -> pa.Table:
        """The facts as of the last commit."""
        names = list(self.schema)
        # A relation without columns has one inside, which nobody asked for.
        return self._rules.read(self.name).select(list(range(len(names)))).rename_columns(names)

    def rows(self) -> list[tuple[Any, ...]]:
        """The facts as of the last commit, as Python tuples."""
        return list(zip(*self.table().to_pydict().values(), strict=True)) if len(self.schema) else [()] * len(self)

    def changes(self) -> pa.Table:
        """What the last commit changed: the columns, and 1 for a fact that came, -1 for one that went."""
        table = self._rules.read_changes(self.name)
        names = list(self.schema)
        return table.select([*range(len(names)), table.num_columns - 1]).rename_columns([*names, "diff"])

    def __len__(self) -> int:
        return self._rules.read(self.name).num_rows

    def __contains__(self, fact: object) -> bool:
        return self._rules.holds(self.name, fact)

    def __repr__(self) -> str:
        return f"<DatalogRelation {self.name}{self.schema}>"

    def _repr_html_(self) -> str:
        table = self.table()
        return html_table(table, f"{self.name}: {table.num_rows} facts")

    def _as_table(self) -> pa.Table:
        return self.table()
