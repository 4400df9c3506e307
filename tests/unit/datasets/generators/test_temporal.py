"""Times for edges: they rise, stay within their days, and come more often if asked to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide import datasets


@given(st.integers(0, 50), st.dates(date(1900, 1, 1), date(2200, 1, 1)), st.floats(0, 1e4), st.floats(1e-3, 1e3))
def test_times_rise_within_their_days_and_edges_stay_as_they_are(
    count: int, begin: date, days: float, growth: float
) -> None:
    edges = pa.table({"src": np.arange(count)[::-1], "dst": np.arange(count), "weight": np.ones(count)})
    made = datasets.temporal(edges, begin=begin, days=days, growth=growth)
    assert made.drop_columns("time").equals(edges)
    assert made.schema.field("time").type == pa.timestamp("us", tz="UTC")
    times = made["time"].to_pylist()
    assert times == sorted(times)
    first = datetime(begin.year, begin.month, begin.day, tzinfo=UTC)
    assert all(first <= time <= first + timedelta(days=days) for time in times)


@pytest.mark.parametrize("growth", [0.1, 0.5, 1, 3, 30])
def test_at_the_end_edges_come_more_often_by_the_growth(growth: float) -> None:
    edges = pa.table({"src": np.zeros(300_000, np.int64), "dst": np.zeros(300_000, np.int64)})
    times = datasets.temporal(edges, begin=date(1970, 1, 1), days=20, growth=growth)["time"].cast(pa.int64()).to_numpy()
    by_day = np.bincount(times // 86_400_000_000, minlength=20)
    # Between the middles of the first day and the last one lie 19 of 20 days.
    assert by_day[-1] / by_day[0] == pytest.approx(growth ** (19 / 20), rel=0.1)
    assert by_day[10] / by_day[0] == pytest.approx(growth ** (10 / 20), rel=0.1)
