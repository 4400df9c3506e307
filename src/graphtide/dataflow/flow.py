"""A dataflow: inputs, the computations on them, outputs, and the clock that they share.

Time goes in epochs. Changes are staged into the current epoch; `commit` closes it and runs. `seal`
closes it without running, so that one `run` can take many epochs as one physical batch and still
tell them apart. Operators can be added at any time; they read what is there from existing indexes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Condition, RLock
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from graphtide.dataflow.assembly import Assembly
from graphtide.dataflow.branch import Branch
from graphtide.dataflow.builder import MOST_ROUNDS, Builder
from graphtide.dataflow.dimension import Dimension
from graphtide.dataflow.explain import Explanation, explain
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.late import Latecomers
from graphtide.dataflow.loop import Loop
from graphtide.dataflow.machine import Machine
from graphtide.dataflow.memory import Memory, measure
from graphtide.dataflow.output import Output
from graphtide.dataflow.plan import Node, Scope, Source, Variable
from graphtide.dataflow.python_rows import name_of
from graphtide.dataflow.reader import Reader
from graphtide.errors import (
    GraphtideError,
    NegativeMultiplicityError,
    NotConvergedError,
    PlanError,
    UsageError,
    UserFunctionError,
)
from graphtide.rows import Dictionary, Schema, decode_rows
from graphtide.trace.kernels import spine as spines
from graphtide.trace.kernels.heap import words

__all__ = ["Dataflow", "Merging", "Sharing"]

Merging = Literal["eager", "default", "lazy"]
Sharing = Literal["indexes", "nothing"]

# Rows of merging that each inserted row pays for, per merge under way.
_EFFORTS: Final[dict[str, int]] = {"eager": spines.EAGER, "default": spines.DEFAULT, "lazy": spines.LAZY}


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

    def __init__(
        self,
        name: str = "dataflow",
        *,
        merging: Merging = "default",
        sharing: Sharing = "indexes",
        dictionary: Dictionary | None = None,
    ) -> None:
        """A dataflow without inputs. With `sharing="nothing"` each join and output keeps an index of its own."""
        if merging not in _EFFORTS:
            raise PlanError(f'there is no merging "{merging}"', hint='use "eager", "default" or "lazy"')
        if sharing not in {"indexes", "nothing"}:
            raise PlanError(f'there is no sharing "{sharing}"', hint='use "indexes" or "nothing"')
        self.name = name
        # Dataflows that share a dictionary have the same codes for the same values.
        self.dictionary = Dictionary() if dictionary is None else dictionary
        self.machine = Machine()
        self.lock = RLock()
        self.progressed = Condition(self.lock)  # told after every run
        self.epoch = 0  # the first epoch that is not committed
        self.sealed = 0  # the first epoch that is not closed
        self.builder = Builder(name, self.dictionary, shares_indexes=sharing == "indexes")
        self.assembly = Assembly(self.machine, self.builder.root)
        self._effort = _EFFORTS[merging]
        self._kept: dict[Node, int] = {}
        self._inputs: dict[str, Input] = {}
        self._outputs: dict[str, Output] = {}
        self._checked: set[str] = set()
        self._readers: list[Reader] = []
        self._callbacks: dict[Output, list[Callable[[pa.Table], None]]] = {}
        self._latecomers = Latecomers(self)

    # -- what users call

    def input(self, name: str, /, **columns: Any) -> Input:
        """A collection of rows with the given columns, which you change."""
        return self.input_of(name, Schema(columns))

    def input_of(self, name: str, schema: Schema) -> Input:
        """As `input`, for a schema that is already made."""
        return self._new_input(name, schema, Source())

    def growing_input(self, name: str, /, **columns: Any) -> Input:
        """As `input`, for rows that are never taken away: what is computed of them may cost much less.

        Loops that look for the least or greatest value of each key then follow no rounds (see `dataflow.growing`).

        >>> flow = Dataflow()
        >>> edges = flow.growing_input("edges", src=int, dst=int)
        >>> edges.insert([(1, 2)])
        >>> edges.remove([(1, 2)])
        Traceback (most recent call last):
        ...
        graphtide.errors.UsageError: rows cannot be taken away from "edges", which was made to grow
        hint: make it with flow.input(...)
        """
        return self._new_input(name, Schema(columns), Source(grows=True))

    def checked_input(self, name: str, /, **columns: Any) -> Input:
        """As `input`, for rows that are never there fewer than zero times: a run that would take away more is refused.

        What goes is looked up in an index of the input, which `arrange` keeps.

        >>> flow = Dataflow()
        >>> edges = flow.checked_input("edges", src=int, dst=int)
        >>> index = edges.arrange("src")
        >>> edges.remove([(1, 2)])
        >>> flow.commit()
        Traceback (most recent call last):
        ...
        graphtide.errors.NegativeMultiplicityError: cannot take (1, 2) away from "edges": 1 to go, 0 there
        hint: nothing was committed; rollback() forgets what is staged, or put in what is missing
        """
        return self._new_input(name, Schema(columns), Source(is_checked=True))

    def _new_input(self, name: str, schema: Schema, source: Source) -> Input:
        if name in self._inputs:
            raise PlanError(f'there already is an input "{name}"', hint="give this one another name")
        made = Input(self, self.builder.add(Node(source, (), self.builder.root, schema, name)))
        self._inputs[name] = made
        return made

    def commit(self) -> int:
        """Close the current epoch and run; which epoch it was."""
        self.seal()
        self.run()
        return self.epoch - 1

    def seal(self, count: int = 1) -> int:
        """Close the current epoch, or so many from it on, without running; which was the last of them."""
        if count < 1:
            raise UsageError(f"cannot close {count} epochs", hint="seal() closes one, seal(10) ten")
        with self.lock:
            self.sealed += count
            return self.sealed - 1

    def run(self) -> None:
        """Run all closed epochs as one batch. An error leaves everything as it was, the changes still staged.

        If there is a monotone loop, each epoch is a run of its own, and those before one that fails stay: subscribers
        hear of them, and the error says so.
        """
        failure: BaseException | None = None
        with self.lock:
            first = self.epoch
            if self.sealed == first:
                return
            for each in self._outputs.values():
                each.begin_run()
            try:
                while self.epoch < self.sealed:
                    self._run_next()
            except BaseException as error:
                if self.epoch == first:
                    raise
                failure = error
                if isinstance(error, GraphtideError):
                    error.add_hint(f"the epochs from {first} to {self.epoch - 1} ran before it, and stay")
        try:
            self._call_back()
        finally:
            if failure is not None:
                raise failure

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
        return Loop(self, self.builder.current, MOST_ROUNDS if max_rounds is None else max_rounds, name)

    def monotone_loop(self, *, max_rounds: int | None = None, name: str = "loop") -> Loop:
        """A loop of joins, unions and sets that never gives less for more, as recursive rules are; see `Loop`.

        What it comes to does not depend on the round in which a row comes, so that a change follows fewer rows. Closed
        epochs then run one after the other.
        """
        most_rounds = MOST_ROUNDS if max_rounds is None else max_rounds
        return Loop(self, self.builder.current, most_rounds, name, is_monotone=True)

    def dimension(self, name: str) -> Dimension:
        """A further axis of time; see `Dimension`."""
        return Dimension(self, name)

    # -- what collections, inputs and readers call

    @property
    def staging(self) -> int:
        """The epoch that changes are staged into."""
        return self.sealed

    def enter_output(self, output: Output, *, is_checked: bool) -> None:
        """Know an output by its name; see `Collection.output`."""
        if output.name in self._outputs:
            output.close()
            raise PlanError(f'there already is an output "{output.name}"', hint="give this one another name")
        self._outputs[output.name] = output
        if is_checked:
            self._checked.add(output.name)

    def keep(self, node: Node) -> None:
        """Count one more reader of a node from outside."""
        self._kept[node] = self._kept.get(node, 0) + 1
        self.builder.is_dirty = True

    def let_go(self, node: Node) -> None:
        """Count one reader less."""
        self._kept[node] -= 1
        if self._kept[node] == 0:
            del self._kept[node]
        self.builder.is_dirty = True

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
            self._drop_dead(self.builder.live(self._kept))

    def drop_input(self, name: str) -> None:
        """Forget an input that nothing reads."""
        with self.lock:
            if self._inputs[name].node in self.builder.live(self._kept):
                raise PlanError(f'the input "{name}" is still in use', hint="close the outputs that depend on it first")
            del self._inputs[name]

    @property
    def inputs(self) -> list[Input]:
        """All inputs."""
        return list(self._inputs.values())

    def has_lost(self, node: Node) -> bool:
        """Whether a node is an input that took changes when nothing read it, so that they were not kept."""
        return any(each.node is node and each.has_history for each in self._inputs.values())

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
        builder, assembly = self.builder, self.assembly
        if not builder.is_dirty:
            return
        live = builder.live(self._kept)
        builder.revive(live)
        self._drop_dead(live)
        late: set[Node] = set()
        if self.epoch > 0:
            late = self._latecomers.settle([n for n in builder.nodes if n in live and n not in assembly.operators])
            live = builder.live(self._kept)
        assembly.install(builder.inputs_first(live), builder.plans, late, self._effort, self.epoch)
        for number, scope in assembly.loops():
            self.machine.unsettled[number] = lambda scope=scope: self._unsettled(scope)
        builder.is_dirty = False

    def _run_next(self) -> None:
        """Run the closed epochs that go through the machine together."""
        try:
            self._install()
            upper = self._upper()
            self._load(upper)
            self._hold(upper)
            self.machine.run(self.epoch, upper, partial(self._check_counts, upper - 1))
        except BaseException:
            for each in self._inputs.values():
                each.restage(self.epoch, self.sealed)
            self.sealed = self.epoch
            raise
        for each in self._inputs.values():
            each.commit(upper)
        self.epoch = upper
        if upper < self.sealed:
            for each in self._outputs.values():
                each.set_aside()
        self.progressed.notify_all()

    def _upper(self) -> int:
        """Up to which epoch to run at once: where the rows of a monotone loop stand is known for one at a time."""
        is_one = self.sealed == self.epoch + 1
        is_monotone = not is_one and any(scope.is_monotone for _, scope in self.assembly.loops())
        return self.epoch + 1 if is_monotone else self.sealed

    def _drop_dead(self, live: set[Node]) -> None:
        """Take out of the machine what nobody can see any more."""
        gone = {node for node in self.assembly.operators if node not in live}
        if gone:
            self.assembly.remove(gone)
            self.builder.forget(gone)

    def _load(self, upper: int) -> None:
        """Put what is staged before an epoch out at the inputs that something reads, after all of it was checked."""
        heap = self.machine.heap
        loaded: dict[int, int] = {}
        try:
            for each in self._inputs.values():
                batch = 0
                if each.node in self.assembly.operators:
                    number = self.assembly.output_of(each.node)
                    batch = loaded[number] = each.load(heap, number, upper)
                each.check(heap, batch, upper)
        except BaseException:
            for batch in loaded.values():
                heap.release(batch)
            raise
        for number, batch in loaded.items():
            self.machine.set_port(number, batch)

    def _hold(self, upper: int) -> None:
        """Tell each index the first epoch that some reader may still ask for after a run up to an epoch."""
        held: dict[Node, int] = {}
        for reader in self._readers:
            epoch = reader.held(upper)
            if epoch is not None:
                held[reader.index] = min(epoch, held.get(reader.index, epoch))
        for reader in self._readers:
            number = self.assembly.output_of(reader.index)
            self.machine.operators[number, layout.HELD] = held.get(reader.index, layout.NOT_HELD)

    def _check_counts(self, epoch: int) -> None:
        for name in self._checked:
            row = self._outputs[name].negative_row(epoch)
            if row is not None:
                raise NegativeMultiplicityError(
                    f'output "{name}" would hold the row {row} fewer than zero times',
                    hint="more copies are removed than there are; nothing was committed",
                )

    def _call_back(self) -> None:
        """Tell subscribers what the run has changed: all of them, even if one of them fails."""
        failed: UserFunctionError | None = None
        for output, callbacks in list(self._callbacks.items()):
            table = output.changes() if output.has_changes else None
            for callback in list(callbacks) if table is not None else ():
                try:
                    callback(table)
                except Exception as error:  # noqa: BLE001 - whatever a user's function raises
                    what = f'{name_of(callback)} failed on the changes of "{output.name}"'
                    failed = UserFunctionError(
                        f"{what}: {type(error).__name__}: {error}", hint="the run itself is committed"
                    )
                    failed.__cause__ = error
        if failed is not None:
            raise failed

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
