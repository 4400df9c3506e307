"""The law of monotone loops: what they come to is what follows from the facts, whichever round each row is in."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide import Dataflow, col
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.input import Input
from graphtide.dataflow.kernels.layout import ROUNDS, UNUSED
from graphtide.dataflow.kernels.support import GAP
from graphtide.errors import PlanError, UserFunctionError

Edge = tuple[int, int]
Pairs = frozenset[Edge]

# Few vertices, so that there are many ways and cycles.
EDGES = st.tuples(st.integers(0, 5), st.integers(0, 5))
BATCHES = st.lists(st.frozensets(EDGES, min_size=1, max_size=5), min_size=1, max_size=8)


class Paths:
    """Pairs joined by a path of odd or even length, and pairs of one generation; the edges are toggled."""

    def __init__(self) -> None:
        self.flow = Dataflow()
        self.is_failing = False
        self.edges: Input = self.flow.input("edges", a=int, b=int)
        self.moved: dict[str, list[tuple[Edge, int]]] = defaultdict(list)
        with self.flow.monotone_loop() as loop:
            odd, even, twins = (loop.empty_variable(a=int, b=int) for _ in range(3))
            all_odd = self._seen("odd", odd.concat(self.edges).distinct())
            all_even = self._seen("even", even.distinct())
            siblings = _composed(_turned(self.edges), self.edges)
            all_twins = self._seen("twins", twins.concat(siblings).distinct())
            odd.becomes(_composed(all_even, self.edges).concat(_composed(all_even, all_odd)))
            even.becomes(_composed(all_odd, self.edges))
            below = _composed(_turned(self.edges), all_twins)
            twins.becomes(_composed(below, self.edges))
            left = {"odd": loop.leave(all_odd), "even": loop.leave(all_even), "twins": loop.leave(all_twins)}
        self.outputs = {name: collection.output(name) for name, collection in left.items()}
        self.facts: set[Edge] = set()

    def _seen(self, name: str, collection: Collection) -> Collection:
        def see(row: Edge, _time: tuple[int, ...], diff: int) -> None:
            if self.is_failing:
                raise ValueError("on purpose")
            self.moved[name].append((row, diff))

        collection.inspect(see)
        return collection

    def toggle(self, edges: Pairs) -> None:
        """Let each edge go if it is there, and come if it is not; forget what moved before."""
        self.moved.clear()
        self.stage(edges)
        self.flow.commit()

    def stage(self, edges: Pairs) -> None:
        for edge in edges:
            (self.edges.remove if edge in self.facts else self.edges.insert)([edge])
        self.facts ^= edges

    def check(self) -> None:
        expected = recomputed(frozenset(self.facts))
        for name, output in self.outputs.items():
            rows = output.rows()
            assert len(rows) == len(set(rows)), name
            assert set(rows) == expected[name], name


def _composed(first: Collection, second: Collection) -> Collection:
    renamed = second.select(b=col("a"), c=col("b"))
    return first.join(renamed, on=["b"]).select(a=col("a"), b=col("c"))


def _turned(edges: Collection) -> Collection:
    return edges.select(a=col("b"), b=col("a"))


def _pairs(first: Pairs, second: Pairs) -> Pairs:
    return frozenset((a, d) for a, b in first for c, d in second if b == c)


def recomputed(edges: Pairs) -> dict[str, Pairs]:
    """The same from nothing, all rules again and again until no pair is new."""
    odd = even = twins = frozenset[Edge]()
    turned = frozenset((b, a) for a, b in edges)
    while True:
        grown = (
            odd | edges | _pairs(even, edges) | _pairs(even, odd),
            even | _pairs(odd, edges),
            twins | _pairs(turned, edges) | _pairs(_pairs(turned, twins), edges),
        )
        if grown == (odd, even, twins):
            return {"odd": odd, "even": even, "twins": twins}
        odd, even, twins = grown


@share(100)
@given(BATCHES)
def test_a_monotone_loop_comes_to_what_follows_after_every_change(batches: list[Pairs]) -> None:
    paths = Paths()
    for batch in batches:
        paths.toggle(batch)
        paths.check()


def cycle(length: int) -> Pairs:
    return frozenset((v, (v + 1) % length) for v in range(length))


def test_a_cycle_does_not_support_itself() -> None:
    paths = Paths()
    # An odd cycle that is entered from outside, so that all pairs have paths of either parity.
    paths.toggle(cycle(5) | {(9, 0)})
    paths.toggle(frozenset({(9, 0)}))
    paths.check()
    paths.toggle(frozenset({(4, 0)}))
    paths.check()


def test_a_shorter_way_moves_nothing() -> None:
    paths = Paths()
    paths.toggle(cycle(7))
    paths.toggle(frozenset({(0, 5)}))
    paths.check()
    # All pairs are joined by paths of both parities.
    assert not paths.moved["odd"]
    assert not paths.moved["even"]


def test_what_follows_from_a_row_that_finds_another_support_stays() -> None:
    paths = Paths()
    # Two ways from 0 to 3, one longer by two, and a tail behind.
    tail = frozenset((v, v + 1) for v in range(3, 20))
    paths.toggle(frozenset({(0, 1), (1, 3), (0, 30), (30, 31), (31, 32), (32, 3)}) | tail)
    paths.toggle(frozenset({(0, 1)}))
    paths.check()
    moved = {row for rows in (paths.moved["odd"], paths.moved["even"]) for row, _ in rows}
    assert {(0, 1), (0, 3)} <= moved
    # The first of the tail is in a round before the longer way arrives; the next waits for it, and stays.
    assert not moved & {(0, v) for v in range(5, 21)}


def test_what_follows_from_a_row_that_is_replaced_stays() -> None:
    paths = Paths()
    tail = frozenset((v, v + 1) for v in range(3, 20))
    paths.toggle(frozenset({(0, 1), (1, 3)}) | tail)
    paths.toggle(frozenset({(0, 1), (1, 3), (0, 2), (2, 3)}))
    paths.check()
    moved = {row for rows in (paths.moved["odd"], paths.moved["even"]) for row, _ in rows}
    assert {(0, 1), (0, 2)} <= moved
    assert not moved & {(0, v) for v in range(3, 21)}


def test_a_run_that_failed_leaves_rows_where_they_were() -> None:
    paths = Paths()
    paths.toggle(cycle(5) | {(0, 3)})
    paths.is_failing = True
    with pytest.raises(UserFunctionError, match="on purpose"):
        paths.toggle(frozenset({(0, 1), (1, 4)}))
    paths.is_failing = False
    paths.flow.rollback()
    paths.facts ^= {(0, 1), (1, 4)}
    for edge in [(0, 1), (0, 3), (0, 1)]:
        paths.toggle(frozenset({edge}))
        paths.check()


def _least_in_a_monotone_loop(flow: Dataflow, edges: Input) -> None:
    with flow.monotone_loop() as loop:
        least = loop.empty_variable(a=int, b=int)
        least.becomes(least.concat(edges).group_by("a").min("b"))


def test_only_sets_and_empty_beginnings_are_taken() -> None:
    flow = Dataflow()
    edges = flow.input("edges", a=int, b=int)
    with pytest.raises(PlanError, match="can only follow sets"):
        _least_in_a_monotone_loop(flow, edges)
    with pytest.raises(PlanError, match="begins with is taken away"), flow.monotone_loop() as loop:
        loop.variable(edges)
    with pytest.raises(PlanError, match="stands in a loop"), flow.loop(), flow.monotone_loop():
        pass


@given(BATCHES)
def test_epochs_that_are_closed_together_change_what_they_change_one_by_one(batches: list[Pairs]) -> None:
    together, one_by_one = Paths(), Paths()
    expected: dict[str, list[dict[str, int]]] = defaultdict(list)
    for batch in batches:
        together.stage(batch)
        together.flow.seal()
        one_by_one.toggle(batch)
        for name, output in one_by_one.outputs.items():
            expected[name] += output.changes().to_pylist()
    together.flow.run()
    together.check()
    for name, output in together.outputs.items():
        assert output.changes().to_pylist() == expected[name]


def test_epochs_before_one_that_fails_stay_and_are_heard_of() -> None:
    paths = Paths()
    heard: list[dict[str, int]] = []
    paths.outputs["odd"].on_change(lambda table: heard.extend(table.to_pylist()))
    refused = {(5, 5)}

    def refuse(row: Edge, _time: tuple[int, ...], _diff: int) -> None:
        if row in refused:
            raise ValueError("on purpose")

    paths.edges.inspect(refuse)
    paths.toggle(frozenset({(0, 1)}))
    heard.clear()
    paths.stage(frozenset({(1, 2)}))
    paths.flow.seal()
    paths.stage(frozenset(refused))
    paths.flow.seal()
    with pytest.raises(UserFunctionError, match="from 1 to 1 ran before it, and stay"):
        paths.flow.run()
    assert paths.flow.epoch == 2
    assert heard == [{"a": 1, "b": 2, "epoch": 1, "diff": 1}]
    assert paths.outputs["odd"].changes().to_pylist() == heard
    # What failed is still staged, and is committed once nothing refuses it.
    heard.clear()
    refused.clear()
    paths.flow.commit()
    paths.check()
    assert heard == [{"a": 5, "b": 5, "epoch": 2, "diff": 1}]


def test_rows_that_are_gone_for_good_do_not_wait_for_their_rounds() -> None:
    paths = Paths()
    star = frozenset((0, v) for v in range(1, 9))
    paths.toggle(star)
    # Each edge that comes back brings its pairs in rounds after all others.
    for edge in sorted(star):
        paths.toggle(frozenset({edge}))
        paths.toggle(frozenset({edge}))
    assert paths.flow.machine.scopes[1, UNUSED] > len(star) * GAP
    paths.toggle(frozenset({(0, 1)}))
    paths.check()
    assert sum(diff < 0 for _, diff in paths.moved["twins"]) == 2 * 7 + 1
    # The first round, and those in which what follows from its differences is looked for.
    assert paths.flow.machine.state[ROUNDS] <= 3
