"""The law of growth: without rounds, the best value of each key is what it is with them, at every time."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide import Collection, Dataflow, col, lit
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels.layout import EMITTED
from graphtide.dataflow.plan import Improve
from graphtide.errors import ExpressionError, NotConvergedError, UsageError
from graphtide.trace.kernels.heap import words
from graphtide.trace.kernels.spine import FRESH, RUNS, run_slot

Edge = tuple[int, int, int]
Cell = tuple[int, ...]
Build = Callable[[Collection], Collection]

WIDTHS = (3, 2)  # coordinates of a first and a second dimension
# Few vertices, so that there are many ways and cycles; a row may come several times.
EDGES = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3))
PLACED = st.tuples(EDGES, st.integers(0, WIDTHS[0] - 1), st.integers(0, WIDTHS[1] - 1))
BATCHES = st.lists(st.lists(PLACED, max_size=5), min_size=1, max_size=5)


def components(edges: Collection) -> Collection:
    nodes = edges.select(v="src").concat(edges.select(v="dst")).distinct()
    links = edges.select("src", "dst").concat(edges.select(src="dst", dst="src"))

    def step(labels: Collection, arriving: Collection) -> Collection:
        heard = labels.join(links, on={"v": "src"}).select(v="dst", x="x")
        return heard.concat(arriving).group_by("v").min("x")

    return nodes.select("v", x="v").iterate_prioritized(step, priority=col("x").bit_length())


def distances(edges: Collection) -> Collection:
    start = edges.where(col("src") == 0).select(v="src", x=lit(0)).distinct()

    def step(reached: Collection) -> Collection:
        further = reached.join(edges, on={"v": "src"}).select(v="dst", x=col("weight") + col("x") + 1)
        return further.concat(start).group_by("v").min("x")

    return start.iterate(step)


def greatest(edges: Collection) -> Collection:
    own = edges.select(v="src", x=col("src") + col("weight"))

    def step(known: Collection) -> Collection:
        return known.join(edges, on={"v": "src"}).select(v="dst", x="x").concat(own).group_by("v").max("x")

    return own.iterate(step)


def _closed(edges: list[Edge], start: dict[int, set[int]], step: Callable[[int, int], int]) -> dict[int, set[int]]:
    """All values that each vertex hears of over at most as many edges as a best way can have."""
    found = start
    for _ in range(6):
        further = {v: set(values) for v, values in found.items()}
        for src, dst, weight in edges:
            further.setdefault(dst, set()).update(step(x, weight) for x in found.get(src, ()))
        found = further
    return found


def wanted(program: Build, edges: list[Edge]) -> dict[int, int]:
    if program is components:
        ends = {end for edge in edges for end in edge[:2]}
        back = [(dst, src, weight) for src, dst, weight in edges]
        heard = _closed(edges + back, {v: {v} for v in ends}, lambda x, _weight: x)
        return {v: min(values) for v, values in heard.items() if values}
    if program is distances:
        start = {0: {0}} if any(src == 0 for src, _, _ in edges) else {}
        heard = _closed(edges, start, lambda x, weight: x + weight + 1)
        return {v: min(values) for v, values in heard.items() if values}
    own: dict[int, set[int]] = {}
    for src, _, weight in edges:
        own.setdefault(src, set()).add(src + weight)
    heard = _closed(edges, own, lambda x, _weight: x)
    return {v: max(values) for v, values in heard.items() if values}


class Grown(NamedTuple):
    """A program on edges that only come, inside of so many dimensions."""

    flow: Dataflow
    edges: Input
    output: Any
    dimensions: int

    @classmethod
    def of(cls, program: Build, dimensions: int) -> "Grown":
        flow = Dataflow()
        edges = flow.growing_input("edges", src=int, dst=int, weight=int, a=int, b=int)

        def inside(collection: Collection, axes: str) -> Collection:
            if not axes:
                return program(collection.select("src", "dst", "weight"))
            with flow.dimension(axes[0]) as dimension:
                entered = dimension.enter(collection, at=col(axes[0]))
                return dimension.leave(inside(entered, axes[1:]), at=f"at_{axes[0]}")

        output = inside(edges, "ab"[:dimensions]).output("best", keep=None)
        assert any(isinstance(node.operation, Improve) for node in flow.builder.nodes)
        return cls(flow, edges, output, dimensions)

    def check_sorted(self) -> None:
        """Every batch of an index that is only improved is sorted, as merges need it."""
        heap, assembly = self.flow.machine.heap, self.flow.assembly
        for node in self.flow.builder.nodes:
            if isinstance(node.operation, Improve):
                spine = words(heap.table, assembly.spine_of(node))
                slots = [int(run_slot(spine, r)) for r in range(spine[RUNS])] + [int(spine[FRESH])]
                for slot in filter(None, slots):
                    rows = heap.get(slot)[:-1].T.tolist()
                    assert rows == sorted(rows)

    def differences(self) -> list[tuple[int, int, Cell, int]]:
        """(vertex, value, (epoch, coordinates...), diff) of the last run."""
        found: list[tuple[int, int, Cell, int]] = []
        for line in self.output.changes().to_pylist():
            v, x, *at, epoch, diff = line.values()
            found.append((v, x, (epoch, *reversed(at)), diff))
        return found


@pytest.mark.parametrize("dimensions", [0, 1, 2])
@pytest.mark.parametrize("program", [components, distances, greatest])
@share(50)
@given(batches=BATCHES, together=st.integers(1, 3))
def test_best_values_at_every_cell(
    program: Build, dimensions: int, batches: list[list[tuple[Edge, int, int]]], together: int
) -> None:
    grown = Grown.of(program, dimensions)
    differences: list[tuple[int, int, Cell, int]] = []
    for first in range(0, len(batches), together):
        for batch in batches[first : first + together]:
            grown.edges.insert([(*edge, a, b) for edge, a, b in batch])
            grown.flow.seal()
        grown.flow.run()
        grown.check_sorted()
        differences += grown.differences()
    for cell in product(range(len(batches)), *(range(width) for width in WIDTHS[:dimensions])):
        edges = [
            edge
            for epoch, batch in enumerate(batches)
            for edge, *at in batch
            if all(own <= limit for own, limit in zip((epoch, *at[:dimensions]), cell, strict=True))
        ]
        sums: dict[tuple[int, int], int] = {}
        for v, x, at, diff in differences:
            if all(own <= limit for own, limit in zip(at, cell, strict=True)):
                sums[v, x] = sums.get((v, x), 0) + diff
        assert {row: count for row, count in sums.items() if count} == dict.fromkeys(wanted(program, edges).items(), 1)


def test_rows_do_not_come_again_when_a_shorter_way_does() -> None:
    seen: list[int] = []
    for new_input in (Dataflow.input, Dataflow.growing_input):
        flow = Dataflow()
        edges: Input = new_input(flow, "edges", src=int, dst=int, weight=int)
        components(edges).output("labels")
        edges.insert([(v, v + 1, 0) for v in range(50)])
        flow.commit()
        before = flow.machine.operators[:, EMITTED].sum()
        edges.insert([(0, 30, 0)])
        flow.commit()
        seen.append(int(flow.machine.operators[:, EMITTED].sum() - before))
    assert 10 * seen[1] < seen[0]


def test_a_loop_that_comes_late_reads_what_there_is() -> None:
    flow = Dataflow()
    edges = flow.growing_input("edges", src=int, dst=int, weight=int)
    edges.output("edges")
    edges.insert([(1, 2, 0), (3, 4, 0)])
    flow.commit()
    labels = components(edges).output("labels")
    assert any(isinstance(node.operation, Improve) for node in flow.builder.nodes)
    flow.commit()
    assert sorted(labels.rows()) == [(1, 1), (2, 1), (3, 3), (4, 3)]
    edges.insert([(4, 2, 0)])
    flow.commit()
    assert sorted(labels.rows()) == [(1, 1), (2, 1), (3, 1), (4, 1)]


def test_a_run_that_fails_leaves_the_best_values_as_they_were() -> None:
    flow = Dataflow()
    edges = flow.growing_input("edges", src=int, dst=int, weight=int)
    lengths = distances(edges).output("lengths")
    edges.insert([(0, 1, 2), (1, 2, 2)])
    flow.commit()
    edges.insert([(0, 2, 1), (2, 3, 2**63 - 2)])
    with pytest.raises(ExpressionError):
        flow.commit()
    assert sorted(lengths.rows()) == [(0, 0), (1, 3), (2, 6)]
    flow.rollback()
    edges.insert([(0, 2, 3)])
    flow.commit()
    assert sorted(lengths.rows()) == [(0, 0), (1, 3), (2, 4)]


def test_a_loop_without_end_is_told() -> None:
    flow = Dataflow()
    edges = flow.growing_input("edges", src=int, dst=int)
    start = edges.select(v="src", x=lit(0))

    def step(known: Collection) -> Collection:
        further = known.join(edges, on={"v": "src"}).select(v="dst", x=col("x") + -1)
        return further.concat(start).group_by("v").min("x")

    start.iterate(step, max_rounds=20).output("least")
    edges.insert([(1, 2), (2, 1)])
    with pytest.raises(NotConvergedError, match="20 rounds: 2 rows"):
        flow.commit()


def _plain(program: Build) -> bool:
    """Whether a program on edges that grow is followed round by round all the same."""
    flow = Dataflow()
    program(flow.growing_input("edges", src=int, dst=int, weight=int))
    return not any(isinstance(node.operation, Improve) for node in flow.builder.nodes)


def _loop(make: Callable[[Collection, Collection], Collection], *, has_start: bool = True) -> Build:
    def program(edges: Collection) -> Collection:
        start = edges.select(v="src", x="weight")

        def step(known: Collection) -> Collection:
            further = make(known, edges)
            return (further.concat(start) if has_start else further).group_by("v").min("x")

        return start.iterate(step)

    return program


def _passed_on(known: Collection, edges: Collection) -> Collection:
    return known.join(edges, on={"v": "src"})


KEPT_ROUNDS: dict[str, Build] = {
    "a condition on the value": _loop(lambda k, e: _passed_on(k.where(col("x") > 1), e).select(v="dst", x="x")),
    "a join on the value": _loop(lambda k, e: k.join(e, on={"x": "src"}).select(v="dst", x="x")),
    "the value turned around": _loop(lambda k, e: _passed_on(k, e).select(v="dst", x=3 - col("x"))),
    "the value twice": _loop(lambda k, e: _passed_on(k, e).select(v="dst", x=col("x") + col("x"))),
    "the value as a key": _loop(lambda k, e: _passed_on(k, e).select(v="x", x="x")),
    "rows taken away": _loop(lambda k, e: _passed_on(k.except_(k.where(col("v") == 1)), e).select(v="dst", x="x")),
    "another reduction": _loop(lambda k, e: _passed_on(k, e).select(v="dst", x="x").group_by("v").max("x")),
    "no start in the body": _loop(lambda k, e: _passed_on(k, e).select(v="dst", x="x"), has_start=False),
}


@pytest.mark.parametrize("name", KEPT_ROUNDS)
def test_rounds_are_kept_where_worse_values_may_lead_to_better_ones(name: str) -> None:
    assert not _plain(_loop(lambda known, edges: _passed_on(known, edges).select(v="dst", x="x")))
    assert _plain(KEPT_ROUNDS[name])


def test_rounds_are_kept_where_something_may_be_taken_away() -> None:
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int, weight=int)
    components(edges)
    few = flow.growing_input("few", src=int, dst=int, weight=int)
    components(few.except_(edges))
    components(few.concat(edges))
    assert not any(isinstance(node.operation, Improve) for node in flow.builder.nodes)


def test_floats_are_added_round_by_round() -> None:
    flow = Dataflow()
    edges = flow.growing_input("edges", src=int, dst=int, weight=float)
    start = edges.select(v="src", x=lit(0.0))

    def step(known: Collection) -> Collection:
        further = known.join(edges, on={"v": "src"}).select(v="dst", x=col("x") + col("weight"))
        return further.concat(start).group_by("v").min("x")

    start.iterate(step)
    assert not any(isinstance(node.operation, Improve) for node in flow.builder.nodes)


def test_what_grows_gives_nothing_back() -> None:
    flow = Dataflow()
    edges = flow.growing_input("edges", src=int, dst=int)
    rows = edges.output("rows")
    with pytest.raises(UsageError, match='taken away from "edges"'):
        edges.remove([(1, 2)])
    with pytest.raises(UsageError, match=r"hint: make it with flow\.input"):
        edges.change([(1, 2), (2, 3)], [1, -1])
    assert edges.staged == 0
    edges.change([(1, 2)], [2])
    flow.commit()
    assert rows.rows() == [(1, 2), (1, 2)]
