"""A dataflow: inputs, the computations on them, outputs, and the clock that they share.

Time goes in epochs. Changes are staged into the current epoch; `commit` closes it and runs. `seal`
closes it without running, so that one `run` can take many epochs as one physical batch and still
tell them apart. Operators can be added at any time; they read what is there from existing indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Condition, RLock
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from graphtide.dataflow.arrangement import Arrangement
from graphtide.dataflow.assembly import Assembly
from graphtide.dataflow.branch import Branch
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.explain import Explanation, explain
from graphtide.dataflow.expressions.compile import LinearPlan, compile_linear
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.late import Latecomers
from graphtide.dataflow.loop import Loop
from graphtide.dataflow.machine import Machine
from graphtide.dataflow.memory import Memory, measure
from graphtide.dataflow.output import Output
from graphtide.dataflow.plan import (
    Arrange,
    Codes,
    Enter,
    Feedback,
    Linear,
    Node,
    Python,
    Reduce,
    Scope,
    Source,
    Variable,
)
from graphtide.dataflow.probe import Probe
from graphtide.dataflow.reader import Reader
from graphtide.errors import (
    CapacityError,
    GraphtideError,
    NegativeMultiplicityError,
    NotConvergedError,
    PlanError,
)
from graphtide.rows import Dictionary, Schema, decode_rows
from graphtide.trace.kernels import spine as spines
from graphtide.trace.kernels.heap import words

__all__ = ["Dataflow", "Merging"]

Merging = Literal["eager", "default", "lazy"]

# Rows of merging that each inserted row pays for, per merge under way.
_EFFORTS: Final[dict[str, int]] = {"eager": spines.EAGER, "default": 4, "lazy": 2}
_MOST_ROUNDS: Final = 1 << 31


class Dataflow:
    """Collections and the machine that keeps them up to date.

    >>> flow = Dataflow()
    >>> edges = flow.input("edges", src=int, dst=int)
    >>> degrees = edges.group_by("src").count("degree").output("degrees")
    >>> edges.insert([(1, 2), (1, 3), (2, 3)])
    >>> flow.commit()
    0
    >>> degrees.rows()
    [(1, 2), (2, 1)]
    """

    def __init__(self, name: str = "dataflow", *, merging: Merging = "default") -> None:
        if merging not in _EFFORTS:
            raise PlanError(f'there is no merging "{merging}"', hint='use "eager", "default" or "lazy"')
        self.name = name
        self.dictionary = Dictionary()
        self.machine = Machine()
        self.assembly = Assembly(self.machine)
        self.lock = RLock()
        self.progressed = Condition(self.lock)  # told after every run
        self.epoch = 0  # the first epoch that is not committed
        self.sealed = 0  # the first epoch that is not closed
        self._effort = _EFFORTS[merging]
        self._root = Scope(name)
        self._current = self._root
        self._nodes: list[Node] = []
        self._plans: dict[Node, LinearPlan] = {}
        self._indexes: dict[Node, list[Node]] = {}
        self._entered: dict[tuple[Node, Scope], Node] = {}
        self._kept: dict[Node, int] = {}
        self._inputs: dict[str, Input] = {}
        self._outputs: dict[str, Output] = {}
        self._readers: list[Reader] = []
        self._callbacks: dict[Output, list[Callable[[pa.Table], None]]] = {}
        self._checked: set[str] = set()
        self._is_current = False
        self._latecomers = Latecomers(self)

    # -- what users call

    def input(self, name: str, /, **columns: Any) -> Input:  # noqa: ANN401
        """A collection of rows with the given columns, which you change."""
        return self.input_of(name, Schema(columns))

    def input_of(self, name: str, schema: Schema) -> Input:
        """As `input`, for a schema that is already made."""
        if name in self._inputs:
            raise PlanError(f'there already is an input "{name}"', hint="give this one another name")
        made = Input(self, self.add(Node(Source(), (), self._root, schema, name)))
        self._inputs[name] = made
        return made

    def commit(self) -> int:
        """Close the current epoch and run; which epoch it was."""
        self.seal()
        self.run()
        return self.epoch - 1

    def seal(self) -> int:
        """Close the current epoch without running; which epoch it was."""
        with self.lock:
            self.sealed += 1
            return self.sealed - 1

    def run(self) -> None:
        """Run all closed epochs as one batch. An error leaves everything as it was, the changes still staged."""
        with self.lock:
            if self.sealed == self.epoch:
                return
            self._install()
            for each in self._inputs.values():
                if each._node in self.assembly.operators:  # noqa: SLF001
                    number = self.assembly.output_of(each._node)  # noqa: SLF001
                    self.machine.set_port(number, each.load(self.machine.heap, number))
            self._hold()
            try:
                self.machine.run(self.epoch, self.sealed)
                self._check_counts()
            except BaseException:
                self.sealed = self.epoch
                for each in self._inputs.values():
                    each.restage(self.epoch)
                raise
            for each in self._inputs.values():
                each.discard()
            self.epoch = self.sealed
            self.progressed.notify_all()
        for output, callbacks in list(self._callbacks.items()):
            if output.has_changes:
                table = output.changes()
                for callback in list(callbacks):
                    callback(table)

    def rollback(self) -> None:
        """Forget all changes that are staged but not committed."""
        with self.lock:
            for each in self._inputs.values():
                each.discard()
            self.sealed = self.epoch

    def cancel(self) -> None:
        """Stop the run that another thread is in, before its next round; it is undone."""
        self.machine.cancel()

    def branch(self, name: str) -> Branch:
        """A part that can be dropped as a whole; see `Branch`."""
        return Branch(self, name)

    def memory(self) -> Memory:
        """What is kept, by operator, to the byte."""
        with self.lock:
            self._install()
            return measure(self)

    def explain(self) -> Explanation:
        """The plan: print it, or `plot` it into a file."""
        with self.lock:
            self._install()
            return explain(self)

    def loop(self, *, max_rounds: int | None = None, name: str = "loop") -> Loop:
        """A loop with several variables; see `Loop`."""
        return Loop(self, self._current, _MOST_ROUNDS if max_rounds is None else max_rounds, name)

    # -- what collections call

    @property
    def staging(self) -> int:
        """The epoch that changes are staged into."""
        return self.sealed

    def add(self, node: Node) -> Node:
        """Enter a node into the plan."""
        self._nodes.append(node)
        if isinstance(node.operation, Linear):
            self._plans[node] = self.plan_linear(node.inputs[0].schema, node.operation)
        elif isinstance(node.operation, Python):
            node.extra["transformer"] = self._transformer(node, node.operation)
        elif isinstance(node.operation, Reduce) and node.operation.parameters[0] == layout.TOTAL:
            node.extra["failure"] = lambda _detail: CapacityError(
                f"{node.operation.label} does not fit into 64 bits",  # type: ignore[union-attr]
                hint="cast the column to float",
            )
        self._is_current = False
        return node

    def plan_linear(self, schema: Schema, operation: Linear) -> LinearPlan:
        """What a linear operation comes to."""
        return compile_linear(schema, self.dictionary, operation.outputs, operation.where)

    def arranged(self, node: Node, keys: list[int]) -> Node:
        """An index of the node's collection that begins with the keys: one that is there, or a new one."""
        width = len(node.schema)
        if node.is_index and keys == list(range(len(keys))):
            return node
        for index in self._indexes.get(node, ()):
            if list(self.order_of(index)[: len(keys)]) == keys:
                return index
        order = (*keys, *(c for c in range(width) if c not in keys))
        schema = Schema((node.schema.names[c], node.schema.types[c]) for c in order)
        index = self.add(Node(Arrange(order), (node,), node.scope, schema))
        self._indexes.setdefault(node, []).append(index)
        return index

    def order_of(self, index: Node) -> tuple[int, ...]:
        """The columns of the collection in the order of the index."""
        return index.operation.order if isinstance(index.operation, Arrange) else tuple(range(len(index.schema)))

    def indexes_of(self, node: Node) -> list[Node]:
        """The indexes of a node's collection that are installed."""
        found = [node] if node.is_index else []
        return [each for each in found + self._indexes.get(node, []) if each in self.assembly.operators]

    def deepest(self, *collections: Collection) -> Scope:
        """The scope in which an operator on all the collections stands."""
        scopes = [each._node.scope for each in collections]  # noqa: SLF001
        deepest = max(scopes, key=lambda scope: scope.depth)
        for scope in scopes:
            if scope not in deepest.outward():
                raise PlanError(
                    "collections of two loops that are not inside one another cannot be combined",
                    hint="return the collection from its loop first",
                )
        return deepest

    def brought(self, collection: Collection, scope: Scope) -> Collection:
        """The collection inside a scope, entered if it is from outside."""
        node = collection._node  # noqa: SLF001
        if node.scope is scope:
            return collection
        if node.scope not in scope.outward():
            raise PlanError(
                "a collection of a loop cannot be used outside of it",
                hint="return it from the loop's body, or use loop.leave(...)",
            )
        if (node, scope) not in self._entered:
            self._entered[node, scope] = self.add(Node(Enter(), (node,), scope, node.schema))
        return Collection(self, self._entered[node, scope])

    def iterate(
        self, collection: Collection, body: Callable[[Collection], Collection], max_rounds: int | None
    ) -> Collection:
        """The fixed point of a body; see `Collection.iterate`."""
        with self._loop_for(collection, body, max_rounds) as loop:
            variable = loop.variable(collection)
            result = body(variable)
            variable.becomes(result)
        return loop.leave(result)

    def iterate_prioritized(
        self,
        collection: Collection,
        body: Callable[[Collection, Collection], Collection],
        priority: Expression,
        max_rounds: int | None,
    ) -> Collection:
        """The fixed point of a body into which rows come by priority; see `Collection.iterate_prioritized`."""
        with self._loop_for(collection, body, max_rounds) as loop:
            variable = loop.variable(**dict(collection.schema.items()))
            result = body(variable, loop.enter(collection, priority=priority))
            variable.becomes(result)
        return loop.leave(result)

    def _loop_for(self, collection: Collection, body: Callable[..., Collection], max_rounds: int | None) -> Loop:
        scope = collection._node.scope  # noqa: SLF001
        parent = scope if scope.depth > self._current.depth else self._current
        limit = _MOST_ROUNDS if max_rounds is None else max_rounds
        return Loop(self, parent, limit, getattr(body, "__name__", "loop"))

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[None]:
        """While the body of a loop is written: loops made there stand inside it."""
        around, self._current = self._current, scope
        try:
            yield
        finally:
            self._current = around

    def output(self, name: str, collection: Collection, *, keep: int | None, on_negative: str) -> Output:
        """Make a collection readable; see `Collection.output`."""
        if name in self._outputs:
            raise PlanError(f'there already is an output "{name}"', hint="give this one another name")
        if on_negative not in {"allow", "error"}:
            raise PlanError(f'on_negative is "{on_negative}"', hint='use "allow" or "error"')
        node = collection._node  # noqa: SLF001
        if node.scope is not self._root:
            raise PlanError("a collection of a loop cannot be an output", hint="return it from the loop first")
        index = self.arranged(node, list(range(len(node.schema))))
        made = Output(self, name, index, node.schema, keep)
        self._outputs[name] = made
        if on_negative == "error":
            self._checked.add(name)
        return made

    def keep(self, node: Node) -> None:
        """Count one more reader of a node from outside."""
        self._kept[node] = self._kept.get(node, 0) + 1
        self._is_current = False

    def let_go(self, node: Node) -> None:
        """Count one reader less."""
        self._kept[node] -= 1
        if self._kept[node] == 0:
            del self._kept[node]
        self._is_current = False

    def arrange(self, collection: Collection, keys: Iterable[str], keep: int | None) -> Arrangement:
        """Keep an index; see `Collection.arrange`."""
        node = collection._node  # noqa: SLF001
        if node.scope is not self._root:
            raise PlanError("a collection of a loop cannot be read from outside", hint="return it from the loop first")
        index = self.arranged(node, [collection.schema.index(key) for key in keys])
        return Arrangement(self, node, index, keep)

    def probe(self, collection: Collection) -> Probe:
        """See `Collection.probe`."""
        self.keep(collection._node)  # noqa: SLF001
        return Probe(self)

    def subscribe(self, output: Output, callback: Callable[[pa.Table], None]) -> None:
        """See `Output.on_change`."""
        self._callbacks.setdefault(output, []).append(callback)

    def open_reader(self, reader: Reader) -> None:
        """Keep an index for a reader."""
        self._readers.append(reader)
        self.keep(reader.index)

    def close_reader(self, reader: Reader) -> None:
        """Drop what was kept for a reader alone."""
        with self.lock:
            self._readers.remove(reader)
            self.let_go(reader.index)
            if isinstance(reader, Output):
                self._outputs.pop(reader.name, None)
                self._callbacks.pop(reader, None)
                self._checked.discard(reader.name)
            self._install()

    def drop_input(self, name: str) -> None:
        """Forget an input that nothing reads."""
        with self.lock:
            node = self._inputs[name]._node  # noqa: SLF001
            if node in self._live():
                raise PlanError(f'the input "{name}" is still in use', hint="close the outputs that depend on it first")
            del self._inputs[name]

    @property
    def inputs(self) -> list[Input]:
        """All inputs."""
        return list(self._inputs.values())

    def is_installed(self, node: Node) -> bool:
        """Whether a node is part of the machine yet."""
        return node in self.assembly.operators

    def since_of(self, node: Node) -> int:
        """The first epoch at which an index can be read."""
        table = self.machine.heap.table
        spine = words(table, self.assembly.spine_of(node))
        return int(words(table, int(spine[spines.SINCE]))[1])

    # -- inside

    def _install(self) -> None:
        """Bring the machine up to date with the plan."""
        if self._is_current:
            return
        live = self._live()
        gone = [node for node in self.assembly.operators if node not in live]
        if gone:
            self.assembly.remove(set(gone))
        late: set[Node] = set()
        if self.epoch > 0:
            late = self._latecomers.settle([n for n in self._nodes if n in live and n not in self.assembly.operators])
            live = self._live()
        self.assembly.install(_inputs_first(self._nodes, live), self._plans, late, self._effort)
        for number, scope in self.assembly.loops():
            self.machine.unsettled[number] = lambda scope=scope: self._unsettled(scope)
        self._is_current = True

    def _hold(self) -> None:
        """Tell each index the first epoch that some reader may still ask for after this run."""
        held: dict[Node, int] = {}
        for reader in self._readers:
            epoch = reader.held(self.sealed)
            if epoch is not None:
                held[reader.index] = min(epoch, held.get(reader.index, epoch))
        for reader in self._readers:
            number = self.assembly.output_of(reader.index)
            self.machine.operators[number, layout.HELD] = held.get(reader.index, layout.NOT_HELD)

    def _live(self) -> set[Node]:
        """The nodes that something outside can see, and inputs; feedback is alive with its variable."""
        feedback: dict[Node, list[Node]] = {}
        for node in self._nodes:
            if isinstance(node.operation, Feedback):
                feedback.setdefault(node.operation.variable, []).append(node)
        live: set[Node] = set()
        pending = [*self._kept]
        while pending:
            node = pending.pop()
            if node not in live:
                live.add(node)
                pending.extend(node.inputs)
                pending.extend(feedback.get(node, ()))
        return live

    def _transformer(self, node: Node, operation: Python) -> Callable[[Codes], Codes]:
        width = len(node.inputs[0].schema)
        inspector = operation.inspector

        def transformer(lines: Codes) -> Codes:
            data, tail = np.ascontiguousarray(lines[:width]), lines[width:]
            if inspector is not None:
                rows = decode_rows(node.schema, self.dictionary, data)
                for row, (*time, diff) in zip(rows, tail.T.tolist(), strict=True):
                    inspector(row, tuple(time), diff)
                return lines
            result, origins = operation.transform(data)
            return np.concatenate([result, tail if origins is None else tail[:, origins]])

        return transformer

    def _check_counts(self) -> None:
        for name in self._checked:
            row = self._outputs[name].negative_row(self.sealed - 1)
            if row is not None:
                raise NegativeMultiplicityError(
                    f'output "{name}" would hold the row {row} fewer than zero times',
                    hint="more copies are removed than there are; nothing was committed",
                )

    def _unsettled(self, scope: Scope) -> GraphtideError:
        """What to say of a loop that still changes after its last round."""
        rows: list[tuple[Any, ...]] = []
        waiting = 0
        for node, numbers in self.assembly.operators.items():
            carry = int(self.machine.operators[numbers[-1], layout.CARRY])
            if node.scope is scope and isinstance(node.operation, Variable) and carry != 0:
                lines = self.machine.heap.get(carry)
                waiting += lines.shape[1]
                few = np.ascontiguousarray(lines[: len(node.schema), :3])
                rows += decode_rows(node.schema, self.dictionary, few)
        examples = ", ".join(map(str, rows[:3]))
        return NotConvergedError(
            f'the loop "{scope.name}" did not settle within {scope.most_rounds} rounds: '
            f"{waiting} rows still change, for example {examples}",
            hint="raise max_rounds, or look for a body that has no fixed point, such as one that counts up",
        )


def _inputs_first(nodes: Iterable[Node], live: set[Node]) -> list[Node]:
    """The live nodes, each after its inputs."""
    ordered: dict[Node, None] = {}
    for node in nodes:
        if node in live:
            _visit(node, ordered)
    return list(ordered)


def _visit(node: Node, ordered: dict[Node, None]) -> None:
    stack = [node]
    while stack:
        top = stack[-1]
        missing = [each for each in top.inputs if each not in ordered]
        if missing and top not in ordered:
            stack.extend(missing)
        else:
            stack.pop()
            ordered[top] = None
