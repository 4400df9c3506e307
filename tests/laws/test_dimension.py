"""The law of dimensions: at every cell of a grid, an output is what its program makes of the inputs up to the cell."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st
from tests import naive
from tests import programs as gen
from tests.engine import Running
from tests.examples import share
from tests.naive import Multiset, added

import graphtide as gt
from graphtide import Collection, Dataflow
from graphtide.dataflow.dimension import Dimension
from graphtide.errors import CapacityError, PlanError

Cell = tuple[int, ...]
WIDTHS = (3, 2)  # coordinates of a first and a second dimension


class Grid(Running):
    """A program inside one or two dimensions: a row of an input brings its coordinates."""

    def __init__(self, program: gen.Program, dimensions: int) -> None:
        self.dimensions = dimensions
        self.entered: list[Collection] = []
        super().__init__(program)
        axes = {f"at{d}": int for d in range(dimensions)}
        schemas = [each.schema for each in self.inputs]
        self.inputs = [self.flow.input(f"grid {i}", **dict(schema.items()), **axes) for i, schema in enumerate(schemas)]
        self._enter(self.inputs, 0, [])

    def _enter(self, inside: list[Any], depth: int, around: list[Dimension]) -> None:
        if depth == self.dimensions:
            self._known = self._known.new_child({naive.Input(i): each for i, each in enumerate(inside)})
            results = [self.build(output) for output in self.program.outputs]
            for d, dimension in reversed(list(enumerate(around))):
                results = [dimension.leave(result, at=f"_at{d}") for result in results]
            for number, result in enumerate(results):
                self.outputs[number] = result.output(f"output {number}", keep=None)
            return
        with self.flow.dimension(f"dimension {depth}") as dimension:
            at = f"at{depth}"
            entered = [dimension.enter(each, at=gt.col(at)).drop(at) for each in inside]
            self._enter(entered, depth + 1, [*around, dimension])

    def stage_cell(self, batch: gen.Batch, cell: Cell) -> None:
        for each, changes in zip(self.inputs, batch, strict=True):
            each.change([(*row, *cell[1:]) for row, _ in changes], [diff for _, diff in changes])

    def accumulated(self) -> dict[int, dict[Cell, list[tuple[Any, int]]]]:
        """All differences of each output, by cell."""
        found: dict[int, dict[Cell, list[tuple[Any, int]]]] = {}
        for number, output in self.outputs.items():
            cells = found.setdefault(number, {})
            for line in output.changes().to_pylist():
                *row, epoch, diff = line.values()
                data, at = row[: len(row) - self.dimensions], row[len(row) - self.dimensions :]
                cells.setdefault((epoch, *reversed(at)), []).append((data, diff))
        return found


def cells_of(dimensions: int, epochs: int) -> Iterator[Cell]:
    return product(range(epochs), *(range(width) for width in WIDTHS[:dimensions]))


def recomputed(
    program: gen.Program, history: list[gen.Batch], places: list[Cell], cells: list[Cell]
) -> dict[Cell, list[Multiset]]:
    """The outputs at each cell, from all batches that are placed at or before it."""
    wanted: dict[Cell, list[Multiset]] = {}
    for cell in cells:
        chosen = [batch for batch, place in zip(history, places, strict=True) if is_before(place, cell)]
        inputs = [added(change for batch in chosen for change in batch[i]) for i in range(len(program.inputs))]
        known: naive.Known = {naive.Input(i): rows for i, rows in enumerate(inputs)}
        wanted[cell] = [naive.evaluate(output, known) for output in program.outputs]
    return wanted


def check(
    grid: Grid, history: list[gen.Batch], places: list[Cell], wanted: dict[Cell, list[Multiset]], together: int
) -> None:
    """Run the history, so many epochs at once, and look at every cell."""
    found: dict[int, dict[Cell, list[Any]]] = {number: {} for number in grid.outputs}
    epochs = 1 + max(cell[0] for cell in wanted)
    for epoch in range(epochs):
        for batch, place in zip(history, places, strict=True):
            if place[0] == epoch:
                grid.stage_cell(batch, place)
        grid.flow.seal()
        if (epoch + 1) % together and epoch < epochs - 1:
            continue
        grid.flow.run()
        for number, cells in grid.accumulated().items():
            found[number] |= cells
    for cell, answers in wanted.items():
        for number, answer in enumerate(answers):
            assert added(up_to(found[number], cell)) == answer, cell


def is_before(at: Cell, cell: Cell) -> bool:
    return all(a <= b for a, b in zip(at, cell, strict=True))


def up_to(cells: dict[Cell, list[Any]], cell: Cell) -> list[Any]:
    return [each for at, rows in cells.items() if is_before(at, cell) for each in rows]


@pytest.mark.parametrize("dimensions", [1, 2])
@share(50)
@given(case=gen.cases(most=6), data=st.data())
def test_every_cell_is_what_a_recomputation_gives(dimensions: int, case: Any, data: st.DataObject) -> None:
    program, history = case
    epochs = 2
    places = [
        data.draw(st.tuples(st.integers(0, epochs - 1), *(st.integers(0, w - 1) for w in WIDTHS[:dimensions])))
        for _ in history
    ]
    try:
        wanted = recomputed(program, history, places, list(cells_of(dimensions, epochs)))
    except (naive.DidNotSettleError, naive.TooLargeError):
        reject()
    together = data.draw(st.booleans(), label="both epochs in one run")
    check(Grid(program, dimensions), history, places, wanted, epochs if together else 1)


LEAST, GREATEST, THERE, TWICE, OFTEN = (
    naive.Aggregate(naive.Input(0), (0,), "min", (1,)),
    naive.Aggregate(naive.Input(1), (0,), "max", (1,)),
    naive.Threshold(naive.Input(0), 1),
    naive.Threshold(naive.Input(0), 2),
    naive.Aggregate(naive.Input(0), (0,), "count"),
)
# More rows of a key than are read before its output is looked at: better ones neither for `min` nor for `max`.
CROWD = 80
PLACES = st.tuples(*[st.integers(0, 2)] * 3)  # an epoch and two coordinates


@pytest.mark.parametrize("crowd", [0, CROWD])
@given(
    changes=st.lists(
        st.tuples(PLACES, st.tuples(st.just(0), st.integers(0, 3)), st.sampled_from([1, 1, -1])), max_size=16
    ),
    comes=PLACES,
    goes=PLACES,
)
@example(  # the bound (1, 1, 1) is torn by the last change, and the first ones have not called for it
    changes=[
        ((0, 1, 0), (0, 0), 1),
        ((0, 1, 0), (0, 0), 1),
        ((0, 1, 0), (0, 1), 1),
        ((1, 0, 0), (0, 0), 1),
        ((1, 0, 1), (0, 1), 1),
    ],
    comes=(0, 0, 0),
    goes=(2, 2, 2),
)
@example(  # a row is taken away at a time that has no other: an insertion that is no better now matters then
    changes=[((0, 0, 0), (0, 1), 1), ((0, 0, 1), (0, 1), -1), ((1, 0, 0), (0, 2), 1)],
    comes=(0, 0, 0),
    goes=(0, 0, 1),
)
def test_a_key_that_changes_at_times_without_an_order_is_right_at_all_their_bounds(
    crowd: int, changes: Any, comes: Cell, goes: Cell
) -> None:
    """Many times of one key, none before the other: what is put out is torn at bounds that no change stands at."""
    program = gen.Program(inputs=((int, int), (int, int)), outputs=(LEAST, GREATEST, THERE, TWICE, OFTEN))
    places = [place for place, _, _ in changes] + [comes, goes]
    history: list[gen.Batch] = [(((row, diff),), ((row, diff),)) for _, row, diff in changes]
    for diff in (1, -1):
        worse = [tuple(((0, sign * (10 + n)), diff) for n in range(crowd)) for sign in (1, -1)]
        history.append((worse[0], worse[1]))
    wanted = recomputed(program, history, places, list(product(range(3), repeat=3)))
    check(Grid(program, dimensions=2), history, places, wanted, together=1)


def test_a_coordinate_out_of_range_is_an_error() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int, at=int)
    with flow.dimension("pages") as pages:
        out = pages.leave(pages.enter(rows, at=gt.col("at")).distinct(), at="page").output("out")
    rows.insert([(1, -1)])
    with pytest.raises(CapacityError, match="below 0"):
        flow.commit()
    flow.rollback()
    rows.insert([(1, 1)])
    flow.commit()
    assert out.rows() == [(1, 1, 1)]


def test_the_column_of_the_coordinate_must_be_new() -> None:
    flow = Dataflow()
    rows = flow.input("rows", n=int, at=int)
    with flow.dimension("pages") as pages, pytest.raises(PlanError, match='there already is a column "at"'):
        pages.leave(pages.enter(rows, at=gt.col("at")), at="at")


def test_a_number_that_rises_and_falls_along_a_dimension() -> None:
    flow = Dataflow()
    rows = flow.input("rows", key=int, at=int)
    with flow.dimension("at") as dimension:
        counts = dimension.enter(rows, at=gt.col("at")).select("key").group_by("key").count("rows")
        changes = dimension.leave(counts, at="up_to").output("counts")
    found: dict[tuple[int, int, int], int] = {}
    for keys, diffs in (([(7, 0), (7, 1), (7, 2)], [2, 1, -1]), ([(7, 0)], [1])):
        rows.change(keys, diffs)
        flow.commit()
        for _, number, up_to, epoch, diff in (line.values() for line in changes.changes().to_pylist()):
            found[number, epoch, up_to] = diff
    for epoch, up_to, wanted in ((0, 0, 2), (0, 1, 3), (0, 2, 2), (1, 0, 3), (1, 1, 4), (1, 2, 3)):
        sums = [
            sum(diff for (n, e, u), diff in found.items() if n == number and e <= epoch and u <= up_to)
            for number in range(6)
        ]
        assert sums == [int(number == wanted) for number in range(6)]
