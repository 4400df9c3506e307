"""Windows of all writers."""

from __future__ import annotations

from graphtide.ego.contents import WindowContents
from graphtide.ego.kernels.windows import enter_value, pop_due
from graphtide.ego.windows import Last, Within


def test_a_ring_has_values_once_it_was_written_to() -> None:
    contents = WindowContents(Last(2), 3)
    assert contents.has_values().tolist() == [False, False, False]
    contents.written()[1] = 5
    assert contents.has_values().tolist() == [False, True, False]


def test_a_window_of_time_has_values_until_they_expire() -> None:
    contents = WindowContents(Within(4), 3)
    contents.reserve(2)
    enter_value(contents.arrays, 0, 7, 5)
    enter_value(contents.arrays, 1, 7, 9)
    assert contents.has_values().tolist() == [True, True, False]
    pop_due(contents.arrays, 5)
    assert contents.has_values().tolist() == [False, True, False]
