"""Laws of the order of times: a lattice, its frontiers, and K-Pg's appendix A."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as gen

from graphtide.time import Antichain, Time, join, leq, less, meet, pack, representative, unpack

LARGEST = 3


@st.composite
def same_scope(draw: st.DrawFn, count: int) -> tuple[Time, ...]:
    """`count` times of one scope."""
    depth = draw(gen.depths())
    return tuple(draw(gen.times(depth)) for _ in range(count))


@st.composite
def times_and_frontiers(draw: st.DrawFn) -> tuple[Time, Time, Antichain, Antichain]:
    """Two times and two frontiers of one scope."""
    depth = draw(gen.depths())
    time, frontier = gen.times(depth), gen.antichains(depth)
    return draw(time), draw(time), draw(frontier), draw(frontier)


@st.composite
def compactions(draw: st.DrawFn) -> tuple[Time, Time, Antichain, list[Time]]:
    """Two times, a frontier with elements, and every time in advance of it that can matter."""
    depth = draw(st.integers(1, 3))
    time = gen.times(depth, LARGEST)
    since = Antichain(draw(st.lists(time, min_size=1, max_size=4)))
    # No coordinate above exceeds LARGEST, so times beyond it compare as LARGEST does.
    grid = product(range(LARGEST + 1), repeat=depth)
    return draw(time), draw(time), since, [t for t in grid if since.covers(t)]


@given(same_scope(3))
def test_leq_is_a_partial_order(scope: tuple[Time, Time, Time]) -> None:
    a, b, c = scope
    assert leq(a, a)
    assert not (leq(a, b) and leq(b, a)) or a == b
    assert not (leq(a, b) and leq(b, c)) or leq(a, c)
    assert less(a, b) == (leq(a, b) and not leq(b, a))


@given(same_scope(3))
def test_join_is_the_least_upper_bound_and_meet_the_greatest_lower(
    scope: tuple[Time, Time, Time],
) -> None:
    a, b, c = scope
    assert leq(join(a, b), c) == (leq(a, c) and leq(b, c))
    assert leq(c, meet(a, b)) == (leq(c, a) and leq(c, b))


@given(same_scope(3))
def test_times_are_a_distributive_lattice(scope: tuple[Time, Time, Time]) -> None:
    a, b, c = scope
    for op, dual in ((join, meet), (meet, join)):
        assert op(a, a) == a
        assert op(a, b) == op(b, a)
        assert op(a, op(b, c)) == op(op(a, b), c)
        assert op(a, dual(a, b)) == a
        assert op(a, dual(b, c)) == dual(op(a, b), op(a, c))
    assert leq(a, b) == (join(a, b) == b) == (meet(a, b) == a)


@given(st.data())
def test_an_antichain_covers_what_its_times_cover_and_keeps_no_more(data: st.DataObject) -> None:
    depth = data.draw(gen.depths())
    given_times = data.draw(st.lists(gen.times(depth), max_size=6))
    probe = data.draw(gen.times(depth))
    frontier = Antichain(given_times)
    frontier.check_invariants()
    assert set(frontier) <= set(given_times)
    assert frontier.covers(probe) == any(leq(t, probe) for t in given_times)
    one_by_one = Antichain()
    for time in data.draw(st.permutations(given_times)):
        one_by_one = one_by_one.insert(time)
    assert one_by_one == frontier
    assert hash(one_by_one) == hash(frontier)


@given(times_and_frontiers())
def test_frontiers_meet_and_join_as_the_sets_they_cover(
    drawn: tuple[Time, Time, Antichain, Antichain],
) -> None:
    time, _, f, g = drawn
    assert f.meet(g).covers(time) == (f.covers(time) or g.covers(time))
    assert f.join(g).covers(time) == (f.covers(time) and g.covers(time))
    assert (f <= g) == (f.meet(g) == f) == (f.join(g) == g)
    assert (f < g) == (f <= g and f != g)
    assert not (f <= g <= f) or f == g
    assert not (f <= g and g.covers(time)) or f.covers(time)
    f.meet(g).check_invariants()
    f.join(g).check_invariants()


@given(compactions())
def test_a_time_and_its_representative_are_indistinguishable(
    drawn: tuple[Time, Time, Antichain, list[Time]],
) -> None:
    """K-Pg, appendix A, theorem 1."""
    time, _, since, advanced = drawn
    chosen = representative(time, since)
    assert all(leq(time, t) == leq(chosen, t) for t in advanced)


@given(compactions())
def test_indistinguishable_times_have_one_representative(
    drawn: tuple[Time, Time, Antichain, list[Time]],
) -> None:
    """K-Pg, appendix A, theorem 2; and the representative is the latest of its class."""
    a, b, since, advanced = drawn
    same = all(leq(a, t) == leq(b, t) for t in advanced)
    assert same == (representative(a, since) == representative(b, since))
    assert not same or leq(b, representative(a, since))


@given(compactions())
def test_representatives_advance_with_the_frontier(
    drawn: tuple[Time, Time, Antichain, list[Time]],
) -> None:
    time, other, since, _ = drawn
    later = since.join(Antichain([other]))
    chosen = representative(time, since)
    assert representative(chosen, since) == chosen
    assert representative(chosen, later) == representative(time, later)
    assert not since.covers(time) or chosen == time


@given(gen.prioritized(), gen.prioritized())
def test_packing_keeps_the_lexicographic_order(a: tuple[int, int], b: tuple[int, int]) -> None:
    assert unpack(pack(*a)) == a
    assert (pack(*a) <= pack(*b)) == (a <= b)
    assert join((pack(*a),), (pack(*b),)) == (pack(*max(a, b)),)
    assert meet((pack(*a),), (pack(*b),)) == (pack(*min(a, b)),)
    assert 0 <= pack(*a) < 2**63 - 1
