"""From nodes to the machine: which operators there are, in which order they run, and what they share.

Only what some reader can see is assembled. A node that comes when its inputs already have a history
reads it from an index: of the input itself, or of what the input is made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from graphtide.dataflow.expressions.compile import LinearPlan
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.kernels.calendar import new_calendar
from graphtide.dataflow.machine import Machine, Transformer
from graphtide.dataflow.plan import (
    Arrange,
    Codes,
    Comparison,
    Concat,
    Consolidate,
    Enter,
    EnterAt,
    Feedback,
    Import,
    Improve,
    Join,
    Leave,
    LeaveAt,
    Linear,
    Node,
    Python,
    Reduce,
    Scope,
    Source,
    Variable,
    Weigh,
)
from graphtide.dataflow.scope_tree import ScopeTree
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.spine import EAGER, EFFORT, IDLE, new_spine, set_since

__all__ = ["Assembly"]

_KINDS: Final = {
    Source: layout.SOURCE,
    Linear: layout.LINEAR,
    Concat: layout.CONCAT,
    Consolidate: layout.CONSOLIDATE,
    Enter: layout.ENTER,
    EnterAt: layout.ENTER_AT,
    Leave: layout.LEAVE,
    LeaveAt: layout.LEAVE_AT,
    Variable: layout.VARIABLE,
    Feedback: layout.FEEDBACK,
    Arrange: layout.ARRANGE,
    Join: layout.JOIN,
    Weigh: layout.WEIGH,
    Reduce: layout.REDUCE,
    Improve: layout.IMPROVE,
    Python: layout.CALL,
    Import: layout.IMPORT,
}

# Whether what is beyond a bound is above it, and whether it may be at it.
_SIDES: Final[dict[Comparison, tuple[bool, bool]]] = {
    ">": (True, False),
    ">=": (True, True),
    "<": (False, False),
    "<=": (False, True),
}


class Assembly:
    """The nodes that are installed in a machine, and where."""

    def __init__(self, machine: Machine, root: Scope) -> None:
        self.machine = machine
        self._root = root
        self._tree = ScopeTree(root, ())
        # The operators of each node, its output the last of them; a node may share another's.
        self.operators: dict[Node, list[int]] = {}
        self._plans: dict[Node, LinearPlan] = {}
        self._calendars: dict[Scope, int] = {}

    def output_of(self, node: Node) -> int:
        """The operator that puts out the node's collection."""
        return self.operators[node][-1]

    def spine_of(self, node: Node) -> int:
        """The slot of the spine that indexes the node's collection."""
        return int(self.machine.operators[self.output_of(node), layout.SPINE])

    def install(
        self, nodes: Iterable[Node], plans: dict[Node, LinearPlan], late: set[Node], effort: int, epoch: int
    ) -> None:
        """Add the nodes that are not there yet, inputs first, and write the code anew.

        The indexes among them can be read from `epoch` on.
        """
        self._plans.update(plans)
        new = [node for node in nodes if node not in self.operators]
        fused = self._fusions(new)
        for node in new:
            if node in fused.values():
                continue  # placed by the projection that it is fused with
            if node in fused:
                joined = fused[node]
                self._place(joined, late, effort, self._plans[node].projection)
                self.operators[node] = self.operators[joined]
            else:
                self._place(node, late, effort, None)
        for node in new:
            if node.is_index and epoch > 0:
                least = np.array([[epoch] + [0] * (node.scope.depth - 1)])
                set_since(self.machine.heap.table, self.spine_of(node), least)
            if isinstance(node.operation, Feedback):
                parameters = np.array([self.output_of(node.operation.variable)])
                self._set_parameters(self.output_of(node), parameters)
        self._set_efforts(effort)
        self._write_code()

    def remove(self, nodes: Iterable[Node]) -> None:
        """Drop nodes that nobody reads any more."""
        kept = {number for node, numbers in self.operators.items() if node not in nodes for number in numbers}
        for node in nodes:
            for number in self.operators.pop(node, ()):
                if number not in kept:
                    self.machine.drop_operator(number)
            self._plans.pop(node, None)
        self._write_code()

    def inputs_of(self, number: int) -> tuple[int, ...]:
        """The operators that an operator reads."""
        row = self.machine.operators[number]
        if row[layout.KIND] == layout.CONCAT:
            block = self.machine.heap.words(int(row[layout.PARAMETERS]))
            return tuple(block.tolist())
        return tuple(int(row[field]) for field in (layout.INPUT, layout.SECOND) if row[field])

    def readers_of(self, number: int) -> list[int]:
        """The operators that read an operator."""
        everyone = {each for numbers in self.operators.values() for each in numbers}
        return [each for each in sorted(everyone) if number in self.inputs_of(each)]

    def loops(self) -> Iterable[tuple[int, Scope]]:
        """The loops by their number in the machine."""
        return ((number, scope) for scope, number in self._tree.numbers.items() if scope.depth > 1)

    # -- operators

    def _set_efforts(self, effort: int) -> None:
        """Let an index idle while its rows are only read all together: such a reader does not feel more runs."""
        looked_up = {each for numbers in self.operators.values() for n in numbers for each in self.inputs_of(n)}
        for node in self.operators:
            if node.is_index:
                is_idle = isinstance(node.operation, Arrange) and self.output_of(node) not in looked_up
                spine = words(self.machine.heap.table, self.spine_of(node))
                spine[EFFORT] = IDLE if is_idle and effort < EAGER else effort

    def _fusions(self, new: list[Node]) -> dict[Node, Node]:
        """Projections that can be made while a join writes its output, each with its join."""
        readers: dict[Node, list[Node]] = {}
        for node in new:
            for each in node.inputs:
                readers.setdefault(each, []).append(node)
        return {
            reader[0]: node
            for node, reader in readers.items()
            if node not in self.operators
            and isinstance(node.operation, Join)
            and len(reader) == 1
            and (plan := self._plans.get(reader[0])) is not None
            and plan.projection is not None
            and isinstance(reader[0].operation, Linear)
            and reader[0].operation.sign == 1
        }

    def _place(self, node: Node, late: set[Node], effort: int, projection: tuple[int, ...] | None) -> None:
        operation = node.operation
        if isinstance(operation, Linear):
            self._place_linear(node, operation)
            return
        width = len(node.schema) if projection is None else len(projection)
        number = self._new_operator(node, _KINDS[type(operation)], width)
        self.operators[node] = [number]
        row = self.machine.operators[number]
        inputs = [self.output_of(each) for each in node.inputs]
        row[layout.INPUT] = inputs[0] if inputs else 0
        row[layout.LATE] = node in late
        match operation:
            case Concat():
                self._set_parameters(number, np.array(inputs))
            case Arrange(order):
                self._set_parameters(number, np.array(order, np.int64))
            case Join(keys, outputs, comparison):
                row[layout.SECOND] = inputs[1]
                row[layout.KEYS] = keys
                chosen = outputs if projection is None else [outputs[i] for i in projection]
                parameters = np.array(chosen, np.int64).reshape(-1)
                if comparison is not None:
                    row[layout.KIND] = layout.BEYOND
                    parameters = np.concatenate([np.array(_SIDES[comparison], np.int64), parameters])
                self._set_parameters(number, parameters)
            case Weigh(is_float):
                self._set_parameters(number, np.array([is_float], np.int64))
            case Reduce():
                self._place_reduce(node, operation, number)
            case Improve(order, is_least, has_rounds):
                row[layout.KEYS] = len(order) - 1
                self._set_parameters(number, np.array([is_least, has_rounds, *order], np.int64))
            case Python():
                self.machine.transformers[number] = node.extra["transformer"]
            case _:
                pass
        if "failure" in node.extra:
            self.machine.failures[number] = node.extra["failure"]
        if node.is_index:
            row = self.machine.operators[number]
            row[layout.SPINE] = new_spine(
                self.machine.heap.table, number, width + node.scope.depth + 1, node.scope.depth, effort
            )

    def _place_reduce(self, node: Node, operation: Reduce, number: int) -> None:
        row = self.machine.operators[number]
        row[layout.KEYS] = operation.keys
        if not node.is_index:
            row[layout.KIND] = layout.REDUCE_TOTAL
        self._set_parameters(number, np.array(operation.parameters, np.int64))
        if operation.function is not None:
            self.machine.functions[number] = operation.function

    def _place_linear(self, node: Node, operation: Linear) -> None:
        plan = self._plans[node]
        source = node.inputs[0]
        if plan.projection == tuple(range(len(source.schema))) and operation.sign == 1:
            self.operators[node] = self.operators[source]
            return
        numbers: list[int] = []
        place = self.output_of(source)
        width = len(source.schema)
        for call in plan.calls:
            width += 1
            number = self._new_operator(node, layout.CALL, width)
            self.machine.operators[number, layout.INPUT] = place
            self.machine.transformers[number] = _column_by(call.compute, call.columns, width - 1)
            numbers.append(number)
            place = number
        number = self._new_operator(node, layout.LINEAR, len(node.schema))
        self.machine.operators[number, layout.INPUT] = place
        self._set_parameters(number, np.concatenate([[operation.sign], plan.program]))
        self.machine.failures[number] = plan.failure
        self.operators[node] = [*numbers, number]

    def _new_operator(self, node: Node, kind: int, width: int) -> int:
        number = self.machine.new_operator(kind)
        row = self.machine.operators[number]
        row[layout.DEPTH] = node.scope.depth
        row[layout.WIDTH] = width
        return number

    def _set_parameters(self, number: int, values: Codes) -> None:
        self.machine.operators[number, layout.PARAMETERS] = self.machine.heap.block(values, number)

    # -- code

    def _write_code(self) -> None:
        """Scopes in preorder, and operators in topological order with their loops inside."""
        unused = {scope: self.machine.scopes[number, layout.UNUSED] for scope, number in self._tree.numbers.items()}
        self._tree = ScopeTree(self._root, self.operators)
        self._open_scopes(unused)
        code: list[tuple[int, int]] = []
        items = list(self._tree.in_order(self._root))
        placed: set[int] = set()
        for item, spent in zip(items, self._spent(items), strict=True):
            self._write_items([item], self._root, code, placed)
            # What is put out at first, or in a large batch, would stay as memory until the next run.
            code += [(layout.FREE, number) for number in spent]
        code.append((layout.END, 0))
        self.machine.code = np.array(code, np.int64)
        self._write_doors()

    def _open_scopes(self, unused: Mapping[Scope, int]) -> None:
        machine, numbers = self.machine, self._tree.numbers
        for row in machine.scopes:
            for slot in (row[layout.DOORS], row[layout.LEAVES]):
                machine.heap.release(int(slot))
        for scope in [scope for scope in self._calendars if scope not in numbers]:
            machine.heap.release(self._calendars.pop(scope))
        machine.scopes = np.zeros((len(numbers), layout.SCOPE_FIELDS), np.int64)
        for scope, number in numbers.items():
            if scope not in self._calendars and scope.depth > 1:
                self._calendars[scope] = new_calendar(machine.heap.table, 0, scope.depth)
            row = machine.scopes[number]
            row[layout.SCOPE_DEPTH] = scope.depth
            row[layout.CALENDAR] = self._calendars.get(scope, 0)
            row[layout.INNER_END] = self._tree.inner_end(scope)
            row[layout.MOST_ROUNDS] = scope.most_rounds
            row[layout.MONOTONE] = scope.is_monotone
            row[layout.UNUSED] = unused.get(scope, 0)

    def _spent(self, items: Sequence[Node | Scope]) -> list[list[int]]:
        """For each item of the root, the operators before it whose output is read by it for the last time.

        The output of an index is part of the index, and that of a loop is gathered over its rounds: they stay.
        """
        passing: set[int] = set()
        last: dict[int, int] = {}
        seen: set[int] = set()
        for place, item in enumerate(items):
            for node in self._tree.nodes_of(item):
                for number in self.operators[node]:
                    # A node that shares another's operator reads nothing by itself.
                    if number not in seen:
                        seen.add(number)
                        last.update(dict.fromkeys(self.inputs_of(number), place))
                        if isinstance(item, Node) and not self.machine.operators[number, layout.SPINE]:
                            passing.add(number)
        spent: list[list[int]] = [[] for _ in items]
        for number, place in last.items():
            if number in passing:
                spent[place].append(number)
        return spent

    def _write_items(
        self, items: Iterable[Node | Scope], scope: Scope, code: list[tuple[int, int]], placed: set[int]
    ) -> None:
        for item in items:
            if isinstance(item, Scope):
                number = self._tree.numbers[item]
                code.append((layout.HEAD, number))
                self.machine.scopes[number, layout.BODY] = len(code)
                self._write_items(self._tree.in_order(item), item, code, placed)
                code.append((layout.TAIL, number))
                self.machine.scopes[number, layout.EXIT] = len(code)
                continue
            for number in self.operators[item]:
                # A node that shares another's operator may stand outside of the loop that it runs in.
                if number not in placed:
                    placed.add(number)
                    code.append((layout.RUN, number))
                    self.machine.operators[number, layout.SCOPE] = self._tree.numbers[scope]

    def _write_doors(self) -> None:
        """What each scope looks at to know whether it has something to do, and where its results go."""
        numbers = self._tree.numbers
        doors: dict[Scope, set[int]] = {scope: set() for scope in numbers}
        leaves: dict[Scope, set[int]] = {scope: set() for scope in numbers}
        for node in self.operators:
            if isinstance(node.operation, Leave | LeaveAt):
                leaves[node.home].add(self.output_of(node))
                continue
            for source in node.inputs:
                for scope in node.scope.outward():
                    if scope is source.scope:
                        break
                    doors[scope].add(self.output_of(source))
        for scope, number in numbers.items():
            row = self.machine.scopes[number]
            row[layout.DOORS] = self.machine.heap.block(np.array(sorted(doors[scope]), np.int64))
            row[layout.LEAVES] = self.machine.heap.block(np.array(sorted(leaves[scope]), np.int64))


def _column_by(compute: Callable[..., Codes], columns: tuple[int, ...], width: int) -> Transformer:
    """What appends one computed column to `width` data columns."""

    def transformer(lines: Codes) -> Codes:
        column = compute(*(lines[c] for c in columns))
        return np.concatenate([lines[:width], column[None, :], lines[width:]])

    return transformer
