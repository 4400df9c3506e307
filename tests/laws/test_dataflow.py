"""The law of the engine: at every time, each output is what its program makes of the accumulated inputs.

However the epochs come (one by one, together, after compaction, before an operator is there, around a run that
failed), the answer is that of `tests.naive`, and the changes are the differences of such answers.
"""

from collections import ChainMap
from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st
from tests import naive
from tests import strategies as gen
from tests.naive import Multiset, added, difference

from graphtide import Collection, Dataflow, Output, coalesce, col, lit, when
from graphtide.dataflow.expressions import Expression
from graphtide.errors import (
    CapacityError,
    ExpressionError,
    GraphtideError,
    NegativeMultiplicityError,
    NotConvergedError,
    PlanError,
    UserFunctionError,
)
from graphtide.rows import TupleType, Type, decode_rows

Case = tuple[gen.Program, list[gen.Batch]]
Answers = list[list[Multiset]]  # for each epoch, for each output


def share(percent: int) -> settings:
    """So many of the profile's examples: `pytest --hypothesis-profile=deep` looks longer."""
    return settings(max_examples=max(1, settings.default.max_examples * percent // 100))  # type: ignore[union-attr]


# ----------------------------------------------------------------------------------- the meaning


def recomputed(program: gen.Program, history: list[gen.Batch]) -> Answers:
    """Every output at every epoch, from the accumulated inputs alone."""
    inputs: list[Multiset] = [{} for _ in program.inputs]
    answers: Answers = []
    for batch in history:
        inputs = [added([*rows.items(), *changes]) for rows, changes in zip(inputs, batch, strict=True)]
        known: naive.Known = {naive.Input(i): rows for i, rows in enumerate(inputs)}
        answers.append([naive.evaluate(output, known) for output in program.outputs])
    return answers


def settling(program: gen.Program, history: list[gen.Batch]) -> Answers:
    """The same, for programs that settle in reasonable time."""
    try:
        return recomputed(program, history)
    except (naive.DidNotSettleError, naive.TooLargeError):
        reject()


def steps(answers: Answers) -> Answers:
    """What changed in every epoch."""
    nothing: list[Multiset] = [{} for _ in answers[0]]
    return [
        [difference(after, before) for after, before in zip(following, earlier, strict=True)]
        for earlier, following in pairwise([nothing, *answers])
    ]


# ------------------------------------------------------------------------------------ the engine


class Running:
    """A program in a dataflow of its own."""

    def __init__(self, program: gen.Program, *, keep: int | None = None, merging: Any = "default") -> None:
        self.flow = Dataflow(merging=merging)
        self.keep = keep
        self.program = program
        self._names = (f"c{i}" for i in count())
        self.inputs = [self.flow.input(f"input {i}", **self._columns(types)) for i, types in enumerate(program.inputs)]
        self.outputs: dict[int, Output] = {}
        self.begin_anew()

    def begin_anew(self) -> None:
        """Build what comes from the inputs up, sharing no collection with what is there."""
        self._known: ChainMap[naive.Node, Collection] = ChainMap(
            {naive.Input(i): each for i, each in enumerate(self.inputs)}
        )

    def watch(self, *numbers: int) -> "Running":
        """Make outputs of the program readable, all of them by default."""
        for number in numbers or range(len(self.program.outputs)):
            made = self.build(self.program.outputs[number])
            self.outputs[number] = made.output(f"output {next(self._names)}", keep=self.keep)
        return self

    def drop(self, number: int) -> None:
        self.outputs.pop(number).close()

    def stage(self, batch: gen.Batch) -> None:
        for each, changes in zip(self.inputs, batch, strict=True):
            each.insert([row for row, diff in changes if diff == 1])
            each.remove([row for row, diff in changes if diff == -1])
            others = [change for change in changes if abs(change[1]) > 1]
            each.change([row for row, _ in others], [diff for _, diff in others])

    def stage_ahead(self, history: list[gen.Batch]) -> None:
        """Stage all epochs of a history in one call per input."""
        first = self.flow.epoch
        for each, batches in zip(self.inputs, zip(*history, strict=True), strict=True):
            rows = [(row, diff, first + e) for e, batch in enumerate(batches) for row, diff in batch]
            each.change([row for row, _, _ in rows], [d for _, d, _ in rows], epochs=[e for _, _, e in rows])

    def commit(self, *batches: gen.Batch) -> int:
        """Run epochs as one batch; the number of the last."""
        for batch in batches:
            self.stage(batch)
            self.flow.seal()
        self.flow.run()
        return self.flow.epoch - 1

    def at(self, epoch: int) -> dict[int, Multiset]:
        """The outputs as they were, whichever way they are read."""
        result: dict[int, Multiset] = {}
        for number, output in self.outputs.items():
            lines = output._counted(epoch)
            width = len(output.schema)
            rows = decode_rows(output.schema, self.flow.dictionary, lines[:width])
            for row in rows:
                assert all(map(is_of_type, row, output.schema.types))
            result[number] = added(zip(rows, lines[-1].tolist(), strict=True))
            if any(times < 0 for times in result[number].values()):
                with pytest.raises(NegativeMultiplicityError):
                    output.at(epoch)
            else:
                table = output.at(epoch)
                assert added((row.values(), 1) for row in table.to_pylist()) == result[number]
        return result

    def changes(self) -> dict[int, dict[int, Multiset]]:
        """What the last run changed: for each output, by epoch."""
        result: dict[int, dict[int, Multiset]] = {}
        for number, output in self.outputs.items():
            found: dict[int, list[tuple[Any, int]]] = {}
            for *row, epoch, diff in (line.values() for line in output.changes().to_pylist()):
                found.setdefault(epoch, []).append((row, diff))
            result[number] = {epoch: rows for epoch, pairs in found.items() if (rows := added(pairs))}
        return result

    # -- from trees to collections

    def build(self, node: naive.Node) -> Collection:
        if node not in self._known:
            self._known[node] = self._build(node)
        return self._known[node]

    def _columns(self, types: tuple[Any, ...]) -> dict[str, Any]:
        return {next(self._names): each for each in types}

    def _build(self, node: naive.Node) -> Collection:
        build = self.build
        match node:
            case naive.Select(of, columns):
                made = build(of)
                return made.select(**{next(self._names): expression(each, made) for each in columns})
            case naive.Where(of, condition):
                return build(of).where(expression(condition, build(of)))
            case naive.Negate(of):
                return build(of).negate()
            case naive.Consolidate(of):
                return build(of).consolidate()
            case naive.Concat((first, *others)):
                return build(first).concat(*(self._named(build(each), build(first)) for each in others))
            case naive.Except(left, right):
                return build(left).except_(self._named(build(right), build(left)))
            case naive.Join(left, right, on, where):
                these, others = build(left), self._apart(build(right), build(left))
                joined = these.join(others, pairs(these, others, on))
                if where is None:
                    return joined
                return these.join(others, pairs(these, others, on), where=expression(where, joined))
            case naive.Semijoin(left, right, on):
                return build(left).semijoin(build(right), pairs(build(left), build(right), on))
            case naive.Antijoin(left, right, on):
                return build(left).antijoin(build(right), pairs(build(left), build(right), on))
            case naive.LeftJoin(left, right, on):
                others = self._apart(build(right), build(left))
                return build(left).left_join(others, pairs(build(left), others, on))
            case naive.Aggregate() | naive.TopK() | naive.Reduce():
                return self._grouped(node, build(node.of))
            case naive.Threshold(of, least):
                return build(of).distinct() if least == 1 else build(of).threshold(least)
            case naive.FlatMap(of, function):
                return build(of).flat_map(function.call, **self._columns(function.returns))
            case naive.MapBatches(of, function):
                return build(of).map_batches(by_row(function.call), **self._columns(function.returns))
            case naive.Explode(of, column):
                return build(of).explode(build(of).schema.names[column])
            case naive.Prioritized(source, priority, variable, arriving, body, max_rounds):
                begin = self._fitted(build(source), variable.types)
                inside = self._inside(body, variable, arriving)
                by = expression(priority, begin)
                return begin.iterate_prioritized(inside, priority=by, max_rounds=max_rounds)
            case naive.Iterate((initial,), (variable,), (body,), _, max_rounds) if initial is not None:
                begin = self._fitted(build(initial), variable.types)
                return begin.iterate(self._inside(body, variable), max_rounds=max_rounds)
            case naive.Iterate():
                return self._loop(node)
        raise AssertionError(f"{node} is not known")

    def _grouped(self, node: naive.Aggregate | naive.TopK | naive.Reduce, of: Collection) -> Collection:
        names = of.schema.names
        grouped = of.group_by(*(names[k] for k in node.keys))
        match node:
            case naive.TopK(by=by, k=k, descending=descending):
                return grouped.top_k(k, [names[c] for c in by], descending=descending)
            case naive.Reduce(function=function):
                return grouped.reduce(function.call, **self._columns(function.returns))
            case naive.Aggregate(what=what, columns=columns):
                chosen = [names[c] for c in columns]
                if what in {"min", "max"}:
                    return getattr(grouped, what)(*chosen)
                return getattr(grouped, what)(*chosen, name=next(self._names))

    def _inside(self, body: naive.Node, *variables: naive.Variable) -> Callable[..., Collection]:
        def inside(x: Collection, *others: Collection) -> Collection:
            self._known = self._known.new_child(dict(zip(variables, (x, *others), strict=True)))
            result = self._named(self._fitted(self.build(body), variables[0].types), x)
            self._known = self._known.parents
            return result

        return inside

    def _loop(self, node: naive.Iterate) -> Collection:
        begins = [
            None if initial is None else self._fitted(self.build(initial), variable.types)
            for variable, initial in zip(node.variables, node.initials, strict=True)
        ]
        with self.flow.loop(max_rounds=node.max_rounds) as loop:
            variables = [
                loop.empty_variable(**self._columns(variable.types)) if begin is None else loop.variable(begin)
                for variable, begin in zip(node.variables, begins, strict=True)
            ]
            self._known = self._known.new_child(dict(zip(node.variables, variables, strict=True)))
            for variable, made, body in zip(node.variables, variables, node.bodies, strict=True):
                made.becomes(self._named(self._fitted(self.build(body), variable.types), made))
            self._known = self._known.parents
            return loop.leave(variables[node.result])

    def _named(self, other: Collection, like: Collection) -> Collection:
        """The other collection with the names of this one."""
        if other.schema.names == like.schema.names:
            return other
        return other.select(**{new: col(old) for new, old in zip(like.schema, other.schema, strict=True)})

    def _apart(self, other: Collection, than: Collection) -> Collection:
        """The other collection with names that this one has not."""
        if not set(other.schema) & set(than.schema):
            return other
        return other.select(**{next(self._names): col(name) for name in other.schema})

    def _fitted(self, made: Collection, types: tuple[Any, ...]) -> Collection:
        """The collection with columns that may be None where the types say so, and nowhere else."""
        columns: dict[str, Expression] = {}
        for (name, found), wanted in zip(made.schema.items(), types, strict=True):
            columns[name] = col(name)
            if gen.is_optional(wanted) and not found.nullable:
                columns[name] = when(lit(value=False), lit(None, wanted)).otherwise(col(name))
            elif found.nullable and not gen.is_optional(wanted):
                columns[name] = coalesce(col(name), lit(gen.CONSTANTS[wanted]))
        if all(each.equals(col(name)) for name, each in columns.items()):
            return made
        return made.select(**columns)


def is_of_type(value: Any, column_type: Type) -> bool:
    """Whether a value is what the schema promises: 1 is equal to 1.0, but not the same."""
    if value is None:
        return column_type.nullable
    if isinstance(column_type, TupleType):
        return isinstance(value, tuple) and all(is_of_type(each, column_type.elements[0]) for each in value)
    return type(value).__name__ == column_type.kind.value


def expression(tree: naive.Expression, of: Collection) -> Expression:
    match tree:
        case naive.Column(place):
            return col(of.schema.names[place])
        case naive.Constant(value):
            return lit(value)
        case naive.Operation(name, operands):
            return _OPERATIONS[name](*(expression(each, of) for each in operands))


_OPERATIONS: dict[str, Callable[..., Expression]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "is_null": lambda a: a.is_null(),
    "coalesce": coalesce,
    "if": lambda condition, a, b: when(condition, a).otherwise(b),
}


def pairs(these: Collection, others: Collection, on: tuple[tuple[int, int], ...]) -> dict[str, str]:
    return {these.schema.names[i]: others.schema.names[j] for i, j in on}


def by_row(function: Callable[..., Any]) -> Callable[[Any], list[naive.Row]]:
    return lambda table: [function(*row) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


def dealt(data: st.DataObject, history: list[gen.Batch]) -> list[list[gen.Batch]]:
    """The epochs of a history in runs of one or more."""
    runs: list[list[gen.Batch]] = []
    for batch in history:
        if runs and data.draw(st.booleans(), label="runs with the epoch before"):
            runs[-1].append(batch)
        else:
            runs.append([batch])
    return runs


def numbered(values: list[Multiset]) -> dict[int, Multiset]:
    return dict(enumerate(values))


# -------------------------------------------------------------------------------------- the laws


@share(250)
@given(gen.cases())
def test_every_epoch_is_what_a_recomputation_gives(case: Case) -> None:
    program, history = case
    answers = settling(program, history)
    running = Running(program).watch()
    for batch, answer in zip(history, answers, strict=True):
        assert running.at(running.commit(batch)) == numbered(answer)
    for epoch, answer in enumerate(answers):
        assert running.at(epoch) == numbered(answer)


@share(150)
@given(gen.cases(), st.data())
def test_epochs_that_run_together_change_what_they_change_one_by_one(case: Case, data: st.DataObject) -> None:
    program, history = case
    expected = steps(settling(program, history))
    running = Running(program).watch()
    for run in dealt(data, history):
        first = running.flow.epoch
        running.commit(*run)
        epochs = range(first, running.flow.epoch)
        for number, changes in running.changes().items():
            assert changes == {e: expected[e][number] for e in epochs if expected[e][number]}


@share(100)
@given(gen.cases(), st.data())
def test_epochs_that_are_staged_ahead_wait_for_their_turn(case: Case, data: st.DataObject) -> None:
    program, history = case
    expected = steps(settling(program, history))
    running = Running(program).watch()
    running.stage_ahead(history)
    for run in dealt(data, history):
        first = running.flow.epoch
        assert running.flow.seal(len(run)) == first + len(run) - 1
        running.flow.run()
        for number, changes in running.changes().items():
            assert changes == {e: expected[e][number] for e in range(first, first + len(run)) if expected[e][number]}
    assert not any(each.staged for each in running.inputs)


@share(150)
@given(gen.cases(most=8), st.data())
def test_compaction_changes_no_epoch_that_can_be_read(case: Case, data: st.DataObject) -> None:
    program, history = case
    answers = settling(program, history)
    keep = data.draw(st.sampled_from([1, 2, 4, None]), label="keep")
    merging = data.draw(st.sampled_from(["eager", "default", "lazy"]), label="merging")
    running = Running(program, keep=keep, merging=merging).watch()
    for run in dealt(data, history):
        last = running.commit(*run)
        for epoch in range(last + 1 if keep is None else min(last + 1, keep)):
            assert running.at(last - epoch) == numbered(answers[last - epoch])


@share(150)
@given(gen.cases(most=6), st.data())
def test_outputs_that_come_late_and_go_early_are_right_while_they_are_there(case: Case, data: st.DataObject) -> None:
    program, history = case
    answers = settling(program, history)
    running = Running(program)
    indexes = [each.arrange() for each in running.inputs]
    for epoch, batch in enumerate(history):
        if data.draw(st.booleans(), label="what comes shares nothing"):
            running.begin_anew()
        newcomers: list[int] = []
        for number in range(len(program.outputs)):
            if not data.draw(st.booleans(), label=f"output {number} comes or goes before epoch {epoch}"):
                continue
            if number in running.outputs:
                running.drop(number)
            else:
                newcomers += [number]
                running.watch(number)
        try:
            running.commit(batch)
        except PlanError as error:
            # A loop keeps no index of its result by itself. The others go on without those who came too late.
            if "<leave" not in error.message:
                raise
            event("came too late")
            for number in newcomers:
                running.drop(number)
            running.flow.commit()
        assert running.at(epoch) == {n: answers[epoch][n] for n in running.outputs}
    assert len(indexes) == len(running.inputs)


@share(80)
@given(gen.cases(), st.data())
def test_what_nobody_reads_any_more_takes_no_memory(case: Case, data: st.DataObject) -> None:
    program, history = case
    settling(program, history)
    running = Running(program).watch()
    for run in dealt(data, history):
        running.commit(*run)
    for number in list(running.outputs):
        running.drop(number)
    assert running.flow.machine.heap.nbytes == 0


@share(120)
@given(gen.cases(unbounded=True, most=3))
def test_a_loop_that_does_not_settle_is_an_error_and_no_other_is(case: Case) -> None:
    program, history = case
    running = Running(program).watch()
    for end in range(1, len(history) + 1):
        try:
            answer = recomputed(program, history[:end])[-1]
        except naive.TooLargeError:
            reject()
        except naive.DidNotSettleError:
            event("does not settle")
            before = running.at(running.flow.epoch - 1)
            with pytest.raises(NotConvergedError, match="did not settle within"):
                running.commit(history[end - 1])
            assert running.at(running.flow.epoch - 1) == before
            return
        assert running.at(running.commit(history[end - 1])) == numbered(answer)


# ------------------------------------------------------------------------------- laws of many rows
# Enough for merges that take several runs, for indexes, and for the kernels' ways with large batches.

EDGES = naive.Input(0)
ALONG = naive.Select(naive.Join(naive.Variable("x", (int, int)), EDGES, ((0, 0),)), (naive.Column(2), naive.Column(1)))
LABELS = naive.Concat((EDGES, ALONG))
LARGE = gen.Program(
    inputs=((int, int),),
    outputs=(
        naive.Aggregate(EDGES, (0,), "count"),
        naive.Aggregate(EDGES, (0,), "sum", (1,)),
        naive.Aggregate(EDGES, (0,), "max", (1,)),
        naive.TopK(EDGES, (1,), (0,), (), 3, descending=False),
        naive.Threshold(naive.Select(EDGES, (naive.Column(1),)), 2),
        naive.Antijoin(EDGES, naive.Threshold(EDGES, 2), ((0, 1),)),
        naive.Aggregate(naive.Join(EDGES, EDGES, ((1, 0),)), (2,), "count"),
        naive.Iterate((EDGES,), (naive.Variable("x", (int, int)),), (naive.Aggregate(LABELS, (0,), "min", (1,)),)),
    ),
)


@st.composite
def crowds(draw: st.DrawFn) -> list[gen.Batch]:
    """Hundreds of edges that come and go, from a seed."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes = draw(st.sampled_from([30, 300, 10**12]))
    there: list[naive.Row] = []
    history: list[gen.Batch] = []
    for size in draw(st.lists(st.sampled_from([1, 40, 150, 400]), min_size=2, max_size=7)):
        new = [tuple(row) for row in random.integers(0, nodes, (size, 2)).tolist()]
        gone = [there.pop(int(random.integers(len(there)))) for _ in range(min(size // 2, len(there)))]
        there += new
        history.append((tuple((row, 1) for row in new) + tuple((row, -1) for row in gone),))
    return history


@share(30)
@given(crowds(), st.sampled_from(["eager", "default", "lazy"]), st.data())
def test_many_rows_are_as_right_as_few(history: list[gen.Batch], merging: str, data: st.DataObject) -> None:
    answers = settling(LARGE, history)
    running = Running(LARGE, keep=data.draw(st.sampled_from([1, None]), label="keep"), merging=merging).watch()
    for run in dealt(data, history):
        last = running.commit(*run)
        assert running.at(last) == numbered(answers[last])


# --------------------------------------------------------------------------- laws of runs that fail
# A second input trips a wire: an operator that depends on all outputs, so that they have run when it fails.


def explode_at(limit: int) -> Callable[..., list[tuple[int]]]:
    def function(value: int) -> list[tuple[int]]:
        if value >= limit:
            raise ValueError(f"{value} is too much")
        return [(value,)]

    return function


HUGE = 2**62
WIRES: dict[str, tuple[type[GraphtideError], Callable[[Collection], Collection]]] = {
    "a function": (UserFunctionError, lambda wire: wire.flat_map(explode_at(HUGE), value=int)),
    "a function in a loop": (
        UserFunctionError,
        lambda wire: wire.iterate(lambda x: x.flat_map(explode_at(HUGE), value=int).distinct()),
    ),
    "a reduction": (
        UserFunctionError,
        lambda wire: wire.group_by().reduce(lambda _, rows: explode_at(HUGE)(rows[-1][0][0]), value=int),
    ),
    "an expression": (ExpressionError, lambda wire: wire.select(value=col("value") * 4)),
    "a sum": (CapacityError, lambda wire: wire.concat(wire).group_by().sum("value")),
    "a sum in a loop": (
        CapacityError,
        lambda wire: wire.iterate(lambda x: x.concat(wire, wire).group_by().sum("value").where(col("value") < 0)),
    ),
    "a loop": (
        NotConvergedError,
        lambda wire: wire.iterate(
            lambda x: x.select(value=when(col("value") < HUGE, 0).otherwise(col("value") + 1)), max_rounds=5
        ),
    ),
    "a count": (NegativeMultiplicityError, lambda wire: wire.where(col("value") >= HUGE).negate()),
}


class Tripwire:
    """A running program with something in it that fails when it is told to."""

    def __init__(self, running: Running, what: str) -> None:
        self.running = running
        self.error, make = WIRES[what]
        self._fuse = running.flow.input("fuse", value=int)
        wire: Collection = self._fuse
        for number in running.outputs:
            wire = wire.concat(running.build(running.program.outputs[number]).distinct().select(value=lit(0)))
        self._wire = make(wire).output("wire", on_negative="error")

    def trip(self) -> None:
        self._fuse.insert([(HUGE,)])

    def mend(self) -> None:
        self._fuse.remove([(HUGE,)])


@share(200)
@given(gen.cases(), st.sampled_from(sorted(WIRES)), st.data())
def test_a_run_that_fails_leaves_everything_as_it_was(case: Case, what: str, data: st.DataObject) -> None:
    program, history = case
    answers = settling(program, history)
    failing = data.draw(st.integers(0, len(history) - 1), label="the epoch that fails")
    running = Running(program, keep=data.draw(st.sampled_from([1, None]), label="keep")).watch()
    wire = Tripwire(running, what)
    for batch in history[:failing]:
        running.commit(batch)
    before = running.at(failing - 1)
    wire.trip()
    with pytest.raises(wire.error):
        running.commit(history[failing])
    assert running.at(failing - 1) == before
    if data.draw(st.booleans(), label="rolls back"):
        running.flow.rollback()
        running.commit(history[failing])
    else:
        wire.mend()
        running.flow.commit()
    assert running.at(failing) == numbered(answers[failing])
    for batch, answer in zip(history[failing + 1 :], answers[failing + 1 :], strict=True):
        assert running.at(running.commit(batch)) == numbered(answer)
