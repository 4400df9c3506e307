"""A query that is written once and asked often: its arguments are a collection, and so are its answers.

Invariant: after every commit there are answers to all arguments that are asked for, and to no others. Arguments are
asked for as often as they were asked less as often as they were withdrawn, which is never less than zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from graphtide.dataflow.branch import Branch
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.output import Output
from graphtide.errors import CatalogueError, UsageError
from graphtide.rows.tabular import Tabular

__all__ = ["Procedure"]


class Procedure(Tabular):
    """A part of a dataflow with an input for arguments and an output of answers, each with its arguments in front."""

    def __init__(
        self,
        branch: Branch,
        arguments: Mapping[str, object],
        body: Callable[[Collection], Collection],
        unregister: Callable[[], object],
    ) -> None:
        self.name = branch.name
        self._branch = branch
        self._unregister = unregister
        self._is_dropped = False
        try:
            self._asked = branch.checked_input("asked", **arguments)
            self._answers = branch.output("answers", self._checked(body(self._asked.distinct())))
        except BaseException:
            # The name stays free for another try.
            branch.drop()
            raise

    def __repr__(self) -> str:
        return f"<Procedure {self.name}{self._asked.schema} -> {self._answers.schema}>"

    def ask(self, rows: Any) -> None:
        """Have answers to these arguments from the next commit on, for as long as they are asked for."""
        self._check_open()
        self._asked.insert(rows)

    def withdraw(self, rows: Any) -> None:
        """Ask for these arguments once less; a commit refuses arguments that are not asked for."""
        self._check_open()
        self._asked.remove(rows)

    @property
    def output(self) -> Output:
        """The answers, for those who read codes or hold epochs."""
        self._check_open()
        return self._answers

    def answers(self) -> pa.Table:
        """All answers as of the last commit."""
        return self.output.table()

    def changes(self) -> pa.Table:
        """The answers that came and went with the last commit."""
        return self.output.changes()

    def on_change(self, callback: Callable[[pa.Table], None]) -> None:
        """Call back with the changes after every commit that has some."""
        self.output.on_change(callback)

    def drop(self) -> None:
        """Take the procedure out, and what was kept for it alone; its name is free again."""
        self._check_open()
        self._branch.drop()
        self._unregister()
        self._is_dropped = True

    def _checked(self, answers: object) -> Collection:
        if not isinstance(answers, Collection):
            raise UsageError(
                f'the body of "{self.name}" gives {answers!r}, not a collection',
                hint="return what it makes of the arguments, as in asked.join(graph.edges, on=...)",
            )
        return answers

    def _check_open(self) -> None:
        if self._is_dropped:
            raise CatalogueError(f'the procedure "{self.name}" was dropped', hint="install it again")

    def _as_table(self) -> pa.Table:
        return self.answers()
