"""From a graph of steps to the words of a program.

Equal steps over equal operands are one node, so a subexpression is computed once; a step over
constants is computed at once, by the very kernel that would run it. Writing a program keeps what
its outputs need, puts the filter as early as it can stand, and gives each value a register
for as long as it is read.

Invariant: a node's operands have smaller numbers than the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.expressions.evaluation import evaluate
from graphtide.dataflow.expressions.expression import Apply, Expression
from graphtide.dataflow.kernels.opcodes import (
    ADD_INT,
    COLUMNS,
    CONSTANTS,
    FILTER,
    FLOAT_TO_INT,
    HEAD,
    IN_SET,
    LAST_FALLIBLE,
    MULTIPLY_INT,
    NOTHING,
    ORDERED,
    OUTPUTS,
    PLACES,
    STEP,
    STEPS,
    SUBTRACT_INT,
    WITHIN,
)
from graphtide.errors import ExpressionError, GraphtideError

__all__ = ["CALLED", "COLUMN", "CONSTANT", "Graph", "Node", "Program", "closure", "failure", "write_program"]

# Nodes that are not steps: their codes are there before the program runs.
COLUMN: Final = -1
CONSTANT: Final = -2
CALLED: Final = -3


@dataclass(frozen=True, slots=True)
class Node:
    """A step, or what stands in a column before the first one."""

    op: int
    operands: tuple[int, ...] = ()
    words: tuple[int, ...] = ()  # the number of a column or a call, a constant's code, a pool
    guard: int | None = None  # the node that says in which rows a failure counts


@dataclass(slots=True)
class Graph:
    """Nodes by number, and the guards under which new ones are made, each stricter than the one before."""

    nodes: list[Node] = field(default_factory=list[Node])
    origins: list[Expression | None] = field(default_factory=list[Expression | None])
    guards: list[int | None] = field(default_factory=lambda: [None])
    _numbers: dict[Node, int] = field(default_factory=dict[Node, int])

    def column(self, index: int) -> int:
        """The node of an input column."""
        return self._number(Node(COLUMN, words=(index,)), None)

    def constant(self, code: int) -> int:
        """The node of a code that is the same in every row."""
        return self._number(Node(CONSTANT, words=(code,)), None)

    def called(self, call: int, operands: tuple[int, ...]) -> int:
        """The node of a column that a call computes."""
        return self._number(Node(CALLED, operands, (call,)), None)

    def step(self, op: int, *operands: int, origin: Expression, pool: Iterable[int] = ()) -> int:
        """The node of a step, an older one or a constant if that is the same."""
        words = tuple(pool)
        if op > LAST_FALLIBLE:
            return self._folded(Node(op, operands, words), origin)
        # What fails under a weaker guard has failed already.
        choices = [Node(op, operands, words, guard) for guard in self.guards]
        known = next((node for node in choices if node in self._numbers), choices[-1])
        return self._folded(known, origin)

    def code(self, number: int) -> int | None:
        """The code of a constant, None for any other node."""
        node = self.nodes[number]
        return node.words[0] if node.op == CONSTANT else None

    def is_column(self, number: int) -> bool:
        """Whether the codes lie in a column of the batch before the program runs."""
        return self.nodes[number].op in {COLUMN, CALLED}

    def _folded(self, node: Node, origin: Expression) -> int:
        codes = [self.code(operand) for operand in node.operands]
        if node not in self._numbers and None not in codes:
            code = _computed(node, codes)
            if code is not None:
                return self.constant(code)
            if node.guard is None:
                raise failure(node.op, origin)
        return self._number(node, origin)

    def _number(self, node: Node, origin: Expression | None) -> int:
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.origins.append(origin)
        return number


def _computed(node: Node, codes: Sequence[int | None]) -> int | None:
    """The code that a step gives for constants, None if it fails."""
    graph = Graph()
    operands = tuple(graph.constant(code) for code in codes if code is not None)
    graph.nodes.append(Node(node.op, operands, node.words))
    program = write_program(graph, [len(graph.nodes) - 1], None, int, 0)
    result, failed = evaluate(program.words, [], rows=1)
    return None if failed else int(result[0, 0])


def failure(op: int, origin: Expression) -> GraphtideError:
    """What a step that failed has to say."""
    if op in {ADD_INT, SUBTRACT_INT, MULTIPLY_INT}:
        if isinstance(origin, Apply) and origin.refuse is not None:
            return origin.refuse("does not fit into 64 bits")
        return ExpressionError(
            f"{origin} does not fit into 64 bits", hint="compute in floats: cast one side with .cast(float)"
        )
    if op == FLOAT_TO_INT:
        return ExpressionError(
            f"{origin} met a NaN, an infinity or a number beyond 64 bits",
            hint="keep such rows out with where, or choose another value with when",
        )
    return ExpressionError(f"{origin} is outside the years 1 to 9999", hint="keep such rows out with where")


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Words for the kernel, and the node that each step computes (the filter: the one it looks at)."""

    words: NDArray[np.int64]
    steps: tuple[int, ...]


