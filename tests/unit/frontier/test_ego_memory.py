"""What an ego aggregate holds: every byte is in a part, and none is held after it was dropped."""

from __future__ import annotations

import gc
import weakref

import pytest

import graphtide as gt
from graphtide.errors import UsageError
from graphtide.frontier import LiveGraph

PARTS = ["overlay", "windows", "partial aggregates", "values", "readers", "neighbourhoods", "rates"]


@pytest.fixture
def live():
    graph = LiveGraph()
    graph.apply(insert=[(1, 3), (2, 3), (3, 4), (4, 1), (1, 2)])
    return graph


def bytes_of(ego):
    rows = ego.memory().to_pylist()
    return {row["part"]: row["bytes"] for row in rows}


@pytest.mark.parametrize("window", [gt.Last(2), gt.Within(3)])
def test_memory_is_the_sum_of_its_parts(live, window):
    ego = live.ego(gt.TopK(2), window=window)
    ego.write_many([1] * 100, range(100), range(100) if isinstance(window, gt.Within) else None)
    live.apply(insert=[(4, 3), (7, 3)])
    parts = bytes_of(ego)
    assert list(parts) == PARTS
    assert sum(parts.values()) == ego.nbytes
    assert {row["kind"]: row["bytes"] for row in live.memory().to_pylist()}[f"ego {ego.name}"] == ego.nbytes


def test_values_that_are_in_windows_are_counted(live):
    ego = live.ego("max", window=gt.Last(50))
    ego.write_many([1] * 50, [f"{n:012000}" for n in range(50)])
    assert bytes_of(ego)["values"] >= 50 * 12_000
    assert ego.nbytes >= 50 * 12_000
    assert ego.read(3) == f"{49:012000}"


def test_what_was_dropped_is_freed_while_somebody_has_its_handle(live):
    ego = live.ego("sum", name="total")
    ego.write(1, 4)
    plan = ego.plan
    held = [weakref.ref(each) for each in (plan, plan.partials, plan.frame.contents, plan.frame.dictionary)]
    del plan
    ego.drop()
    gc.collect()
    assert [each() for each in held] == [None] * len(held)
    for asked in (lambda: ego.nbytes, ego.memory, lambda: ego.plan, ego.explain, ego.drop, lambda: ego.read(3)):
        with pytest.raises(UsageError, match="was dropped"):
            asked()
    assert repr(ego) == "<Ego total: dropped>"


def test_who_is_told_may_drop_it(live):
    ego = live.ego("sum")
    ego.write_many([1, 4], [4, 1])
    heard = []

    def tell(changes):
        heard.append(changes.to_pylist())
        ego.drop()

    ego.on_change(tell)
    ego.write(1, 5)
    live.apply(delete=[(1, 3)])
    assert len(heard) == 1
