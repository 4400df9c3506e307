"""Operators that come when their inputs already have a history.

An operator that reads an index finds the history there. One that reads differences as they pass has
missed them: it is given all of them at once, from an index of its input if there is one, or else
by making the input again from what it is made of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphtide.dataflow.expressions.functions import col
from graphtide.dataflow.plan import Concat, Consolidate, Import, Join, Linear, Node, Python, Reduce, Source, Weigh
from graphtide.errors import PlanError

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Latecomers"]


class Latecomers:
    """Finds the past for new nodes of a dataflow."""

    def __init__(self, flow: Dataflow) -> None:
        self._flow = flow
        # The stand-in of an installed node: the same collection, beginning with all that it is now.
        self._made: dict[Node, Node] = {}

    def settle(self, new: list[Node]) -> set[Node]:
        """Let new nodes read stand-ins of old ones; the nodes that must read a whole index at first."""
        self._made.clear()
        late: set[Node] = set()
        fresh = set(new)
        diverted: list[tuple[Node, tuple[Node, ...]]] = []
        for node in new:
            if isinstance(node.operation, Source) and self._flow.has_lost(node):
                raise _not_kept(node)
            old = [each for each in node.inputs if each not in fresh]
            if not old:
                continue
            if any(each.scope.depth > 1 for each in old):
                raise PlanError(
                    f'the loop "{node.home.name}" has run already, and cannot be added to',
                    hint="write all that it computes before the first commit, or make another loop",
                )
            if isinstance(node.operation, Reduce):
                # What it has put out must be kept from now on: the history that it follows from is new to it.
                node.operation = replace(node.operation, is_derivable=False)
                late.add(node)
            elif isinstance(node.operation, Join):
                if len(old) == len(node.inputs):
                    late.add(node)
            else:
                inputs = tuple(each if each in fresh else self._stand_in(each, late) for each in node.inputs)
                diverted.append((node, inputs))
        # Not before all stand-ins are found: if one cannot be made, nothing has changed.
        for node, inputs in diverted:
            self._flow.builder.divert(node, inputs)
        return late

    def _stand_in(self, node: Node, late: set[Node]) -> Node:
        if node not in self._made:
            self._made[node] = self._make(node, late)
        return self._made[node]

    def _make(self, node: Node, late: set[Node]) -> Node:
        builder = self._flow.builder
        indexes = [each for each in builder.indexes_of(node) if self._flow.is_installed(each)]
        if indexes:
            index = indexes[0]
            imported = builder.add(Node(Import(), (index,), node.scope, index.schema))
            late.add(imported)
            outputs = {name: col(name) for name in node.schema}
            return builder.add(Node(Linear(outputs), (imported,), node.scope, node.schema))
        match node.operation:
            case Linear() | Concat() | Consolidate() | Python() | Weigh():
                inputs = tuple(self._stand_in(each, late) for each in node.inputs)
                return builder.add(Node(node.operation, inputs, node.scope, node.schema))
            case Join() | Import():
                again = builder.add(Node(node.operation, node.inputs, node.scope, node.schema))
                late.add(again)
                return again
            case Reduce(keys, parameters, function, label):
                operation = Reduce(keys, parameters, function, label)
                again = builder.add(Node(operation, node.inputs, node.scope, node.schema))
                late.add(again)
                return again
            case _:
                raise _not_kept(node)


def _not_kept(node: Node) -> PlanError:
    return PlanError(
        f"what {node} held before now was not kept, so nothing new can be computed from it",
        hint="arrange() the collection, or make it an output, before the first commit",
    )
