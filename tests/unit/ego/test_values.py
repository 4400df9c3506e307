"""Columns of values and times: their types, and what is said of those that have none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graphtide.ego.clock import Clock
from graphtide.ego.values import type_of
from graphtide.ego.windows import Within
from graphtide.errors import SchemaError


@pytest.mark.parametrize("time", [math.inf, -math.inf, math.nan])
def test_a_time_is_finite(time):
    with pytest.raises(SchemaError, match=f"row 1: {time!r} is not a time"):
        Clock(Within(5)).encode([1.5, time])


@pytest.mark.parametrize(("span", "time"), [(1e308, 1.7e308), (5, 1e300)])
def test_a_window_ends_at_a_later_float(span, time):
    with pytest.raises(SchemaError, match=r"row 1: .* does not end at a later float"):
        Clock(Within(span)).encode([0.0, time])


@pytest.mark.parametrize("times", [[], (), np.zeros(0), iter([])])
def test_no_times_have_no_type(times):
    moments = Clock(Within(5)).encode(times)
    assert moments.type is None
    assert len(moments.codes) == len(moments.expiries) == 0


def test_values_of_several_types_are_named_with_their_rows():
    with pytest.raises(SchemaError) as raised:
        type_of([1, 2.5, "x", 3])
    assert "row 2: 'x' is a str, and 1 in row 0 is" in str(raised.value)
    assert "values=" in str(raised.value)
    with pytest.raises(SchemaError, match="row 1: None"):
        type_of([1, None])
    with pytest.raises(SchemaError, match="row 1: "):
        type_of([1, object()])
