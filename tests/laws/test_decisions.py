"""Push and pull decisions are the cheapest there are, and consistent."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.ego import (
    AdaptiveMining,
    Costs,
    Curve,
    Direct,
    FixedMining,
    Greedy,
    Incremental,
    MinCut,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    Overlay,
    decide,
    frequencies,
    split,
)
from graphtide.ego.building import build
from graphtide.ego.flattening import flattened
from graphtide.ego.kernels.flattening import flatten
from graphtide.ego.kernels.paths import stand_for_sets

COSTS = [Costs(), Costs(push=Curve(log=1, constant=1)), Costs(Curve(constant=2, linear=1), Curve(constant=3, linear=2))]


@st.composite
def overlays(draw: st.DrawFn, most: int = 9) -> Overlay:
    """Any overlay of a few nodes, whatever it computes: inputs are writers or partial aggregates of lower numbers."""
    writers, readers, partials = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, most - 4))
    made = [*range(writers)]
    lists = {}
    for partial in range(writers + readers, writers + readers + partials):
        lists[partial] = sorted(draw(st.sets(st.sampled_from(made), min_size=1, max_size=5)))
        made.append(partial)
    for reader in range(writers, writers + readers):
        lists[reader] = sorted(draw(st.sets(st.sampled_from(made), max_size=5)))
    each = [lists.get(node, []) for node in range(writers + readers + partials)]
    starts = np.cumsum([0, *map(len, each)])
    inputs = np.array([item for one in each for item in one], np.int32)
    return Overlay(writers, readers, starts, inputs, np.ones(len(inputs), np.int8), overlapping=True)


def numbers(count: int, floats: bool) -> st.SearchStrategy[list[float]]:
    each = st.floats(0, 1000, allow_subnormal=False) if floats else st.integers(0, 9)
    return st.lists(each, min_size=count, max_size=count)


@st.composite
def workloads(draw: st.DrawFn, floats: bool = False) -> tuple[Overlay, list[float], list[float], Costs]:
    overlay = draw(overlays())
    writes, reads = (draw(numbers(count, floats)) for count in (overlay.writers, overlay.readers))
    return overlay, writes, reads, draw(st.sampled_from(COSTS))


class Priced:
    """The costs of an overlay's nodes by the letter of section 4, without arrays."""

    def __init__(self, overlay: Overlay, writes: list[float], reads: list[float], costs: Costs) -> None:
        self.overlay = overlay
        self.inputs = [overlay.inputs_of(node).tolist() for node in range(overlay.nodes)]
        first = overlay.writers
        self.push = [self.pushes(node, writes) for node in range(overlay.nodes)]
        self.pull = [self.pulls(node, reads) for node in range(overlay.nodes)]
        sizes = [1 if node < first else len(self.inputs[node]) for node in range(overlay.nodes)]
        self.push_cost = [f * float(costs.push.at(k)) for f, k in zip(self.push, sizes, strict=True)]
        self.pull_cost = [f * float(costs.pull.at(k)) for f, k in zip(self.pull, sizes, strict=True)]

    def pushes(self, node: int, writes: list[float]) -> float:
        return writes[node] if node < self.overlay.writers else sum(self.pushes(i, writes) for i in self.inputs[node])

    def pulls(self, node: int, reads: list[float]) -> float:
        reader = node - self.overlay.writers
        own = reads[reader] if 0 <= reader < len(reads) else 0
        return own + sum(self.pulls(after, reads) for after in range(self.overlay.nodes) if node in self.inputs[after])

    def cost(self, push: list[bool]) -> float:
        return sum(self.push_cost[n] if push[n] else self.pull_cost[n] for n in range(self.overlay.nodes))

    def is_allowed(self, push: list[bool]) -> bool:
        return all(push[i] for n in range(self.overlay.nodes) if push[n] for i in self.inputs[n])

    def least(self) -> float:
        first = [True] * self.overlay.writers
        choices = product([False, True], repeat=self.overlay.nodes - self.overlay.writers)
        return min(self.cost(first + list(rest)) for rest in choices if self.is_allowed(first + list(rest)))


