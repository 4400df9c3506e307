"""What watches are told, and that everything is right before they are: whatever raises, nobody else is left behind."""

from __future__ import annotations

import pytest

import graphtide as gt
from graphtide.ego import AllPush
from graphtide.errors import CapacityError, UsageError, UserFunctionError
from graphtide.frontier import LiveGraph

EDGES = [(1, 3), (2, 3), (3, 4), (4, 1), (1, 2)]


@pytest.fixture
def live():
    graph = LiveGraph(nodes={"age": int})
    graph.apply(insert=EDGES)
    return graph


def picky(bad):
    """The values in order, which cannot be merged if both of two are there."""

    def merge(one, other):
        both = tuple(sorted(one + other))
        if set(bad) <= set(both):
            raise ValueError("not these two")
        return both

    return gt.Aggregate(
        initialize=tuple, update=lambda state, value: tuple(sorted((*state, value))), merge=merge, finalize=list
    )


def write_both(ego):
    """One after the other: functions are tried on what is written first."""
    ego.write(2, "x")
    ego.write(4, "y")


def fail(_changes):
    raise RuntimeError("a callback that fails")


def change_edges(live):
    live.apply(delete=[(1, 3)])


def change_properties(live):
    live.set_vertices([{"id": 1, "age": 5}])


def with_new_vertices(live):
    live.set_vertices([{"id": 1, "age": 5}, {"id": 9, "age": 50}])


@pytest.mark.parametrize("change", [change_edges, change_properties, with_new_vertices])
def test_callbacks_that_raise_come_after_all_are_right_and_stop_no_other(live, change):
    live.set_vertices([{"id": n, "age": 20} for n in range(1, 5)])
    egos = [live.ego("sum", neighbours="age > 10") for _ in range(3)]
    near = live.k_hop(1, 1)
    for ego in egos:
        ego.write_many([1, 2], [4, 5])
    told = []

    def look(changes):
        told.append(changes.to_pylist())
        assert [ego.read(3) for ego in egos] == [5, 5, 5]

    egos[0].on_change(fail)
    egos[0].on_change(look)
    egos[2].on_change(look)
    with pytest.raises(RuntimeError, match="a callback that fails"):
        change(live)
    assert [ego.read(3) for ego in egos] == [5, 5, 5]
    assert {"vertex": 3, "before": 9, "after": 5} in told[0]
    assert told[1] == told[0]
    assert near.result().num_rows == (2 if change is change_edges else 3)
    for ego in egos:
        ego.plan.check_invariants()


def test_all_errors_come_out(live):
    ego = live.ego("sum")
    ego.write_many([1, 2], [4, 5])
    ego.on_change(fail)
    ego.alert(lambda value: value < 9, lambda vertex, _value: fail(vertex))
    with pytest.raises(ExceptionGroup) as raised:
        ego.write(2, 1)
    assert [str(error) for error in raised.value.exceptions] == ["a callback that fails"] * 2
    assert ego.read(3) == 5


def test_an_alert_tells_of_each_vertex_though_one_call_fails(live):
    ego = live.ego("sum")
    told = []

    def call(vertex, value):
        told.append((vertex, value))
        raise RuntimeError(f"at {vertex}")

    ego.alert(lambda value: value > 3, call)
    with pytest.raises(ExceptionGroup):
        ego.write(1, 4)
    assert sorted(told) == [(2, 4), (3, 4)]


@pytest.mark.parametrize("watched", [False, True])
def test_a_merge_that_fails_in_a_batch_drops_its_ego_by_name_and_no_other(live, watched):
    ids = [live.ego("count"), live.ego(picky("xy"), decide=AllPush(), name="picky"), live.ego("count")]
    for ego in ids:
        write_both(ego)
    if watched:
        ids[1].on_change(fail)
    near = live.k_hop(4, 1)
    with pytest.raises(
        UserFunctionError, match=r'"picky" could not follow .* was dropped.*ValueError: not these two'
    ) as raised:
        live.apply(insert=[(4, 3)])
    assert "applied" in str(raised.value.hint)
    assert "nothing" not in str(raised.value)
    assert (4, 3) in {(row["src"], row["dst"]) for row in live.table().to_pylist()}
    assert [ids[0].read(3), ids[2].read(3)] == [2, 2]
    assert near.result().num_rows == 3
    with pytest.raises(UsageError, match='"picky" was dropped'):
        ids[1].read(3)
    live.apply(delete=[(4, 3)])
    again = live.ego(picky("xy"), name="picky")
    write_both(again)
    assert again.read(3) == ["x"]


