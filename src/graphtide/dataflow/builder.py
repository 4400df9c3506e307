"""Building the plan: what collections call when a user writes a computation.

It knows the nodes, the loop whose body is being written, and what can be shared: a second use of a
collection by the same key finds the index of the first, and a collection enters a loop once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import numpy as np

from graphtide.dataflow.expressions.compile import LinearPlan, compile_linear
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.plan import Arrange, Codes, Enter, Feedback, Linear, Node, Python, Reduce, Scope
from graphtide.dataflow.python_rows import failure
from graphtide.errors import CapacityError, DataError, PlanError
from graphtide.rows import Dictionary, Schema, decode_rows

__all__ = ["MOST_ROUNDS", "Builder"]

# Rounds of a loop without a limit of its own: all that a coordinate can count.
MOST_ROUNDS: Final = 1 << 31


class Builder:
    """The nodes of a dataflow, and the indexes and entrances that they share."""

    def __init__(self, name: str, dictionary: Dictionary, *, shares_indexes: bool = True) -> None:
        self.dictionary = dictionary
        self._shares_indexes = shares_indexes
        self.root = Scope(name)
        self.current = self.root  # the scope whose body is being written
        self.nodes: list[Node] = []
        self.plans: dict[Node, LinearPlan] = {}
        self.is_dirty = False  # whether something came since it was last installed
        self._indexes: dict[Node, list[Node]] = {}
        self._entered: dict[tuple[Node, Scope], Node] = {}

    def add(self, node: Node) -> Node:
        """Enter a node into the plan."""
        self.nodes.append(node)
        operation = node.operation
        if isinstance(operation, Linear):
            self.plans[node] = self.plan_linear(node.inputs[0].schema, operation)
        elif isinstance(operation, Python):
            node.extra["transformer"] = self._transformer(node, operation)
        elif isinstance(operation, Feedback):
            operation.variable.extra["feedback"] = node
        elif isinstance(operation, Reduce) and operation.parameters[0] == layout.TOTAL:
            label = operation.label
            node.extra["failure"] = lambda _detail: CapacityError(
                f"{label} does not fit into 64 bits", hint="cast the column to float"
            )
        self.is_dirty = True
        return node

    def plan_linear(self, schema: Schema, operation: Linear) -> LinearPlan:
        """What a linear operation comes to."""
        return compile_linear(schema, self.dictionary, operation.outputs, operation.where)

    def arranged(self, node: Node, keys: list[int]) -> Node:
        """An index of the node's collection that begins with the keys: one to share, or a new one."""
        if node.is_index and keys == list(range(len(keys))):
            return node
        for index in self._indexes.get(node, ()) if self._shares_indexes else ():
            if list(order_of(index)[: len(keys)]) == keys:
                return index
        order = (*keys, *(c for c in range(len(node.schema)) if c not in keys))
        schema = Schema((node.schema.names[c], node.schema.types[c]) for c in order)
        index = self.add(Node(Arrange(order), (node,), node.scope, schema))
        self._indexes.setdefault(node, []).append(index)
        return index

    def indexes_of(self, node: Node) -> list[Node]:
        """All indexes of a node's collection."""
        return ([node] if node.is_index else []) + self._indexes.get(node, [])

    def entered(self, node: Node, scope: Scope) -> Node:
        """The node's collection inside a scope: itself, or what enters it from outside."""
        if node.scope is scope:
            return node
        if node.scope not in scope.outward():
            raise PlanError(
                "a collection of a loop cannot be used outside of it",
                hint="return it from the loop's body, or use loop.leave(...)",
            )
        if (node, scope) not in self._entered:
            self._entered[node, scope] = self.add(Node(Enter(), (node,), scope, node.schema))
        return self._entered[node, scope]

    @contextmanager
    def inside(self, scope: Scope) -> Generator[None]:
        """While the body of a loop is written: loops made there stand inside it."""
        around, self.current = self.current, scope
        try:
            yield
        finally:
            self.current = around

    def live(self, kept: dict[Node, int]) -> set[Node]:
        """The nodes that what is kept depends on; feedback is alive with its variable."""
        live: set[Node] = set()
        pending = [*kept]
        while pending:
            node = pending.pop()
            if node not in live:
                live.add(node)
                pending.extend(node.inputs)
                if "feedback" in node.extra:
                    pending.append(node.extra["feedback"])
        return live

    def inputs_first(self, live: set[Node]) -> list[Node]:
        """The live nodes, each after its inputs."""
        ordered: dict[Node, None] = {}
        known = dict.fromkeys(self.nodes)
        for node in [*known, *(each for each in live if each not in known)]:
            stack = [node] if node in live else []
            while stack:
                missing = [each for each in stack[-1].inputs if each not in ordered]
                if missing:
                    stack.extend(missing)
                else:
                    ordered[stack.pop()] = None
        return list(ordered)

    def divert(self, node: Node, inputs: tuple[Node, ...]) -> None:
        """Let a node read other inputs than those it was made with, until it is forgotten."""
        node.extra.setdefault("inputs", node.inputs)
        node.inputs = inputs

    def revive(self, live: set[Node]) -> None:
        """Take back nodes that were forgotten, and are in use again since someone has kept them."""
        known = set(self.nodes)
        for node in self.inputs_first(live):
            if node not in known:
                self.add(node)

    def forget(self, gone: set[Node]) -> None:
        """Remove nodes that were dropped from the machine, so that they are not kept for nothing."""
        self.nodes = [node for node in self.nodes if node not in gone]
        for node in gone:
            node.inputs = node.extra.pop("inputs", node.inputs)
            self.plans.pop(node, None)
            self._indexes.pop(node, None)
        for node, indexes in list(self._indexes.items()):
            self._indexes[node] = [index for index in indexes if index not in gone]
        self._entered = {key: node for key, node in self._entered.items() if node not in gone}

    def _transformer(self, node: Node, operation: Python) -> Callable[[Codes], Codes]:
        width = len(node.inputs[0].schema)
        inspector = operation.inspector

        def transformer(lines: Codes) -> Codes:
            data, tail = np.ascontiguousarray(lines[:width]), lines[width:]
            if inspector is not None:
                rows = decode_rows(node.schema, self.dictionary, data)
                for row, (*time, diff) in zip(rows, tail.T.tolist(), strict=True):
                    try:
                        inspector(row, tuple(time), diff)
                    except DataError:
                        raise
                    except Exception as error:
                        raise failure(inspector, str(row), error) from error
                return lines
            result, origins = operation.transform(data)
            return np.concatenate([result, tail if origins is None else tail[:, origins]])

        return transformer


def order_of(index: Node) -> tuple[int, ...]:
    """The columns of the collection in the order of its index."""
    return index.operation.order if isinstance(index.operation, Arrange) else tuple(range(len(index.schema)))


def deepest(*nodes: Node) -> Scope:
    """The scope in which an operator on all the nodes stands."""
    scope = max((node.scope for node in nodes), key=lambda each: each.depth)
    for node in nodes:
        if node.scope not in scope.outward():
            if [*node.scope.outward()][-1] is not [*scope.outward()][-1]:
                raise PlanError(
                    "collections of two dataflows cannot be combined", hint="make them from inputs of one dataflow"
                )
            raise PlanError(
                "collections of two loops that are not inside one another cannot be combined",
                hint="return the collection from its loop first",
            )
    return scope
