"""The law of the engine: at every time, each output is what its program makes of the accumulated inputs.

However the epochs come (one by one, together, after compaction, before an operator is there, around a run that
failed), the answer is that of `tests.naive`, and the changes are the differences of such answers.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import event, given, reject
from hypothesis import strategies as st
from tests import naive
from tests import programs as gen
from tests.engine import Running
from tests.examples import share
from tests.naive import Multiset, added, difference

from graphtide import Collection, col, lit, when
from graphtide.errors import (
    CapacityError,
    ExpressionError,
    GraphtideError,
    NegativeMultiplicityError,
    NotConvergedError,
    PlanError,
    UserFunctionError,
)

Case = tuple[gen.Program, list[gen.Batch]]
Answers = list[list[Multiset]]  # for each epoch, for each output


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