def test_an_overflow_of_a_query_and_an_ego_that_fails_come_out_together(live):
    live.ife(gt.ife(lambda state, _: state * 2**20, aggregate="max", initial={9: 2**20}, rounds=3), name="long")
    live.apply(insert=[(9, 8), (8, 7)])
    ego = live.ego(picky("xy"), decide=AllPush(), name="picky")
    write_both(ego)
    with pytest.raises(ExceptionGroup) as raised:
        live.apply(insert=[(4, 3), (7, 4)])
    assert {type(error) for error in raised.value.exceptions} == {CapacityError, UserFunctionError}


# -- who reads changes together with what is read


def aged():
    live = LiveGraph(nodes={"age": int})
    live.set_vertices([{"id": n, "age": 20} for n in range(1, 5)])
    live.apply(insert=[(1, 2), (3, 2), (2, 4)])
    ego = live.ego("sum", readers="age > 10", neighbours="age > 10")
    ego.write_many([1, 3], [5, 7])
    return live, ego


def test_a_change_of_readers_tells_of_what_the_others_read():
    live, ego = aged()
    told, alerts = [], []
    ego.on_change(lambda changes: told.append(changes.to_pylist()))
    ego.alert(lambda value: 0 < value < 10, lambda *each: alerts.append(each))
    live.set_vertices([{"id": 3, "age": 5}])
    assert told == [[{"vertex": 2, "before": 12, "after": 5}]]
    assert alerts == [(2, 5)]
    live.set_vertices([{"id": 3, "age": 30}, {"id": 1, "age": 3}])
    assert told[1:] == [[{"vertex": 2, "before": 5, "after": 7}]]


# -- aggregates that cannot be told


def test_a_watched_sum_that_no_int_holds_is_told_as_null_and_can_be_mended(live):
    ego = live.ego("sum", name="total")
    told, alerts = [], []
    ego.on_change(lambda changes: told.extend(changes.to_pylist()))
    ego.alert(lambda value: value > 0, lambda *each: alerts.append(each))
    ego.write(1, 2**62)
    told.clear()
    with pytest.raises(CapacityError, match=r'"total" .* at vertex 3: a sum is 9,223,372,036,854,775,808') as raised:
        ego.write(2, 2**62)
    assert "applied" in str(raised.value.hint)
    assert told == [{"vertex": 3, "before": 2**62, "after": None}]
    alerts.clear()
    ego.write(2, 2**62 + 1)
    ego.write(1, 0)
    assert {row.pop("vertex"): row for row in told[1:]} == {
        2: {"before": 2**62, "after": 0},
        3: {"before": None, "after": 2**62 + 1},
    }
    assert alerts == [(3, 2**62 + 1)]
    assert ego.read(3) == 2**62 + 1


def test_a_batch_that_makes_a_watched_sum_too_long_is_applied_for_all(live):
    one, other = live.ego("sum"), live.ego("sum")
    for ego in (one, other):
        ego.write_many([1, 4], [2**62, 2**62])
    told = []
    one.on_change(lambda changes: told.append(changes.to_pylist()))
    with pytest.raises(CapacityError, match="at vertex 3"):
        live.apply(insert=[(4, 3), (4, 2)], delete=[(1, 2)])
    assert told == [[{"vertex": 3, "before": 2**62, "after": None}]]
    assert other.read(2) == 2**62
    one.write(4, 1)
    assert one.read(3) == 2**62 + 1


def test_a_finalize_that_fails_tells_null_and_stops_no_write(live):
    shares = gt.Aggregate(
        initialize=lambda: 0,
        update=lambda state, value: state + value,
        merge=lambda one, other: one + other,
        finalize=lambda state: 100 // (state - 9),
    )
    ego = live.ego(shares)
    told = []
    ego.on_change(lambda changes: told.extend(changes.to_pylist()))
    ego.write(2, 4)
    told.clear()
    with pytest.raises(UserFunctionError, match=r"at vertex 3: .*ZeroDivisionError"):
        ego.write(2, 9)
    assert told == [{"vertex": 3, "before": -20, "after": None}]
    ego.write(2, 10)
    assert told[1:] == [{"vertex": 3, "before": None, "after": 100}]


def test_an_int_that_gets_too_long_for_a_word_is_told_all_the_same(live):
    squares = gt.Aggregate(
        initialize=lambda: 0.0,
        update=lambda state, value: state + float(value**2 % 1000),
        merge=lambda one, other: one + other,
        finalize=lambda state: state,
    )
    ego = live.ego(squares, values=int)
    told = []
    ego.on_change(lambda changes: told.extend(changes.to_pylist()))
    ego.write(2, 2**40)
    assert told == [{"vertex": 3, "before": 0.0, "after": float(2**80 % 1000)}]


def test_a_dropped_ego_calls_nobody(live):
    ego, other = live.ego("sum"), live.ego("sum")
    for each in (ego, other):
        each.write(1, 4)
    told = []
    ego.on_change(lambda _changes: other.drop())
    other.on_change(told.append)
    live.apply(delete=[(1, 3)])
    assert told == []
