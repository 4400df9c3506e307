"""A query that is written once and asked often: its arguments are a collection, and so are its answers.

Invariant: after every commit there are answers to all arguments that are asked for, and to no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from graphtide.dataflow.branch import Branch
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.output import Output
from graphtide.rows.tabular import Tabular

__all__ = ["Procedure"]


class Procedure(Tabular):
    """A part of a dataflow with an input for arguments and an output of answers, each with its arguments in front."""

    def __init__(
        self, branch: Branch, arguments: Mapping[str, object], body: Callable[[Collection], Collection]
    ) -> None:
        self.name = branch.name
        self._branch = branch
        self._asked = branch.input("asked", **arguments)
        self._answers = branch.output("answers", body(self._asked.distinct()))

    def __repr__(self) -> str:
        return f"<Procedure {self.name}{self._asked.schema} -> {self._answers.schema}>"

    def ask(self, rows: Any) -> None:
        """Have answers to these arguments from the next commit on, for as long as they are asked for."""
        self._asked.insert(rows)

    def withdraw(self, rows: Any) -> None:
        """Ask for these arguments once less."""
        self._asked.remove(rows)

    @property
    def output(self) -> Output:
        """The answers, for those who read codes or hold epochs."""
        return self._answers

    def answers(self) -> pa.Table:
        """All answers as of the last commit."""
        return self._answers.table()

    def changes(self) -> pa.Table:
        """The answers that came and went with the last commit."""
        return self._answers.changes()

    def on_change(self, callback: Callable[[pa.Table], None]) -> None:
        """Call back with the changes after every commit that has some."""
        self._answers.on_change(callback)

    def drop(self) -> None:
        """Take the procedure out, and what was kept for it alone."""
        self._branch.drop()

    def _as_table(self) -> pa.Table:
        return self.answers()
