"""Branches: parts of a dataflow that are installed while it runs, and dropped as a whole."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from graphtide.dataflow.arrangement import Arrangement
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.input import Input
from graphtide.dataflow.output import Output

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Branch"]


class Branch:
    """A dataflow beside another, on its clock and its indexes.

    Collections of the dataflow are used in it as they are: what they hold is read from their indexes, so
    a branch starts in milliseconds whatever their size. Dropping it leaves the rest as it was.
    """

    def __init__(self, flow: Dataflow, name: str) -> None:
        self._flow = flow
        self.name = name
        self._inputs: list[str] = []
        self._outputs: list[Output] = []
        self._indexes: list[Arrangement] = []

    def input(self, name: str, /, **columns: Any) -> Input:
        """An input of the branch's own, such as the arguments of a query."""
        full = f"{self.name}.{name}"
        made = self._flow.input(full, **columns)
        self._inputs.append(full)
        return made

    def checked_input(self, name: str, /, **columns: Any) -> Input:
        """As `input`, with an index, so that only rows can be taken away that are there."""
        full = f"{self.name}.{name}"
        made = self._flow.checked_input(full, **columns)
        self._inputs.append(full)
        self._indexes.append(made.arrange(*made.schema))
        return made

    def output(self, name: str, collection: Collection, *, keep: int | None = 1) -> Output:
        """A result of the branch."""
        made = collection.output(f"{self.name}.{name}", keep=keep)
        self._outputs.append(made)
        return made

    def drop(self) -> None:
        """Remove all that was made for this branch alone."""
        for each in (*self._outputs, *self._indexes):
            each.close()
        for name in self._inputs:
            self._flow.drop_input(name)
        self._outputs.clear()
        self._indexes.clear()
        self._inputs.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.drop()
