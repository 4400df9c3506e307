"""The plan of a dataflow: what the user wrote, as nodes in scopes.

A node says what an operator does, not how or where; `assembly` turns live nodes into the rows of the
machine's tables. Nodes are made in an order in which inputs come first, feedback excepted.

Invariant: a node's inputs stand in its own scope, except where its kind crosses a border: Enter and
Leave, and the arrangements that Join reads from outside its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.expressions.expression import Expression
from graphtide.rows import Schema

__all__ = [
    "Arrange",
    "Codes",
    "Comparison",
    "Concat",
    "Consolidate",
    "Enter",
    "EnterAt",
    "Feedback",
    "Import",
    "Improve",
    "Join",
    "Leave",
    "LeaveAt",
    "Linear",
    "Node",
    "Operation",
    "Python",
    "Reduce",
    "RowsOf",
    "Scope",
    "Source",
    "Transform",
    "Variable",
    "Weigh",
]

Codes: TypeAlias = NDArray[np.int64]
# How a row compares with the bounds that it is beyond.
Comparison: TypeAlias = Literal[">", ">=", "<", "<="]

# Takes the lines of data codes; gives those of the result and, if rows came or went, the row each is from.
Transform: TypeAlias = Callable[[Codes], tuple[Codes, Codes | None]]
# Takes a key and its rows with their multiplicities, all as codes; gives rows of codes.
RowsOf: TypeAlias = Callable[[tuple[int, ...], list[tuple[tuple[int, ...], int]]], list[tuple[int, ...]]]


@dataclass(eq=False, slots=True)
class Scope:
    """The outermost scope, or the inside of a loop."""

    name: str
    parent: Scope | None = None
    most_rounds: int = 0
    # Whether more of what comes in never gives less, so that a row may stay in the round in which it came.
    is_monotone: bool = False
    depth: int = field(init=False)  # time coordinates inside

    def __post_init__(self) -> None:
        self.depth = 1 if self.parent is None else self.parent.depth + 1

    def outward(self) -> Iterator[Scope]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(frozen=True, slots=True)
class Source:
    """Differences that the user stages: insertions alone if it grows, no row fewer than zero times if it is checked."""

    grows: bool = False
    is_checked: bool = False


@dataclass(frozen=True, slots=True)
class Linear:
    """Each row to at most one row, its diff kept or negated."""

    outputs: Mapping[str, Expression]
    where: Expression | None = None
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Concat:
    """All differences of all inputs."""


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Equal rows added up within each activation."""


@dataclass(frozen=True, slots=True)
class Enter:
    """A collection from outside, in the first round of the loop."""


@dataclass(frozen=True, slots=True)
class EnterAt:
    """A collection from outside; the last column, which stays outside, says when each row comes in."""


@dataclass(frozen=True, slots=True)
class Leave:
    """What a collection of the loop adds up to when the loop has settled."""


@dataclass(frozen=True, slots=True)
class LeaveAt:
    """All differences of a collection of a dimension; the new last column says at which coordinate each is."""


@dataclass(frozen=True, slots=True)
class Variable:
    """What feedback brings from the round before."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Differences for a variable in the next round."""

    variable: Node


@dataclass(frozen=True, slots=True)
class Arrange:
    """An index: columns in an order that puts the key first."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows with equal keys; both inputs are indexes, outputs are (side, column there).

    With a comparison, the left column behind the key must also be beyond the right one, and outputs are of the left.
    """

    keys: int
    outputs: tuple[tuple[int, int], ...]
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Weigh:
    """A number in the last column to weights that add up."""

    is_float: bool


@dataclass(frozen=True, slots=True)
class Reduce:
    """What each key's rows come to; the input is an index by the key, the output is one too."""

    keys: int
    parameters: tuple[int, ...]
    function: RowsOf | None = None
    label: str = "reduce"
    # The output follows from the input: outside of loops it need not be kept.
    is_derivable: bool = False


@dataclass(frozen=True, slots=True)
class Improve:
    """The rows of each key that are better than all before them, where nothing is ever taken back.

    The input is no index: `order` puts its key first and then the value. The output is one. In a loop rounds do not
    count as before and after.
    """

    order: tuple[int, ...]
    is_least: bool
    has_rounds: bool
    label: str = "improve"


@dataclass(frozen=True, slots=True)
class Python:
    """Batches through Python; an inspector sees (row, time, diff) and changes nothing."""

    transform: Transform
    label: str
    inspector: Callable[[tuple[Any, ...], tuple[int, ...], int], None] | None = None


@dataclass(frozen=True, slots=True)
class Import:
    """All of an existing index, then what comes to it."""


Operation: TypeAlias = (
    Source
    | Linear
    | Concat
    | Consolidate
    | Enter
    | EnterAt
    | Leave
    | LeaveAt
    | Variable
    | Feedback
    | Arrange
    | Join
    | Weigh
    | Reduce
    | Improve
    | Python
    | Import
)


@dataclass(eq=False, slots=True)
class Node:
    """One operation on collections; `scope` is where its output lives."""

    operation: Operation
    inputs: tuple[Node, ...]
    scope: Scope
    schema: Schema
    name: str = ""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def home(self) -> Scope:
        """The scope in whose rounds the operator runs: one that leaves runs inside the loop it leaves."""
        return self.inputs[0].scope if isinstance(self.operation, Leave | LeaveAt) else self.scope

    @property
    def is_index(self) -> bool:
        """Whether it keeps an arrangement of its output."""
        operation = self.operation
        if isinstance(operation, Reduce):
            return not (operation.is_derivable and self.scope.depth == 1)
        return isinstance(operation, Arrange | Improve)

    def __repr__(self) -> str:
        label = self.name or type(self.operation).__name__.lower()
        return f"<{label} {self.schema}>"
