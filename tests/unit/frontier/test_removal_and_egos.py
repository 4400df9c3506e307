"""Numbers that removed vertices left behind are nobody's, until other vertices get them."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.errors import UsageError


def table(ego: gt.Ego) -> dict[Any, Any]:
    rows = ego.table().to_pylist()
    found = {row["vertex"]: row["value"] for row in rows}
    assert len(found) == len(rows), "a vertex is told twice"
    return found


@pytest.mark.parametrize("readers", [None, "id < 9"])
def test_a_query_that_comes_after_a_removal_has_no_reader_that_is_gone(readers: str | None) -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 2), (2, 3)])
    live.remove_vertices([2])
    ego = live.ego("sum", readers=readers)
    assert table(ego) == {1: 0, 3: 0}
    live.apply(insert=[(1, 9)])
    ego.write(1, 5)
    assert table(ego) == {1: 0, 3: 0} | ({} if readers else {9: 5})
    if readers:
        with pytest.raises(UsageError, match="leaves it out"):
            ego.read(9)


def test_a_place_that_waits_for_a_reader_has_no_writers_after_a_rebuild() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 3), (2, 5)])
    ego = live.ego("sum", readers="id < 7")
    ego.write_many([1, 2], [10, 20])
    live.remove_vertices([3])
    live.apply(insert=[(1, 9)])  # it has the number that 3 had, and is no reader
    ego.rebuild()
    told: list[Any] = []
    watch = ego.on_change(lambda changes: told.append(changes.to_pylist()))
    ego.write(1, 11)
    assert not told
    watch.drop()
    live.remove_vertices([9])
    live.apply(insert=[(2, 4)])
    assert ego.read(4) == 20


def test_a_vertex_that_begins_to_be_read_has_not_changed() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(1, 3)])
    ego = live.ego("sum")
    ego.write(1, 10)
    told: list[Any] = []
    ego.on_change(lambda changes: told.append(changes.to_pylist()))
    live.apply(insert=[(1, 4)])
    assert ego.read(4) == 10
    assert not told


def test_the_types_of_a_first_call_that_failed_are_forgotten() -> None:
    def update(state: Any, value: Any) -> Any:
        if value == 13:
            raise ValueError(value)
        return tuple(sorted((*state, value)))

    live = gt.LiveGraph()
    live.apply(insert=[(1, 3)])
    ego = live.ego(gt.Aggregate(initialize=tuple, update=update, merge=lambda a, b: tuple(sorted(a + b)), finalize=len))
    with pytest.raises(gt.errors.UserFunctionError):
        ego.write_many([1] * 7, [1, 2, 3, 4, 5, 6, 13])
    ego.write(1, "a")
    assert ego.read(3) == 1