def write_program(
    graph: Graph, outputs: Sequence[int], where: int | None, column_index: Callable[[int], int], width: int
) -> Program:
    """The program of some outputs over the rows in which `where` is true.

    `column_index` places a COLUMN or CALLED node among the batch's columns, of which the first
    `width` are the input's.
    """
    live = closure(graph, outputs if where is None else [where, *outputs])
    columns = [n for n in live if graph.is_column(n)]
    constants = [n for n in live if graph.code(n) is not None]
    steps = _Schedule(graph, [n for n in live if graph.nodes[n].op >= 0], where)
    places = {n: place for place, n in enumerate((*columns, *constants))}
    registers = steps.place(places, outputs)
    first_columns = [column_index(n) if graph.is_column(n) else NOTHING for n in outputs[:width]]
    counts = {
        PLACES: len(columns) + len(constants) + registers,
        COLUMNS: len(columns),
        CONSTANTS: len(constants),
        OUTPUTS: len(outputs),
        STEPS: len(steps.order),
        ORDERED: first_columns == [*range(width)],
    }
    before = [
        *(counts[field] for field in range(HEAD)),
        *map(column_index, columns),
        *(graph.nodes[n].words[0] for n in constants),
        *(places[n] for n in outputs),
    ]
    lines, pool = steps.lines(places, len(before) + STEP * len(steps.order))
    return Program(np.array(before + lines + pool, np.int64), tuple(steps.order))


def closure(graph: Graph, wanted: Iterable[int], *, through_calls: bool = False) -> list[int]:
    """The nodes that the wanted ones are computed from, themselves included, in order.

    Columns that calls make are taken as given, or else with what the calls need.
    """
    found: set[int] = set()
    pending = [*wanted]
    while pending:
        n = pending.pop()
        if n not in found:
            found.add(n)
            if through_calls or not graph.is_column(n):
                pending.extend(_reads(graph.nodes[n]))
    return sorted(found)


def _reads(node: Node) -> tuple[int, ...]:
    return node.operands if node.guard is None else (*node.operands, node.guard)


class _Schedule:
    """Steps in the order in which they run, the filter as soon as its condition is known."""

    def __init__(self, graph: Graph, steps: list[int], where: int | None) -> None:
        self.graph = graph
        self.order = steps
        self.filter_at = -1
        if where is not None:
            decisive = set(closure(graph, [where]))
            before = [n for n in steps if n in decisive]
            self.order = [*before, where, *(n for n in steps if n not in decisive)]
            self.filter_at = len(before)

    def place(self, places: dict[int, int], outputs: Sequence[int]) -> int:
        """Add a place for each step's value; the number of registers that takes.

        A value never takes the register of what it is computed from: the loops write while they read.
        """
        last_read = {self._origin(n): i for i in range(len(self.order)) for n in self._read_at(i)}
        last_read |= {self._origin(n): len(self.order) for n in outputs}
        first = len(places)
        registers = 0
        free: list[int] = []
        for i, n in enumerate(self.order):
            if i != self.filter_at:
                if self._origin(n) != n:
                    places[n] = places[self._origin(n)]
                elif free:
                    places[n] = free.pop()
                else:
                    places[n] = first + registers
                    registers += 1
            done = {self._origin(read) for read in self._read_at(i)}
            free.extend(places[read] for read in done if last_read[read] == i and places[read] >= first)
        return registers

    def lines(self, places: dict[int, int], pool_at: int) -> tuple[list[int], list[int]]:
        """The words of all steps, and those of the pool that follows them at `pool_at`."""
        words: list[int] = []
        pool: list[int] = []
        for i, n in enumerate(self.order):
            node = self.graph.nodes[n]
            if i == self.filter_at:
                words += (FILTER, NOTHING, places[n], NOTHING, NOTHING)
                continue
            a, b, c = (*(places[operand] for operand in node.operands), NOTHING, NOTHING)[:3]
            guard = NOTHING if node.guard is None else places[node.guard]
            if node.op == IN_SET:
                words += (IN_SET, places[n], a, pool_at + len(pool), len(node.words))
            elif node.op == WITHIN:
                words += (WITHIN, NOTHING, a, pool_at + len(pool), guard)
            elif node.op <= LAST_FALLIBLE:
                words += (node.op, places[n], a, a if b == NOTHING else b, guard)
            else:
                words += (node.op, places[n], a, a if b == NOTHING else b, c)
            pool += node.words
        return words, pool

    def _read_at(self, i: int) -> tuple[int, ...]:
        n = self.order[i]
        return (n,) if i == self.filter_at else _reads(self.graph.nodes[n])

    def _origin(self, n: int) -> int:
        """The node whose place holds this one's value: a check has none of its own."""
        while self.graph.nodes[n].op == WITHIN:
            n = self.graph.nodes[n].operands[0]
        return n
