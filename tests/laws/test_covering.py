"""A cover by partial aggregates makes up what is wanted, whatever there is in the index."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.strategies import neighbourhood_sets

from graphtide.ego import CoverIndex, NegativeMining, Neighbourhoods, OverlappingMining, build, cover

WRITERS = 9
sets = st.sets(st.integers(0, WRITERS - 1))


def made_up(found: list[tuple[int, int]], partials: dict[int, set[int]]) -> Counter[int]:
    """How often each writer is counted."""
    total: Counter[int] = Counter()
    for node, sign in found:
        for writer in partials.get(node, {node}):
            total[writer] += sign
    return Counter({writer: count for writer, count in total.items() if count})


class AnIndexThatChanges(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.partials: dict[int, set[int]] = {}
        self.exact = CoverIndex(WRITERS)
        self.overlapping = CoverIndex(WRITERS, overlapping=True)
        self.next = WRITERS

    @rule(members=sets.filter(lambda each: len(each) > 1))
    def add(self, members: set[int]) -> None:
        self.partials[self.next] = members
        for index in (self.exact, self.overlapping):
            index.add(self.next, sorted(members))
        self.next += 1

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.partials:
            node = data.draw(st.sampled_from(sorted(self.partials)))
            del self.partials[node]
            self.exact.remove(node)
            self.overlapping.remove(node)

    @rule(wanted=sets, negatives=st.integers(0, 3))
    def ask(self, wanted: set[int], negatives: int) -> None:
        found = cover(sorted(wanted), self.exact, negatives=negatives)
        assert made_up(found, self.partials) == Counter(wanted)
        assert len(found) <= len(wanted)
        assert len({node for node, _ in found}) == len(found)
        if negatives == 0:
            assert {sign for _, sign in found} <= {1}

    @rule(wanted=sets)
    def ask_with_overlaps(self, wanted: set[int]) -> None:
        found = cover(sorted(wanted), self.overlapping)
        assert set(made_up(found, self.partials)) == wanted
        assert len(found) <= len(wanted)

    @rule(wanted=sets.filter(lambda each: len(each) > 1))
    def a_set_that_is_there_is_taken(self, wanted: set[int]) -> None:
        same = {node for node, members in self.partials.items() if members == wanted}
        found = cover(sorted(wanted), self.exact)
        assert (len(found) == 1 and found[0][0] in same) == bool(same)

    @invariant()
    def sets_are_those_that_were_added(self) -> None:
        for node in range(WRITERS, self.next):
            assert set(self.exact.writers_of(node).tolist()) == self.partials.get(node, set())


TestAnIndexThatChanges = AnIndexThatChanges.TestCase


def test_a_writer_is_never_subtracted_twice() -> None:
    partials = {9: {0, 1, 2, 3, 8}, 10: {4, 5, 6, 7, 8}}
    index = CoverIndex(WRITERS)
    for node, members in partials.items():
        index.add(node, sorted(members))
    found = cover(range(8), index, negatives=1)
    assert made_up(found, partials) == Counter(range(8))
    assert found == [(9, 1), (8, -1), (4, 1), (5, 1), (6, 1), (7, 1)]


@given(asked=neighbourhood_sets(), wanted=st.sets(st.integers(0, 11)), overlapping=st.booleans())
def test_the_index_of_an_overlay_covers_new_readers(asked, wanted, overlapping) -> None:
    writers, neighbours = asked
    wanted = {writer for writer in wanted if writer < writers}
    method = OverlappingMining() if overlapping else NegativeMining()
    overlay = build(Neighbourhoods.from_sets(neighbours, writers), method).overlay
    index = CoverIndex.of(overlay)
    partials = {node: set(index.writers_of(node).tolist()) for node in range(writers + len(neighbours), overlay.nodes)}
    for node, members in partials.items():
        paths = overlay.contributions(node - writers)
        assert members == (set(paths) if overlapping or max(paths.values()) == 1 else set())
    found = cover(sorted(wanted), index, negatives=0 if overlapping else 5)
    assert set(made_up(found, partials)) == wanted
