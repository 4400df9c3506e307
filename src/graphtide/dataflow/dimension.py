"""Dimensions: further axes of time beside the epoch, for computations over a grid of versions.

Rows come in at a coordinate of their own and leave with the coordinate at which they changed. Inside, a
collection at (epoch, coordinate) is the sum of its differences at or before both, so that a cell of
the grid shares work with all cells that it contains, whichever way they lie.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from graphtide.dataflow.builder import MOST_ROUNDS
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Operand, as_expression
from graphtide.dataflow.loop import Loop
from graphtide.dataflow.plan import LeaveAt, Node
from graphtide.errors import PlanError
from graphtide.rows import Schema

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Dimension"]


class Dimension:
    """The inside of a dimension; everything that is computed of what enters it is inside too.

    >>> import graphtide as gt
    >>> flow = gt.Dataflow()
    >>> papers = flow.input("papers", author=int, pages=int)
    >>> with flow.dimension("pages") as pages:
    ...     inside = pages.enter(papers.select("author", "pages"), at=gt.col("pages"))
    ...     counts = pages.leave(inside.group_by("author").count("papers"), at="up_to")
    >>> changes = counts.output("counts")
    >>> papers.insert([(1, 3), (1, 5)])
    >>> epoch = flow.commit()
    >>> sorted(tuple(row.values()) for row in changes.changes().to_pylist())
    [(1, 1, 3, 0, 1), (1, 1, 5, 0, -1), (1, 2, 5, 0, 1)]
    """

    def __init__(self, flow: Dataflow, name: str) -> None:
        self._flow = flow
        self._loop = Loop(flow, flow.builder.current, MOST_ROUNDS, name)

    def __enter__(self) -> Self:
        self._loop.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.__exit__(kind, error, trace)

    def enter(self, collection: Collection, *, at: Operand) -> Collection:
        """A collection inside: each row comes in at its own coordinate, a small int from 0 on.

        Collections that need no coordinate enter by themselves, and are there from coordinate 0 on.
        """
        return self._loop.enter(collection, priority=as_expression(at))

    def leave(self, collection: Collection, *, at: str) -> Collection:
        """The changes of a collection at every coordinate, which is the new last column."""
        scope, builder = self._loop.scope, self._flow.builder
        inside = builder.entered(collection.node, scope)
        if at in inside.schema:
            raise PlanError(f'there already is a column "{at}"', hint="give the coordinate another name")
        assert scope.parent is not None, "a dimension stands in a scope"
        schema = Schema({**dict(inside.schema.items()), at: int})
        return Collection(self._flow, builder.add(Node(LeaveAt(), (inside,), scope.parent, schema)))
