"""Collections that only grow, and loops on them whose best values need no rounds.

A collection *grows* if a row that is there at a time is there at all later ones. In a loop that gives each key its
least (or greatest) value, and where nothing but grows comes in, a value that was found stays one of those that the
least is taken of. So the loop need not be exact in each round, and what is overtaken need not be taken back: it is
enough that worse values lead to nothing better. Then `min` in the loop becomes `Improve`, whose rows only come, and the
least is taken of what leaves the loop.

Worse values lead to nothing better if a value is only passed on as it is, or with something added to it that does not
depend on it, and no condition or join looks at it. `improve` finds that in the plan, and changes nothing otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from graphtide.dataflow.builder import Builder
from graphtide.dataflow.expressions.expression import Apply, Column, Expression
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.plan import (
    Arrange,
    Concat,
    Consolidate,
    Enter,
    EnterAt,
    Import,
    Improve,
    Join,
    Linear,
    Node,
    Operation,
    Python,
    Reduce,
    Scope,
    Source,
)
from graphtide.rows import Kind

__all__ = ["best", "improve"]


def improve(result: Node, variable: Node, initial: Node | None) -> bool:
    """Let the best value of each key in a loop be found without rounds, if it can be; whether it can.

    `result` is what the variable becomes; `initial`, if any, what it begins as.
    """
    operation = result.operation
    if not isinstance(operation, Reduce) or operation.parameters not in {(layout.FIRST, 1), (layout.LAST, 1)}:
        return False
    index = result.inputs[0]
    if not isinstance(index.operation, Arrange) or len(index.schema) != operation.keys + 1:
        return False
    values = _Values(variable, result.scope, operation.keys).of(index)
    if values is None or any(values[:-1]) or not (initial is None or _has(index.inputs[0], initial)):
        return False
    is_least = operation.parameters[0] == layout.FIRST
    result.operation = Improve(index.operation.order, is_least, has_rounds=True, label=operation.label)
    result.inputs = index.inputs
    return True


def best(builder: Builder, result: Node, left: Node) -> Node:
    """The best value of each key among what has left a loop that `improve` has changed."""
    operation = result.operation
    assert isinstance(operation, Improve), "its result was changed"
    order = tuple(range(len(left.schema)))
    # What was overtaken within the loop is not kept outside.
    better = builder.add(Node(replace(operation, order=order, has_rounds=False), (left,), left.scope, left.schema))
    what = Reduce(len(order) - 1, (layout.FIRST if operation.is_least else layout.LAST, 1), label=operation.label)
    return builder.add(Node(what, (better,), left.scope, left.schema))


class _Values:
    """Which columns of the nodes in a loop are made of the value that its variable has in its last column."""

    def __init__(self, variable: Node, scope: Scope, keys: int) -> None:
        self._scope = scope
        self._found: dict[Node, list[bool] | None] = {variable: [False] * keys + [True]}
        self._growing: dict[Node, bool] = {}

    def of(self, node: Node) -> list[bool] | None:
        """One for each column; None if worse values might lead to better ones, or something does not grow."""
        if node not in self._found:
            self._found[node] = self._find(node)
        return self._found[node]

    def _find(self, node: Node) -> list[bool] | None:
        if node.scope is not self._scope or isinstance(node.operation, Enter | EnterAt):
            return [False] * len(node.schema) if _grows(node, self._growing) else None
        inputs = [self.of(each) for each in node.inputs]
        known = [each for each in inputs if each is not None]
        if len(known) < len(inputs) or not known:
            return None
        match node.operation:
            case Linear(outputs, where, sign):
                names = node.inputs[0].schema.names
                values = {name for name, is_value in zip(names, known[0], strict=True) if is_value}
                if sign < 0 or (where is not None and where.columns() & values):
                    return None
                passed = [_passes(expression, values, node.schema[name].kind) for name, expression in outputs.items()]
                return None if None in passed else [bool(each) for each in passed]
            case Concat() | Consolidate():
                return [any(columns) for columns in zip(*known, strict=True)]
            case Arrange(order):
                return [known[0][c] for c in order]
            case Join(keys, outputs, None):
                return None if any(any(each[:keys]) for each in known) else [known[side][c] for side, c in outputs]
            case _:
                return None


def _grows(node: Node, known: dict[Node, bool]) -> bool:
    """Whether a collection is known to grow; `known` holds what was found of nodes that many read."""
    if node not in known:
        known[node] = _passes_growth(node.operation) and all(_grows(each, known) for each in node.inputs)
    return known[node]


def _passes_growth(operation: Operation) -> bool:
    """Whether what an operation makes of collections that grow grows as well."""
    match operation:
        case Source(grows):
            return grows
        case Linear(sign=sign):
            return sign > 0
        case Reduce(parameters=parameters):
            return parameters[0] == layout.THRESHOLD
        case Concat() | Consolidate() | Enter() | EnterAt() | Arrange() | Join() | Import() | Python():
            return True
        case _:
            return False


def _passes(expression: Expression, values: set[str], kind: Kind) -> bool | None:
    """Whether an expression is a value, perhaps with something added; None if it looks at one in another way."""
    if not expression.columns() & values:
        return False
    if isinstance(expression, Column):
        return True
    # Floats are left out: with infinities of both signs a sum is not in order.
    if isinstance(expression, Apply) and expression.operation == "+" and kind is Kind.INT:
        parts = [_passes(part, values, kind) for part in expression.parts]
        return True if sorted(parts, key=bool) == [False, True] and None not in parts else None
    return None


def _has(node: Node, sought: Node) -> bool:
    """Whether all rows of a node are among those of another, column by column."""
    if node is sought:
        return True
    match node.operation:
        case Concat():
            return any(_has(each, sought) for each in node.inputs)
        case Linear(outputs, None, 1):
            names = node.inputs[0].schema.names
            same = [isinstance(e, Column) and e.name == name for e, name in zip(outputs.values(), names, strict=False)]
            return len(outputs) == len(names) and all(same) and _has(node.inputs[0], sought)
        case _:
            return False
