"""Where arrays begin in memory."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.ego.lines import COUNTS, HEADS, LISTS, STATES, WINDOWS, grown, lined_up


@pytest.mark.parametrize("begins", [HEADS, LISTS, STATES, COUNTS, WINDOWS])
@pytest.mark.parametrize("rows", [0, 1, 1000, 40_000])
def test_arrays_begin_at_their_line_of_a_page_and_are_filled(begins: int, rows: int) -> None:
    array = lined_up((rows, 8), np.int32, begins, -7)
    assert array.shape == (rows, 8)
    assert array.dtype == np.int32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.ctypes.data % 4096 == begins or rows == 0
    assert begins % 64 == 0
    assert (array == -7).all()
    assert not lined_up((rows,), np.int64, begins).any()


def test_an_array_that_grows_begins_at_the_same_line_and_keeps_its_content() -> None:
    array = lined_up((1000,), np.int64, STATES)
    array[:] = np.arange(1000)
    longer = grown(array, 300_000, 5)
    assert longer.ctypes.data % 4096 == STATES
    assert (longer[:1000] == np.arange(1000)).all()
    assert (longer[1000:] == 5).all()
