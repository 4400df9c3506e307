"""Collections with an index that is kept for its own sake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.plan import Node
from graphtide.dataflow.reader import Reader

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Arrangement"]


class Arrangement(Collection, Reader):
    """A collection whose index is there to be shared: new computations on it start from what it holds.

    It is a reader too: `close` lets the index go, unless something else reads it.
    """

    def __init__(self, flow: Dataflow, node: Node, index: Node, keep: int | None) -> None:
        Collection.__init__(self, flow, node)
        Reader.__init__(self, flow, f"index by {', '.join(index.schema.names)}", index, node.schema, keep)

    def __repr__(self) -> str:
        return f"<Arrangement {self.schema} by {', '.join(self.index.schema.names)}>"