@given(workload=workloads())
def test_the_cut_finds_the_least_cost_of_whole_numbers(workload) -> None:
    overlay, writes, reads, _ = workload
    costs = COSTS[2]
    priced = Priced(overlay, writes, reads, costs)
    found = decide(overlay, writes, reads, costs, by=MinCut())
    found.check_invariants(overlay)
    assert found.cost == priced.cost(found.push.tolist()) == priced.least()
    assert found.cost <= min(found.cost_of_all_push, found.cost_of_all_pull)


@given(workload=workloads(floats=True))
def test_the_cut_finds_the_least_cost_of_any_numbers(workload) -> None:
    overlay, writes, reads, costs = workload
    priced = Priced(overlay, writes, reads, costs)
    found = decide(overlay, writes, reads, costs)
    found.check_invariants(overlay)
    assert found.cost == pytest.approx(priced.least(), rel=1e-9, abs=1e-300)


@given(workload=workloads())
def test_greedy_decisions_are_allowed_and_no_cheaper_than_the_cut(workload) -> None:
    overlay, writes, reads, costs = workload
    greedy = decide(overlay, writes, reads, costs, by=Greedy())
    greedy.check_invariants(overlay)
    assert greedy.cost >= decide(overlay, writes, reads, costs).cost - 1e-9


@given(workload=workloads())
def test_frequencies_add_up_along_the_overlay(workload) -> None:
    overlay, writes, reads, costs = workload
    priced = Priced(overlay, writes, reads, costs)
    found = frequencies(overlay, writes, reads)
    assert found.push.tolist() == priced.push
    assert found.pull.tolist() == priced.pull


@given(workload=workloads(), window=st.integers(1, 20))
def test_splitting_never_costs_more_and_keeps_what_is_computed(workload, window) -> None:
    overlay, writes, reads, costs = workload
    before = decide(overlay, writes, reads, costs, writer_window=window)
    after, decisions = split(overlay, before, writes, reads, costs, writer_window=window)
    decisions.check_invariants(after)
    assert decisions.cost <= before.cost + 1e-9
    assert (after.nodes > overlay.nodes) == (decisions.cost < before.cost - 1e-9)
    assert [after.contributions(r) for r in range(overlay.readers)] == [
        overlay.contributions(r) for r in range(overlay.readers)
    ]


@given(
    sets=st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=9),
    method=st.sampled_from(
        [AdaptiveMining(), FixedMining(chunk=4), NegativeMining(), OverlappingMining(), Incremental(), Direct()]
    ),
    costs=st.sampled_from(COSTS),
    data=st.data(),
)
def test_what_is_kept_stands_on_writers_and_costs_no_more_than_sharing_nothing(sets, method, costs, data) -> None:
    asked = Neighbourhoods.from_sets(sets, writer_count=8)
    overlay = build(asked, method).overlay
    writes, reads = (data.draw(numbers(count, floats=False)) for count in (8, len(sets)))
    found, decisions = flattened(overlay, writes, reads, costs)
    found.check_invariants(asked)
    decisions.check_invariants(found)
    first = found.writers + found.readers
    assert decisions.push[first:].all()
    for node in range(found.writers, found.nodes):
        assert not decisions.push[node] or (found.inputs_of(node) < found.writers).all()
    if not overlay.overlapping:
        direct = decide(Overlay.direct(asked), writes, reads, costs, by=Greedy())
        assert decisions.cost <= direct.cost + 1e-9


def writers_behind(overlay: Overlay, node: int) -> Counter[int]:
    """What the paths from each writer to a node add up to, with their signs; in an overlapping overlay, once."""
    if node < overlay.writers:
        return Counter({node: 1})
    total: Counter[int] = Counter()
    part = slice(overlay.starts[node], overlay.starts[node + 1])
    for each, sign in zip(overlay.inputs[part].tolist(), overlay.signs[part].tolist(), strict=True):
        for writer, count in writers_behind(overlay, each).items():
            total[writer] += sign * count
    return Counter({writer: min(n, 1) if overlay.overlapping else n for writer, n in total.items() if n})


