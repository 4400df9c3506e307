"""The law of long histories: joins of keys that change in every epoch of a batch are right, and cost what changes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import naive
from tests import programs as gen
from tests.engine import Running
from tests.examples import share
from tests.laws.test_dataflow import settling, steps
from tests.laws.test_dimension import Grid, check, recomputed

from graphtide import Dataflow
from graphtide.dataflow.kernels import layout

LEFT, RIGHT = naive.Input(0), naive.Input(1)
PAIR = (int, int)
REACHED, CLOSED = naive.Variable("reached", PAIR), naive.Variable("closed", PAIR)


def composed(left: naive.Node, right: naive.Node) -> naive.Node:
    return naive.Select(naive.Join(left, right, ((1, 0),)), (naive.Column(0), naive.Column(2)))


def closure(of: naive.Node, variable: naive.Variable) -> naive.Node:
    """Both sides of its join are in the loop."""
    grown = naive.Concat((of, composed(variable, variable)))
    return naive.Iterate((of,), (variable,), (naive.Threshold(grown, 1),))


NESTED = naive.Iterate(
    (LEFT,),
    (CLOSED,),
    (naive.Threshold(naive.Concat((LEFT, closure(naive.Concat((CLOSED, composed(CLOSED, RIGHT))), REACHED))), 1),),
)
PROGRAM = gen.Program(
    inputs=(PAIR, PAIR),
    outputs=(
        naive.Join(LEFT, RIGHT, ((0, 0),)),
        naive.Join(naive.Aggregate(LEFT, (0,), "sum", (1,)), naive.Aggregate(RIGHT, (0,), "max", (1,)), ((0, 0),)),
        naive.Antijoin(LEFT, RIGHT, ((0, 0),)),
        closure(LEFT, REACHED),
        NESTED,
    ),
)
# Few keys with few values, so that a key changes again and again and what came goes.
ROWS = st.tuples(st.integers(0, 2), st.integers(0, 3))
CHANGES = st.tuples(ROWS, st.sampled_from([1, 1, 1, -1, -1, 2]))
BATCHES = st.tuples(
    st.lists(CHANGES, max_size=3).map(tuple),
    st.lists(CHANGES, max_size=3).map(tuple),
)


@share(60)
@given(st.lists(BATCHES, min_size=1, max_size=3), st.lists(BATCHES, min_size=20, max_size=50), st.booleans())
def test_every_epoch_of_a_long_batch_changes_what_it_changes_alone(
    before: list[gen.Batch], history: list[gen.Batch], is_again: bool
) -> None:
    expected = steps(settling(PROGRAM, before + history + before))
    running = Running(PROGRAM).watch()
    running.commit(*before)
    runs: Sequence[list[gen.Batch]] = [history, before] if is_again else [history + before]
    for run in runs:
        first = running.flow.epoch
        running.commit(*run)
        for number, changes in running.changes().items():
            epochs = range(first, running.flow.epoch)
            assert changes == {e: expected[e][number] for e in epochs if expected[e][number]}


PLACES = st.tuples(st.integers(0, 19), st.integers(0, 2), st.integers(0, 1))


@share(20)
@given(st.lists(st.tuples(PLACES, BATCHES), min_size=20, max_size=40))
def test_every_cell_of_a_long_batch_is_what_a_recomputation_gives(
    changes: list[tuple[tuple[int, int, int], gen.Batch]],
) -> None:
    program = gen.Program(PROGRAM.inputs, PROGRAM.outputs[:3])
    places = [place for place, _ in changes]
    history = [batch for _, batch in changes]
    cells = [(e, x, y) for e in (4, 19) for x in range(3) for y in range(2)]
    check(Grid(program, dimensions=2), history, places, recomputed(program, history, places, cells), together=20)


@pytest.mark.parametrize("epochs", [100, 1_000])
def test_two_aggregates_of_one_group_meet_once_in_each_epoch(epochs: int) -> None:
    flow = Dataflow()
    rows = flow.input("rows", key=int, value=int)
    groups = rows.group_by("key")
    out = groups.sum("value").join(groups.max("value").rename(value="most"), on="key").output("out")
    values = np.arange(epochs)
    rows.change(np.stack([np.zeros_like(values), values], axis=1), np.ones_like(values), epochs=values)
    flow.seal(epochs)
    flow.run()
    assert len(out.rows()) == 1
    operators = flow.machine.operators
    joins = operators[operators[:, layout.KIND] == layout.JOIN]
    # Each epoch replaces a sum and a maximum: two differences of each meet one or two of the other.
    assert joins[:, layout.EMITTED].sum() <= 8 * epochs
