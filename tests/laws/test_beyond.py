"""The law of bounds: a row is there once for each bound of its key that it is beyond, however both come and go."""

import operator
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide import Dataflow, col
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.output import Output
from graphtide.dataflow.plan import Comparison
from graphtide.errors import PlanError

Row = tuple[int, int, int]
Change = tuple[bool, Row, int]  # of the rows or of the bounds, how often more

COMPARED: dict[Comparison, Callable[[int, int], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
CHANGES = st.tuples(
    st.booleans(),
    st.tuples(st.integers(0, 1), st.integers(-2, 4), st.integers(0, 1)),
    st.sampled_from([1, 1, 1, -1, 2]),
)


def expected(rows: Counter[Row], bounds: Counter[Row], comparison: Comparison, *, by_key: bool) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for row, times in rows.items():
        for bound, often in bounds.items():
            if COMPARED[comparison](row[1], bound[1]) and (row[0] == bound[0] or not by_key):
                found[row] += times * often
    return Counter({row: times for row, times in found.items() if times})


class Running:
    """Rows beyond bounds, in all ways of comparing; some from the beginning and some that come late."""

    def __init__(self) -> None:
        self.flow = Dataflow()
        self.rows = self.flow.input("rows", key=int, value=int, more=int)
        self.bounds = self.flow.input("bounds", key=int, bound=int, more=int)
        self.indexes = [self.rows.arrange("key"), self.bounds.arrange("key")]
        self.outputs: dict[tuple[Comparison, bool], Output] = {}

    def watch(self, *, by_key: bool) -> None:
        keys = [("key", "key")] if by_key else []
        for comparison in COMPARED:
            found = self.rows.beyond(self.bounds, keys, ("value", "bound"), comparison)
            self.outputs[comparison, by_key] = found.output(f"{comparison} {by_key}")

    def side(self, change: Change) -> Input:
        return self.rows if change[0] else self.bounds


@given(st.lists(st.lists(st.lists(CHANGES, max_size=4), min_size=1, max_size=6), min_size=1, max_size=5), st.data())
def test_rows_are_there_once_for_each_bound_that_they_are_beyond(
    runs: list[list[list[Change]]], data: st.DataObject
) -> None:
    running = Running()
    running.watch(by_key=True)
    late = data.draw(st.integers(0, len(runs)), label="the others come before run")
    rows: Counter[Row] = Counter()
    bounds: Counter[Row] = Counter()
    for number, epochs in enumerate(runs):
        if number == late:
            running.watch(by_key=False)
        first = running.flow.epoch
        steps: list[dict[tuple[Comparison, bool], Counter[Row]]] = []
        for changes in epochs:
            before = {at: expected(rows, bounds, at[0], by_key=at[1]) for at in running.outputs}
            for change in changes:
                running.side(change).change([change[1]], [change[2]])
                (rows if change[0] else bounds)[change[1]] += change[2]
            running.flow.seal()
            after = {at: expected(rows, bounds, at[0], by_key=at[1]) for at in running.outputs}
            steps.append({at: _less(after[at], before[at]) for at in running.outputs})
        running.flow.run()
        for at, output in running.outputs.items():
            assert _counted(output, running.flow.epoch - 1) == expected(rows, bounds, at[0], by_key=at[1])
            if number > late or at[1]:
                for epoch, step in enumerate(steps):
                    assert _changed(output, first + epoch) == step[at]


def _less(after: Counter[Row], before: Counter[Row]) -> Counter[Row]:
    found = Counter(after)
    found.subtract(before)
    return Counter({row: times for row, times in found.items() if times})


def _counted(output: Output, epoch: int) -> Counter[Row]:
    lines = output._counted(epoch)
    rows = zip(*lines[: len(output.schema)].tolist(), strict=True)
    return Counter({row: times for row, times in zip(rows, lines[-1].tolist(), strict=True) if times})


def _changed(output: Output, epoch: int) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for *row, at, diff in (line.values() for line in output.changes().to_pylist()):
        if at == epoch:
            found[tuple(row)] += diff
    return found


@pytest.mark.parametrize("rows", [100, 10_000])
def test_a_bound_that_moves_costs_what_lies_between(rows: int) -> None:
    running = Running()
    running.watch(by_key=False)
    values = np.arange(rows)
    running.rows.insert(np.stack([values % 2, values, values], axis=1))
    running.bounds.insert([(0, 50, 0)])
    running.flow.commit()
    running.bounds.remove([(0, 50, 0)])
    running.bounds.insert([(0, 53, 0)])
    operators = running.flow.machine.operators
    before = operators[:, layout.EMITTED].copy()
    running.flow.commit()
    put_out = (operators[:, layout.EMITTED] - before)[operators[:, layout.KIND] == layout.BEYOND]
    assert sorted(put_out.tolist()) == [3, 3, 3, 3]


def test_none_is_beyond_nothing_and_nothing_is_beyond_none() -> None:
    flow = Dataflow()
    rows = flow.input("rows", value=int | None)
    bounds = flow.input("bounds", bound=int | None)
    out = rows.beyond(bounds, [], ("value", "bound"), "<=").output("out")
    rows.insert([(1,), (None,), (3,)])
    bounds.insert([(2,), (None,)])
    flow.commit()
    assert out.rows() == [(1,)]


def test_in_a_loop_bounds_are_met_as_well() -> None:
    flow = Dataflow()
    rows = flow.input("rows", value=int)
    bounds = flow.input("bounds", bound=int)
    grown = rows.iterate(
        lambda x: x.beyond(bounds, [], ("value", "bound"), "<").select(value=col("value") + 1).concat(rows).distinct()
    )
    out = grown.output("out")
    rows.insert([(0,)])
    for most in (3, 1, 2):
        bounds.insert([(most,)])
        flow.commit()
        assert out.rows() == [(value,) for value in range(most + 1)]
        bounds.remove([(most,)])


def test_what_is_compared_must_be_of_one_type_that_is_ordered() -> None:
    flow = Dataflow()
    rows = flow.input("rows", value=int, name=str)
    bounds = flow.input("bounds", bound=float, name=str)
    with pytest.raises(PlanError, match='"value" is int and its bound "bound" is float'):
        rows.beyond(bounds, [], ("value", "bound"), ">")
    with pytest.raises(PlanError, match="numbers, dates and times"):
        rows.beyond(bounds, [], ("name", "name"), ">")