@st.composite
def with_subtractions(draw: st.DrawFn) -> Overlay:
    """An overlay whose readers stand for sets of writers, by adding and subtracting; others need not."""
    writers, readers, partials = draw(st.integers(2, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    behind = {writer: Counter({writer: 1}) for writer in range(writers)}
    lists: dict[int, dict[int, int]] = {}
    for node in [*range(writers + readers, writers + readers + partials), *range(writers, writers + readers)]:
        below = [each for each in behind if not writers <= each < writers + readers]
        signs = dict.fromkeys(draw(st.sets(st.sampled_from(below), min_size=1, max_size=4)), 1)
        total: Counter[int] = Counter()
        for each in signs:
            total.update(behind[each])
        for each in draw(st.permutations(below)):
            fits = all(total[writer] >= count for writer, count in behind[each].items())
            if each not in signs and fits and (max(total.values(), default=0) > 1 or draw(st.booleans())):
                signs[each] = -1
                total.subtract(behind[each])
        if node < writers + readers and max(total.values(), default=0) > 1:
            signs = {writer: 1 for writer, count in total.items() if count > 0}
            total = Counter(signs)
        lists[node], behind[node] = signs, +total
    each = [sorted(lists.get(node, {}).items()) for node in range(writers + readers + partials)]
    starts = np.cumsum([0, *map(len, each)])
    inputs, signed = (np.array([pair[which] for one in each for pair in one]) for which in (0, 1))
    return Overlay(writers, readers, starts, inputs.astype(np.int32), signed.astype(np.int8))


@given(overlay=overlays(most=12) | with_subtractions(), data=st.data())
def test_a_flat_overlay_has_the_writers_of_the_old_one_behind_each_node(overlay, data) -> None:
    """Whatever is kept that is a set: it stands on its writers, and who pulls stands on what is kept and on writers."""
    first = overlay.writers + overlay.readers
    behind = [writers_behind(overlay, node) for node in range(overlay.nodes)]
    are_sets = np.array([set(each.values()) <= {1} for each in behind])
    lists = overlay.starts, overlay.inputs, overlay.signs
    if not overlay.overlapping:
        assert stand_for_sets(*lists, overlay.writers).tolist() == are_sets.tolist()
    count = overlay.nodes - overlay.writers
    kept = data.draw(st.lists(st.booleans(), min_size=count, max_size=count), label="kept")
    keep = np.array([True] * overlay.writers + kept) & are_sets
    *flat, partials = flatten(*lists, overlay.writers, overlay.readers, overlay.overlapping, keep)
    after = Overlay(overlay.writers, overlay.readers, *flat, overlay.overlapping)
    for node, old in enumerate([*range(first), *partials.tolist()]):
        its = after.inputs_of(node)
        assert writers_behind(after, node) == behind[old]
        assert (np.diff(its) > 0).all()
        assert keep[old] or old < first
        if keep[old]:
            assert (its < overlay.writers).all()


def test_a_reader_that_would_have_an_input_twice_has_its_writers() -> None:
    """Two partial aggregates have a third one in them, which is kept, and of which a reader subtracts the writer."""
    reader, inner, one, other = 3, 4, 5, 6
    lists = [[], [], [], [(one, 1), (other, 1), (0, -1)], [(0, 1)], [(inner, 1), (1, 1)], [(inner, 1), (2, 1)]]
    inputs, signs = (np.array([pair[which] for each in lists for pair in each]) for which in (0, 1))
    arrays = np.cumsum([0, *map(len, lists)]), inputs.astype(np.int32), signs.astype(np.int8)
    overlay = Overlay(3, 1, *arrays)
    overlay.check_invariants(Neighbourhoods.from_sets([{0, 1, 2}], writer_count=3))
    keep = np.array([True, True, True, False, True, False, False])
    starts, inputs, signs, partials = flatten(*arrays, 3, 1, False, keep)
    assert inputs[starts[reader] : starts[reader + 1]].tolist() == [0, 1, 2]
    assert signs.tolist() == [1, 1, 1]
    assert len(partials) == 0


def test_a_partial_aggregate_is_kept_if_those_who_share_it_are_read_more_often_than_it_is_pushed_to() -> None:
    """Two readers share four writers; each also has one that writes so often that it is not kept."""
    asked = Neighbourhoods.from_sets([{0, 1, 2, 3, 4}, {0, 1, 2, 3, 5}], writer_count=6)
    lists = [[]] * 6 + [[4, 8], [5, 8], [0, 1, 2, 3]]
    starts = np.cumsum([0, *map(len, lists)])
    overlay = Overlay(6, 2, starts, np.array([4, 8, 5, 8, 0, 1, 2, 3], np.int32), np.ones(8, np.int8))
    for often, kept in ((1.0, 1), (9.0, 0)):
        found, decisions = flattened(overlay, [often] * 4 + [100.0, 100.0], [5.0, 5.0])
        found.check_invariants(asked)
        assert found.partials == kept
        assert not decisions.push[6:8].any()
    # What takes as long to merge as its writers is not worth keeping.
    costs = Costs(merge=Curve(linear=1))
    assert costs.merges([1, 4]).tolist() == [1, 4]
    assert flattened(overlay, [1.0] * 4 + [100.0, 100.0], [5.0, 5.0], costs)[0].partials == 0


@given(middle=st.floats(1.2, 1.8), cold=st.integers(5, 9), hot=st.integers(1, 5))
def test_what_feeds_a_node_that_was_made_still_pushes(middle, cold, hot) -> None:
    """A partial aggregate is among what another one has pushed to a node of its own, and would cost less if it pulled.

    It has some writers that seldom write, and one in the middle; the other has it, a seldom one, and hot ones.
    """
    writers = cold + 2 + hot
    reader, lower, upper = writers, writers + 1, writers + 2
    lists = [*[[]] * writers, [upper], [*range(cold + 1)], [cold + 1, lower, *range(cold + 2, writers)]]
    starts = np.cumsum([0, *map(len, lists)])
    inputs = np.array([item for one in lists for item in one], np.int32)
    overlay = Overlay(writers, 1, starts, inputs, np.ones(len(inputs), np.int8))
    writes = [*[0.001] * cold, middle, 0.001, *[20.0] * hot]
    costs = Costs(Curve(linear=1), Curve(linear=4))
    after, decisions = split(overlay, decide(overlay, writes, [1.0], costs), writes, [1.0], costs)
    assert after.inputs_of(after.nodes - 1).tolist() == [cold + 1, lower]
    assert not decisions.push[reader]
    decisions.check_invariants(after)


@given(writes=numbers(6, floats=True), read=st.floats(0, 100), costs=st.sampled_from(COSTS))
def test_a_single_node_is_split_where_it_costs_least(writes, read, costs) -> None:
    """All ways to divide the inputs into pushed and pulled ones, not only by their frequencies."""
    overlay = Overlay(6, 1, np.array([0] * 7 + [6]), np.arange(6, dtype=np.int32), np.ones(6, np.int8))
    decided = decide(overlay, writes, [read], costs)
    _, found = split(overlay, decided, writes, [read], costs)
    options = [read * float(costs.pull.at(6)), sum(writes) * float(costs.push.at(6))]
    for chosen in product([False, True], repeat=6):
        if 2 <= (size := sum(chosen)) < 6:
            pushed = sum(w for w, is_pushed in zip(writes, chosen, strict=True) if is_pushed)
            options.append(pushed * float(costs.push.at(size)) + read * float(costs.pull.at(7 - size)))
    stored = sum(writes) * float(costs.push.at(1))
    assert found.cost - stored == pytest.approx(min(options), rel=1e-9, abs=1e-9 * (1 + stored))
